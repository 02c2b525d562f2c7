using System;

namespace Skipstone
{
    /// <summary>A message that was accepted, as <see cref="EventKind.Acknowledged"/> and
    /// <see cref="EventKind.GivenUp"/> name it.</summary>
    public readonly struct MessageId : IEquatable<MessageId>
    {
        /// <summary>Its number; it grows from message to message.</summary>
        public ulong Value { get; }

        /// <summary>The message of this number.</summary>
        public MessageId(ulong value) => Value = value;

        /// <inheritdoc/>
        public bool Equals(MessageId other) => Value == other.Value;
        /// <inheritdoc/>
        public override bool Equals(object other) => other is MessageId id && Equals(id);
        /// <inheritdoc/>
        public override int GetHashCode() => Value.GetHashCode();
        /// <inheritdoc/>
        public override string ToString() => Value.ToString();
        /// <summary>Whether both are the same message.</summary>
        public static bool operator ==(MessageId left, MessageId right) => left.Value == right.Value;
        /// <summary>Whether they are different messages.</summary>
        public static bool operator !=(MessageId left, MessageId right) => left.Value != right.Value;
    }
}
