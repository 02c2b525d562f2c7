using System;
using System.Runtime.InteropServices;
using Skipstone.Native;

namespace Skipstone
{
    /// <summary>Bytes that belong to the library, read in place. They stay as long as their
    /// <see cref="Event"/>.</summary>
    public readonly unsafe struct Payload
    {
        private readonly EventBuffer buffer;
        private readonly int index;
        private readonly int round;

        internal Payload(EventBuffer buffer, int index, int round)
        {
            this.buffer = buffer;
            this.index = index;
            this.round = round;
        }

        /// <summary>Number of bytes.</summary>
        public int Length => checked((int)buffer.At(index, round).Length);

        /// <summary>Their address, for reading: a message that passes them on shares them. Accesses through it are not
        /// checked.</summary>
        public byte* Pointer => (byte*)buffer.At(index, round).Data;

        /// <summary>One byte.</summary>
        /// <exception cref="IndexOutOfRangeException">There is no such byte.</exception>
        public byte this[int at]
        {
            get
            {
                if ((uint)at >= (uint)Length) throw new IndexOutOfRangeException("the payload has " + Length + " bytes, asked for byte " + at);
                return Pointer[at];
            }
        }

        /// <summary>Copies all of them to <paramref name="target"/>, from <paramref name="offset"/> on.</summary>
        /// <exception cref="ArgumentException">They do not fit.</exception>
        public void CopyTo(byte[] target, int offset = 0)
        {
            if (target == null) throw new ArgumentNullException(nameof(target));
            int length = Length;
            if (offset < 0 || offset > target.Length - length)
                throw new ArgumentException(length + " bytes do not fit behind " + offset + " of " + target.Length + ": use a larger array", nameof(target));
            if (length > 0) Marshal.Copy((IntPtr)Pointer, target, offset, length);
        }

        /// <summary>Copies them into <paramref name="scratch"/>, which is replaced by a larger array if it is too
        /// short, and returns the part that contains them. No garbage once the array is large enough.</summary>
        public ArraySegment<byte> CopyTo(ref byte[] scratch)
        {
            int length = Length;
            if (scratch == null || scratch.Length < length) scratch = new byte[Math.Max(length, scratch == null ? 0 : scratch.Length * 2)];
            CopyTo(scratch);
            return new ArraySegment<byte>(scratch, 0, length);
        }

        /// <summary>A new array with all of them.</summary>
        public byte[] ToArray()
        {
            var bytes = new byte[Length];
            CopyTo(bytes);
            return bytes;
        }

        /// <summary>The bytes as UTF-8 text. Makes a string.</summary>
        public string ToText() => Utf8.Read(Pointer, Length);

#if NETSTANDARD2_1_OR_GREATER || NETCOREAPP2_1_OR_GREATER || UNITY_2021_2_OR_NEWER
        /// <summary>The bytes in place. Nothing checks when they are read.</summary>
        public ReadOnlySpan<byte> Span => new ReadOnlySpan<byte>(Pointer, Length);
#endif
    }
}
