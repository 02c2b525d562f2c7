using System;

namespace Skipstone.Unity
{
    /// <summary>A client as Unity's networking libraries want it: the native one, and in WebGL builds the browser's.</summary>
    public abstract class TransportClient : IDisposable
    {
        /// <summary>Begins to connect.</summary>
        /// <exception cref="SkipstoneException">The address cannot be read, or the native library is missing.</exception>
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

        /// <summary>Takes the next event. Its payload stays until the next call.</summary>
        public abstract bool TryTake(out TransportEvent happened);

        /// <summary>Sends a message; its bytes are copied.</summary>
        public abstract Status Send(ushort channel, ArraySegment<byte> payload);

        /// <summary>Smoothed round-trip time; zero if it is not known yet.</summary>
        public abstract TimeSpan Rtt { get; }

        /// <summary>Ends the connection and tells the server.</summary>
        public abstract void Dispose();
    }

    /// <summary>The client of all platforms but browsers.</summary>
    public sealed class NativeTransportClient : TransportClient
    {
        private readonly Client client;
        private EventBatch batch;
        private int next;
        private byte[] scratch = new byte[2048];

        /// <summary>Begins to connect.</summary>
        public NativeTransportClient(string url, byte[] token) => client = Client.Connect(url, token);

        /// <summary>Wraps a client, for example one that is connected to a server of this process.</summary>
        public NativeTransportClient(Client client) => this.client = client ?? throw new ArgumentNullException(nameof(client));

        /// <inheritdoc/>
        public override bool TryTake(out TransportEvent happened)
        {
            while (true)
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
        public override Status Send(ushort channel, ArraySegment<byte> payload) => client.TrySend(channel, payload, out _);

        /// <inheritdoc/>
        public override TimeSpan Rtt => client.TryReadOverview(out Overview overview) ? overview.Rtt : TimeSpan.Zero;

        /// <inheritdoc/>
        public override void Dispose()
        {
            IsConnected = false;
            try
            {
                client.Close();
            }
            catch (ObjectDisposedException)
            {
                // A second Dispose has nothing to do.
            }
            catch (SkipstoneException error) when (error.Status == Status.BadHandle || error.Status == Status.DriverGone)
            {
                // It has ended already: with its driver, or with all handles before scripts were reloaded.
            }
            client.Dispose();
        }
    }
}
