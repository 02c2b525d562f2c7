//! Reasons why a call was refused, with texts that name the cause and the remedy.

use bytes::Bytes;
use std::fmt;

/// A message was not accepted. The error returns it with the reason, so that the application can send it later or
/// elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendError {
    /// Reason for the refusal.
    pub reason: SendRefusal,
    /// The message.
    pub payload: Bytes,
}

/// Why a message was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendRefusal {
    /// This handle never had a connection with this id.
    UnknownPeer,
    /// The connection is not established yet, is closing, or has ended.
    NotConnected,
    /// No rule of the server's channel table covers this channel.
    NoSuchChannel {
        /// The channel that was asked for.
        channel: u16,
    },
    /// An inbound rule reserves this channel for the clients.
    WrongDirection {
        /// The channel that was asked for.
        channel: u16,
    },
    /// The message is longer than the settings, or the channel's queue, allow.
    TooLong {
        /// Bytes of the message.
        bytes: usize,
        /// Maximum bytes of a message on this channel.
        bytes_max: usize,
    },
    /// The channel's queue towards this peer is full, and the channel's rule is to refuse, or to end the connection.
    QueueFull,
    /// The queue to the driver's thread is full.
    DriverBusy,
    /// The driver's thread has ended; the handle's `failure` gives the reason.
    DriverGone,
}

/// A request about a peer was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerError {
    /// This handle never had a connection with this id.
    UnknownPeer,
    /// The connection has ended, or is closing.
    Over,
    /// The client does not wait for acceptance: the application accepted or refused it before.
    NotWaiting,
    /// The library maintains the group of all connected peers.
    EveryoneIsKept,
    /// A close code has 62 bits: 0 to 4,611,686,018,427,387,903. Those below 1,000 are the application's.
    CodeTooLarge,
    /// Messages wait for others for 24 hours at most.
    MergingTooLong,
    /// The queue to the driver's thread is full.
    DriverBusy,
    /// The driver's thread has ended; the handle's `failure` gives the reason.
    DriverGone,
}

impl PeerError {
    /// Refuses a close code that no CLOSE can carry.
    pub(crate) fn check_code(code: u64) -> Result<(), PeerError> {
        if code < 1 << 62 { Ok(()) } else { Err(PeerError::CodeTooLarge) }
    }
}

impl SendError {
    pub(crate) fn new(reason: SendRefusal, payload: Bytes) -> Self {
        SendError { reason, payload }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl fmt::Display for SendRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendRefusal::UnknownPeer => f.write_str(UNKNOWN_PEER),
            SendRefusal::NotConnected => f.write_str(
                "the connection is not established: send after its connected event and before its closed event, and \
                 not after closing it",
            ),
            SendRefusal::NoSuchChannel { channel } => write!(
                f,
                "channel {channel} has no rule: add one to the channel table of the server's settings, or use another \
                 channel"
            ),
            SendRefusal::WrongDirection { channel } => write!(
                f,
                "only clients may send on channel {channel}, by the direction of its inbound rule: change the rule, or \
                 use another channel"
            ),
            SendRefusal::TooLong { bytes, bytes_max } => write!(
                f,
                "the message has {bytes} bytes and this channel takes {bytes_max} at most: split it, or raise \
                 message_bytes_max and the channel's queue_bytes_max in the server's settings, and message_bytes_max \
                 in the limits of a client that states less"
            ),
            SendRefusal::QueueFull => f.write_str(
                "the channel's queue to this peer is full, because the path carries less than is sent: send less, or \
                 try again after the peer has acknowledged some of it",
            ),
            SendRefusal::DriverBusy => {
                f.write_str("the queue to the driver's thread is full: send less, or try again at the next tick")
            }
            SendRefusal::DriverGone => f.write_str(DRIVER_GONE),
        }
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PeerError::UnknownPeer => UNKNOWN_PEER,
            PeerError::Over => "the connection has ended or is closing: nothing can be asked of it any more",
            PeerError::NotWaiting => {
                "the client does not wait for a decision: accept or refuse it once, after its requested event"
            }
            PeerError::EveryoneIsKept => {
                "the group of everyone contains exactly the connected peers: use a group with another number"
            }
            PeerError::CodeTooLarge => "a close code has at most 62 bits: use one below 1,000, which are yours",
            PeerError::MergingTooLong => {
                "messages wait for others for 24 hours at most: merge them after a shorter time"
            }
            PeerError::DriverBusy => {
                "the queue to the driver's thread is full: ask for less, or try again at the next tick"
            }
            PeerError::DriverGone => DRIVER_GONE,
        })
    }
}

impl std::error::Error for SendError {}
impl std::error::Error for SendRefusal {}
impl std::error::Error for PeerError {}

const UNKNOWN_PEER: &str = "no peer has this name here: use the one that came with its requested or connected event";
const DRIVER_GONE: &str = "the driver's thread has ended: its failure says why; make a new endpoint";
