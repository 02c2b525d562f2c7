using System;

namespace Skipstone
{
    /// <summary>A connection, as a server or client knows it. A server never uses it for another one.</summary>
    public readonly struct PeerId : IEquatable<PeerId>
    {
        /// <summary>The number that the native library has for it: unique among all connections of its
        /// server.</summary>
        public ulong Value { get; }

        /// <summary>The connection of this number.</summary>
        public PeerId(ulong value) => Value = value;

        /// <inheritdoc/>
        public bool Equals(PeerId other) => Value == other.Value;
        /// <inheritdoc/>
        public override bool Equals(object other) => other is PeerId peer && Equals(peer);
        /// <inheritdoc/>
        public override int GetHashCode() => Value.GetHashCode();
        /// <summary>Place and generation, as the native library's log writes them.</summary>
        public override string ToString() => (uint)Value + "." + (Value >> 32);
        /// <summary>Whether both are the same connection.</summary>
        public static bool operator ==(PeerId left, PeerId right) => left.Value == right.Value;
        /// <summary>Whether they are different connections.</summary>
        public static bool operator !=(PeerId left, PeerId right) => left.Value != right.Value;
    }
}
