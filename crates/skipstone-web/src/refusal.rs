//! Why a call failed.

/// Why a call failed. The page gets its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Refusal {
    /// The core has not been started, or a call came during another call.
    NotStarted = -1,
    /// No connection has this socket.
    UnknownConnection = -2,
    /// An argument is out of its range.
    BadArgument = -3,
    /// The maximum number of connections is reached.
    Full = -4,
    /// The token is longer than 1,024 bytes.
    TokenTooLong = -5,
    /// The connection is not established.
    NotConnected = -6,
    /// No rule of the server's table contains the channel, or the channel is that of moves.
    NoSuchChannel = -7,
    /// The message exceeds the channel's maximum length.
    MessageTooLong = -8,
    /// The channel's queue is full.
    QueueFull = -9,
    /// A field of the configuration is out of range.
    BadConfig = -10,
    /// No server moves the client now.
    NotMoving = -11,
}
