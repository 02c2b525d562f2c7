//! The packet events of connections, for a log of the embedder's: [`Config::packet_log`](crate::Config::packet_log).
//! Without one, nothing is collected.

use super::Side;
use super::event::{ClosedBy, PeerId};
use super::stats::DropReason;
use crate::path::Path;
use crate::rtt::Rtt;
use crate::time::{Duration, Time};
use crate::wire::cursor::Reader;
use crate::wire::frame::{Frame, Frames};
use crate::wire::message::{Message, Sequence};
use core::fmt::Debug;
use core::ops::RangeInclusive;
use std::sync::Arc;

/// Receives the packet events of all connections of an endpoint, in the order in which they happen. The endpoint waits
/// for each call to return.
pub trait PacketLog: Debug + Send + Sync {
    /// An event of a connection.
    fn on_event(&self, now: Time, connection: &LoggedConnection<'_>, event: &PacketEvent<'_>);

    /// A connection has ended: no event follows. There may have been none at all.
    fn on_removed(&self, shard: u32, peer: PeerId);
}

/// A log, and the shard that it is given.
#[derive(Debug)]
pub(super) struct AttachedLog {
    pub(super) shard: u32,
    pub(super) log: Arc<dyn PacketLog>,
}

/// The connection of an event.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LoggedConnection<'a> {
    /// The shard of its endpoint: each shard of a server numbers its connections independently.
    pub shard: u32,
    /// Its id in the endpoint.
    pub peer: PeerId,
    /// The side that logs.
    pub side: Side,
    /// Whether it is established, or a client's own that is connecting. False on a server while the application has not
    /// accepted the client, or has refused it.
    pub is_player: bool,
    /// The current path to the peer.
    pub path: &'a Path,
}

/// A packet event of a connection.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum PacketEvent<'a> {
    /// A datagram of the handshake leaves: HELLO, OPEN or CRYPTO. An OPEN in clear contains packet 0.
    HandshakeSent {
        /// The first byte of the datagram (WIRE.md section 2).
        kind: u8,
        /// Bytes of the datagram.
        bytes: usize,
    },
    /// A packet leaves.
    Sent {
        /// Its number.
        number: u64,
        /// Bytes of the datagram.
        bytes: usize,
        /// Its frames.
        frames: LoggedFrames<'a>,
    },
    /// An authentic, new and valid packet arrived.
    Received {
        /// Its number.
        number: u64,
        /// Bytes of the datagram.
        bytes: usize,
        /// Its frames.
        frames: LoggedFrames<'a>,
    },
    /// A packet of the peer was lost and recovered from repair packets.
    Recovered {
        /// Its number.
        number: u64,
        /// Its frames, without acknowledgements.
        frames: LoggedFrames<'a>,
    },
    /// A packet for this connection was dropped.
    Dropped {
        /// Bytes of the datagram.
        bytes: usize,
        /// Why.
        reason: DropReason,
    },
    /// A packet that was sent counts as lost.
    Lost {
        /// Its number.
        number: u64,
        /// Bytes of the datagram.
        bytes: u16,
        /// How the loss was detected.
        trigger: LossTrigger,
    },
    /// Packets that were declared lost had arrived.
    Spurious {
        /// Their number.
        packets: u32,
    },
    /// Acknowledgements are overdue (probe timeout): the content of packets is retransmitted.
    ProbeTimeout {
        /// Number of packets that are suspected lost.
        packets: u32,
        /// Nothing was received from the peer for the timeout.
        is_silent: bool,
    },
    /// The state of recovery after an acknowledgement or a loss.
    Metrics(RecoveryMetrics),
    /// The connection has ended.
    Closed {
        /// The side that ended it.
        by: ClosedBy,
        /// The close code.
        code: u64,
        /// The reason, for people.
        reason: &'a str,
    },
}

/// How a loss was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossTrigger {
    /// A later packet was acknowledged, and the packet's time has passed (RACK, RFC 8985).
    Time,
    /// The peer reports that it recovered the packet from repair packets.
    RepairedByPeer,
}

/// The state of recovery and congestion control.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RecoveryMetrics {
    /// The round-trip time.
    pub rtt: Rtt,
    /// Bytes in flight.
    pub bytes_in_flight: u32,
    /// The congestion window; `None` without one.
    pub congestion_window: Option<u64>,
}

/// The frames of a packet; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoggedFrames<'a> {
    number: u64,
    /// The number near which acknowledged ones are.
    reference: u64,
    bytes: &'a [u8],
}

/// A frame, or several alike for consecutive messages. Payloads and tokens are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoggedFrame<'a> {
    /// PADDING.
    Padding,
    /// PING.
    Ping,
    /// ACK or ACK_WINDOW.
    Ack {
        /// Time for which the acknowledgement was held back.
        delay: Duration,
        /// The packets, newest first.
        ranges: Vec<RangeInclusive<u64>>,
        /// Bytes of reliable messages that the sender of this frame can still hold; `None` for a whole receive window.
        window: Option<u64>,
    },
    /// REPAIRED.
    Repaired {
        /// The packets, newest first.
        ranges: Vec<RangeInclusive<u64>>,
    },
    /// REPAIR.
    Repair {
        /// The packets that it covers, newest first.
        covers: Vec<RangeInclusive<u64>>,
        /// Bytes of the repair symbol.
        bytes: usize,
    },
    /// Whole messages.
    Messages {
        /// Their channel.
        channel: u16,
        /// The low bits of the first one's sequence, as the frame has them; at least 14.
        sequence: Option<u32>,
        /// Their number.
        count: u32,
        /// Bytes of all payloads.
        bytes: usize,
    },
    /// A fragment of a message.
    Fragment {
        /// The channel.
        channel: u16,
        /// The low bits of its sequence, as for `Messages`.
        sequence: Option<u32>,
        /// Its offset in the message.
        offset: u32,
        /// Bytes of the fragment.
        bytes: usize,
        /// Bytes of the message.
        total: u32,
    },
    /// LATE.
    Late {
        /// How late the packet's messages are, in ms.
        age_ms: u64,
    },
    /// CLOSE.
    Close {
        /// The close code.
        code: u64,
        /// The reason, for people.
        reason: &'a str,
    },
    /// Any other frame.
    Other {
        /// Its name in WIRE.md, in lower case.
        name: &'static str,
    },
}

impl<'a> LoggedFrames<'a> {
    pub(super) fn new(number: u64, reference: u64, bytes: &'a [u8]) -> Self {
        LoggedFrames { number, reference, bytes }
    }

    /// Those after the packet number at the beginning of `bytes`.
    pub(super) fn behind_number(number: u64, reference: u64, bytes: &'a [u8]) -> Self {
        let mut reader = Reader::new(bytes);
        let frames = if reader.truncated().is_ok() { reader.rest() } else { &[] };
        LoggedFrames::new(number, reference, frames)
    }

    /// Each frame.
    pub fn iter(&self) -> impl Iterator<Item = LoggedFrame<'a>> + use<'a> {
        let LoggedFrames { number, reference, bytes } = *self;
        let mut frames = Frames::new(bytes);
        core::iter::from_fn(move || {
            let frame = frames.next()?.ok()?;
            let mut logged = LoggedFrame::of(&frame, number, reference);
            if let LoggedFrame::Messages { count, bytes, .. } = &mut logged {
                let run = frames.run();
                *count += run.count;
                *bytes += run.payload_bytes;
                frames.skip_run(&run);
            }
            Some(logged)
        })
    }
}

impl<'a> LoggedFrame<'a> {
    fn of(frame: &Frame<'a>, number: u64, reference: u64) -> Self {
        let other = |name| LoggedFrame::Other { name };
        match *frame {
            Frame::Padding => LoggedFrame::Padding,
            Frame::Ping => LoggedFrame::Ping,
            Frame::Ack(ack) => LoggedFrame::Ack {
                delay: Duration::from_micros(ack.delay_us),
                ranges: ack.ranges(ack.largest.resolve(reference)).flatten().collect(),
                window: ack.window,
            },
            Frame::Repaired(repaired) => LoggedFrame::Repaired {
                ranges: repaired.ranges(repaired.largest.resolve(reference)).flatten().collect(),
            },
            Frame::Repair(repair) => LoggedFrame::Repair {
                covers: repair.covers(number).into_iter().flatten().flatten().collect(),
                bytes: repair.symbol.len(),
            },
            Frame::Message(message) => LoggedFrame::of_message(&message),
            Frame::Late { age_ms } => LoggedFrame::Late { age_ms },
            Frame::Close { code, reason } => LoggedFrame::Close { code, reason },
            Frame::Closed => other("closed"),
            Frame::Connect { .. } => other("connect"),
            Frame::Accept { .. } => other("accept"),
            Frame::PathChallenge { .. } => other("path_challenge"),
            Frame::PathResponse { .. } => other("path_response"),
            Frame::TimeRequest { .. } => other("time_request"),
            Frame::TimeResponse { .. } => other("time_response"),
            Frame::NewId { .. } => other("new_id"),
            Frame::Extension { .. } => other("extension"),
        }
    }

    fn of_message(message: &Message<'a>) -> Self {
        let (channel, bytes) = (message.channel, message.payload.len());
        let sequence = match message.sequence {
            Sequence::Truncated(truncated) => Some(truncated.value),
            Sequence::None | Sequence::Next => None,
        };
        match message.fragment {
            None => LoggedFrame::Messages { channel, sequence, count: 1, bytes },
            Some(fragment) => {
                LoggedFrame::Fragment { channel, sequence, offset: fragment.offset, bytes, total: fragment.total }
            }
        }
    }
}
