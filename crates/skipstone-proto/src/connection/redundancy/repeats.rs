//! Messages that go out once more in the packets after their own, before anything is known of them: small urgent ones,
//! such as a player's inputs. What is lost arrives with the next packet.

use super::Redundant;
use crate::channel::classes::ClassId;
use crate::channel::lanes::Lanes;
use crate::channel::packet::Packet;
use crate::recovery::Resolved;
use std::collections::VecDeque;

/// The last packets with new messages of a class.
#[derive(Debug)]
pub(super) struct Repeats {
    /// How many of them are repeated.
    packets: u8,
    numbers: VecDeque<u64>,
    resolved: Vec<Resolved>,
}

/// What the headers of the new messages may take beyond what was estimated.
const ROOM_BESIDE: usize = 64;

impl Repeats {
    pub(super) fn new(packets: u8) -> Self {
        Repeats { packets, numbers: VecDeque::new(), resolved: Vec::new() }
    }

    pub(super) fn on_source(&mut self, number: u64) {
        if self.numbers.len() >= usize::from(self.packets) {
            self.numbers.pop_front();
        }
        self.numbers.push_back(number);
    }
}

/// Writes again what the last packets of a class held and is not acknowledged, as far as new messages leave room and the
/// budget allows. Returns the bytes that it took.
pub(in crate::connection) fn write_repeats(
    redundancy: &mut Redundant,
    lanes: &mut Lanes,
    packet: &mut Packet<'_>,
    id: ClassId,
) -> usize {
    let Redundant { classes, budget, .. } = redundancy;
    let Some(repeats) = &mut classes[usize::from(id)].repeats else { return 0 };
    let (_, new_bytes) = lanes.new_size(id);
    let affordable = usize::try_from(budget.affordable()).unwrap_or(usize::MAX);
    let room = packet.room().saturating_sub(new_bytes + ROOM_BESIDE).min(affordable);
    let (reserve, from) = (packet.reserve, packet.writer.len());
    packet.reserve = packet.writer.room() - room;
    for number in &repeats.numbers {
        packet.ledger.look_up(*number, &mut repeats.resolved);
        for resolved in repeats.resolved.drain(..) {
            lanes.repeat(packet, resolved.record, id, repeats.packets);
        }
    }
    packet.reserve = reserve;
    let bytes = packet.writer.len() - from;
    budget.spend(bytes as u64);
    bytes
}
