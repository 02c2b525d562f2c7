using System;

namespace Skipstone
{
    /// <summary>The native library, or a page's browser client, refused a call. The message names the cause and the
    /// remedy.</summary>
    public sealed class SkipstoneException : Exception
    {
        /// <summary>The reason, for programs.</summary>
        public Status Status { get; }

        /// <summary>An error with its reason and its text.</summary>
        public SkipstoneException(Status status, string message) : base(message) => Status = status;
    }
}
