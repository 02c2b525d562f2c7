//! The server's notes: how connections begin and end.

use skipstone_lab::clean;
use std::time::Duration;

/// A connection began.
#[derive(Clone, Copy, Debug)]
pub struct Began<'a> {
    /// No other connection of this server's run has this number.
    pub number: i64,
    /// Its account.
    pub account: &'a str,
    /// By which carrier.
    pub carrier: &'a str,
}

/// A connection ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// When the session began.
    pub number: i64,
    /// Its account.
    pub account: &'a str,
    /// For how long.
    pub lasted: Duration,
    /// Lines that it sent.
    pub lines: u64,
    /// The close code.
    pub code: u64,
}

/// One of the two, for the queue.
#[derive(Debug)]
pub(super) struct Note {
    pub(super) number: i64,
    pub(super) account: String,
    pub(super) at_ms: i64,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Began { carrier: String },
    Ended { duration_ms: i64, lines: i64, code: i64 },
}

impl Note {
    pub(super) fn began(began: Began<'_>, at_ms: i64) -> Note {
        let kind = Kind::Began { carrier: fitting(began.carrier, 16) };
        Note { number: began.number, account: fitting(began.account, 64), at_ms, kind }
    }

    pub(super) fn ended(ended: Ended<'_>, at_ms: i64) -> Note {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let kind = Kind::Ended {
            duration_ms: i64::try_from(ended.lasted.as_millis()).unwrap_or(i64::MAX),
            lines: whole(ended.lines),
            code: whole(ended.code),
        };
        Note { number: ended.number, account: fitting(ended.account, 64), at_ms, kind }
    }

    /// Its size in the queue.
    pub(super) fn bytes(&self) -> u64 {
        let carrier = match &self.kind {
            Kind::Began { carrier } => carrier.capacity(),
            Kind::Ended { .. } => 0,
        };
        (size_of::<Note>() + self.account.capacity() + carrier) as u64
    }
}

/// A text cut to the column's size in characters, without characters that an engine rejects.
fn fitting(text: &str, characters_max: usize) -> String {
    clean::line(text).chars().take(characters_max).collect()
}
