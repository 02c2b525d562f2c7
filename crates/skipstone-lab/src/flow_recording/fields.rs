//! Fields of a client's packets that another client or another run would have otherwise: those that count up, and those
//! that differ between the clients of a recording.

use super::player::Player;
use super::reader::FlowRecording;
use std::collections::BTreeMap;
use std::ops::Range;

/// A sentence for each field that was found.
pub(super) fn findings(recording: &FlowRecording, player: &Player) -> Vec<String> {
    let mut found = differences(recording, player);
    for ((first, size), packets) in kinds(player) {
        for (at, width, step, order) in counters(&packets, size) {
            found.push(format!(
                "packets of {size} bytes that begin with {first}: bytes {at} to {} count up by {step} ({order})",
                at + width - 1
            ));
        }
    }
    found.truncate(FINDINGS_MAX);
    found
}

/// Packets by first byte and size: those of one kind have one layout.
fn kinds(player: &Player) -> BTreeMap<(u8, usize), Vec<&[u8]>> {
    let mut kinds: BTreeMap<(u8, usize), Vec<&[u8]>> = BTreeMap::new();
    for packet in player.packets.iter().filter(|packet| packet.bytes.len() <= PACKET_BYTES_MAX) {
        let Some(first) = packet.bytes.first() else { continue };
        kinds.entry((*first, packet.bytes.len())).or_default().push(&packet.bytes);
    }
    kinds.retain(|_, packets| packets.len() >= PACKETS_MIN);
    kinds
}

/// Where numbers count up by the same step in all packets: place, width, step and order of bytes.
fn counters(packets: &[&[u8]], size: usize) -> Vec<(usize, usize, u64, &'static str)> {
    let mut candidates = Vec::new();
    for (width, order) in [(4, "little-endian"), (4, "big-endian"), (2, "little-endian"), (2, "big-endian")] {
        for at in 0..(size + 1).saturating_sub(width) {
            let values: Vec<u64> = packets.iter().map(|packet| number(&packet[at..at + width], order)).collect();
            let step = values[1].checked_sub(values[0]).filter(|step| (1..=STEP_MAX).contains(step));
            if step.is_some() && values.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == step) {
                candidates.push((std::cmp::Reverse(width), values[0], (at, width, step.unwrap_or(0), order)));
            }
        }
    }
    // The low byte of a number counts up at the head of its neighbours, too: the least number is the field.
    candidates.sort_unstable();
    let mut found: Vec<(usize, usize, u64, &'static str)> = Vec::new();
    for (.., candidate) in candidates {
        let (at, width, ..) = candidate;
        if found.iter().all(|(own, own_width, ..)| at >= own + own_width || *own >= at + width) {
            found.push(candidate);
        }
    }
    found.sort_unstable();
    found
}

fn number(bytes: &[u8], order: &str) -> u64 {
    let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    if order == "big-endian" { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}

/// Bytes of the first packets that other clients have otherwise.
fn differences(recording: &FlowRecording, player: &Player) -> Vec<String> {
    let others = recording.flows().into_iter().filter(|flow| flow.protocol == player.flow.protocol);
    let others: Vec<Player> = others
        .filter(|flow| *flow != player.flow)
        .take(CLIENTS_MAX)
        .map(|flow| Player::of(recording, flow, None))
        .collect();
    let mut found = Vec::new();
    for (number, packet) in player.packets.iter().enumerate().take(FIRST_PACKETS) {
        let same = others.iter().filter_map(|other| other.packets.get(number));
        let same: Vec<&[u8]> =
            same.map(|other| other.bytes.as_slice()).filter(|other| other.len() == packet.bytes.len()).collect();
        let differs = |at: &usize| same.iter().any(|other| other[*at] != packet.bytes[*at]);
        for span in spans((0..packet.bytes.len()).filter(differs)) {
            let (from, to) = (span.start, span.end - 1);
            found.push(format!("packet {}: bytes {from} to {to} differ between the recorded clients", number + 1));
        }
    }
    found
}

/// Neighbours joined.
fn spans(places: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for at in places {
        match spans.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => spans.push(at..at + 1),
        }
    }
    spans
}

/// Packets of a kind before a pattern is no chance.
const PACKETS_MIN: usize = 5;
const STEP_MAX: u64 = 64;
const PACKET_BYTES_MAX: usize = 1_500;
const FIRST_PACKETS: usize = 3;
const CLIENTS_MAX: usize = 8;
const FINDINGS_MAX: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_number_is_found_once_in_its_order_of_bytes() {
        let little: Vec<Vec<u8>> = (250..300_u32).map(|n| [&[1], &n.to_le_bytes()[..], &[9, 9]].concat()).collect();
        let little: Vec<&[u8]> = little.iter().map(Vec::as_slice).collect();
        assert_eq!(counters(&little, 7), [(1, 4, 1, "little-endian")]);
        let big: Vec<Vec<u8>> = (250..300_u32).map(|n| [&[1], &(2 * n).to_be_bytes()[..], &[9, 9]].concat()).collect();
        let big: Vec<&[u8]> = big.iter().map(Vec::as_slice).collect();
        assert_eq!(counters(&big, 7), [(1, 4, 2, "big-endian")]);
        assert_eq!(counters(&[&[1, 2, 3], &[1, 2, 3]], 3), []);
    }

    #[test]
    fn neighbours_are_one_span() {
        assert_eq!(spans([1, 2, 3, 7, 9, 10].into_iter()), [1..4, 7..8, 9..11]);
    }
}
