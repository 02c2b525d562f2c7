// Groups of a server's peers, and broadcasts to a group, or to all but some.
using System;
using Skipstone.Native;

namespace Skipstone
{
    public sealed unsafe partial class Server
    {
        /// <summary>Sends one message to every connected member of a group. The bytes are copied once for all members.
        /// No garbage.</summary>
        /// <returns>The number of members for which it was accepted.</returns>
        /// <exception cref="SkipstoneException">No member gets the message; <see cref="SkipstoneException.Status"/>
        /// says why.</exception>
        public int Broadcast(Group group, ushort channel, ArraySegment<byte> payload) =>
            Accepted(TryBroadcast(group, channel, payload, out int peers, out _), peers);

        /// <inheritdoc cref="Broadcast(Group, ushort, ArraySegment{byte})"/>
        public int Broadcast(Group group, ushort channel, byte[] payload) =>
            Broadcast(group, channel, new ArraySegment<byte>(payload));

        /// <summary>Passes bytes on that arrived; otherwise as the others.</summary>
        public int Broadcast(Group group, ushort channel, Payload payload) =>
            Broadcast(group, channel, payload.Pointer, payload.Length);

        /// <summary>The same for bytes at a pointer.</summary>
        public int Broadcast(Group group, ushort channel, byte* payload, int length) =>
            Accepted(TryBroadcast(group, channel, payload, length, out int peers, out _), peers);

        /// <summary>The same without an exception, and with the message's id.</summary>
        public Status TryBroadcast(Group group, ushort channel, ArraySegment<byte> payload, out int peers, out MessageId id)
        {
            fixed (byte* bytes = payload.Array)
                return TryBroadcast(group, channel, bytes + payload.Offset, payload.Count, out peers, out id);
        }

        /// <inheritdoc cref="TryBroadcast(Group, ushort, ArraySegment{byte}, out int, out MessageId)"/>
        public Status TryBroadcast(Group group, ushort channel, byte[] payload, out int peers, out MessageId id) =>
            TryBroadcast(group, channel, new ArraySegment<byte>(payload), out peers, out id);

        /// <summary>The same for bytes at a pointer.</summary>
        public Status TryBroadcast(Group group, ushort channel, byte* payload, int length, out int peers, out MessageId id)
        {
            if (length < 0) throw new ArgumentOutOfRangeException(nameof(length), length, "a length is not negative");
            uint count;
            ulong number;
            int status = NativeMethods.skipstone_server_broadcast(handle.Number, group.Number, channel, payload, (UIntPtr)length, &count, &number);
            return Receipt(status, count, number, out peers, out id);
        }

        /// <summary>As <see cref="Broadcast(Group, ushort, ArraySegment{byte})"/>, without some members: usually the
        /// author of a message that is passed on. A peer in <paramref name="except"/> that is not a member, or has
        /// disconnected, is ignored.</summary>
        public int BroadcastExcept(Group group, PeerId[] except, ushort channel, ArraySegment<byte> payload) =>
            Accepted(TryBroadcastExcept(group, except, channel, payload, out int peers, out _), peers);

        /// <inheritdoc cref="BroadcastExcept(Group, PeerId[], ushort, ArraySegment{byte})"/>
        public int BroadcastExcept(Group group, PeerId[] except, ushort channel, byte[] payload) =>
            BroadcastExcept(group, except, channel, new ArraySegment<byte>(payload));

        /// <summary>Passes bytes on that arrived; otherwise as the others.</summary>
        public int BroadcastExcept(Group group, PeerId[] except, ushort channel, Payload payload) =>
            BroadcastExcept(group, except, channel, payload.Pointer, payload.Length);

        /// <summary>The same for bytes at a pointer.</summary>
        public int BroadcastExcept(Group group, PeerId[] except, ushort channel, byte* payload, int length) =>
            Accepted(TryBroadcastExcept(group, except, channel, payload, length, out int peers, out _), peers);

        /// <summary>The same without an exception, and with the message's id.</summary>
        public Status TryBroadcastExcept(Group group, PeerId[] except, ushort channel, ArraySegment<byte> payload, out int peers, out MessageId id)
        {
            fixed (byte* bytes = payload.Array)
                return TryBroadcastExcept(group, except, channel, bytes + payload.Offset, payload.Count, out peers, out id);
        }

        /// <inheritdoc cref="TryBroadcastExcept(Group, PeerId[], ushort, ArraySegment{byte}, out int, out MessageId)"/>
        public Status TryBroadcastExcept(Group group, PeerId[] except, ushort channel, byte[] payload, out int peers, out MessageId id) =>
            TryBroadcastExcept(group, except, channel, new ArraySegment<byte>(payload), out peers, out id);

        /// <summary>The same for bytes at a pointer.</summary>
        public Status TryBroadcastExcept(
            Group group, PeerId[] except, ushort channel, byte* payload, int length, out int peers, out MessageId id)
        {
            if (except == null) throw new ArgumentNullException(nameof(except));
            if (length < 0) throw new ArgumentOutOfRangeException(nameof(length), length, "a length is not negative");
            uint count;
            ulong number;
            int status;
            // A PeerId is its number and nothing else.
            fixed (PeerId* first = except)
            {
                status = NativeMethods.skipstone_server_broadcast_except(
                    handle.Number, group.Number, (ulong*)first, (uint)except.Length, channel, payload, (UIntPtr)length, &count, &number);
            }
            return Receipt(status, count, number, out peers, out id);
        }

#if NETSTANDARD2_1_OR_GREATER || NETCOREAPP2_1_OR_GREATER || UNITY_2021_2_OR_NEWER
        /// <inheritdoc cref="Broadcast(Group, ushort, ArraySegment{byte})"/>
        public int Broadcast(Group group, ushort channel, ReadOnlySpan<byte> payload)
        {
            fixed (byte* bytes = payload) return Broadcast(group, channel, bytes, payload.Length);
        }

        /// <inheritdoc cref="TryBroadcast(Group, ushort, ArraySegment{byte}, out int, out MessageId)"/>
        public Status TryBroadcast(Group group, ushort channel, ReadOnlySpan<byte> payload, out int peers, out MessageId id)
        {
            fixed (byte* bytes = payload) return TryBroadcast(group, channel, bytes, payload.Length, out peers, out id);
        }

        /// <inheritdoc cref="BroadcastExcept(Group, PeerId[], ushort, ArraySegment{byte})"/>
        public int BroadcastExcept(Group group, PeerId[] except, ushort channel, ReadOnlySpan<byte> payload)
        {
            fixed (byte* bytes = payload) return BroadcastExcept(group, except, channel, bytes, payload.Length);
        }

        /// <inheritdoc cref="TryBroadcastExcept(Group, PeerId[], ushort, ArraySegment{byte}, out int, out MessageId)"/>
        public Status TryBroadcastExcept(Group group, PeerId[] except, ushort channel, ReadOnlySpan<byte> payload, out int peers, out MessageId id)
        {
            fixed (byte* bytes = payload) return TryBroadcastExcept(group, except, channel, bytes, payload.Length, out peers, out id);
        }
#endif

        /// <summary>Adds a peer to a group.</summary>
        public void Join(PeerId peer, Group group) => Calls.Check(NativeMethods.skipstone_server_join(handle.Number, peer.Value, group.Number));

        /// <summary>Removes a peer from a group.</summary>
        public void Leave(PeerId peer, Group group) => Calls.Check(NativeMethods.skipstone_server_leave(handle.Number, peer.Value, group.Number));

        private static int Accepted(Status status, int peers) => status == Status.Ok ? peers : throw Calls.Error(status);

        // The number that the library wrote, if it wrote one.
        private static Status Receipt(int status, uint count, ulong number, out int peers, out MessageId id)
        {
            peers = status == 0 ? (int)count : 0;
            id = new MessageId(status == 0 ? number : 0);
            return (Status)status;
        }
    }
}
