// Netcode for GameObjects, 1.11 and 2.x: the interface of a transport.
using System;
using UnityEngine;

namespace Unity.Netcode
{
    public enum NetworkEvent { Data, Connect, Disconnect, TransportFailure, Nothing }

    public enum NetworkDelivery { Unreliable, UnreliableSequenced, Reliable, ReliableSequenced, ReliableFragmentedSequenced }

    public enum NetworkTopologyTypes { ClientServer, DistributedAuthority }

    public class NetworkManager : MonoBehaviour { }

    public abstract class NetworkTransport : MonoBehaviour
    {
        public delegate void TransportEventDelegate(NetworkEvent eventType, ulong clientId, ArraySegment<byte> payload, float receiveTime);

        public event TransportEventDelegate OnTransportEvent { add { } remove { } }

        public abstract ulong ServerClientId { get; }
        public virtual bool IsSupported => true;
        protected void InvokeOnTransportEvent(NetworkEvent eventType, ulong clientId, ArraySegment<byte> payload, float receiveTime) { }
        public abstract void Send(ulong clientId, ArraySegment<byte> payload, NetworkDelivery networkDelivery);
        public abstract NetworkEvent PollEvent(out ulong clientId, out ArraySegment<byte> payload, out float receiveTime);
        public abstract bool StartClient();
        public abstract bool StartServer();
        public abstract void DisconnectRemoteClient(ulong clientId);
        public abstract void DisconnectLocalClient();
        public abstract ulong GetCurrentRtt(ulong clientId);
        public abstract void Shutdown();
        public abstract void Initialize(NetworkManager networkManager = null);
#if SKIPSTONE_NETCODE_2
        protected virtual void OnEarlyUpdate() { }
        protected virtual void OnPostLateUpdate() { }
        // As the network manager calls it, from within its assembly.
        public void PostLateUpdate() => OnPostLateUpdate();
        protected virtual NetworkTopologyTypes OnCurrentTopology() => NetworkTopologyTypes.ClientServer;
#endif
    }
}
