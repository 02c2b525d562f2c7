//! Every frame of a packet is checked before the first is applied.

use crate::connection::stats::DropReason;
use crate::connection::{Connection, ConnectionState};
use crate::time::Duration;
use crate::wire::ack::{Ack, Repaired};
use crate::wire::frame::{Frame, Frames};
use crate::wire::limits::Limits;
use crate::wire::message::{Message, Sequence};
use crate::wire::settings::{DeliveryMode, Settings};

/// Greatest age of a message, in ms; a greater one counts as this.
const AGE_MS_MAX: u64 = 60_000;

/// Summary of all frames of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::connection) struct Summary {
    pub(super) is_ack_eliciting: bool,
    is_accept: bool,
    /// Age of the packet's messages: how late they already are.
    pub(in crate::connection) age: Duration,
    /// Where the frames begin that a repair covers: after acknowledgements.
    pub(super) content_from: usize,
    pub(super) has_repair: bool,
}

impl Connection {
    /// Looks at every frame before the first is applied: a packet counts whole or not at all.
    pub(in crate::connection) fn check(&self, number: u64, bytes: &[u8]) -> Result<Summary, DropReason> {
        let mut summary = Summary { is_ack_eliciting: bytes.is_empty(), ..Summary::default() };
        let mut frames = Frames::new(bytes);
        let mut is_behind_acks = false;
        while let Some(frame) = frames.next() {
            let frame = frame.map_err(|_| DropReason::BadFrame)?;
            summary.is_ack_eliciting |= frame.is_ack_eliciting();
            is_behind_acks |= !matches!(frame, Frame::Ack(_) | Frame::Repaired(_));
            if !is_behind_acks {
                summary.content_from = bytes.len() - frames.remaining();
            }
            match frame {
                Frame::Ack(ack) => self.check_ack(&ack)?,
                Frame::Repaired(repaired) => self.check_repaired(&repaired)?,
                Frame::Repair(repair) => {
                    let mut covers = repair.covers(number).map_err(|_| DropReason::BadFrame)?;
                    covers.all(|range| range.is_ok()).then_some(()).ok_or(DropReason::BadFrame)?;
                    summary.has_repair = true;
                }
                Frame::Late { age_ms } => summary.age = Duration::from_millis(age_ms.min(AGE_MS_MAX)),
                Frame::Accept { settings, .. } => {
                    Settings::decode(settings).map_err(|_| DropReason::BadFrame)?;
                    summary.is_accept = true;
                }
                Frame::Connect { limits, .. } => {
                    Limits::decode(limits).map_err(|_| DropReason::BadFrame)?;
                }
                // The client has not sent CONNECT yet, so there is nothing to close.
                Frame::Close { .. } | Frame::Closed if self.is_unasked() => return Err(DropReason::BadFrame),
                // The rules of the channels come with ACCEPT; messages that overtook it are retransmitted.
                Frame::Message(_) if self.state == ConnectionState::Opening && !summary.is_accept => {
                    return Err(DropReason::TooEarly);
                }
                Frame::Message(message) if self.state != ConnectionState::Opening => {
                    self.check_message(&message)?;
                    let run = frames.run();
                    if run.payload_bytes_max > self.terms.receives.message_bytes_max as usize {
                        return Err(DropReason::BadFrame);
                    }
                    frames.skip_run(&run);
                }
                _ => {}
            }
        }
        Ok(summary)
    }

    fn check_ack(&self, ack: &Ack<'_>) -> Result<(), DropReason> {
        let largest = ack.largest.resolve(self.sending.ledger.next());
        let all_fit = ack.ranges(largest).all(|range| range.is_ok());
        (largest < self.sending.ledger.next() && all_fit).then_some(()).ok_or(DropReason::BadFrame)
    }

    fn check_repaired(&self, repaired: &Repaired<'_>) -> Result<(), DropReason> {
        let largest = repaired.largest.resolve(self.sending.ledger.next());
        let all_fit = repaired.ranges(largest).all(|range| range.is_ok());
        (largest < self.sending.ledger.next() && all_fit).then_some(()).ok_or(DropReason::BadFrame)
    }

    fn check_message(&self, message: &Message<'_>) -> Result<(), DropReason> {
        let length = message.fragment.map_or(message.payload.len(), |fragment| fragment.total as usize);
        let rule = self.terms.settings.rule(message.channel).ok_or(DropReason::BadFrame)?;
        let is_allowed = length <= self.terms.receives.message_bytes_max as usize
            && (message.sequence != Sequence::None || rule.mode == DeliveryMode::Unreliable)
            && self.state != ConnectionState::Requested;
        if !is_allowed {
            return Err(DropReason::BadFrame);
        }
        // On a stream unreliable messages are dropped one by one, and reliable ones within the window always have room.
        let is_dropped_alone = self.path.current.carrier.is_reliable && !rule.mode.is_reliable();
        let has_room = is_dropped_alone || self.receive_room() > 0;
        has_room.then_some(()).ok_or(DropReason::WindowExceeded)
    }
}
