using System;

namespace Skipstone
{
    /// <summary>How a client connects again by itself, in <see cref="Client.Poll"/>: after a connection that was lost, and to a server that
    /// restarts, or is full. The pause doubles with each attempt that fails, and half of it is random. What is <c>null</c> has the
    /// library's default.</summary>
    public sealed class Reconnect
    {
        /// <summary>The first pause after a lost connection, at least 1 ms. Default 250 ms.</summary>
        public TimeSpan? PauseMin { get; set; }
        /// <summary>The longest pause. Default 30 s.</summary>
        public TimeSpan? PauseMax { get; set; }
        /// <summary>Attempts in a row that may fail. Default 20.</summary>
        public uint? AttemptsMax { get; set; }
    }
}
