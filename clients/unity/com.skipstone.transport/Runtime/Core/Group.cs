using System;

namespace Skipstone
{
    /// <summary>A number for a set of peers, which receive broadcasts to it.</summary>
    public readonly struct Group : IEquatable<Group>
    {
        /// <summary>Every connected peer; the library keeps it.</summary>
        public static readonly Group Everyone = new Group(0);

        /// <summary>The number.</summary>
        public uint Number { get; }

        /// <summary>The group of this number; 0 is <see cref="Everyone"/>.</summary>
        public Group(uint number) => Number = number;

        /// <inheritdoc/>
        public bool Equals(Group other) => Number == other.Number;
        /// <inheritdoc/>
        public override bool Equals(object other) => other is Group group && Equals(group);
        /// <inheritdoc/>
        public override int GetHashCode() => Number.GetHashCode();
        /// <inheritdoc/>
        public override string ToString() => Number == 0 ? "everyone" : "group " + Number;
    }
}
