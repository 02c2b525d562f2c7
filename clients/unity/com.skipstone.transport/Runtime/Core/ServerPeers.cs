// The connected peers of a server, their addresses, and the denied addresses.
using System;
using Skipstone.Native;

namespace Skipstone
{
    public sealed unsafe partial class Server
    {
        /// <summary>The connected peers. Makes an array.</summary>
        public PeerId[] Peers
        {
            get
            {
                var peers = new PeerId[16];
                while (true)
                {
                    uint count;
                    fixed (PeerId* first = peers)
                        Calls.Check(NativeMethods.skipstone_server_peers(handle.Number, (ulong*)first, (uint)peers.Length, &count));
                    bool isAll = count <= peers.Length;
                    Array.Resize(ref peers, (int)count);
                    if (isAll) return peers;
                }
            }
        }

        /// <summary>The address of a client, from its <see cref="EventKind.Requested"/> until its
        /// <see cref="EventKind.Closed"/> was polled; <c>null</c> if there is no such client. Makes a string.</summary>
        public string RemoteAddress(PeerId peer)
        {
            // Room for any IPv6 address with its zone and port.
            const int room = 128;
            byte* text = stackalloc byte[room];
            UIntPtr length;
            int status = NativeMethods.skipstone_server_peer_address(handle.Number, peer.Value, text, (UIntPtr)room, &length);
            if (status == (int)Status.NotAvailable) return null;
            Calls.Check(status);
            return Utf8.Read(text, (int)length);
        }

        /// <summary>Denies these addresses and networks (<c>192.0.2.7</c>, <c>192.0.2.0/24</c>) and no others: new
        /// clients from them are ignored on every carrier. Connected players on UDP (native, DTLS, WebTransport) are
        /// ignored too and end by the idle timeout; those on streams and local clients stay connected:
        /// <see cref="Close"/> them first.</summary>
        public void SetDenied(params string[] networks)
        {
            if (networks == null) throw new ArgumentNullException(nameof(networks));
            using (var arena = new Arena())
                Calls.Check(NativeMethods.skipstone_server_set_denied(handle.Number, arena.Texts(networks, nameof(networks)), (uint)networks.Length));
        }
    }
}
