using System;
using Mirror;
using UnityEngine;

namespace Skipstone.Unity
{
    /// <summary>Skipstone as a transport for Mirror.</summary>
    [AddComponentMenu("Network/Skipstone Transport")]
    [DisallowMultipleComponent]
    public sealed class SkipstoneMirrorTransport : Transport, PortTransport
    {
        /// <summary>Where to listen and where to connect.</summary>
        public TransportSettings Settings = new TransportSettings();

        /// <summary>Maximum bytes of a message; the library fragments messages that are longer than a
        /// datagram.</summary>
        public int MessageBytesMax = 64 * 1024;

        private TransportClient client;

        /// <summary>The server, between <c>ServerStart</c> and <c>ServerStop</c>: for statistics and groups.</summary>
        public TransportServer Server { get; private set; }

        /// <inheritdoc/>
        public ushort Port
        {
            get => Settings.Port;
            set => Settings.Port = value;
        }

        /// <inheritdoc/>
        public override bool Available() => true;

        /// <inheritdoc/>
        public override bool IsEncrypted => Settings.Encrypt;

        /// <inheritdoc/>
        public override bool ClientConnected() => client != null && client.IsConnected;

        /// <inheritdoc/>
        public override void ClientConnect(string address)
        {
            ClientDisconnect();
            Settings.Address = address;
            try
            {
                client = TransportClient.Connect(Settings);
            }
            catch (SkipstoneException error)
            {
                OnClientError?.Invoke(TransportError.Refused, error.Message);
                OnClientDisconnected?.Invoke();
            }
        }

        /// <inheritdoc/>
        public override void ClientConnect(Uri uri) => ClientConnect(uri.OriginalString);

        /// <inheritdoc/>
        public override void ClientSend(ArraySegment<byte> segment, int channelId = Channels.Reliable)
        {
            Status status = client == null ? Status.NotConnected : client.SendOrEnd(ChannelOf(channelId), segment);
            if (status == Status.Ok) OnClientDataSent?.Invoke(segment, channelId);
            else OnClientError?.Invoke(ErrorOf(status), "a message of " + segment.Count + " bytes was not sent: " + status);
        }

        /// <inheritdoc/>
        public override void ClientDisconnect()
        {
            TransportClient ended = client;
            client = null;
            ended?.Dispose();
            if (ended != null) OnClientDisconnected?.Invoke();
        }

        /// <inheritdoc/>
        public override void ClientEarlyUpdate()
        {
            // A handler may end the connection, and begin another.
            for (TransportClient polled = client; enabled && polled != null && polled == client && polled.TryTake(out TransportEvent happened);)
            {
                switch (happened.Kind)
                {
                    case TransportEventKind.Connected:
                        OnClientConnected?.Invoke();
                        break;
                    case TransportEventKind.Message:
                        OnClientDataReceived?.Invoke(happened.Payload, ChannelOf(happened.Channel));
                        break;
                    default:
                        if (happened.Code != CloseCode.None) OnClientError?.Invoke(ErrorOf(happened.Code), happened.Reason);
                        ClientDisconnect();
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public override Uri ServerUri() => new Uri((Settings.Encrypt ? "skip" : "skip+plain") + "://" + System.Net.Dns.GetHostName() + ":" + Settings.Port);

        /// <inheritdoc/>
        public override bool ServerActive() => Server != null;

        /// <inheritdoc/>
        public override void ServerStart()
        {
            try
            {
                ServerConfig config = Settings.ServerConfig();
                config.MessageBytesMax = (uint)MessageBytesMax;
                Server = new TransportServer(config);
                Debug.Log("Skipstone serves at " + Server.Native.Url);
            }
            catch (SkipstoneException error)
            {
                Debug.LogError(error.Message, this);
            }
        }

        /// <inheritdoc/>
        public override void ServerSend(int connectionId, ArraySegment<byte> segment, int channelId = Channels.Reliable)
        {
            Status status = Server == null ? Status.NotConnected : Server.SendOrEnd(connectionId, ChannelOf(channelId), segment);
            if (status == Status.Ok) OnServerDataSent?.Invoke(connectionId, segment, channelId);
            else OnServerError?.Invoke(connectionId, ErrorOf(status), "a message of " + segment.Count + " bytes was not sent: " + status);
        }

        /// <inheritdoc/>
        public override void ServerDisconnect(int connectionId) => Server?.Disconnect(connectionId);

        /// <inheritdoc/>
        public override string ServerGetClientAddress(int connectionId) => Server == null ? "" : Server.AddressOf(connectionId);

        /// <inheritdoc/>
        public override void ServerStop()
        {
            Server?.Dispose();
            Server = null;
        }

        /// <inheritdoc/>
        public override void ServerEarlyUpdate()
        {
            for (TransportServer polled = Server; enabled && polled != null && polled == Server && polled.TryTake(out TransportEvent happened);)
            {
                switch (happened.Kind)
                {
                    case TransportEventKind.Connected:
                        OnServerConnectedWithAddress?.Invoke(happened.Connection, polled.AddressOf(happened.Connection));
                        break;
                    case TransportEventKind.Message:
                        OnServerDataReceived?.Invoke(happened.Connection, happened.Payload, ChannelOf(happened.Channel));
                        break;
                    default:
                        OnServerDisconnected?.Invoke(happened.Connection);
                        break;
                }
            }
        }

        /// <inheritdoc/>
        public override void ServerLateUpdate() => Server?.Flush();

        /// <inheritdoc/>
        public override int GetMaxPacketSize(int channelId = Channels.Reliable) => MessageBytesMax;

        /// <inheritdoc/>
        public override int GetBatchThreshold(int channelId = Channels.Reliable) => 1100;

        /// <inheritdoc/>
        public override void Shutdown()
        {
            client?.Dispose();
            client = null;
            ServerStop();
        }

        private static ushort ChannelOf(int channelId) =>
            channelId == Channels.Unreliable ? TransportChannels.Unreliable : TransportChannels.ReliableOrdered;

        private static int ChannelOf(ushort channel) =>
            channel == TransportChannels.Unreliable ? Channels.Unreliable : Channels.Reliable;

        private static TransportError ErrorOf(Status status) =>
            status == Status.QueueFull || status == Status.DriverBusy ? TransportError.Congestion
            : status == Status.TooLong ? TransportError.InvalidSend
            : status == Status.NotConnected || status == Status.UnknownPeer ? TransportError.ConnectionClosed
            : TransportError.Unexpected;

        private static TransportError ErrorOf(ulong code) =>
            code == CloseCode.IdleTimeout || code == CloseCode.HandshakeTimeout ? TransportError.Timeout
            : code == CloseCode.Unreachable ? TransportError.DNSResolve
            : code == CloseCode.QueueOverflow || code == CloseCode.Memory ? TransportError.Congestion
            : code == CloseCode.Refused || code == CloseCode.Full || code == CloseCode.Security ? TransportError.Refused
            : TransportError.ConnectionClosed;

        private void OnDestroy() => Shutdown();
    }
}
