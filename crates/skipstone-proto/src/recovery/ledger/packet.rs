//! Packets that leave, are in flight, or whose fate is known.

use super::contents::Span;
use crate::delivery::DeliveryStamp;
use crate::time::{Duration, Time};

/// A packet that leaves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leaving {
    /// Bytes of the datagram.
    pub bytes: usize,
    /// Whether it asks for an acknowledgement.
    pub is_ack_eliciting: bool,
    /// Age of its content, in ms.
    pub age_ms: u16,
    /// The congestion controller's note.
    pub stamp: DeliveryStamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketState {
    /// Asks for no acknowledgement: never lost, never in flight.
    Untracked,
    InFlight,
    Acked,
    /// Lost, but the peer recovered it from repair packets.
    Repaired,
    Lost,
    /// The packet was sent on a path that the peer has left, and counts as lost; its late acknowledgement is not used.
    Left,
}

impl PacketState {
    /// The number of consecutive losses after a packet in this state, given `run` before it.
    pub(super) fn continued(self, run: u32) -> u32 {
        match self {
            PacketState::Lost => run + 1,
            PacketState::Acked | PacketState::Repaired => 0,
            PacketState::Untracked | PacketState::InFlight | PacketState::Left => run,
        }
    }
}

#[derive(Debug)]
pub(super) struct SentPacket {
    pub(super) at: Time,
    /// The records of the packet.
    pub(super) contents: Span,
    pub(super) bytes: u16,
    pub(super) age_ms: u16,
    pub(super) stamp: DeliveryStamp,
    pub(super) state: PacketState,
    pub(super) is_suspected: bool,
    /// Whether the packet's fate counts in the estimate of the path's losses.
    pub(super) is_measured: bool,
}

/// The result of processing an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckedPackets {
    /// Bytes of packets that were in flight until now.
    pub bytes: u32,
    /// Packets that were in flight until now.
    pub packets: u32,
    /// Packets that had been declared lost: spurious losses.
    pub spurious: u32,
    /// Among them was one in flight that had been suspected.
    pub suspected: bool,
    /// Time since the packet with the greatest number left, if that number is a new maximum.
    pub newest_age: Option<Duration>,
    /// Whether any of them had asked for an acknowledgement.
    pub has_eliciting: bool,
    /// Sending time of the latest-sent of the packets that were in flight, and the congestion controller's note on it.
    pub latest: Option<(Time, DeliveryStamp)>,
}

impl AckedPackets {
    /// A round trip with the acknowledgement's delay (RFC 9002, section 5.1).
    pub(crate) fn rtt_sample(&self) -> Option<Duration> {
        self.newest_age.filter(|_| self.has_eliciting)
    }
}

/// Packets that turned out to be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LostPackets {
    /// The number of packets.
    pub packets: u32,
    /// Their bytes; of consecutive losses, only the first [`RUN_MAX`] packets count.
    pub bytes: u32,
    /// Sending time of the latest of them.
    pub last_sent: Time,
}

/// Maximum number of packets of a run of losses that count as congestion. A queue that overflows, or a policer, lets
/// packets of a paced sender through between those that it drops. The loss of everything for a time is a fade or an
/// outage, and reveals nothing about the rate that the path carries.
pub(super) const RUN_MAX: u32 = 8;

impl LostPackets {
    /// Adds a packet, the `run`th of its run.
    pub(super) fn add_packet(&mut self, packet: &SentPacket, run: u32) {
        self.packets += 1;
        self.bytes += if run <= RUN_MAX { u32::from(packet.bytes) } else { 0 };
        self.last_sent = self.last_sent.max(packet.at);
    }

    /// Adds others.
    pub(crate) fn add(&mut self, other: LostPackets) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.last_sent = self.last_sent.max(other.last_sent);
    }
}
