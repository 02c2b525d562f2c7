//! Recent handshakes of hosts with this endpoint: a bounded table of counts that decay. Little is kept about a host,
//! and only for a minute.

use crate::time::{Duration, Time};
use std::collections::BTreeMap;

/// Accounts by address or by network.
#[derive(Debug)]
pub(super) struct Accounts<K> {
    entries: BTreeMap<K, Account>,
    /// The shared account of all hosts for which there was no room.
    others: Account,
    /// Time of the last search for entries that have decayed to zero.
    swept: Time,
}

/// Recent handshakes of one host or network.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    at: Time,
    /// Handshakes begun; half of them are forgotten each second.
    pub(super) begun: u32,
    /// Handshakes that failed; half of them are forgotten every four seconds.
    pub(super) failed: u32,
}

/// Entries at most.
const ENTRIES_MAX: usize = 4_096;
/// Interval of the search for decayed entries while the table is full.
const SWEEP_SPAN: Duration = Duration::from_millis(250);
const BEGUN_HALF_LIFE: Duration = Duration::from_secs(1);
const FAILED_HALF_LIFE: Duration = Duration::from_secs(4);

impl Account {
    /// The account at this time. The shorter half-life sets the steps; failures decay in one step of four, so that
    /// rounding does not lose either count.
    fn faded(self, now: Time) -> Account {
        let steps = |half_life: Duration| {
            let slot = |at: Time| at.as_micros() / half_life.as_micros() as u64;
            u32::try_from(slot(now) - slot(self.at.min(now))).unwrap_or(u32::MAX)
        };
        let halve = |count: u32, times: u32| count.checked_shr(times).unwrap_or(0);
        Account {
            at: now,
            begun: halve(self.begun, steps(BEGUN_HALF_LIFE)),
            failed: halve(self.failed, steps(FAILED_HALF_LIFE)),
        }
    }

    fn is_blank(&self) -> bool {
        self.begun == 0 && self.failed == 0
    }
}

impl<K: Ord> Default for Accounts<K> {
    fn default() -> Self {
        Accounts { entries: BTreeMap::new(), others: Account::default(), swept: Time::ZERO }
    }
}

impl<K: Ord> Accounts<K> {
    /// The recent handshakes of a host.
    pub(super) fn look(&self, now: Time, key: &K) -> Account {
        match self.entries.get(key) {
            Some(account) => account.faded(now),
            None if self.entries.len() >= ENTRIES_MAX => self.others.faded(now),
            None => Account::default(),
        }
    }

    /// Changes the account of a host.
    pub(super) fn note(&mut self, now: Time, key: K, change: impl FnOnce(&mut Account)) {
        self.sweep_if_full(now);
        let has_room = self.entries.len() < ENTRIES_MAX || self.entries.contains_key(&key);
        let account = if has_room { self.entries.entry(key).or_default() } else { &mut self.others };
        *account = account.faded(now);
        change(account);
    }

    fn sweep_if_full(&mut self, now: Time) {
        if self.entries.len() >= ENTRIES_MAX && now.since(self.swept) >= SWEEP_SPAN {
            self.swept = now;
            self.entries.retain(|_, account| !account.faded(now).is_blank());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_micros(100_000_000 + millis * 1_000)
    }

    #[test]
    fn past_offences_decay() {
        let mut accounts = Accounts::default();
        (0..64).for_each(|_| accounts.note(at(0), 7, |it| (it.begun, it.failed) = (it.begun + 1, it.failed + 1)));
        let seen = |millis| {
            let account = accounts.look(at(millis), &7);
            (account.begun, account.failed)
        };
        assert_eq!([seen(0), seen(1_000), seen(4_000), seen(12_000)], [(64, 64), (32, 64), (4, 32), (0, 8)]);
        assert_eq!(seen(60_000), (0, 0));
        assert_eq!(accounts.look(at(0), &8).begun, 0);
    }

    #[test]
    fn frequent_counting_does_not_stop_the_decay() {
        let mut accounts = Accounts::default();
        for millis in 0..60_000 {
            if millis % 100 == 0 {
                accounts.note(at(millis), 7, |it| it.failed += 1);
            }
        }
        let failed = accounts.look(at(60_000), &7).failed;
        assert!((30..=80).contains(&failed), "{failed}: ten a second, of which half is forgotten in four");
    }

    #[test]
    fn the_table_is_bounded_and_frees_its_room() {
        let mut accounts = Accounts::default();
        (0..100_000).for_each(|key| accounts.note(at(0), key, |it| it.begun += 1));
        assert_eq!(accounts.entries.len(), ENTRIES_MAX);
        assert!(accounts.look(at(0), &99_999).begun > 90_000, "those without an entry share one");
        accounts.note(at(30_000), 99_999, |it| it.begun += 1);
        assert_eq!((accounts.entries.len(), accounts.look(at(30_000), &99_999).begun), (1, 1));
    }
}
