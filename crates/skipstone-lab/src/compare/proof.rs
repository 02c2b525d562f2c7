//! The proof of a run: each entity's updates came back, or arrived, once and in order, and how long each took.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::delivery::{Delivery, Owed};
use super::payload::Stamp;
use super::series::{Echo, RunSeries};
use crate::measure::ledger::{Ledger, LineOutcome, Tally};

/// The fate of all updates.
#[derive(Debug)]
pub(crate) struct Proof {
    /// Deliveries by entity; bulk comes after the last entity.
    deliveries: Vec<Delivery>,
    /// By entity, then bulk: its updates, which come back to the one client, or go to one end.
    entities: Vec<Ledger>,
    /// By entity: the number of updates sent.
    sent: Vec<u32>,
    /// By entity: the number sent up to the newest update that was not refused.
    accepted: Vec<u32>,
    /// By entity: the number sent up to the newest update that came back.
    newest: Vec<u32>,
    /// By entity: the number of updates that came back.
    arrived: Vec<u32>,
    /// By entity: the number of updates that a full queue refused.
    turned_away: Vec<u32>,
    /// By tick: when its updates were due.
    due: Vec<Duration>,
    ticks: Option<OwnTicks>,
    /// From the tick to the delivery of the echo, in µs.
    latencies: Vec<u32>,
    /// When each of them was due, in µs.
    latencies_due: Vec<u64>,
    moments: Moments,
    delivered: u64,
    /// Payload that came back, bulk included.
    pub(super) delivered_bytes: u64,
    corrupted: u64,
}

/// The updates of a run by the moments in which they were due.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moments {
    /// By moment: the number of updates sent.
    sent: Vec<u32>,
    /// By moment: latencies in µs.
    latencies: Vec<Vec<u32>>,
}

/// Shorter losses, fades and queues count as one event.
const MOMENT_SECONDS: u64 = 2;

impl Moments {
    pub(crate) fn on_sent(&mut self, moment: u16) {
        let length = self.sent.len().max(usize::from(moment) + 1);
        self.sent.resize(length, 0);
        self.latencies.resize(length, Vec::new());
        self.sent[usize::from(moment)] += 1;
    }

    pub(crate) fn on_echo(&mut self, moment: u16, latency_us: u32) {
        if let Some(latencies) = self.latencies.get_mut(usize::from(moment)) {
            latencies.push(latency_us);
        }
    }

    /// How many were sent.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.iter().map(|sent| u64::from(*sent)).sum()
    }

    /// By moment: how many took longer, or never arrived.
    pub(crate) fn later_than(&self, latency_us: u32) -> Vec<u32> {
        let in_time = |latencies: &Vec<u32>| latencies.iter().filter(|latency| **latency <= latency_us).count() as u32;
        self.sent.iter().zip(&self.latencies).map(|(sent, latencies)| sent - in_time(latencies)).collect()
    }
}

/// The ticks in which updates were due, if not every entity has one in every tick.
#[derive(Debug)]
struct OwnTicks {
    /// Indexed by entity and sequence.
    of: Vec<Vec<u32>>,
    /// By tick: how many updates it has.
    updates: Vec<u32>,
}

impl OwnTicks {
    fn on_sent(&mut self, entity: u16, tick: u32) {
        self.of[usize::from(entity)].push(tick);
        self.updates.resize(tick as usize + 1, 0);
        self.updates[tick as usize] += 1;
    }
}

/// What happened to the updates of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, derive_more::AddAssign)]
pub(crate) struct UpdateCounts {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    /// Their payload.
    pub(crate) delivered_bytes: u64,
    /// Updates that a full queue refused, at either end.
    pub(crate) refused: u64,
    /// Updates that were expected but not delivered: on sequenced channels only the newest of each entity is expected,
    /// on unreliable ones none.
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    /// Updates that came back after a newer one of the same entity.
    pub(crate) reordered: u64,
    pub(crate) corrupted: u64,
}

impl Proof {
    /// An empty proof for a run under this condition.
    pub(crate) fn of(condition: &Condition) -> Self {
        let proof = Self::new((0..condition.entities).map(|entity| condition.delivery_of(entity)));
        let own = || OwnTicks { of: vec![Vec::new(); proof.sent.len()], updates: Vec::new() };
        let ticks = condition.schedule.as_ref().map(|_| own());
        Self { ticks, ..proof }
    }

    fn new(deliveries: impl Iterator<Item = Delivery>) -> Self {
        // Bulk is delivered whole.
        let deliveries: Vec<Delivery> = deliveries.chain([Delivery::ReliableOrdered]).collect();
        let with_bulk = deliveries.len();
        Self {
            deliveries,
            entities: (0..with_bulk).map(|_| Ledger::new(1, 1)).collect(),
            sent: vec![0; with_bulk],
            accepted: vec![0; with_bulk],
            newest: vec![0; with_bulk],
            arrived: vec![0; with_bulk],
            turned_away: vec![0; with_bulk],
            due: Vec::new(),
            ticks: None,
            latencies: Vec::new(),
            latencies_due: Vec::new(),
            moments: Moments::default(),
            delivered: 0,
            delivered_bytes: 0,
            corrupted: 0,
        }
    }

    /// The next update of every entity is due.
    pub(crate) fn on_tick(&mut self, due: Duration) {
        self.due.push(due);
    }

    /// The next update of an entity, or the next bulk message.
    pub(crate) fn send(&mut self, entity: u16) -> Stamp {
        if usize::from(entity) != self.bulk()
            && let Some(due) = self.due.last()
        {
            self.moments.on_sent(self.moment_of(*due));
            let tick = self.due.len() as u32 - 1;
            self.ticks.iter_mut().for_each(|ticks| ticks.on_sent(entity, tick));
        }
        let sent = &mut self.sent[usize::from(entity)];
        *sent += 1;
        Stamp { entity, sequence: *sent - 1 }
    }

    /// The sender took it.
    pub(crate) fn on_accepted(&mut self, stamp: Stamp) {
        self.accepted[usize::from(stamp.entity)] = stamp.sequence + 1;
    }

    /// A full queue refused an update of an entity, or its echo.
    pub(crate) fn on_refused(&mut self, entity: u16) {
        if let Some(refused) = self.turned_away.get_mut(usize::from(entity)) {
            *refused += 1;
        }
    }

    /// Counts updates that were damaged on the other side.
    pub(crate) fn on_corrupted(&mut self, updates: u64) {
        self.corrupted += updates;
    }

    /// An echo was delivered on an entity's channel, or an update to the other end.
    pub(crate) fn on_echo(&mut self, now: Duration, entity: u16, payload: &[u8]) {
        match Stamp::decode(payload).filter(|stamp| stamp.entity == entity) {
            Some(stamp) => self.on_delivered(now, stamp, payload.len()),
            None => self.corrupted += 1,
        }
    }

    /// An update was delivered undamaged.
    pub(crate) fn on_delivered(&mut self, now: Duration, stamp: Stamp, bytes: usize) {
        let number = usize::from(stamp.entity);
        if self.sent.get(number).is_none_or(|sent| stamp.sequence >= *sent) {
            self.corrupted += 1;
            return;
        }
        match self.entities[number].on_line(0, 0, stamp.sequence) {
            LineOutcome::InOrder | LineOutcome::Reordered => {
                self.delivered += 1;
                self.arrived[number] += 1;
                self.delivered_bytes += bytes as u64;
                self.newest[number] = self.newest[number].max(stamp.sequence + 1);
                if number != self.bulk() {
                    let tick =
                        self.ticks.as_ref().map_or(stamp.sequence, |ticks| ticks.of[number][stamp.sequence as usize]);
                    let due = self.due[tick as usize];
                    let latency = now.saturating_sub(due).as_micros() as u32;
                    self.latencies.push(latency);
                    self.latencies_due.push(due.as_micros() as u64);
                    self.moments.on_echo(self.moment_of(due), latency);
                }
            }
            LineOutcome::Duplicate | LineOutcome::Unexpected => {}
        }
    }

    /// Whether nothing more can come, or need come.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete_of(|_| true)
    }

    /// Whether the updates of some entities are complete.
    pub(crate) fn is_complete_of(&self, counts: impl Fn(u16) -> bool) -> bool {
        let is_complete = |entity: usize| match self.deliveries[entity].owes() {
            Owed::All => self.lost_of(entity) == 0,
            Owed::Newest => self.newest[entity] >= self.accepted[entity],
            // Any update that was not delivered may still be in flight.
            Owed::Nothing => self.sent[entity] == 0,
        };
        (0..self.entities.len()).filter(|entity| counts(*entity as u16)).all(is_complete)
    }

    /// In which moment of the run updates were due.
    fn moment_of(&self, due: Duration) -> u16 {
        let first = self.due.first().copied().unwrap_or(due);
        u16::try_from((due - first).as_secs() / MOMENT_SECONDS).unwrap_or(u16::MAX)
    }

    /// The number after the last entity's.
    fn bulk(&self) -> usize {
        self.entities.len() - 1
    }

    /// Expected, accepted and not delivered.
    fn lost_of(&self, entity: usize) -> u32 {
        match self.deliveries[entity].owes() {
            Owed::All => self.sent[entity].saturating_sub(self.arrived[entity] + self.turned_away[entity]),
            Owed::Newest => u32::from(self.newest[entity] < self.accepted[entity]),
            Owed::Nothing => 0,
        }
    }

    fn sent(&self) -> u64 {
        self.sent.iter().map(|sent| u64::from(*sent)).sum()
    }

    /// The latencies in µs, sorted, of updates that were in flight between two moments that satisfy this.
    pub(crate) fn latencies_where(&self, holds: impl Fn(Duration, Duration) -> bool) -> Vec<u32> {
        let both = self.latencies_due.iter().zip(&self.latencies);
        let of = |(due, took): (&u64, &u32)| {
            let due = Duration::from_micros(*due);
            holds(due, due + Duration::from_micros(u64::from(*took))).then_some(*took)
        };
        let mut chosen: Vec<u32> = both.filter_map(of).collect();
        chosen.sort_unstable();
        chosen
    }

    /// When the first update was due.
    pub(crate) fn first_due(&self) -> Option<Duration> {
        self.due.first().copied()
    }

    /// The run by blocks.
    pub(crate) fn series(&self) -> RunSeries {
        let first = self.first_due().unwrap_or_default();
        let entities = self.bulk() as u32;
        let own = |ticks: &OwnTicks, tick: usize| ticks.updates.get(tick).copied().unwrap_or(0);
        let updates = |tick| self.ticks.as_ref().map_or(entities, |ticks| own(ticks, tick));
        let sent: Vec<_> = self.due.iter().zip(0..).map(|(due, tick)| (*due - first, updates(tick))).collect();
        let echoes = self.latencies_due.iter().zip(&self.latencies);
        let echo = |(due, took): (&u64, &u32)| Echo {
            due: Duration::from_micros(*due).saturating_sub(first),
            latency_us: *took,
        };
        RunSeries::of(&sent, echoes.map(echo))
    }

    /// The counts, all latencies in µs, sorted, and the same by moments.
    pub(crate) fn finish(mut self) -> (UpdateCounts, Vec<u32>, Moments) {
        let lost = (0..self.entities.len()).map(|entity| u64::from(self.lost_of(entity))).sum();
        let (sent, refused) = (self.sent(), self.turned_away.iter().map(|refused| u64::from(*refused)).sum());
        let ledgers = self.entities.iter().zip(&self.sent);
        let tally: Tally = ledgers.map(|(ledger, sent)| ledger.finish(&[*sent])).sum();
        self.latencies.sort_unstable();
        let counts = UpdateCounts {
            sent,
            delivered: self.delivered,
            delivered_bytes: self.delivered_bytes,
            refused,
            lost,
            duplicated: tally.duplicated,
            reordered: tally.reordered,
            corrupted: self.corrupted,
        };
        (counts, self.latencies, self.moments)
    }
}

/// The nearest-rank percentile of sorted values, in basis points: 9,980 is p99.8. `None` of nothing.
pub(crate) fn percentile(sorted: &[u32], basis_points: u64) -> Option<u32> {
    percentile_of(sorted, sorted.len(), basis_points)
}

/// The same for this total number of values; missing values count as greater than all others.
pub(crate) fn percentile_of(sorted: &[u32], count: usize, basis_points: u64) -> Option<u32> {
    let rank = (count as u64 * basis_points).div_ceil(10_000).max(1);
    sorted.get(rank as usize - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn percentiles_match_a_hand_made_list() {
        let list: Vec<u32> = (1..=1_000).map(|number| number * 10).collect();
        let of = |basis_points| percentile(&list, basis_points).unwrap();
        assert_eq!([5_000, 9_900, 9_980, 9_999, 10_000].map(of), [5_000, 9_900, 9_980, 10_000, 10_000]);
        assert_eq!(percentile(&[15, 20, 35, 40, 50], 4_000), Some(20));
        assert_eq!(percentile(&[15, 20, 35, 40, 50], 4_001), Some(35));
        assert_eq!((percentile(&[7], 1), percentile(&[7], 9_999), percentile(&[], 5_000)), (Some(7), Some(7), None));
    }

    #[test]
    fn a_missing_value_sorts_last() {
        let of = |basis_points| percentile_of(&[10, 20, 30], 4, basis_points);
        assert_eq!([2_500, 7_500, 7_501, 10_000].map(of), [Some(10), Some(30), None, None]);
    }

    /// Sends three updates of two entities each; of entity 0 the first and the third come back, of entity 1 two.
    fn some_of(delivery: Delivery) -> (bool, UpdateCounts) {
        let mut proof = Proof::new([delivery; 2].into_iter());
        for tick in 0..3 {
            proof.on_tick(at(tick));
            for entity in 0..2 {
                let stamp = proof.send(entity);
                proof.on_accepted(stamp);
            }
        }
        for (entity, sequence) in [(0, 0), (0, 2), (1, 0), (1, 1)] {
            proof.on_echo(at(50), entity, &Stamp { entity, sequence }.encode(8));
        }
        (proof.is_complete(), proof.finish().0)
    }

    #[test]
    fn each_delivery_rule_expects_what_it_guarantees() {
        let lost = |delivery| some_of(delivery).1.lost;
        assert_eq!(lost(Delivery::ReliableOrdered), 2);
        assert_eq!(lost(Delivery::ReliableUnordered), 2);
        assert_eq!(lost(Delivery::ReliableSequenced), 1, "the newest of entity 1");
        assert_eq!((lost(Delivery::Unreliable), some_of(Delivery::Unreliable).0), (0, false));
    }

    #[test]
    fn each_entity_is_judged_by_its_own_delivery_rule() {
        let mut proof = Proof::new([Delivery::ReliableOrdered, Delivery::Unreliable].into_iter());
        proof.on_tick(at(0));
        for entity in [0, 1, 1] {
            let stamp = proof.send(entity);
            proof.on_accepted(stamp);
        }
        assert!(!proof.is_complete_of(|entity| entity == 0));
        proof.on_echo(at(20), 0, &Stamp { entity: 0, sequence: 0 }.encode(8));
        assert!(proof.is_complete_of(|entity| entity == 0) && !proof.is_complete(), "the others may be under way");
        assert_eq!(proof.finish().0.lost, 0);
    }

    #[test]
    fn every_fault_is_counted_once_under_its_kind() {
        let mut proof = Proof::new([Delivery::ReliableOrdered; 2].into_iter());
        (0..4).for_each(|_| proof.on_tick(at(100)));
        let sent: Vec<_> = (0..4).map(|_| proof.send(1).encode(50)).collect();
        proof.send(0);
        proof.send(0);
        proof.on_refused(0);
        proof.on_echo(at(120), 1, &sent[0]);
        proof.on_echo(at(130), 1, &sent[2]);
        proof.on_echo(at(131), 1, &sent[1]);
        proof.on_echo(at(132), 1, &sent[1]);
        proof.on_echo(at(133), 0, &sent[3]);
        proof.on_echo(at(134), 1, &Stamp { entity: 1, sequence: 9 }.encode(50));
        assert!(!proof.is_complete());
        let (counts, latencies, _) = proof.finish();
        let expected = UpdateCounts {
            sent: 6,
            delivered: 3,
            delivered_bytes: 150,
            refused: 1,
            lost: 2,
            duplicated: 1,
            reordered: 1,
            corrupted: 2,
        };
        assert_eq!((counts, latencies), (expected, vec![20_000, 30_000, 31_000]));
    }
}
