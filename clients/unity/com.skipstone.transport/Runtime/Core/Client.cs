using System;
using Skipstone.Native;

namespace Skipstone
{
    /// <summary>A connection to a server.</summary>
    /// <remarks>Calls may come from several threads, but one thread polls, and reads the events that it got. Disposing ends the connection
    /// without telling the server; <see cref="Close"/> tells it. After <see cref="EventKind.Closed"/>, <see cref="Reconnect"/> connects
    /// again: with a pause that grows while attempts fail, and a random part in it where many players lose a server at the same
    /// moment. <see cref="ClientConfig.Reconnect"/> does so by itself.</remarks>
    /// <example><code>
    /// using var client = Client.Connect("skip://game.example:7777", Encoding.UTF8.GetBytes("Ann"));
    /// while (true) // a game does this once per frame, without the WaitTick
    /// {
    ///     client.WaitTick(TimeSpan.FromMilliseconds(16));
    ///     for (EventBatch batch = client.Poll(); batch.Count > 0; batch = client.Poll())
    ///         foreach (Event happened in batch)
    ///             if (happened.Kind == EventKind.Connected) client.Send(0, Encoding.UTF8.GetBytes("hello"));
    /// }
    /// </code></example>
    public sealed unsafe class Client : IDisposable
    {
        private readonly NativeHandle handle;
        private readonly EventBuffer events;

        private Client(NativeHandle handle, int eventsPerPoll)
        {
            this.handle = handle;
            events = new EventBuffer(handle, eventsPerPoll);
        }

        /// <summary>Begins to connect; <see cref="EventKind.Connected"/> or <see cref="EventKind.Closed"/>
        /// follows.</summary>
        /// <param name="url"><c>skip://host:port#sha256=...</c> (encrypted), <c>skip+plain://</c>, <c>skip+dtls://</c>,
        /// <c>ws://</c>, <c>wss://</c> or <c>tcp://</c>.</param>
        /// <param name="token">The server decides by it whether to accept the client: up to 1,024 bytes; <c>null</c>
        /// for none.</param>
        /// <param name="config"><c>null</c> for the defaults.</param>
        /// <exception cref="SkipstoneException">The URL is invalid; a field of the configuration is out of range; the
        /// requested trust is not available; the token is too long; the native library is missing or of another
        /// version.</exception>
        public static Client Connect(string url, byte[] token = null, ClientConfig config = null)
        {
            if (url == null) throw new ArgumentNullException(nameof(url));
            return Begin(url, 0, token, config);
        }

        internal static Client ConnectLocal(ulong server, byte[] token, ClientConfig config) => Begin(null, server, token, config);

        private static Client Begin(string url, ulong server, byte[] token, ClientConfig config)
        {
            AbiCheck.Run();
            config = config ?? new ClientConfig();
            EventBuffer.CheckCapacity(config.EventsPerPoll);
            using (var arena = new Arena())
            {
                NativeClientConfig native;
                Configurations.Fill(&native, config, arena);
                var tokenLength = (UIntPtr)(token?.Length ?? 0);
                ulong number;
                int status;
                fixed (byte* bytes = token)
                {
                    status = url == null
                        ? NativeMethods.skipstone_client_connect_local(server, bytes, tokenLength, &native, &number)
                        : NativeMethods.skipstone_client_connect((byte*)arena.Text(url, nameof(url)), bytes, tokenLength, &native, &number);
                }
                Calls.Check(status);
                return new Client(new NativeHandle(number, nameof(Client)), config.EventsPerPoll);
            }
        }

        /// <summary>Takes the events since the last call, up to <see cref="ClientConfig.EventsPerPoll"/>: call again if
        /// there were that many. They are read in place, until the next call. No garbage.</summary>
        /// <exception cref="SkipstoneException"><see cref="Status.WrongThread"/>: another thread polls, and has not
        /// called <see cref="EndPoll"/>.</exception>
        public EventBatch Poll() => events.Poll();

        /// <summary>Returns the events of the last <see cref="Poll"/>, so that another thread may poll.</summary>
        public void EndPoll() => events.End();

        /// <summary>Waits for an event, for <paramref name="span"/> at most: a loop that runs at a fixed rate calls
        /// <see cref="WaitTick"/>. A stepped client is driven meanwhile.</summary>
        public void Wait(TimeSpan span) => handle.Wait(span);

        /// <summary>Waits for the next tick of a loop that runs once per <paramref name="interval"/>, regardless of the
        /// number of events: <see cref="Poll"/> returns them afterwards. The first tick is due an interval after the
        /// first call; ticks do not drift, and those that are late by a whole interval or more are skipped. A stepped
        /// client is driven meanwhile.</summary>
        /// <returns>The number of ticks that were skipped.</returns>
        public ulong WaitTick(TimeSpan interval) => handle.WaitTick(interval);

        /// <summary>Drives a stepped client: receives, handles timers and sends, waiting for its socket for
        /// <paramref name="waitMax"/> at most.</summary>
        public void Drive(TimeSpan waitMax = default) => handle.Drive(waitMax);

        /// <summary>Sends all messages that were queued since the last flush; needed only with
        /// <see cref="Merging.UntilFlush"/>.</summary>
        public void Flush() => handle.Flush();

        /// <summary>Sends a message to the server. On a reliable channel it is delivered, or ends in
        /// <see cref="EventKind.GivenUp"/>, or the connection ends in <see cref="EventKind.Closed"/>. The bytes are
        /// copied, once. No garbage.</summary>
        /// <param name="channel">One that the server's channel table has.</param>
        /// <param name="payload">The message.</param>
        /// <param name="age">The <see cref="Event.Age"/> of the message that this one answers.</param>
        /// <exception cref="SkipstoneException">The message was not accepted; <see cref="SkipstoneException.Status"/>
        /// says why.</exception>
        public MessageId Send(ushort channel, ArraySegment<byte> payload, TimeSpan age = default)
        {
            Status status = TrySend(channel, payload, out MessageId id, age);
            return status == Status.Ok ? id : throw Calls.Error(status);
        }

        /// <inheritdoc cref="Send(ushort, ArraySegment{byte}, TimeSpan)"/>
        public MessageId Send(ushort channel, byte[] payload, TimeSpan age = default) => Send(channel, new ArraySegment<byte>(payload), age);

        /// <summary>Passes bytes on that arrived; otherwise as the others.</summary>
        public MessageId Send(ushort channel, Payload payload, TimeSpan age = default)
        {
            Status status = TrySend(channel, payload.Pointer, payload.Length, out MessageId id, age);
            return status == Status.Ok ? id : throw Calls.Error(status);
        }

        /// <summary>As <see cref="Send(ushort, ArraySegment{byte}, TimeSpan)"/>, without an exception: a full queue is
        /// no surprise in a game.</summary>
        /// <returns><see cref="Status.Ok"/>, or why the message was not accepted.</returns>
        public Status TrySend(ushort channel, ArraySegment<byte> payload, out MessageId id, TimeSpan age = default)
        {
            fixed (byte* bytes = payload.Array) return TrySend(channel, bytes + payload.Offset, payload.Count, out id, age);
        }

        /// <inheritdoc cref="TrySend(ushort, ArraySegment{byte}, out MessageId, TimeSpan)"/>
        public Status TrySend(ushort channel, byte[] payload, out MessageId id, TimeSpan age = default) =>
            TrySend(channel, new ArraySegment<byte>(payload), out id, age);

        /// <summary>The same for bytes at a pointer.</summary>
        public Status TrySend(ushort channel, byte* payload, int length, out MessageId id, TimeSpan age = default)
        {
            if (length < 0) throw new ArgumentOutOfRangeException(nameof(length), length, "a length is not negative");
            ulong number;
            int status = NativeMethods.skipstone_client_send(handle.Number, channel, payload, (UIntPtr)length,
                Native.Time.ToMicroseconds(age, nameof(age)), &number);
            id = new MessageId(status == 0 ? number : 0);
            return (Status)status;
        }

#if NETSTANDARD2_1_OR_GREATER || NETCOREAPP2_1_OR_GREATER || UNITY_2021_2_OR_NEWER
        /// <inheritdoc cref="Send(ushort, ArraySegment{byte}, TimeSpan)"/>
        public MessageId Send(ushort channel, ReadOnlySpan<byte> payload, TimeSpan age = default)
        {
            Status status = TrySend(channel, payload, out MessageId id, age);
            return status == Status.Ok ? id : throw Calls.Error(status);
        }

        /// <inheritdoc cref="TrySend(ushort, ArraySegment{byte}, out MessageId, TimeSpan)"/>
        public Status TrySend(ushort channel, ReadOnlySpan<byte> payload, out MessageId id, TimeSpan age = default)
        {
            fixed (byte* bytes = payload) return TrySend(channel, bytes, payload.Length, out id, age);
        }
#endif

        /// <summary>The connection's identity in its events. It stays the same when the client reconnects.</summary>
        public PeerId Peer
        {
            get
            {
                ulong peer;
                Calls.Check(NativeMethods.skipstone_client_peer(handle.Number, &peer));
                return new PeerId(peer);
            }
        }

        /// <summary>The server's address as text; <c>null</c> while none of the addresses of its name has
        /// answered.</summary>
        public string ServerAddress => Calls.Read(Calls.Text.ServerAddress, handle.Number);

        /// <summary>The rule of a channel, as the server's table has it. False before
        /// <see cref="EventKind.Connected"/>.</summary>
        /// <exception cref="SkipstoneException"><see cref="Status.NoSuchChannel"/>: the table has no rule for
        /// it.</exception>
        public bool TryReadChannel(ushort channel, out ChannelRule rule)
        {
            NativeChannel native = default;
            native.Size = (uint)sizeof(NativeChannel);
            int status = NativeMethods.skipstone_client_channel(handle.Number, channel, &native);
            rule = null;
            if (status == (int)Status.NotAvailable) return false;
            Calls.Check(status);
            rule = Configurations.Rule(native);
            return true;
        }

        /// <summary>State and counters of the connection. False before the first snapshot.</summary>
        public bool TryReadOverview(out Overview overview) => Figures.TryOverview(handle.Number, Peer.Value, out overview);

        /// <summary>An estimate of the server's clock now. False until the server has answered.</summary>
        public bool TryReadServerTime(out ServerTime time)
        {
            NativeServerTime native;
            int status = NativeMethods.skipstone_client_server_time(handle.Number, &native);
            time = default;
            if (status == (int)Status.NotAvailable) return false;
            Calls.Check(status);
            time = new ServerTime(Time.FromMicroseconds(native.AtMicroseconds), Time.FromMicroseconds(native.ErrorMicroseconds));
            return true;
        }

        /// <summary>Counters of the driver and its socket.</summary>
        public DriverStats DriverStats => Figures.Driver(handle.Number);

        /// <summary>Why the client's driver has ended; <c>null</c> while it runs.</summary>
        public string Failure => Calls.Read(Calls.Text.Failure, handle.Number);

        /// <summary>Migrates the connection to a new socket, after the system has reported a change of network. False
        /// if the connection is not established, or is a stream, which cannot migrate.</summary>
        public bool Rebind()
        {
            uint hasMoved;
            Calls.Check(NativeMethods.skipstone_client_rebind(handle.Number, &hasMoved));
            return hasMoved != 0;
        }

        /// <summary>Begins a new connection after <see cref="EventKind.Closed"/>, with the URL and configuration of the
        /// first, and with the latest token: that of <see cref="SetToken"/>, or else the first. A client with
        /// <see cref="ClientConfig.Reconnect"/> needs it only after it has given up.</summary>
        /// <exception cref="SkipstoneException"><see cref="Status.StillOpen"/>: the connection has not ended, or the
        /// client connects again by itself.</exception>
        public void Reconnect() => Calls.Check(NativeMethods.skipstone_client_reconnect(handle.Number));

        /// <summary>The time until a client with <see cref="ClientConfig.Reconnect"/> connects again: call it while
        /// handling <see cref="EventKind.Closed"/>, before the next poll, which may begin the next attempt. The next
        /// connection is a new one, and queued messages are not transferred to it. <c>null</c> if there is no next
        /// attempt, or the client is connected or connecting.</summary>
        public TimeSpan? ReturnsIn
        {
            get
            {
                ulong microseconds;
                int status = NativeMethods.skipstone_client_returns_in(handle.Number, &microseconds);
                if (status == (int)Status.NotAvailable) return null;
                Calls.Check(status);
                return Time.FromMicroseconds(microseconds);
            }
        }

        /// <summary>Sets the token of later connections: what the server gave the client for its session, in place of
        /// the first token. Up to 1,024 bytes; <c>null</c> for none.</summary>
        /// <exception cref="SkipstoneException"><see cref="Status.TooLong"/>: the previous token stays.</exception>
        public void SetToken(byte[] token)
        {
            fixed (byte* bytes = token)
                Calls.Check(NativeMethods.skipstone_client_set_token(handle.Number, bytes, (UIntPtr)(token?.Length ?? 0)));
        }

        /// <summary>Closes the connection. The server receives the code (those below 1,000 are the application's own)
        /// and up to 512 bytes of the reason. Queued reliable messages have <paramref name="linger"/> to arrive first.
        /// Returns when the server has confirmed the close, or soon after.</summary>
        public void Close(ulong code = CloseCode.None, string reason = "", TimeSpan linger = default)
        {
            using (var arena = new Arena())
                Calls.Check(NativeMethods.skipstone_client_close(handle.Number, code, (byte*)arena.Text(reason, nameof(reason)),
                    Time.ToMicroseconds(linger, nameof(linger))));
            handle.Ended();
            events.Dispose();
        }

        /// <summary>Ends the connection without notifying the server. Calls that follow throw
        /// <see cref="ObjectDisposedException"/>.</summary>
        public void Dispose()
        {
            handle.Dispose();
            events.Dispose();
        }
    }
}
