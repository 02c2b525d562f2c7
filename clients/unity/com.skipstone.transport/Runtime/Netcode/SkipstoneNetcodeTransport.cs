using System;
using Unity.Netcode;
using UnityEngine;

namespace Skipstone.Unity
{
    /// <summary>Skipstone as a transport for Netcode for GameObjects, 1.11 to 2.x.</summary>
    [AddComponentMenu("Netcode/Skipstone Transport")]
    [DisallowMultipleComponent]
    public sealed class SkipstoneNetcodeTransport : NetworkTransport
    {
        /// <summary>Where to listen and where to connect.</summary>
        public TransportSettings Settings = new TransportSettings();

        private TransportClient client;

        /// <summary>The server, between <c>StartServer</c> and <c>Shutdown</c>: for statistics and groups.</summary>
        public TransportServer Server { get; private set; }

        /// <inheritdoc/>
        public override ulong ServerClientId => 0;

        /// <inheritdoc/>
        public override void Initialize(NetworkManager networkManager = null) { }

        /// <inheritdoc/>
        public override bool StartClient()
        {
            try
            {
                client = TransportClient.Connect(Settings);
                return true;
            }
            catch (SkipstoneException error)
            {
                Debug.LogError(error.Message, this);
                return false;
            }
        }

        /// <inheritdoc/>
        public override bool StartServer()
        {
            try
            {
                ServerConfig config = Settings.ServerConfig();
#if !SKIPSTONE_NETCODE_2
                // Netcode 1 does not report that all messages of a tick are queued.
                config.Merging = Merging.After(TimeSpan.FromMilliseconds(1));
#endif
                Server = new TransportServer(config);
                Debug.Log("Skipstone serves at " + Server.Native.Url);
                return true;
            }
            catch (SkipstoneException error)
            {
                Debug.LogError(error.Message, this);
                return false;
            }
        }

        /// <inheritdoc/>
        public override void Send(ulong clientId, ArraySegment<byte> payload, NetworkDelivery networkDelivery)
        {
            ushort channel = ChannelOf(networkDelivery);
            Status status = Server != null ? Server.SendOrEnd((int)clientId, channel, payload)
                : client != null ? client.SendOrEnd(channel, payload) : Status.NotConnected;
            // A peer that has just left is no error: its close is among the events.
            if (status != Status.Ok && status != Status.NotConnected && status != Status.UnknownPeer && status != Status.DriverGone)
                Debug.LogError("a message of " + payload.Count + " bytes was not sent: " + status, this);
        }

        /// <inheritdoc/>
        public override NetworkEvent PollEvent(out ulong clientId, out ArraySegment<byte> payload, out float receiveTime)
        {
            TransportEvent happened = TransportEvent.Empty;
            bool isOne = Server != null ? Server.TryTake(out happened) : client != null && client.TryTake(out happened);
            clientId = (ulong)happened.Connection;
            payload = happened.Payload;
            receiveTime = Time.realtimeSinceStartup;
            if (!isOne) return NetworkEvent.Nothing;
            switch (happened.Kind)
            {
                case TransportEventKind.Connected: return NetworkEvent.Connect;
                case TransportEventKind.Message: return NetworkEvent.Data;
                default: return NetworkEvent.Disconnect;
            }
        }

        /// <inheritdoc/>
        public override void DisconnectRemoteClient(ulong clientId) => Server?.Disconnect((int)clientId);

        /// <inheritdoc/>
        public override void DisconnectLocalClient()
        {
            client?.Dispose();
            client = null;
        }

        /// <inheritdoc/>
        public override ulong GetCurrentRtt(ulong clientId)
        {
            TimeSpan rtt = Server != null ? Server.RttOf((int)clientId) : client?.Rtt ?? TimeSpan.Zero;
            return (ulong)Math.Round(rtt.TotalMilliseconds);
        }

        /// <inheritdoc/>
        public override void Shutdown()
        {
            DisconnectLocalClient();
            Server?.Dispose();
            Server = null;
        }

#if SKIPSTONE_NETCODE_2
        /// <inheritdoc/>
        protected override NetworkTopologyTypes OnCurrentTopology() => NetworkTopologyTypes.ClientServer;

        /// <inheritdoc/>
        protected override void OnPostLateUpdate() => Server?.Flush();
#endif

        private static ushort ChannelOf(NetworkDelivery delivery)
        {
            switch (delivery)
            {
                case NetworkDelivery.Unreliable: return TransportChannels.Unreliable;
                case NetworkDelivery.UnreliableSequenced: return TransportChannels.UnreliableSequenced;
                case NetworkDelivery.Reliable: return TransportChannels.ReliableUnordered;
                default: return TransportChannels.ReliableOrdered;
            }
        }

        private void OnDestroy() => Shutdown();
    }
}
