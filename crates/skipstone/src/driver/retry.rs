//! UDP sockets whose reading fails, and the time of the next attempt for each: a permanent error must not keep the
//! driver busy. A phone that was suspended has sockets that fail permanently (ENOTCONN); ENOBUFS is temporary.

use skipstone_proto::{Duration, Time};
use std::collections::BTreeMap;
use std::io;

/// The sockets that failed when they were last read.
#[derive(Debug, Default)]
pub(super) struct Retries(BTreeMap<u32, Retry>);

/// A socket that fails.
#[derive(Clone, Copy, Debug)]
struct Retry {
    /// Time of the next attempt; [`Time::NEVER`] during an attempt.
    at: Time,
    /// The pause before that.
    pause: Duration,
    /// Time of the first failure.
    since: Time,
}

/// How to handle a socket that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failing {
    /// Read it again after a pause.
    Briefly,
    /// It has failed for a second: replace a client's own socket.
    Lastingly,
}

/// The first pause; each is twice the previous one, up to the last.
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(250);
/// Temporary errors do not last longer.
const LASTING: Duration = Duration::from_secs(1);

impl Retries {
    /// The result of reading a socket: returns what to do with one that fails.
    #[inline]
    pub(super) fn after<T>(&mut self, socket: u32, now: Time, read: &io::Result<T>) -> Option<Failing> {
        match read {
            Ok(_) => self.on_success(socket),
            Err(_) => return Some(self.on_error(socket, now)),
        }
        None
    }

    /// A socket was read, or is gone.
    #[inline]
    pub(super) fn on_success(&mut self, socket: u32) {
        if !self.0.is_empty() {
            self.0.remove(&socket);
        }
    }

    /// A socket could not be read.
    pub(super) fn on_error(&mut self, socket: u32, now: Time) -> Failing {
        let retry = self.0.entry(socket).or_insert(Retry { at: now, pause: PAUSE_MIN / 2, since: now });
        retry.pause = (retry.pause * 2).min(PAUSE_MAX);
        retry.at = now + retry.pause;
        if now.since(retry.since) >= LASTING { Failing::Lastingly } else { Failing::Briefly }
    }

    /// The sockets to read again now; the result of each must be reported here.
    pub(super) fn take_due(&mut self, now: Time, into: &mut Vec<u32>) {
        for (socket, retry) in &mut self.0 {
            if retry.at <= now {
                retry.at = Time::NEVER;
                into.push(*socket);
            }
        }
    }

    /// Time of the next attempt of any socket.
    pub(super) fn next(&self) -> Time {
        self.0.values().map(|retry| retry.at).min().unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of failing reads of the socket between two times.
    fn attempts(retries: &mut Retries, now: &mut Time, span: Duration) -> (u32, Failing) {
        let (end, mut count, mut failing) = (*now + span, 0, Failing::Briefly);
        while *now < end {
            let mut due = Vec::new();
            retries.take_due(*now, &mut due);
            for socket in due {
                count += 1;
                failing = retries.on_error(socket, *now);
            }
            *now = retries.next().max(*now);
        }
        (count, failing)
    }

    #[test]
    fn a_persistent_error_is_retried_four_times_a_second() {
        let (mut retries, mut now) = (Retries::default(), Time::from_micros(1_000_000));
        assert_eq!(retries.next(), Time::NEVER);
        assert_eq!(retries.on_error(7, now), Failing::Briefly);
        let (count, failing) = attempts(&mut retries, &mut now, Duration::from_millis(900));
        assert!((8..12).contains(&count) && failing == Failing::Briefly, "{count} {failing:?}");
        let (count, failing) = attempts(&mut retries, &mut now, Duration::from_secs(10));
        assert!((38..=42).contains(&count) && failing == Failing::Lastingly, "{count} {failing:?}");
        retries.on_success(7);
        assert_eq!(retries.next(), Time::NEVER);
        assert_eq!(retries.on_error(7, now), Failing::Briefly, "it starts again");
        assert_eq!(retries.next(), now + PAUSE_MIN);
    }

    #[test]
    fn each_socket_waits_independently() {
        let (mut retries, now) = (Retries::default(), Time::from_micros(1_000_000));
        (0..5).for_each(|_| assert_eq!(retries.on_error(1, now), Failing::Briefly));
        retries.on_error(2, now);
        let mut due = Vec::new();
        retries.take_due(now + PAUSE_MIN, &mut due);
        assert_eq!(due, [2]);
        assert_eq!(retries.next(), now + 16 * PAUSE_MIN);
    }
}
