//! What left: the crate does not tell what waits in its queues, and how often it sent something again, so the client's
//! own datagrams are read. Big-endian, as ENet 1.3's `protocol.h` has it.

use crate::protocols::limits::MESSAGE_COST;
use std::collections::BTreeMap;

/// Counts of the datagrams of one client.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// The newest reliable command of each channel.
    newest: BTreeMap<u8, u16>,
    /// Reliable messages that left for the first time, with the cost of each.
    pub(super) reliable_bytes: u64,
    /// Reliable commands of messages that left again.
    pub(super) retransmitted: u64,
}

const HAS_TIME: u16 = 0x8000;
const RELIABLE: u8 = 6;
const UNRELIABLE: u8 = 7;
const FRAGMENT: u8 = 8;
const UNSEQUENCED: u8 = 9;
const UNRELIABLE_FRAGMENT: u8 = 12;
/// Where a fragment's command has its number.
const FRAGMENT_NUMBER: usize = 12;

impl Sent {
    /// A datagram without compression and checksum. Returns whether it has a part of a message.
    pub(super) fn on_datagram(&mut self, datagram: &[u8]) -> bool {
        let has_time = number(datagram, 0).is_some_and(|peer| peer & HAS_TIME != 0);
        let mut rest = datagram.get(if has_time { 4 } else { 2 }..).unwrap_or_default();
        let mut has_message = false;
        while let Some((length, payload)) = lengths(rest) {
            has_message |= matches!(rest[0] & 0x0F, RELIABLE..=UNSEQUENCED | UNRELIABLE_FRAGMENT);
            self.on_command(rest, payload);
            rest = rest.get(length + payload..).unwrap_or_default();
        }
        has_message
    }

    fn on_command(&mut self, command: &[u8], payload: usize) {
        let (kind, channel) = (command[0] & 0x0F, command[1]);
        let (RELIABLE | FRAGMENT, Some(sequence)) = (kind, number(command, 2)) else { return };
        if self.is_newest(channel, sequence) {
            // A message counts its cost with its first fragment, whose number is 0.
            let begins = kind == RELIABLE || command[FRAGMENT_NUMBER..][..4] == [0; 4];
            self.reliable_bytes += payload as u64 + if begins { MESSAGE_COST as u64 } else { 0 };
        } else {
            self.retransmitted += 1;
        }
    }

    fn is_newest(&mut self, channel: u8, sequence: u16) -> bool {
        let newest = self.newest.entry(channel).or_default();
        let is_newest = sequence.wrapping_sub(*newest) as i16 > 0;
        if is_newest {
            *newest = sequence;
        }
        is_newest
    }
}

/// Bytes of the first command, and of its payload.
fn lengths(rest: &[u8]) -> Option<(usize, usize)> {
    let (length, payload_at) = match rest.first()? & 0x0F {
        1 | 4 => (8, None),
        2 => (48, None),
        3 => (44, None),
        5 => (4, None),
        RELIABLE => (6, Some(4)),
        UNRELIABLE | UNSEQUENCED => (8, Some(6)),
        FRAGMENT | UNRELIABLE_FRAGMENT => (24, Some(6)),
        10 => (12, None),
        11 => (16, None),
        _ => return None,
    };
    let payload = payload_at.map_or(Some(0), |at| number(rest, at).map(usize::from))?;
    (rest.len() >= length + payload).then_some((length, payload))
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reliable_payload_counts_once_and_again_is_a_retransmission() {
        let acknowledgement = [1, 0, 0, 1, 0, 1, 0, 9];
        let reliable = [0x86, 3, 0, 1, 0, 2, 7, 7];
        let unreliable = [7, 3, 0, 1, 0, 1, 0, 3, 1, 2, 3];
        let datagram = [&[0x80, 0, 0, 9][..], &acknowledgement, &reliable, &unreliable].concat();
        let mut sent = Sent::default();
        assert!(sent.on_datagram(&datagram));
        let cost = MESSAGE_COST as u64;
        assert_eq!((sent.reliable_bytes, sent.retransmitted), (2 + cost, 0));
        assert!(sent.on_datagram(&[&[0, 0][..], &reliable].concat()));
        assert_eq!((sent.reliable_bytes, sent.retransmitted), (2 + cost, 1));
        for (number, bytes) in [(0, 3 + 2 * cost), (1, 4 + 2 * cost)] {
            let fragment =
                [&[0x88, 3, 0, 3 + number, 0, 3, 0, 1, 0, 0, 0, 2, 0, 0, 0, number][..], &[0; 8], &[9]].concat();
            assert!(sent.on_datagram(&[&[0, 0][..], &fragment].concat()));
            assert_eq!(sent.reliable_bytes, bytes);
        }
        let empty = [0x86, 3, 0, 5, 0, 0];
        assert!(sent.on_datagram(&[&[0, 0][..], &empty].concat()));
        assert_eq!(sent.reliable_bytes, 4 + 3 * cost);
        assert!(!sent.on_datagram(&[&[0, 0][..], &acknowledgement].concat()));
        assert!(!sent.on_datagram(&[]));
    }
}
