//! Why a message was not queued.

/// Why a message was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// No connection ever had this id.
    UnknownPeer,
    /// The connection is not established yet, is closing, or has ended.
    NotConnected,
    /// No rule of the settings covers this channel.
    NoSuchChannel,
    /// An inbound rule reserves this channel for the clients.
    WrongDirection,
    /// The message is longer than the settings, or the channel's queue, allow.
    TooLong {
        /// Maximum bytes of a message on this channel.
        bytes_max: usize,
    },
    /// The channel's queue is full.
    QueueFull,
}

impl core::fmt::Display for SendError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            SendError::UnknownPeer => "no connection ever had this name",
            SendError::NotConnected => "the connection is not established",
            SendError::NoSuchChannel => "no rule of the server's channel table holds this channel",
            SendError::WrongDirection => "only clients may send on this channel, by the server's inbound rules",
            SendError::TooLong { bytes_max } => {
                return write!(
                    f,
                    "the message is longer than the {bytes_max} bytes that the settings allow on this channel"
                );
            }
            SendError::QueueFull => "the channel's queue is full",
        })
    }
}

impl core::error::Error for SendError {}
