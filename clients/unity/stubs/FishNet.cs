// FishNet 4.7: the interface of a transport.
using System;
using UnityEngine;

namespace FishNet.Managing
{
    public class NetworkManager : MonoBehaviour { }
}

namespace FishNet.Transporting
{
    using FishNet.Managing;

    public enum Channel : byte { Reliable = 0, Unreliable = 1 }

    public enum LocalConnectionState : int { Stopped = 0, Stopping = 1, Starting = 2, Started = 3 }

    public enum RemoteConnectionState : byte { Stopped = 0, Started = 2 }

    public enum IPAddressType { IPv4 = 0, IPv6 = 1 }

    public struct ClientReceivedDataArgs
    {
        public ClientReceivedDataArgs(ArraySegment<byte> data, Channel channel, int transportIndex) { }
    }

    public struct ServerReceivedDataArgs
    {
        public ServerReceivedDataArgs(ArraySegment<byte> data, Channel channel, int connectionId, int transportIndex) { }
    }

    public struct ClientConnectionStateArgs
    {
        public ClientConnectionStateArgs(LocalConnectionState connectionState, int transportIndex) { }
    }

    public struct ServerConnectionStateArgs
    {
        public ServerConnectionStateArgs(LocalConnectionState connectionState, int transportIndex) { }
    }

    public struct RemoteConnectionStateArgs
    {
        public RemoteConnectionStateArgs(RemoteConnectionState connectionState, int connectionId, int transportIndex) { }
    }

    public abstract class Transport : MonoBehaviour
    {
        public int Index { get; private set; }
        public NetworkManager NetworkManager { get; private set; }

        public virtual void Initialize(NetworkManager networkManager, int transportIndex)
        {
            NetworkManager = networkManager;
            Index = transportIndex;
        }

        public abstract string GetConnectionAddress(int connectionId);
        public abstract event Action<ClientConnectionStateArgs> OnClientConnectionState;
        public abstract event Action<ServerConnectionStateArgs> OnServerConnectionState;
        public abstract event Action<RemoteConnectionStateArgs> OnRemoteConnectionState;
        public abstract void HandleClientConnectionState(ClientConnectionStateArgs connectionStateArgs);
        public abstract void HandleServerConnectionState(ServerConnectionStateArgs connectionStateArgs);
        public abstract void HandleRemoteConnectionState(RemoteConnectionStateArgs connectionStateArgs);
        public abstract LocalConnectionState GetConnectionState(bool server);
        public abstract RemoteConnectionState GetConnectionState(int connectionId);
        public abstract void SendToServer(byte channelId, ArraySegment<byte> segment);
        public abstract void SendToClient(byte channelId, ArraySegment<byte> segment, int connectionId);
        public abstract event Action<ClientReceivedDataArgs> OnClientReceivedData;
        public abstract void HandleClientReceivedDataArgs(ClientReceivedDataArgs receivedDataArgs);
        public abstract event Action<ServerReceivedDataArgs> OnServerReceivedData;
        public abstract void HandleServerReceivedDataArgs(ServerReceivedDataArgs receivedDataArgs);
        public virtual float GetPacketLoss(bool asServer) => 0;
        public abstract void IterateIncoming(bool asServer);
        public abstract void IterateOutgoing(bool asServer);
        public virtual bool IsLocalTransport(int connectionId) => false;
        public virtual float GetTimeout(bool asServer) => 0;
        public virtual void SetTimeout(float value, bool asServer) { }
        public virtual int GetMaximumClients() => 0;
        public virtual void SetMaximumClients(int value) { }
        public virtual void SetClientAddress(string address) { }
        public virtual string GetClientAddress() => "";
        public virtual void SetServerBindAddress(string address, IPAddressType addressType) { }
        public virtual string GetServerBindAddress(IPAddressType addressType) => "";
        public virtual void SetPort(ushort port) { }
        public virtual ushort GetPort() => 0;
        public abstract bool StartConnection(bool server);
        public abstract bool StopConnection(bool server);
        public abstract bool StopConnection(int connectionId, bool immediately);
        public abstract void Shutdown();
        public abstract int GetMTU(byte channel);
    }
}
