//! Messages that go out once more in the packets after their own, before anything is known of them: small urgent ones,
//! such as a player's inputs. What is lost arrives with the next packet.

use super::Redundant;
use crate::channel::channels::Channels;
use crate::channel::classes::ClassId;
use crate::channel::packet::Packet;
use crate::recovery::Record;
use std::collections::VecDeque;

/// The new messages of the last packets of a class.
#[derive(Debug)]
pub(super) struct Repeats {
    /// How many of them there are, and so how often a message is repeated.
    times: u8,
    records: VecDeque<Record>,
    /// How many records each of the packets had.
    packets: VecDeque<usize>,
}

/// What the headers of the new messages may take beyond what was estimated.
const ROOM_BESIDE: usize = 64;

impl Repeats {
    pub(super) fn new(times: u8) -> Self {
        Repeats { times, records: VecDeque::new(), packets: VecDeque::new() }
    }

    /// A packet with these new messages leaves. `forget` hears of those that no packet after it repeats.
    fn on_packet(&mut self, new: impl Iterator<Item = Record>, forget: impl FnMut(Record)) {
        if self.packets.len() >= usize::from(self.times) {
            let oldest = self.packets.pop_front().unwrap_or(0);
            self.records.drain(..oldest).for_each(forget);
        }
        let before = self.records.len();
        self.records.extend(new);
        self.packets.push_back(self.records.len() - before);
    }
}

/// Writes again what the last packets of a class brought and is not acknowledged, as far as new messages leave room and
/// the budget allows. Returns the bytes that it took.
pub(in crate::connection) fn write_repeats(
    redundancy: &mut Redundant,
    channels: &mut Channels,
    packet: &mut Packet<'_>,
    id: ClassId,
) -> usize {
    let Some(Repeats { records, .. }) = redundancy.classes[usize::from(id)].repeats.as_deref() else { return 0 };
    let (_, new_bytes) = channels.new_size(id);
    let affordable = usize::try_from(redundancy.budget.affordable()).unwrap_or(usize::MAX);
    let room = packet.room().saturating_sub(new_bytes + ROOM_BESIDE).min(affordable);
    // The newest matter most, where not all of them find room. They leave in their order, which takes fewer bytes.
    let mut size = 0;
    let mut fits = |record: &&Record| {
        size += channels.repeat_size(**record);
        size <= room
    };
    let count = records.iter().rev().take_while(&mut fits).count();
    let (reserve, before) = (packet.reserve, packet.writer.len());
    packet.reserve = packet.writer.room() - room;
    for record in records.range(records.len() - count..) {
        channels.repeat(packet, *record);
    }
    packet.reserve = reserve;
    let bytes = packet.writer.len() - before;
    redundancy.budget.spend(bytes as u64);
    bytes
}

/// The packet holds new messages since its ledger's part began, which the next ones are to repeat.
pub(in crate::connection) fn note_repeatable(
    redundancy: &mut Redundant,
    channels: &mut Channels,
    packet: &Packet<'_>,
    id: ClassId,
) {
    if let Some(repeats) = &mut redundancy.class_mut(id).repeats
        && packet.messages > 0
    {
        repeats.on_packet(packet.ledger.part(), |record| channels.end_repeats(record));
    }
}
