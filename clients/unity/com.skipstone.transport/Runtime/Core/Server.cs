using System;
using Skipstone.Native;

namespace Skipstone
{
    /// <summary>A running server: all players, on every carrier, through one port and one event queue.</summary>
    /// <remarks>Calls may come from several threads, but one thread polls, and reads the events that it got. Disposing closes the sockets
    /// at once; <see cref="Shutdown"/> tells the players first.</remarks>
    /// <example><code>
    /// using var server = Server.Start(new ServerConfig { Listen = "[::]:7777" });
    /// while (true)
    /// {
    ///     server.WaitTick(TimeSpan.FromMilliseconds(16));
    ///     for (EventBatch batch = server.Poll(); batch.Count > 0; batch = server.Poll())
    ///         foreach (Event happened in batch)
    ///         {
    ///             if (happened.Kind == EventKind.Requested) server.Accept(happened.Peer);
    ///             if (happened.Kind == EventKind.Message) server.Broadcast(Group.Everyone, happened.Channel, happened.Payload);
    ///         }
    ///     server.Flush();
    /// }
    /// </code></example>
    public sealed unsafe partial class Server : IDisposable
    {
        private readonly NativeHandle handle;
        private readonly EventBuffer events;

        private Server(NativeHandle handle, int eventsPerPoll)
        {
            this.handle = handle;
            events = new EventBuffer(handle, eventsPerPoll);
        }

        /// <summary>Opens the sockets and begins to serve.</summary>
        /// <exception cref="SkipstoneException">A field of the configuration is out of range; the certificate cannot be
        /// used; the address is not this machine's, or is in use; the native library is missing or of another
        /// version.</exception>
        public static Server Start(ServerConfig config)
        {
            if (config == null) throw new ArgumentNullException(nameof(config));
            AbiCheck.Run();
            EventBuffer.CheckCapacity(config.EventsPerPoll);
            using (var arena = new Arena())
            {
                NativeServerConfig native;
                Configurations.Fill(&native, config, arena);
                ulong number;
                Calls.Check(NativeMethods.skipstone_server_start(&native, &number));
                return new Server(new NativeHandle(number, nameof(Server)), config.EventsPerPoll);
            }
        }

        /// <summary>Takes the events since the last call, up to <see cref="ServerConfig.EventsPerPoll"/>: call again if
        /// there were that many. They are read in place, until the next call. No garbage.</summary>
        /// <exception cref="SkipstoneException"><see cref="Status.WrongThread"/>: another thread polls, and has not
        /// called <see cref="EndPoll"/>.</exception>
        public EventBatch Poll() => events.Poll();

        /// <summary>Returns the events of the last <see cref="Poll"/>, so that another thread may poll.</summary>
        public void EndPoll() => events.End();

        /// <summary>Waits for an event, for <paramref name="span"/> at most: a loop that runs at a fixed rate calls
        /// <see cref="WaitTick"/>. A stepped server is driven meanwhile.</summary>
        public void Wait(TimeSpan span) => handle.Wait(span);

        /// <summary>Waits for the next tick of a loop that runs once per <paramref name="interval"/>, regardless of the
        /// number of events: <see cref="Poll"/> returns them afterwards. The first tick is due an interval after the
        /// first call; ticks do not drift, and those that are late by a whole interval or more are skipped. A stepped
        /// server is driven meanwhile.</summary>
        /// <returns>The number of ticks that were skipped.</returns>
        public ulong WaitTick(TimeSpan interval) => handle.WaitTick(interval);

        /// <summary>Drives a stepped server: receives, handles timers and sends, waiting for its sockets for
        /// <paramref name="waitMax"/> at most.</summary>
        public void Drive(TimeSpan waitMax = default) => handle.Drive(waitMax);

        /// <summary>Sends all messages that were queued since the last flush. Needed at the end of each tick, unless
        /// <see cref="ServerConfig.Merging"/> says otherwise.</summary>
        public void Flush() => handle.Flush();

        /// <summary>Accepts a client that asked to connect. <see cref="EventKind.Connected"/> follows.</summary>
        public void Accept(PeerId peer) => Calls.Check(NativeMethods.skipstone_server_accept(handle.Number, peer.Value));

        /// <summary>Refuses a client that asked to connect. It receives the code (those below 1,000 are the
        /// application's own) and up to 512 bytes of the reason.</summary>
        public void Refuse(PeerId peer, ulong code = CloseCode.Refused, string reason = "")
        {
            using (var arena = new Arena())
                Calls.Check(NativeMethods.skipstone_server_refuse(handle.Number, peer.Value, code, (byte*)arena.Text(reason, nameof(reason))));
        }

        /// <summary>Ends a connection. Queued reliable messages have <paramref name="linger"/> to arrive first;
        /// <see cref="EventKind.Closed"/> follows.</summary>
        public void Close(PeerId peer, ulong code = CloseCode.Kicked, string reason = "", TimeSpan linger = default)
        {
            using (var arena = new Arena())
                Calls.Check(NativeMethods.skipstone_server_close(handle.Number, peer.Value, code,
                    (byte*)arena.Text(reason, nameof(reason)), Native.Time.ToMicroseconds(linger, nameof(linger))));
        }

        /// <summary>Sends a message. On a reliable channel it is delivered, or ends in <see cref="EventKind.GivenUp"/>,
        /// or its connection ends in <see cref="EventKind.Closed"/>. The bytes are copied, once. No garbage.</summary>
        /// <param name="peer">A connected peer.</param>
        /// <param name="channel">One that the channel table has.</param>
        /// <param name="payload">The message.</param>
        /// <param name="age">The <see cref="Event.Age"/> of the message that this one answers or passes on.</param>
        /// <exception cref="SkipstoneException">The message was not accepted; <see cref="SkipstoneException.Status"/>
        /// says why.</exception>
        public MessageId Send(PeerId peer, ushort channel, ArraySegment<byte> payload, TimeSpan age = default)
        {
            Status status = TrySend(peer, channel, payload, out MessageId id, age);
            return status == Status.Ok ? id : throw Calls.Error(status);
        }

        /// <inheritdoc cref="Send(PeerId, ushort, ArraySegment{byte}, TimeSpan)"/>
        public MessageId Send(PeerId peer, ushort channel, byte[] payload, TimeSpan age = default) =>
            Send(peer, channel, new ArraySegment<byte>(payload), age);

        /// <summary>Passes bytes on that arrived; otherwise as the others.</summary>
        public MessageId Send(PeerId peer, ushort channel, Payload payload, TimeSpan age = default)
        {
            Status status = TrySend(peer, channel, payload.Pointer, payload.Length, out MessageId id, age);
            return status == Status.Ok ? id : throw Calls.Error(status);
        }

        /// <summary>As <see cref="Send(PeerId, ushort, ArraySegment{byte}, TimeSpan)"/>, without an exception: a full
        /// queue is no surprise in a game.</summary>
        /// <returns><see cref="Status.Ok"/>, or why the message was not accepted.</returns>
        public Status TrySend(PeerId peer, ushort channel, ArraySegment<byte> payload, out MessageId id, TimeSpan age = default)
        {
            fixed (byte* bytes = payload.Array) return TrySend(peer, channel, bytes + payload.Offset, payload.Count, out id, age);
        }

        /// <inheritdoc cref="TrySend(PeerId, ushort, ArraySegment{byte}, out MessageId, TimeSpan)"/>
        public Status TrySend(PeerId peer, ushort channel, byte[] payload, out MessageId id, TimeSpan age = default) =>
            TrySend(peer, channel, new ArraySegment<byte>(payload), out id, age);

        /// <summary>The same for bytes at a pointer.</summary>
        public Status TrySend(PeerId peer, ushort channel, byte* payload, int length, out MessageId id, TimeSpan age = default)
        {
            if (length < 0) throw new ArgumentOutOfRangeException(nameof(length), length, "a length is not negative");
            ulong number;
            int status = NativeMethods.skipstone_server_send(handle.Number, peer.Value, channel, payload, (UIntPtr)length,
                Native.Time.ToMicroseconds(age, nameof(age)), &number);
            id = new MessageId(status == 0 ? number : 0);
            return (Status)status;
        }

#if NETSTANDARD2_1_OR_GREATER || NETCOREAPP2_1_OR_GREATER || UNITY_2021_2_OR_NEWER
        /// <inheritdoc cref="Send(PeerId, ushort, ArraySegment{byte}, TimeSpan)"/>
        public MessageId Send(PeerId peer, ushort channel, ReadOnlySpan<byte> payload, TimeSpan age = default)
        {
            Status status = TrySend(peer, channel, payload, out MessageId id, age);
            return status == Status.Ok ? id : throw Calls.Error(status);
        }

        /// <inheritdoc cref="TrySend(PeerId, ushort, ArraySegment{byte}, out MessageId, TimeSpan)"/>
        public Status TrySend(PeerId peer, ushort channel, ReadOnlySpan<byte> payload, out MessageId id, TimeSpan age = default)
        {
            fixed (byte* bytes = payload) return TrySend(peer, channel, bytes, payload.Length, out id, age);
        }
#endif

        /// <summary>Sets when messages to one peer are sent.</summary>
        public void SetMerging(PeerId peer, Merging merging) =>
            Calls.Check(NativeMethods.skipstone_server_set_merging(handle.Number, peer.Value, merging.Microseconds));

        /// <summary>Sets the answer to queries of server browsers, which have no connection, up to 1,181 bytes;
        /// <c>null</c> for none.</summary>
        public void SetQueryAnswer(byte[] answer)
        {
            // An empty answer is an answer; the library takes a null pointer for none.
            byte none;
            fixed (byte* bytes = answer)
            {
                byte* start = answer != null && answer.Length == 0 ? &none : bytes;
                Calls.Check(NativeMethods.skipstone_server_set_query_answer(handle.Number, start, (UIntPtr)(answer?.Length ?? 0)));
            }
        }

        /// <summary>Connects a client of this process: a single player, or the host of a listen server. The same events
        /// and channels as over a network, without a socket and without encryption.</summary>
        public Client ConnectLocal(byte[] token = null, ClientConfig config = null) => Client.ConnectLocal(handle.Number, token, config);

        /// <summary>The URL by which clients on this machine reach the server, with its fingerprint.</summary>
        public string Url => Calls.Read(Calls.Text.Url, handle.Number);

        /// <summary>The URL by which pages on this machine reach the server by WebTransport; <c>null</c> if it has
        /// none.</summary>
        public string WebTransportUrl => Calls.Read(Calls.Text.WebTransportUrl, handle.Number);

        /// <summary>The address on which the server listens, for example <c>0.0.0.0:7777</c>.</summary>
        public string Address => Calls.Read(Calls.Text.Address, handle.Number);

        /// <summary>The port on which the server listens.</summary>
        public int Port
        {
            get
            {
                ushort port;
                Calls.Check(NativeMethods.skipstone_server_port(handle.Number, &port));
                return port;
            }
        }

        /// <summary>SHA-256 of the server's certificate, 32 bytes; <c>null</c> if it does not encrypt.</summary>
        public byte[] Fingerprint
        {
            get
            {
                var fingerprint = new byte[32];
                int status;
                fixed (byte* bytes = fingerprint) status = NativeMethods.skipstone_server_fingerprint(handle.Number, bytes);
                if (status == (int)Status.NotAvailable) return null;
                Calls.Check(status);
                return fingerprint;
            }
        }

        /// <summary>SHA-256 of the certificates that browsers accept by their hash, 32 bytes each: for
        /// <c>serverCertificateHashes</c> of a page. The current one and the next one; none if the certificate is
        /// signed by an authority that browsers trust.</summary>
        public byte[][] WebFingerprints
        {
            get
            {
                const int length = 32, most = 8;
                byte* bytes = stackalloc byte[length * most];
                uint count;
                Calls.Check(NativeMethods.skipstone_server_web_fingerprints(handle.Number, bytes, most, &count));
                var fingerprints = new byte[Math.Min((int)count, most)][];
                for (int one = 0; one < fingerprints.Length; one++)
                {
                    fingerprints[one] = new byte[length];
                    for (int at = 0; at < length; at++) fingerprints[one][at] = bytes[one * length + at];
                }
                return fingerprints;
            }
        }

        /// <summary>How long the server has been running.</summary>
        public TimeSpan Time
        {
            get
            {
                ulong microseconds;
                Calls.Check(NativeMethods.skipstone_server_time(handle.Number, &microseconds));
                return Native.Time.FromMicroseconds(microseconds);
            }
        }

        /// <summary>Counters of all connections, past and present.</summary>
        public Stats Stats
        {
            get
            {
                NativeStats native = default;
                native.Size = (uint)sizeof(NativeStats);
                Calls.Check(NativeMethods.skipstone_server_stats(handle.Number, &native));
                return new Stats(native);
            }
        }

        /// <summary>Counters of the drivers and their sockets.</summary>
        public DriverStats DriverStats => Figures.Driver(handle.Number);

        /// <summary>State and counters of one connection. False if there is no such connection, or it is younger than
        /// the newest snapshot.</summary>
        public bool TryReadOverview(PeerId peer, out Overview overview) => Figures.TryOverview(handle.Number, peer.Value, out overview);

        /// <summary>State and counters of every connection. For display: the cost grows with the number of connections.
        /// Makes an array.</summary>
        public Overview[] Overviews => Figures.Overviews(handle.Number);

        /// <summary>Why the server's driver has ended; <c>null</c> while it runs.</summary>
        public string Failure => Calls.Read(Calls.Text.Failure, handle.Number);

        /// <summary>Closes every connection and stops the server. Queued reliable messages have
        /// <paramref name="linger"/> to arrive; the call takes little longer.</summary>
        public void Shutdown(ulong code = CloseCode.Shutdown, string reason = "", TimeSpan linger = default)
        {
            using (var arena = new Arena())
                Calls.Check(NativeMethods.skipstone_server_stop(handle.Number, code, (byte*)arena.Text(reason, nameof(reason)),
                    Native.Time.ToMicroseconds(linger, nameof(linger))));
            handle.Ended();
            events.Dispose();
        }

        /// <summary>Closes the sockets at once. Calls that follow throw
        /// <see cref="ObjectDisposedException"/>.</summary>
        public void Dispose()
        {
            handle.Dispose();
            events.Dispose();
        }
    }
}
