//! What came back: each entity's updates once and in order, and how long each took.

use std::time::Duration;

use super::payload::Stamp;

/// The client's view of its echoes.
#[derive(Debug)]
pub(crate) struct Proof {
    entities: Vec<Entity>,
    /// From the tick to the delivery of the echo, in µs.
    latencies: Vec<u32>,
    delivered: u64,
    refused: u64,
    duplicated: u64,
    reordered: u64,
    corrupted: u64,
}

#[derive(Debug, Clone, Default)]
struct Entity {
    sent: u32,
    /// Which have come back, a bit each.
    seen: Vec<u64>,
    /// One above the newest that came back.
    next: u32,
}

/// How the updates of a run fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
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
            entities: vec![Entity::default(); entities.into()],
            latencies: Vec::new(),
            delivered: 0,
            refused: 0,
            duplicated: 0,
            reordered: 0,
            corrupted: 0,
        }
    }

    /// The next update of an entity.
    pub(crate) fn send(&mut self, entity: u16, due: Duration) -> Stamp {
        let own = &mut self.entities[usize::from(entity)];
        own.sent += 1;
        Stamp { entity, sequence: own.sent - 1, due }
    }

    /// A full queue refused an update, or its echo.
    pub(crate) fn on_refused(&mut self) {
        self.refused += 1;
    }

    /// An echo was delivered on an entity's channel.
    pub(crate) fn on_echo(&mut self, now: Duration, entity: u16, payload: &[u8]) {
        let stamp = Stamp::decode(payload).filter(|stamp| stamp.entity == entity);
        let own = self.entities.get_mut(usize::from(entity));
        let (Some(stamp), Some(own)) = (stamp, own) else {
            self.corrupted += 1;
            return;
        };
        if stamp.sequence >= own.sent {
            self.corrupted += 1;
            return;
        }
        let (word, bit) = (stamp.sequence as usize / 64, 1 << (stamp.sequence % 64));
        own.seen.resize(own.seen.len().max(word + 1), 0);
        if own.seen[word] & bit != 0 {
            self.duplicated += 1;
            return;
        }
        own.seen[word] |= bit;
        self.reordered += u64::from(stamp.sequence < own.next);
        own.next = own.next.max(stamp.sequence + 1);
        self.delivered += 1;
        self.latencies.push((now - stamp.due).as_micros() as u32);
    }

    /// Whether everything has come back that was not refused.
    pub(crate) fn is_complete(&self) -> bool {
        self.delivered + self.refused == self.sent()
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    fn sent(&self) -> u64 {
        self.entities.iter().map(|entity| u64::from(entity.sent)).sum()
    }

    /// The counts, and all latencies in µs, sorted.
    pub(crate) fn finish(mut self) -> (Counts, Vec<u32>) {
        let sent = self.sent();
        self.latencies.sort_unstable();
        let counts = Counts {
            sent,
            delivered: self.delivered,
            refused: self.refused,
            lost: sent - self.delivered - self.refused,
            duplicated: self.duplicated,
            reordered: self.reordered,
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
        let expected = Counts { sent: 6, delivered: 3, refused: 1, lost: 2, duplicated: 1, reordered: 1, corrupted: 2 };
        assert_eq!((counts, latencies), (expected, vec![20_000, 30_000, 31_000]));
    }
}
