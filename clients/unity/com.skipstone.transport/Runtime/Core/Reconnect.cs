using System;

namespace Skipstone
{
    /// <summary>How a client connects again by itself, in <see cref="Client.Poll"/>, after it lost its connection or if
    /// the server restarts or is full. The pause doubles with each failed attempt, and half of it is random. A
    /// <c>null</c> field means the library's default.</summary>
    public sealed class Reconnect
    {
        /// <summary>The first pause after a lost connection, at least 1 ms. Default 250 ms.</summary>
        public TimeSpan? PauseMin { get; set; }
        /// <summary>The longest pause. Default 30 s.</summary>
        public TimeSpan? PauseMax { get; set; }
        /// <summary>Maximum number of consecutive failed attempts. Default 20.</summary>
        public uint? AttemptsMax { get; set; }
    }
}
