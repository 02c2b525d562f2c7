using System;

namespace Skipstone.Unity
{
    /// <summary>A client in the form that Unity's networking libraries need: the native one, and in WebGL builds the
    /// browser's.</summary>
    public abstract class TransportClient : IDisposable
    {
        /// <summary>Begins to connect.</summary>
        /// <exception cref="SkipstoneException">The address cannot be read, or the native library is
        /// missing.</exception>
        public static TransportClient Connect(TransportSettings settings, byte[] token = null)
        {
#if UNITY_WEBGL && !UNITY_EDITOR
            return new BrowserTransportClient(settings.Url(true), token);
#else
            return new NativeTransportClient(settings.Url(false), token);
#endif
        }

        /// <summary>Whether messages can be sent.</summary>
        public bool IsConnected { get; protected set; }

        // Why SendOrEnd ended the connection, and whether that was reported.
        private string broken;
        private bool isEndTold;

        /// <summary>Takes the next event. Its payload stays until the next call.</summary>
        public bool TryTake(out TransportEvent happened)
        {
            if (broken == null) return Take(out happened);
            happened = TransportEvent.Empty;
            happened.Kind = TransportEventKind.Disconnected;
            happened.Reason = broken;
            bool isNews = !isEndTold;
            isEndTold = true;
            return isNews;
        }

        /// <summary>Takes the next event of the connection itself.</summary>
        protected abstract bool Take(out TransportEvent happened);

        /// <summary>Sends a message; its bytes are copied.</summary>
        public abstract Status Send(ushort channel, ArraySegment<byte> payload);

        /// <summary>The same for a caller that does not try again: a message that a reliable channel of
        /// <see cref="TransportChannels"/> refuses ends the connection, because the server would wait for it forever.
        /// <see cref="TryTake"/> reports the close.</summary>
        public Status SendOrEnd(ushort channel, ArraySegment<byte> payload)
        {
            if (broken != null) return Status.NotConnected;
            Status status = Send(channel, payload);
            if (!TransportChannels.IsBroken(channel, status)) return status;
            broken = "a message of " + payload.Count + " bytes was refused on a reliable channel: " + status;
            Dispose();
            return status;
        }

        /// <summary>Smoothed round-trip time; zero if it is not known yet.</summary>
        public abstract TimeSpan Rtt { get; }

        /// <summary>Closes the connection and notifies the server.</summary>
        public abstract void Dispose();
    }

    /// <summary>The client of all platforms but browsers.</summary>
    public sealed class NativeTransportClient : TransportClient
    {
        private readonly Client client;
        private EventBatch batch;
        private int next;
        private byte[] scratch = new byte[2048];
        private bool isDisposed;

        /// <summary>Begins to connect.</summary>
        public NativeTransportClient(string url, byte[] token) => client = Client.Connect(url, token);

        /// <summary>Wraps a client, for example one that is connected to a server of this process.</summary>
        public NativeTransportClient(Client client) => this.client = client ?? throw new ArgumentNullException(nameof(client));

        /// <inheritdoc/>
        protected override bool Take(out TransportEvent happened)
        {
            while (!isDisposed)
            {
                if (next == batch.Count)
                {
                    batch = client.Poll();
                    next = 0;
                    if (batch.Count == 0) break;
                }
                if (Read(batch[next++], out happened)) return true;
            }
            happened = TransportEvent.Empty;
            return false;
        }

        private bool Read(Event from, out TransportEvent happened)
        {
            happened = TransportEvent.Empty;
            switch (from.Kind)
            {
                case EventKind.Connected:
                    IsConnected = true;
                    happened.Kind = TransportEventKind.Connected;
                    return true;
                case EventKind.Message:
                    happened.Kind = TransportEventKind.Message;
                    happened.Channel = from.Channel;
                    happened.Payload = from.Payload.CopyTo(ref scratch);
                    return true;
                case EventKind.Closed:
                    IsConnected = false;
                    happened.Kind = TransportEventKind.Disconnected;
                    happened.Code = from.Code;
                    happened.Reason = from.Reason;
                    return true;
                default:
                    return false;
            }
        }

        /// <inheritdoc/>
        public override Status Send(ushort channel, ArraySegment<byte> payload) =>
            isDisposed ? Status.BadHandle : client.TrySend(channel, payload, out _);

        /// <inheritdoc/>
        public override TimeSpan Rtt => IsConnected && client.TryReadOverview(out Overview overview) ? overview.Rtt : TimeSpan.Zero;

        /// <inheritdoc/>
        public override void Dispose()
        {
            if (isDisposed) return;
            isDisposed = true;
            IsConnected = false;
            try
            {
                client.Close();
            }
            catch (ObjectDisposedException)
            {
                // The owner of the client has disposed it.
            }
            catch (SkipstoneException error) when (error.Status == Status.BadHandle || error.Status == Status.DriverGone)
            {
                // It has ended already: with its driver, or with all handles before scripts were reloaded.
            }
            client.Dispose();
        }
    }
}
