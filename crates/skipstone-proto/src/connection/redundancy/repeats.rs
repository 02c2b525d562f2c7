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
    let Repeats { packets, numbers, resolved } = &mut **repeats;
    let (_, new_bytes) = lanes.new_size(id);
    let affordable = usize::try_from(budget.affordable()).unwrap_or(usize::MAX);
    let room = packet.room().saturating_sub(new_bytes + ROOM_BESIDE).min(affordable);
    let (reserve, before) = (packet.reserve, packet.writer.len());
    packet.reserve = packet.writer.room() - room;
    // The newest matter most, where not all of them find room; they leave in their order, which takes fewer bytes.
    let mut size = 0;
    let mut fits = |number: &&u64| {
        packet.ledger.look_up(**number, resolved);
        size += resolved.drain(..).map(|held| lanes.repeat_size(held.record, id, *packets)).sum::<usize>();
        size <= room
    };
    let count = numbers.iter().rev().take_while(&mut fits).count();
    for number in numbers.range(numbers.len() - count..) {
        packet.ledger.look_up(*number, resolved);
        resolved.drain(..).for_each(|held| lanes.repeat(packet, held.record, id, *packets));
    }
    packet.reserve = reserve;
    let bytes = packet.writer.len() - before;
    budget.spend(bytes as u64);
    bytes
}
