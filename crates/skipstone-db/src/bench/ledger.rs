//! The expected rows: every acknowledged change, and either of two values for changes without an answer.

use crate::account::Account;
use crate::statements::Change;
use std::collections::BTreeMap;

/// The expected accounts.
#[derive(Debug)]
pub(crate) struct Ledger {
    seed: u64,
    /// Accounts by number; the first numbers have no gap.
    accounts: BTreeMap<i64, Account>,
    /// Numbers whose last request was not answered: its outcome is unknown.
    unknown: BTreeMap<i64, ()>,
    next: i64,
}

/// The changes of a worker.
#[derive(Debug, Default)]
pub(crate) struct Deeds {
    pub(crate) added: Vec<i64>,
    pub(crate) deleted: Vec<i64>,
    pub(crate) changed: Vec<Change>,
    /// Accounts of a request that failed.
    pub(crate) unknown: Vec<i64>,
}

impl Ledger {
    /// The accounts from 1 to this number.
    pub(crate) fn new(seed: u64, records: i64) -> Ledger {
        let accounts = (1..=records).map(|id| (id, Account::of(seed, id))).collect();
        Ledger { seed, accounts, unknown: BTreeMap::new(), next: records + 1 }
    }

    /// Takes down what a worker did.
    pub(crate) fn enter(&mut self, deeds: Deeds) {
        for id in deeds.added {
            self.accounts.insert(id, Account::of(self.seed, id));
        }
        for change in deeds.changed {
            if let Some(account) = self.accounts.get_mut(&change.id) {
                account.apply(change);
            }
        }
        for id in deeds.deleted {
            self.accounts.remove(&id);
        }
        self.unknown.extend(deeds.unknown.into_iter().map(|id| (id, ())));
    }

    /// The count of numbers without an account.
    pub(crate) fn reserve(&mut self, count: i64) -> i64 {
        let first = self.next;
        self.next += count;
        first
    }

    /// Numbers of accounts that were added on top of the first ones.
    pub(crate) fn added(&self, records: i64) -> Vec<i64> {
        self.accounts.range(records + 1..).map(|(id, _)| *id).collect()
    }

    pub(crate) fn len(&self) -> u64 {
        self.accounts.len() as u64
    }

    /// Compares rows that were read in order of their numbers, up to `until`; returns how many are wrong or missing,
    /// and forgets the compared rows.
    pub(crate) fn compare(&mut self, rows: &[Account], until: Option<i64>) -> u64 {
        let mut wrong = 0;
        for row in rows {
            while let Some(first) = self.accounts.first_entry().filter(|entry| *entry.key() < row.id) {
                let (id, _) = first.remove_entry();
                wrong += u64::from(!self.unknown.contains_key(&id));
            }
            let is_known = !self.unknown.contains_key(&row.id);
            let expected = self.accounts.remove(&row.id);
            wrong += u64::from(is_known && expected.as_ref() != Some(row));
        }
        if until.is_none() {
            let missing = self.accounts.keys().filter(|id| !self.unknown.contains_key(id)).count();
            wrong += missing as u64;
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(seed: u64, ids: impl IntoIterator<Item = i64>) -> Vec<Account> {
        ids.into_iter().map(|id| Account::of(seed, id)).collect()
    }

    #[test]
    fn a_wrong_missing_or_extra_row_is_found() {
        assert_eq!(Ledger::new(1, 4).compare(&rows(1, 1..=4), None), 0);
        assert_eq!(Ledger::new(1, 4).compare(&rows(1, [1, 2, 4]), None), 1);
        assert_eq!(Ledger::new(1, 4).compare(&rows(1, 1..=3), None), 1);
        assert_eq!(Ledger::new(1, 4).compare(&rows(1, 1..=5), None), 1);
        let mut wrong = rows(1, 1..=4);
        wrong[2].balance += 1;
        assert_eq!(Ledger::new(1, 4).compare(&wrong, None), 1);
    }

    #[test]
    fn acknowledged_changes_are_expected_and_unanswered_ones_may_be_either() {
        let mut ledger = Ledger::new(1, 3);
        let change = Change { id: 2, score: 5, rating: 6, deposit: -7 };
        ledger.enter(Deeds { changed: vec![change], unknown: vec![3], ..Deeds::default() });
        let mut found = rows(1, 1..=2);
        found[1].apply(change);
        assert_eq!(ledger.compare(&found, None), 0);
    }
}
