//! The records: accounts of players, each of which follows from a seed and its number, so that every engine holds the
//! same.

use serde::Serialize;
use skipstone_lab::measure::splitmix::mix;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Account {
    /// Its number, from 1.
    pub(crate) id: i64,
    /// The player's name.
    pub(crate) name: String,
    /// A column without an index.
    pub(crate) score: i64,
    /// A column with an index.
    pub(crate) rating: i64,
    /// Money, in hundredths.
    pub(crate) balance: i64,
}

/// Scores and ratings are below this.
const POINTS: u64 = 1_000_000;

impl Account {
    /// The account of this number.
    pub(crate) fn of(seed: u64, id: i64) -> Account {
        let word = |purpose: u64| mix(mix(seed ^ purpose << 56) ^ id as u64);
        let below = |purpose, end: u64| (word(purpose) % end) as i64;
        Account {
            id,
            name: name(word(1)),
            score: below(2, POINTS),
            rating: below(3, POINTS),
            balance: below(4, 100_000),
        }
    }
}

/// Three to five syllables.
fn name(mut word: u64) -> String {
    let mut name = String::with_capacity(12);
    for _ in 0..3 + word % 3 {
        word /= 3;
        name.push(char::from(b"bdfgklmnprstvz"[(word % 14) as usize]));
        word /= 14;
        name.push(char::from(b"aeiou"[(word % 5) as usize]));
        word /= 5;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_follows_from_seed_and_number() {
        assert_eq!(Account::of(1, 7), Account::of(1, 7));
        assert_ne!(Account::of(1, 7).score, Account::of(2, 7).score);
        assert_ne!(Account::of(1, 7).score, Account::of(1, 8).score);
        let first = Account::of(1, 1);
        assert!((6..=10).contains(&first.name.len()) && first.score < 1_000_000, "{first:?}");
    }
}
