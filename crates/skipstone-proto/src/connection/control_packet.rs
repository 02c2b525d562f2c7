//! Packets outside the stream of frames: path challenges, their responses, and path MTU probes. Each packet holds only
//! that one frame and padding.

use super::roaming::{CHALLENGE_BYTES, PathFrame};
use super::transmit::OVERTAKING_MAX;
use super::{Connection, ConnectionState};
use crate::path::Path;
use crate::recovery::{Control, Record};
use crate::time::Time;
use crate::wire::cursor::Writer;
use crate::wire::datagram::{self, HEADER_BYTES};
use crate::wire::frame;
use crate::wire::number::Truncated;

impl Connection {
    /// Writes a control packet that is due into `buffer`. Returns its path and its length.
    pub(crate) fn poll_control_packet(&mut self, now: Time, buffer: &mut [u8]) -> Option<(Path, usize)> {
        if self.identity.ids.remote == 0 {
            return None;
        }
        match self.path.roaming.poll(now) {
            Some(PathFrame::Challenge { path, id, token }) => {
                let length = self.write_control_packet(now, buffer, id, Tracking::None, |writer| {
                    frame::encode_path_challenge(writer, token);
                })?;
                self.path.roaming.on_challenge_sent(now, token);
                Some((path, length))
            }
            Some(PathFrame::Answer { token }) => {
                let length =
                    self.write_control_packet(now, buffer, self.identity.ids.remote, Tracking::None, |writer| {
                        frame::encode_path_response(writer, token);
                    })?;
                Some((self.path.current, length))
            }
            Some(PathFrame::Announce) => {
                let bytes = ANNOUNCE_BYTES + 2 * self.security.overhead();
                let length = self.write_control_packet(
                    now,
                    buffer,
                    self.identity.ids.remote,
                    Tracking::AckEliciting,
                    |writer| {
                        frame::encode_ping(writer);
                        writer.zeros(bytes.saturating_sub(writer.len()));
                    },
                )?;
                Some((self.path.current, length))
            }
            None => self.poll_size_probe(now, buffer),
        }
    }

    fn poll_size_probe(&mut self, now: Time, buffer: &mut [u8]) -> Option<(Path, usize)> {
        let is_proven = self.path.roaming.in_use().is_none();
        if !self.path.mtu.is_searching(now) || self.path.current.carrier.is_reliable || !is_proven {
            return None;
        }
        let is_standing =
            matches!(self.state, ConnectionState::Established | ConnectionState::Lingering) && self.timers.is_confirmed;
        let is_free = self.sending.ledger.has_room(now)
            && u64::from(self.sending.ledger.bytes_in_flight()) < self.path.congestion.window();
        if !is_standing || !is_free {
            return None;
        }
        let max = usize::from(self.datagram_bytes_max()).min(buffer.len()) as u16;
        let bytes = self.path.mtu.poll_probe(now, max, self.path.current.carrier.overhead_bytes)?;
        let buffer = &mut buffer[..usize::from(bytes)];
        let length = self.write_control_packet(
            now,
            buffer,
            self.identity.ids.remote,
            Tracking::Recorded(Control::SizeProbe(bytes)),
            |writer| {
                frame::encode_ping(writer);
                writer.zeros(writer.room());
            },
        )?;
        self.path.mtu.on_probe_sent(bytes);
        Some((self.path.current, length))
    }

    /// Seals a packet that holds the frames that `fill` writes.
    fn write_control_packet(
        &mut self,
        now: Time,
        buffer: &mut [u8],
        to: u32,
        fate: Tracking,
        fill: impl FnOnce(&mut Writer<'_>),
    ) -> Option<usize> {
        let end = buffer.len().checked_sub(self.security.overhead())?;
        let mut writer = Writer::new(&mut buffer[..end]);
        datagram::encode_packet_header(&mut writer, to);
        let number = self.sending.ledger.next();
        writer.truncated(Truncated::new(number, self.sending.ledger.distance() + OVERTAKING_MAX));
        fill(&mut writer);
        let length = writer.len();
        self.log_sent(now, number, length + self.security.overhead(), &buffer[..length]);
        let length = self.security.seal(buffer, HEADER_BYTES..length, number);
        if let Tracking::Recorded(control) = fate {
            self.sending.ledger.record(Record::Control(control));
        }
        let is_ack_eliciting = fate != Tracking::None;
        self.commit(now, length, is_ack_eliciting, 0);
        self.count_sent(now, length);
        Some(length)
    }
}

/// How this side learns whether a packet arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tracking {
    /// No tracking: the packet is sent again by its own timer, or when the peer asks again.
    None,
    /// The packet is ack-eliciting.
    AckEliciting,
    /// The packet is ack-eliciting, and the ledger records its purpose.
    Recorded(Control),
}

/// A packet that announces a new address is as long as two challenges, because this side never sends more to an
/// unvalidated address than it received from there.
const ANNOUNCE_BYTES: usize = 2 * CHALLENGE_BYTES;
