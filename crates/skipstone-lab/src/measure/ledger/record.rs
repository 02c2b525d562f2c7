//! A ledger as numbers that another process can read: the same proof, wherever it is concluded.

use serde::{Deserialize, Serialize};

use super::{Ledger, Receiver};

/// All that a [`Ledger`] holds. Receivers of a run without a loss differ in little, so that it is small: a pair of
/// numbers for each run of equal ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerRecord {
    receivers: Vec<Receiver>,
    senders: usize,
    /// What follows the highest number seen, sender by sender and receiver by receiver: each value with how many times
    /// it follows itself.
    next: Vec<(u32, u32)>,
    unexpected: u64,
}

impl Ledger {
    /// Everything in it but the excluded senders, which [`Ledger::exclude_sender`] takes again.
    pub fn record(&self) -> LedgerRecord {
        let mut next: Vec<(u32, u32)> = Vec::new();
        for value in &self.next {
            match next.last_mut() {
                Some((last, times)) if last == value && *times < u32::MAX => *times += 1,
                _ => next.push((*value, 1)),
            }
        }
        LedgerRecord {
            receivers: self.receivers.clone(),
            senders: self.senders_excluded.len(),
            next,
            unexpected: self.unexpected,
        }
    }
}

impl LedgerRecord {
    /// How many receivers it is about.
    pub fn receivers(&self) -> usize {
        self.receivers.len()
    }

    /// The ledger that it was made from.
    ///
    /// # Errors
    /// If it contradicts itself, or does not have this number of senders; in one sentence.
    pub fn ledger(&self, senders: usize) -> Result<Ledger, String> {
        let places = self.receivers.len() * senders;
        let recorded: u64 = self.next.iter().map(|(_, times)| u64::from(*times)).sum();
        if self.senders != senders || recorded != places as u64 {
            return Err(format!("a ledger of {} senders holds {recorded} counts, not {places}", self.senders));
        }
        let next: Box<[u32]> =
            self.next.iter().flat_map(|(value, times)| std::iter::repeat_n(*value, *times as usize)).collect();
        for (receiver, row) in self.receivers.iter().enumerate() {
            let is_sound = |(sender, gaps): (&u32, &super::Gaps)| {
                let below = next.get(*sender as usize * self.receivers.len() + receiver);
                below.is_some_and(|below| gaps.are_sound(*below))
            };
            if !row.gaps.iter().all(is_sound) {
                return Err(format!("a ledger misses lines of receiver {receiver} that it has not reached"));
            }
        }
        Ok(Ledger {
            receivers: self.receivers.clone(),
            next,
            senders_excluded: vec![false; senders],
            unexpected: self.unexpected,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three receivers of four senders, with everything that can go wrong.
    fn worn() -> Ledger {
        let mut ledger = Ledger::new(3, 4);
        for sequence in [0, 1, 5, 3, 3, 9] {
            for (receiver, sender) in [(0, 1), (2, 3), (1, 1)] {
                ledger.on_line(receiver, sender, sequence);
            }
        }
        ledger.on_line(7, 0, 0);
        ledger.on_corrupt(1);
        ledger.on_foreign(2);
        ledger.exclude_receiver(1);
        ledger
    }

    #[test]
    fn a_recorded_ledger_concludes_the_same() {
        let ledger = worn();
        let text = serde_json::to_string(&ledger.record()).unwrap();
        let record: LedgerRecord = serde_json::from_str(&text).unwrap();
        let mut again = record.ledger(4).unwrap();
        let sent = [0, 10, 2, 9];
        assert_eq!(again.finish(&sent), ledger.finish(&sent));
        assert_eq!(again.overtaken(), ledger.overtaken());
        again.exclude_sender(1);
        assert_ne!(again.finish(&sent), ledger.finish(&sent));
        assert_eq!(again.record(), ledger.record(), "senders are excluded by whoever concludes");
    }

    #[test]
    fn equal_counts_take_the_room_of_one() {
        let mut ledger = Ledger::new(100, 1_000);
        for (receiver, sender) in (0..100).flat_map(|receiver| (0..1_000).map(move |sender| (receiver, sender))) {
            ledger.on_line(receiver, sender, 0);
        }
        assert_eq!(ledger.record().next, [(1, 100_000)]);
    }

    #[test]
    fn a_record_that_contradicts_itself_is_refused() {
        let record = worn().record();
        assert!(record.ledger(5).unwrap_err().contains("4 senders"));
        let mut short = record.clone();
        short.next.pop();
        assert!(short.ledger(4).unwrap_err().contains("not 12"));
        let text = serde_json::to_string(&record).unwrap();
        let beyond: LedgerRecord = serde_json::from_str(&text.replacen(r#""end":9"#, r#""end":90"#, 1)).unwrap();
        assert!(beyond.ledger(4).unwrap_err().contains("not reached"), "{text}");
    }
}
