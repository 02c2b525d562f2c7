//! The proof of a simulated run: each entity's updates came back once and in order, and how long each took.

use std::time::Duration;

use super::payload::Stamp;
use crate::measure::ledger::{Ledger, LineOutcome, Tally};

/// The client's view of its echoes.
#[derive(Debug)]
pub(crate) struct Proof {
    /// By entity: its updates, which come back to the one client.
    entities: Vec<Ledger>,
    /// By entity: how many were sent.
    sent: Vec<u32>,
    /// From the tick to the delivery of the echo, in µs.
    latencies: Vec<u32>,
    refused: u64,
    corrupted: u64,
}

/// How the updates of a run fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UpdateCounts {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    /// A full queue took them not, at either end.
    pub(crate) refused: u64,
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    /// Came back after a newer one of the same entity.
    pub(crate) reordered: u64,
    pub(crate) corrupted: u64,
}

impl Proof {
    pub(crate) fn new(entities: u16) -> Proof {
        Proof {
            entities: (0..entities).map(|_| Ledger::new(1, 1)).collect(),
            sent: vec![0; entities.into()],
            latencies: Vec::new(),
            refused: 0,
            corrupted: 0,
        }
    }

    /// The next update of an entity.
    pub(crate) fn send(&mut self, entity: u16, due: Duration) -> Stamp {
        let sent = &mut self.sent[usize::from(entity)];
        *sent += 1;
        Stamp { entity, sequence: *sent - 1, due }
    }

    /// A full queue refused an update, or its echo.
    pub(crate) fn on_refused(&mut self) {
        self.refused += 1;
    }

    /// An echo was delivered on an entity's channel.
    pub(crate) fn on_echo(&mut self, now: Duration, entity: u16, payload: &[u8]) {
        let number = usize::from(entity);
        let is_sent = |stamp: &Stamp| self.sent.get(number).is_some_and(|sent| stamp.sequence < *sent);
        let stamp = Stamp::decode(payload).filter(|stamp| stamp.entity == entity && is_sent(stamp));
        let Some(stamp) = stamp else {
            self.corrupted += 1;
            return;
        };
        match self.entities[number].on_line(0, 0, stamp.sequence) {
            LineOutcome::InOrder | LineOutcome::Reordered => {
                self.latencies.push((now - stamp.due).as_micros() as u32);
            }
            LineOutcome::Duplicate | LineOutcome::Unexpected => {}
        }
    }

    /// Whether everything has come back that was not refused.
    pub(crate) fn is_complete(&self) -> bool {
        self.delivered() + self.refused == self.sent()
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.latencies.len() as u64
    }

    fn sent(&self) -> u64 {
        self.sent.iter().map(|sent| u64::from(*sent)).sum()
    }

    /// The counts, and all latencies in µs, sorted.
    pub(crate) fn finish(mut self) -> (UpdateCounts, Vec<u32>) {
        let (sent, delivered) = (self.sent(), self.delivered());
        let mut tally = Tally::default();
        self.entities.iter().zip(&self.sent).for_each(|(ledger, sent)| tally += ledger.finish(&[*sent]));
        self.latencies.sort_unstable();
        let counts = UpdateCounts {
            sent,
            delivered,
            refused: self.refused,
            lost: sent - delivered - self.refused,
            duplicated: tally.duplicated,
            reordered: tally.reordered,
            corrupted: self.corrupted,
        };
        (counts, self.latencies)
    }
}

/// The nearest-rank percentile of sorted values, in basis points: 9,980 is p99.8. `None` of nothing.
pub(crate) fn percentile(sorted: &[u32], basis_points: u64) -> Option<u32> {
    let rank = (sorted.len() as u64 * basis_points).div_ceil(10_000).max(1);
    sorted.get(rank as usize - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn percentiles_are_those_of_a_list_made_by_hand() {
        let list: Vec<u32> = (1..=1_000).map(|number| number * 10).collect();
        let of = |basis_points| percentile(&list, basis_points).unwrap();
        assert_eq!([5_000, 9_900, 9_980, 9_999, 10_000].map(of), [5_000, 9_900, 9_980, 10_000, 10_000]);
        assert_eq!(percentile(&[15, 20, 35, 40, 50], 4_000), Some(20));
        assert_eq!(percentile(&[15, 20, 35, 40, 50], 4_001), Some(35));
        assert_eq!((percentile(&[7], 1), percentile(&[7], 9_999), percentile(&[], 5_000)), (Some(7), Some(7), None));
    }

    #[test]
    fn every_fault_is_counted_once_and_as_what_it_is() {
        let mut proof = Proof::new(2);
        let sent: Vec<_> = (0..4).map(|_| proof.send(1, at(100)).encode(50)).collect();
        proof.send(0, at(100));
        proof.send(0, at(100));
        proof.on_refused();
        proof.on_echo(at(120), 1, &sent[0]);
        proof.on_echo(at(130), 1, &sent[2]);
        proof.on_echo(at(131), 1, &sent[1]);
        proof.on_echo(at(132), 1, &sent[1]);
        proof.on_echo(at(133), 0, &sent[3]);
        proof.on_echo(at(134), 1, &Stamp { entity: 1, sequence: 9, due: at(0) }.encode(50));
        assert!(!proof.is_complete());
        let (counts, latencies) = proof.finish();
        let expected =
            UpdateCounts { sent: 6, delivered: 3, refused: 1, lost: 2, duplicated: 1, reordered: 1, corrupted: 2 };
        assert_eq!((counts, latencies), (expected, vec![20_000, 30_000, 31_000]));
    }
}
