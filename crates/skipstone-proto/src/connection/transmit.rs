//! Outgoing packets: each is decided, composed and settled, until the datagrams of one call are full.

mod compose;
mod decide;
mod settle;
mod state;

use super::packet_log::PacketEvent;
use super::{Connection, ConnectionState};
use crate::delivery::DeliveryStamp;
use crate::path::Path;
use crate::recovery::Leaving;
use crate::time::Time;
use decide::{AckRepeat, Space};
pub(super) use decide::{NUMBER_BITS_MIN, OVERTAKING_MAX};
pub(in crate::connection) use state::{PendingFrames, Sending};

/// Datagrams written by one call: all but the last of `segment_bytes`, so that one system call can send them (GSO).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    /// Bytes written.
    pub(crate) bytes: usize,
    /// Bytes of each datagram but the last.
    pub(crate) segment_bytes: usize,
    /// Nothing else is due now.
    pub(crate) is_all: bool,
    /// The path of the datagrams.
    pub(crate) path: Path,
}

/// Linux sends at most 64 segments by one call, and at most 64 KiB.
const SEGMENTS_MAX: usize = 32;
/// Room for an acknowledgement and a header. A shorter datagram is not begun.
const DATAGRAM_BYTES_MIN: usize = 100;

impl Connection {
    /// Writes datagrams that are due into `buffer`; `None` if none is.
    pub(crate) fn poll_transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<Segments> {
        let max = usize::from(self.datagram_bytes()).min(buffer.len());
        self.path.congestion.set_datagram_bytes(max as u16);
        self.timers.merge.on_write(now);
        if let Some(bytes) = self.poll_crypto(now, buffer) {
            self.log(now, || PacketEvent::HandshakeSent { kind: buffer[0], bytes });
            self.count_sent(now, bytes);
            return Some(Segments { bytes, segment_bytes: bytes, is_all: false, path: self.path.current });
        }
        if self.path.roaming.in_use().is_some() {
            return self.poll_before_proof(now, buffer, max);
        }
        if matches!(self.state, ConnectionState::Hello | ConnectionState::Opening) {
            let handshake = self.poll_handshake(now, buffer);
            if let Some(bytes) = handshake {
                self.log(now, || PacketEvent::HandshakeSent { kind: buffer[0], bytes });
            }
            let bytes = handshake.or_else(|| self.write_datagram(now, &mut buffer[..max], max, None))?;
            self.count_sent(now, bytes);
            return Some(Segments { bytes, segment_bytes: bytes, is_all: false, path: self.path.current });
        }
        let segments_max = if self.path.current.carrier.is_reliable { 1 } else { SEGMENTS_MAX };
        let mut written = Segments { bytes: 0, segment_bytes: max, is_all: false, path: self.path.current };
        for segment in 0..segments_max {
            let rest = &mut buffer[written.bytes..];
            if rest.len() < written.segment_bytes {
                break;
            }
            let equal_to = (segment > 0).then_some(written.segment_bytes);
            let segment_buffer = &mut rest[..written.segment_bytes];
            let class = self.channels.next_class();
            let Some(bytes) = self.write_datagram(now, segment_buffer, max, equal_to) else {
                break;
            };
            self.count_sent(now, bytes);
            written.bytes += bytes;
            if segment == 0 {
                written.segment_bytes = bytes;
            } else if bytes < written.segment_bytes {
                break;
            }
            // A burst that is split into packets continues at this size. Otherwise, the next packet may be larger, and
            // so may one of another class.
            if bytes * 2 < max && !self.is_in_burst()
                || bytes < max && self.channels.next_class().is_some_and(|next| Some(next) != class)
            {
                break;
            }
        }
        (written.bytes > 0).then(|| Segments { is_all: self.has_said_all(now), ..written })
    }

    /// Writes a datagram to an unvalidated address, as far as its credit allows.
    fn poll_before_proof(&mut self, now: Time, buffer: &mut [u8], max: usize) -> Option<Segments> {
        let affordable = self.path.roaming.in_use().map_or(0, |candidate| candidate.affordable());
        if affordable < DATAGRAM_BYTES_MIN {
            return None;
        }
        let bytes = self.write_datagram(now, &mut buffer[..max.min(affordable)], max, None)?;
        self.count_sent(now, bytes);
        let path = self.sends_to();
        self.path.roaming.pay(bytes);
        Some(Segments { bytes, segment_bytes: bytes, is_all: false, path })
    }

    /// Writes one datagram and returns its length, within the limits of [`Space`].
    fn write_datagram(&mut self, now: Time, buffer: &mut [u8], max: usize, equal_to: Option<usize>) -> Option<usize> {
        let space = Space { bytes: buffer.len(), max, equal_to };
        let mut repeat = AckRepeat::Allowed;
        loop {
            let decision = self.decide(now, space, repeat)?;
            let composed = self.compose(now, buffer, &decision);
            if !composed.is_void {
                return Some(self.settle(now, buffer, &decision, &composed));
            }
            if !self.settle_void(now, &decision, &composed, repeat) {
                return None;
            }
            repeat = AckRepeat::InTheWay;
        }
    }

    /// Whether the connection is established and nothing of any kind is due now. The check is quick and may return
    /// false although nothing is due.
    pub(crate) fn is_silent(&self, now: Time) -> bool {
        self.has_said_all(now) && !self.path.roaming.has_path_frame(now) && self.ending.is_none()
    }

    /// Whether another call would write nothing now. The check is quick and may return false although nothing is due.
    fn has_said_all(&self, now: Time) -> bool {
        // A NEW_ID waits for a packet that leaves anyway.
        let PendingFrames { accept, connect, ping, probes, new_id: _ } = self.sending.pending;
        let has_control = accept
            || connect
            || ping
            || probes > 0
            || self.receiving.received.ack_due() <= now
            || self.time.is_due(now);
        let has_messages = self.channels.has_new() || self.channels.has_lost() || self.redundancy.has_repairs(now);
        self.state == ConnectionState::Established && !has_control && !has_messages && !self.path.mtu.is_searching(now)
    }

    /// Records the packet that was written as sent, under its number.
    pub(super) fn commit(&mut self, now: Time, bytes: usize, is_ack_eliciting: bool, age_ms: u16) {
        let in_flight = self.sending.ledger.bytes_in_flight();
        let stamp = match is_ack_eliciting {
            true => self.path.congestion.on_sent(now, bytes as u32, in_flight),
            false => {
                self.path.congestion.on_sent_untracked(now, bytes as u32);
                DeliveryStamp::default()
            }
        };
        self.sending.ledger.commit(now, Leaving { bytes, is_ack_eliciting, age_ms, stamp });
        if self.sending.ledger.is_time_to_trim() {
            self.sending.ledger.shrink();
            self.channels.trim();
        }
    }

    pub(super) fn count_sent(&mut self, now: Time, bytes: usize) {
        if let Some(bandwidth) = &mut self.sending.bandwidth {
            bandwidth.on_sent(now, bytes as u64 + u64::from(self.path.current.carrier.overhead_bytes));
        }
        self.stats.sent.datagrams += 1;
        self.stats.sent.datagram_bytes += bytes as u64;
        self.stats.sent.ip_bytes += bytes as u64 + u64::from(self.path.current.carrier.overhead_bytes);
    }
}
