using System;

namespace Skipstone
{
    /// <summary>The native library refused a call. The message names the cause and the remedy.</summary>
    public sealed class SkipstoneException : Exception
    {
        /// <summary>The reason, for programs.</summary>
        public Status Status { get; }

        internal SkipstoneException(Status status, string message) : base(message) => Status = status;
    }
}
