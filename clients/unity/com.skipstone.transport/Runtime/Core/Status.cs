namespace Skipstone
{
    /// <summary>How a call of the native library ended.</summary>
    public enum Status
    {
        /// <summary>Done.</summary>
        Ok = 0,
        /// <summary>A null pointer, or one that is not aligned.</summary>
        BadPointer = -1,
        /// <summary>A text is not UTF-8.</summary>
        NotUtf8 = -2,
        /// <summary>A structure has another size than the library's: the versions differ.</summary>
        BadSize = -3,
        /// <summary>A number or a text is out of its range.</summary>
        BadValue = -4,
        /// <summary>The server or client has ended, or was disposed.</summary>
        BadHandle = -5,
        /// <summary>A client where a server is wanted, or the reverse.</summary>
        WrongKind = -6,
        /// <summary>Another thread polls this server or client.</summary>
        WrongThread = -7,
        /// <summary>A buffer is too small.</summary>
        BufferTooSmall = -8,
        /// <summary>There is not enough memory.</summary>
        OutOfMemory = -9,
        /// <summary>The library is of another ABI version.</summary>
        WrongAbi = -10,
        /// <summary>The library was built without what this needs.</summary>
        NotBuilt = -11,
        /// <summary>The system refused a socket, a thread or a file.</summary>
        System = -12,
        /// <summary>The URL is invalid.</summary>
        BadUrl = -13,
        /// <summary>The certificate or its key cannot be used.</summary>
        BadIdentity = -14,
        /// <summary>The requested trust is not available.</summary>
        BadTrust = -15,
        /// <summary>There is no such peer.</summary>
        UnknownPeer = -16,
        /// <summary>The connection is not established, is closing, or has ended.</summary>
        NotConnected = -17,
        /// <summary>No rule of the server's channel table contains this channel.</summary>
        NoSuchChannel = -18,
        /// <summary>An inbound rule reserves this channel for the clients.</summary>
        WrongDirection = -19,
        /// <summary>The message or the token is longer than is allowed.</summary>
        TooLong = -20,
        /// <summary>The channel's queue to this peer is full.</summary>
        QueueFull = -21,
        /// <summary>The queue to the driver's thread is full: try again at the next tick.</summary>
        DriverBusy = -22,
        /// <summary>The driver's thread has ended; <c>Failure</c> says why.</summary>
        DriverGone = -23,
        /// <summary>The client does not wait for a decision.</summary>
        NotWaiting = -24,
        /// <summary>There is no such figure, or not yet.</summary>
        NotAvailable = -25,
        /// <summary>The connection has not ended.</summary>
        StillOpen = -26,
        /// <summary>An internal error of the library.</summary>
        Internal = -99,
    }
}
