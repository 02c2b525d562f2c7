using System;
using System.Collections.Generic;
using UnityEngine;

namespace Skipstone.Unity
{
    /// <summary>A server in the form that Unity's networking libraries need: every client is accepted, and has a small
    /// number from 1 on.</summary>
    public sealed class TransportServer : IDisposable
    {
        private readonly Dictionary<ulong, int> connections = new Dictionary<ulong, int>();
        private readonly Dictionary<int, PeerId> peers = new Dictionary<int, PeerId>();
        private readonly Dictionary<ulong, string> addresses = new Dictionary<ulong, string>();
        private EventBatch batch;
        private int next;
        private int newest;
        private byte[] scratch = new byte[2048];
        private bool isFailureReported;

        /// <summary>Begins to serve. The table of channels should be <see cref="TransportChannels.Table"/>.</summary>
        public TransportServer(ServerConfig config) => Native = Server.Start(config);

        /// <summary>The underlying server: statistics, URL, groups.</summary>
        public Server Native { get; }

        /// <summary>Decides by the token whether to accept a client; without it every client is accepted.</summary>
        public Func<Payload, bool> Admits { get; set; }

        /// <summary>Takes the next event. Its payload stays until the next call.</summary>
        public bool TryTake(out TransportEvent happened)
        {
            while (true)
            {
                if (next == batch.Count)
                {
                    batch = Native.Poll();
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
            ulong peer = from.Peer.Value;
            switch (from.Kind)
            {
                case EventKind.Requested:
                    addresses[peer] = from.Address;
                    Decide(from);
                    return false;
                case EventKind.PathChanged:
                    addresses[peer] = from.Address;
                    return false;
                case EventKind.Connected:
                    connections[peer] = ++newest;
                    peers[newest] = from.Peer;
                    happened.Kind = TransportEventKind.Connected;
                    happened.Connection = newest;
                    return true;
                case EventKind.Message:
                    happened.Kind = TransportEventKind.Message;
                    happened.Channel = from.Channel;
                    happened.Payload = from.Payload.CopyTo(ref scratch);
                    // No message arrives after the end of its connection.
                    return connections.TryGetValue(peer, out happened.Connection);
                case EventKind.Closed:
                    addresses.Remove(peer);
                    // A client that was never accepted has no number.
                    if (!connections.TryGetValue(peer, out happened.Connection)) return false;
                    connections.Remove(peer);
                    peers.Remove(happened.Connection);
                    happened.Kind = TransportEventKind.Disconnected;
                    happened.Code = from.Code;
                    happened.Reason = from.Reason;
                    return true;
                default:
                    return false;
            }
        }

        private void Decide(Event request)
        {
            try
            {
                if (Admits == null || Admits(request.Payload)) Native.Accept(request.Peer);
                else Native.Refuse(request.Peer);
            }
            catch (SkipstoneException error) when (error.Status == Status.NotWaiting || error.Status == Status.NotConnected || error.Status == Status.UnknownPeer)
            {
                // It has left in the meantime; its close follows.
            }
            catch (SkipstoneException error) when (error.Status == Status.DriverGone)
            {
                ReportFailure();
            }
        }

        // After the driver has ended, every call reports it, in every frame. The closes of its clients are among the
        // events.
        private void ReportFailure()
        {
            if (isFailureReported) return;
            isFailureReported = true;
            Debug.LogError("Skipstone's server has failed: " + Native.Failure);
        }

        /// <summary>Sends a message to a client; its bytes are copied. It leaves at the next
        /// <see cref="Flush"/>.</summary>
        public Status Send(int connection, ushort channel, ArraySegment<byte> payload) =>
            peers.TryGetValue(connection, out PeerId peer) ? Native.TrySend(peer, channel, payload, out _) : Status.UnknownPeer;

        /// <summary>The same for a caller that does not try again: a message that a reliable channel of
        /// <see cref="TransportChannels"/> refuses ends the client's connection, because the client would wait for it
        /// forever. <see cref="TryTake"/> reports the close.</summary>
        public Status SendOrEnd(int connection, ushort channel, ArraySegment<byte> payload)
        {
            Status status = Send(connection, channel, payload);
            if (TransportChannels.IsBroken(channel, status))
                Disconnect(connection, "a message of " + payload.Count + " bytes was refused on a reliable channel: " + status);
            return status;
        }

        /// <summary>Sends queued messages. A server whose driver has failed reports that once, to Unity's
        /// console.</summary>
        public void Flush()
        {
            try
            {
                Native.Flush();
            }
            catch (SkipstoneException error) when (error.Status == Status.DriverGone)
            {
                ReportFailure();
            }
        }

        /// <summary>Closes a client's connection, after its queued messages. False if there is no such
        /// client.</summary>
        public bool Disconnect(int connection, string reason = "")
        {
            if (!peers.TryGetValue(connection, out PeerId peer)) return false;
            try
            {
                Native.Close(peer, CloseCode.Kicked, reason, TimeSpan.FromSeconds(1));
                return true;
            }
            catch (SkipstoneException error) when (error.Status == Status.NotConnected || error.Status == Status.UnknownPeer || error.Status == Status.BadHandle)
            {
                return false;
            }
            catch (SkipstoneException error) when (error.Status == Status.DriverGone)
            {
                ReportFailure();
                return false;
            }
        }

        /// <summary>Whether there is such a client.</summary>
        public bool Has(int connection) => peers.ContainsKey(connection);

        /// <summary>A client's address as text; empty if there is no such client.</summary>
        public string AddressOf(int connection) =>
            peers.TryGetValue(connection, out PeerId peer) && addresses.TryGetValue(peer.Value, out string address) ? address : "";

        /// <summary>A client's smoothed round-trip time; zero if it is not known.</summary>
        public TimeSpan RttOf(int connection) =>
            peers.TryGetValue(connection, out PeerId peer) && Native.TryReadOverview(peer, out Overview overview) ? overview.Rtt : TimeSpan.Zero;

        /// <summary>Clients that are connected.</summary>
        public int Count => peers.Count;

        /// <summary>Closes every connection, and notifies the clients.</summary>
        public void Dispose()
        {
            try
            {
                Native.Shutdown();
            }
            catch (ObjectDisposedException)
            {
                // A second Dispose has nothing to do.
            }
            catch (SkipstoneException error) when (error.Status == Status.BadHandle || error.Status == Status.DriverGone)
            {
                // It has ended already: with its driver, or with all handles before scripts were reloaded.
            }
            Native.Dispose();
        }
    }
}
