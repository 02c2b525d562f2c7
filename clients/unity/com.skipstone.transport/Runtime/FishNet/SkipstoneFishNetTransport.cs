using System;
using FishNet.Transporting;
using UnityEngine;

namespace Skipstone.Unity
{
    /// <summary>Skipstone as a transport for FishNet 4.7.</summary>
    [AddComponentMenu("FishNet/Transport/Skipstone")]
    [DisallowMultipleComponent]
    public sealed class SkipstoneFishNetTransport : Transport
    {
        /// <summary>Where to listen and where to connect.</summary>
        public TransportSettings Settings = new TransportSettings();

        /// <summary>Maximum bytes of a message; the library fragments messages that are longer than a
        /// datagram.</summary>
        public int MessageBytesMax = 64 * 1024;

        private TransportClient client;
        private LocalConnectionState clientState;
        private LocalConnectionState serverState;

        /// <summary>The server, while it runs: for statistics and groups.</summary>
        public TransportServer Server { get; private set; }

        /// <inheritdoc/>
        public override event Action<ClientConnectionStateArgs> OnClientConnectionState;
        /// <inheritdoc/>
        public override event Action<ServerConnectionStateArgs> OnServerConnectionState;
        /// <inheritdoc/>
        public override event Action<RemoteConnectionStateArgs> OnRemoteConnectionState;
        /// <inheritdoc/>
        public override event Action<ClientReceivedDataArgs> OnClientReceivedData;
        /// <inheritdoc/>
        public override event Action<ServerReceivedDataArgs> OnServerReceivedData;

        /// <inheritdoc/>
        public override void HandleClientConnectionState(ClientConnectionStateArgs connectionStateArgs) => OnClientConnectionState?.Invoke(connectionStateArgs);
        /// <inheritdoc/>
        public override void HandleServerConnectionState(ServerConnectionStateArgs connectionStateArgs) => OnServerConnectionState?.Invoke(connectionStateArgs);
        /// <inheritdoc/>
        public override void HandleRemoteConnectionState(RemoteConnectionStateArgs connectionStateArgs) => OnRemoteConnectionState?.Invoke(connectionStateArgs);
        /// <inheritdoc/>
        public override void HandleClientReceivedDataArgs(ClientReceivedDataArgs receivedDataArgs) => OnClientReceivedData?.Invoke(receivedDataArgs);
        /// <inheritdoc/>
        public override void HandleServerReceivedDataArgs(ServerReceivedDataArgs receivedDataArgs) => OnServerReceivedData?.Invoke(receivedDataArgs);

        /// <inheritdoc/>
        public override string GetConnectionAddress(int connectionId) => Server == null ? "" : Server.AddressOf(connectionId);

        /// <inheritdoc/>
        public override LocalConnectionState GetConnectionState(bool server) => server ? serverState : clientState;

        /// <inheritdoc/>
        public override RemoteConnectionState GetConnectionState(int connectionId) =>
            Server != null && Server.Has(connectionId) ? RemoteConnectionState.Started : RemoteConnectionState.Stopped;

        /// <inheritdoc/>
        public override void SendToServer(byte channelId, ArraySegment<byte> segment)
        {
            if (client != null) Report(client.SendOrEnd(ChannelOf(channelId), segment), segment.Count);
        }

        /// <inheritdoc/>
        public override void SendToClient(byte channelId, ArraySegment<byte> segment, int connectionId)
        {
            if (Server != null) Report(Server.SendOrEnd(connectionId, ChannelOf(channelId), segment), segment.Count);
        }

        /// <inheritdoc/>
        public override void IterateIncoming(bool asServer)
        {
            if (asServer) TakeFromClients();
            else TakeFromServer();
        }

        private void TakeFromClients()
        {
            for (TransportServer polled = Server; polled != null && polled == Server && polled.TryTake(out TransportEvent happened);)
            {
                if (happened.Kind == TransportEventKind.Message)
                {
                    HandleServerReceivedDataArgs(new ServerReceivedDataArgs(happened.Payload, ChannelOf(happened.Channel), happened.Connection, Index));
                    continue;
                }
                RemoteConnectionState state = happened.Kind == TransportEventKind.Connected ? RemoteConnectionState.Started : RemoteConnectionState.Stopped;
                HandleRemoteConnectionState(new RemoteConnectionStateArgs(state, happened.Connection, Index));
            }
        }

        private void TakeFromServer()
        {
            for (TransportClient polled = client; polled != null && polled == client && polled.TryTake(out TransportEvent happened);)
            {
                switch (happened.Kind)
                {
                    case TransportEventKind.Connected:
                        SetClientState(LocalConnectionState.Started);
                        break;
                    case TransportEventKind.Message:
                        HandleClientReceivedDataArgs(new ClientReceivedDataArgs(happened.Payload, ChannelOf(happened.Channel), Index));
                        break;
                    default:
                        if (!string.IsNullOrEmpty(happened.Reason)) Debug.LogWarning("the connection ended: " + happened.Reason, this);
                        StopConnection(false);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public override void IterateOutgoing(bool asServer)
        {
            if (asServer) Server?.Flush();
        }

        /// <inheritdoc/>
        public override bool StartConnection(bool server)
        {
            try
            {
                return server ? StartServer() : StartClient();
            }
            catch (SkipstoneException error)
            {
                Debug.LogError(error.Message, this);
                StopConnection(server);
                return false;
            }
        }

        private bool StartServer()
        {
            if (Server != null) return false;
            SetServerState(LocalConnectionState.Starting);
            ServerConfig config = Settings.ServerConfig();
            config.MessageBytesMax = (uint)MessageBytesMax;
            Server = new TransportServer(config);
            Debug.Log("Skipstone serves at " + Server.Native.Url);
            SetServerState(LocalConnectionState.Started);
            return true;
        }

        private bool StartClient()
        {
            if (client != null) return false;
            SetClientState(LocalConnectionState.Starting);
            client = TransportClient.Connect(Settings);
            return true;
        }

        /// <inheritdoc/>
        public override bool StopConnection(bool server)
        {
            if ((server ? serverState : clientState) == LocalConnectionState.Stopped) return false;
            if (server)
            {
                SetServerState(LocalConnectionState.Stopping);
                Server?.Dispose();
                Server = null;
                SetServerState(LocalConnectionState.Stopped);
                return true;
            }
            SetClientState(LocalConnectionState.Stopping);
            client?.Dispose();
            client = null;
            SetClientState(LocalConnectionState.Stopped);
            return true;
        }

        /// <inheritdoc/>
        public override bool StopConnection(int connectionId, bool immediately) => Server != null && Server.Disconnect(connectionId);

        /// <inheritdoc/>
        public override void Shutdown()
        {
            StopConnection(false);
            StopConnection(true);
        }

        /// <inheritdoc/>
        public override int GetMTU(byte channel) => MessageBytesMax;

        /// <inheritdoc/>
        public override int GetMaximumClients() => Settings.ConnectionsMax;
        /// <inheritdoc/>
        public override void SetMaximumClients(int value) => Settings.ConnectionsMax = value;
        /// <inheritdoc/>
        public override void SetClientAddress(string address) => Settings.Address = address;
        /// <inheritdoc/>
        public override string GetClientAddress() => Settings.Address;
        /// <inheritdoc/>
        public override void SetServerBindAddress(string address, IPAddressType addressType) =>
            Settings.ListenAddress = addressType == IPAddressType.IPv6 && !address.StartsWith("[", StringComparison.Ordinal) ? "[" + address + "]" : address;
        /// <inheritdoc/>
        public override string GetServerBindAddress(IPAddressType addressType) => Settings.ListenAddress;
        /// <inheritdoc/>
        public override void SetPort(ushort port) => Settings.Port = port;
        /// <inheritdoc/>
        public override ushort GetPort() => Settings.Port;

        private void SetClientState(LocalConnectionState state)
        {
            clientState = state;
            HandleClientConnectionState(new ClientConnectionStateArgs(state, Index));
        }

        private void SetServerState(LocalConnectionState state)
        {
            serverState = state;
            HandleServerConnectionState(new ServerConnectionStateArgs(state, Index));
        }

        private void Report(Status status, int bytes)
        {
            // A peer that has just left is no error: its close is among the events.
            if (status != Status.Ok && status != Status.NotConnected && status != Status.UnknownPeer && status != Status.DriverGone)
                Debug.LogError("a message of " + bytes + " bytes was not sent: " + status, this);
        }

        private static ushort ChannelOf(byte channelId) =>
            channelId == (byte)Channel.Unreliable ? TransportChannels.Unreliable : TransportChannels.ReliableOrdered;

        private static Channel ChannelOf(ushort channel) => channel == TransportChannels.Unreliable ? Channel.Unreliable : Channel.Reliable;

        private void OnDestroy() => Shutdown();
    }
}
