//! The ledger's claims, and a comparison with a model that remembers every line.

use std::collections::BTreeSet;

use super::*;

#[test]
fn a_flawless_run_balances() {
    let mut ledger = Ledger::new(3, 2);
    for sequence in 0..10 {
        for receiver in 0..3 {
            for sender in 0..2 {
                assert_eq!(ledger.on_line(receiver, sender, sequence), LineOutcome::InOrder);
            }
        }
    }
    assert_eq!(ledger.finish(&[10, 10]), Tally { expected: 60, delivered: 60, ..Tally::default() });
}

#[test]
fn a_gap_that_is_filled_later_is_reordered_and_not_lost() {
    let mut ledger = Ledger::new(1, 1);
    let outcomes: Vec<_> = [0, 3, 1, 2, 2, 5].into_iter().map(|sequence| ledger.on_line(0, 0, sequence)).collect();
    use LineOutcome::{Duplicate, InOrder, Reordered};
    assert_eq!(outcomes, [InOrder, InOrder, Reordered, Reordered, Duplicate, InOrder]);
    let tally = ledger.finish(&[7]);
    assert_eq!((tally.expected, tally.delivered, tally.lost), (7, 5, 2));
    assert_eq!((tally.reordered, tally.duplicated), (2, 1));
}

#[test]
fn receivers_of_each_carrier_are_counted_separately() {
    let mut ledger = Ledger::new(2, 1);
    ledger.on_line(0, 0, 0);
    ledger.on_line(1, 0, 2);
    ledger.on_line(9, 0, 0);
    assert_eq!(ledger.finish_of([1], &[4]), Tally { expected: 4, delivered: 1, lost: 3, ..Tally::default() });
    let mut both = ledger.finish_of([0], &[4]);
    both += ledger.finish_of([1], &[4]);
    both.unexpected += 1;
    assert_eq!(both, ledger.finish(&[4]));
    assert_eq!((ledger.overtaken(), ledger.finish(&[4]).delivered), (2, 2));
}

#[test]
fn lines_lost_at_the_very_end_are_lost() {
    let mut ledger = Ledger::new(1, 1);
    ledger.on_line(0, 0, 0);
    assert_eq!(ledger.finish(&[4]).lost, 3);
    assert_eq!(Ledger::new(1, 1).finish(&[4]).lost, 4);
}

#[test]
fn lines_that_were_never_sent_are_unexpected_and_fill_no_gap() {
    let mut ledger = Ledger::new(1, 1);
    assert_eq!(ledger.on_line(0, 1, 0), LineOutcome::Unexpected);
    assert_eq!(ledger.on_line(1, 0, 0), LineOutcome::Unexpected);
    assert_eq!(ledger.on_line(0, 0, u32::MAX), LineOutcome::Unexpected);
    ledger.on_line(0, 0, 9);
    let tally = ledger.finish(&[2]);
    assert_eq!((tally.unexpected, tally.delivered, tally.lost), (4, 0, 2));
}

#[test]
fn excluded_clients_are_counted_separately_but_their_faults_remain() {
    let mut ledger = Ledger::new(2, 2);
    for (receiver, sender) in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 1)] {
        ledger.on_line(receiver, sender, 0);
    }
    ledger.exclude_receiver(1);
    ledger.exclude_sender(1);
    let tally = ledger.finish(&[3, 3]);
    assert_eq!((tally.expected, tally.delivered, tally.lost), (3, 1, 2));
    assert_eq!((tally.apart, tally.duplicated), (3, 1));
}

#[test]
fn corrupt_and_foreign_lines_are_counted_and_tallies_sum_up() {
    let mut ledger = Ledger::new(1, 0);
    ledger.on_corrupt(0);
    ledger.on_foreign(0);
    ledger.on_foreign(0);
    let mut both = ledger.finish(&[]);
    both += ledger.finish(&[]);
    assert_eq!((both.corrupted, both.foreign), (2, 4));
}

/// Remembers all that arrived for a pair, and looks through it at each line.
#[derive(Default, Clone)]
struct Model {
    seen: BTreeSet<u32>,
    outcomes: [u64; 2],
}

impl Model {
    fn on_line(&mut self, sequence: u32) -> LineOutcome {
        let newest = self.seen.last().is_none_or(|last| sequence > *last);
        if !self.seen.insert(sequence) {
            self.outcomes[0] += 1;
            return LineOutcome::Duplicate;
        }
        if newest {
            return LineOutcome::InOrder;
        }
        self.outcomes[1] += 1;
        LineOutcome::Reordered
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[test]
fn the_ledger_agrees_with_an_unbounded_model_in_any_order() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let (receivers, senders) = (1 + random.below(4) as u32, 1 + random.below(4) as u32);
        let mut ledger = Ledger::new(receivers as usize, senders as usize);
        let mut models = vec![Model::default(); (receivers * senders) as usize];
        let spread = 1 + random.below(60);
        for step in 0..random.below(2000) {
            let (receiver, sender) = (random.below(receivers.into()) as u32, random.below(senders.into()) as u32);
            let sequence = (step / 20 + random.below(spread)) as u32;
            let expected = models[(receiver * senders + sender) as usize].on_line(sequence);
            assert_eq!(ledger.on_line(receiver, sender, sequence), expected, "seed {seed}, step {step}");
        }
        let sent: Vec<u32> = (0..senders).map(|_| random.below(200) as u32).collect();
        let excluded = random.below(u64::from(receivers) * 2) as u32;
        if excluded < receivers {
            ledger.exclude_receiver(excluded);
        }
        assert_eq!(ledger.finish(&sent), balance(&models, &sent, excluded), "seed {seed}");
    }
}

fn balance(models: &[Model], sent: &[u32], excluded: u32) -> Tally {
    let mut tally = Tally::default();
    for (pair, model) in models.iter().enumerate() {
        let (receiver, sent) = (pair / sent.len(), sent[pair % sent.len()]);
        let arrived = model.seen.iter().filter(|sequence| **sequence < sent).count() as u64;
        tally.unexpected += model.seen.len() as u64 - arrived;
        tally.duplicated += model.outcomes[0];
        tally.reordered += model.outcomes[1];
        if receiver == excluded as usize {
            tally.apart += arrived;
            continue;
        }
        tally.delivered += arrived;
        tally.expected += u64::from(sent);
        tally.lost += (0..sent).filter(|sequence| !model.seen.contains(sequence)).count() as u64;
    }
    tally
}
