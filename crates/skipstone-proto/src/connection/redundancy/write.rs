//! Writing of repairs and repeats into a packet.

use super::repeats::Repeats;
use super::state::Redundant;
use crate::channel::channels::Channels;
use crate::channel::classes::ClassId;
use crate::channel::packet::Packet;
use crate::recovery::Record;
use crate::time::Time;

/// Bytes that the headers of the new messages may need beyond the estimate.
const ROOM_BESIDE: usize = 64;

/// Writes a repair, if one is due and the packet holds only acknowledgements. True if a repair was written.
pub(in crate::connection) fn write_repair(
    now: Time,
    redundancy: &mut Redundant,
    packet: &mut Packet<'_>,
    overhead: usize,
    is_last_chance: bool,
) -> bool {
    let Some(class) = redundancy.classes.iter_mut().find(|class| class.repairs.are_due(now)) else { return false };
    let has_blocks = class.has_blocks();
    let Some(encoder) = &mut class.encoder else {
        class.repairs.clear();
        return false;
    };
    let length = encoder.repair_len(packet.number);
    let bytes = (length + packet.writer.len() + overhead) as u64;
    let fits = packet.room() >= length;
    if fits && redundancy.budget.allows(bytes) && encoder.write_repair(packet.number, &mut packet.writer) {
        redundancy.budget.spend(bytes);
        class.repairs.on_sent();
        let is_last = class.repairs.are_over();
        if is_last && has_blocks {
            encoder.begin_block();
        } else if is_last {
            encoder.on_repairs_sent();
        }
        return true;
    }
    if fits || is_last_chance {
        if has_blocks {
            encoder.begin_block();
        }
        class.repairs.clear();
    }
    false
}

/// Repeats the unacknowledged messages of a class's last packets, as far as new messages leave space and the budget
/// allows. Returns the bytes written.
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
    // The newest messages have priority where not all fit. They are written in their order, which takes fewer bytes.
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

/// The packet contains new messages since its ledger's part began, which the next packets repeat.
#[inline]
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
