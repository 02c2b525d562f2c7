//! Reconnecting after a server restarted or was lost: the pauses and the number of attempts.

use crate::destination::{Destination, NextDestination};
use crate::restart_notice::RestartNotice;
use crate::start_error::StartError;
use crate::url::Target;
use skipstone_proto::{Close, ClosedBy, ConfigError, Duration, code};
use std::time::Instant;

/// How a client reconnects by itself: [`ClientConfig::reconnect`](crate::ClientConfig::reconnect).
///
/// A server that restarts names the time and the place ([`RestartNotice`]). After a lost connection, and when the
/// server is full, the pause doubles with each failed attempt, and half of it is random, so that a thousand players do
/// not reconnect at the same moment. Any other end is final: kicked, refused, closed by the application, or by a server
/// that shuts down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconnect {
    /// The first pause after a lost connection, at least 1 ms.
    pub pause_min: Duration,
    /// The longest pause.
    pub pause_max: Duration,
    /// Consecutive attempts that may fail; the last one ends as without reconnecting.
    pub attempts_max: u32,
}

impl Default for Reconnect {
    fn default() -> Self {
        Reconnect { pause_min: Duration::from_millis(250), pause_max: Duration::from_secs(30), attempts_max: 20 }
    }
}

/// The state of a client that reconnects by itself.
#[derive(Debug)]
pub(crate) struct Returning {
    rules: Reconnect,
    destination: Destination,
    /// Attempts since a connection was established.
    failed: u32,
    was_connected: bool,
    next_pause: Duration,
    due: Option<Instant>,
}

impl Returning {
    pub(crate) fn new(rules: Reconnect, target: Target) -> Result<Self, StartError> {
        if rules.pause_min < Duration::from_millis(1) || rules.pause_max < rules.pause_min {
            let found = format!("{:?} to {:?}", rules.pause_min, rules.pause_max);
            return Err(StartError::Config(ConfigError::out_of_range(
                "reconnect",
                found,
                "1 ms or more, shortest first",
            )));
        }
        let next_pause = rules.pause_min;
        let destination = Destination::of(target);
        Ok(Returning { rules, destination, failed: 0, was_connected: false, next_pause, due: None })
    }

    /// The destination of the next connection.
    pub(crate) fn target(&self) -> &Target {
        self.destination.target()
    }

    pub(crate) fn on_connected(&mut self) {
        (self.failed, self.was_connected) = (0, true);
        self.destination.on_connected();
        self.next_pause = self.rules.pause_min;
    }

    /// The connected client was moved to this server.
    pub(crate) fn on_moved(&mut self, target: Target) {
        self.destination.on_moved(target);
    }

    /// Decides whether the client reconnects, and when.
    pub(crate) fn on_closed(&mut self, close: &Close, now: Instant) {
        self.due = None;
        // A client that was redirected and did not get in goes back to its first server.
        let was_astray = self.destination.on_closed(close) == NextDestination::Home;
        if self.failed >= self.rules.attempts_max || close.by == ClosedBy::Local {
            return;
        }
        if let Some(notice) = RestartNotice::of(close) {
            self.failed += 1;
            self.due = Some(now + notice.pause(chance()).max(self.rules.pause_min / 2));
        } else if was_astray || self.is_worth_another(close) {
            self.failed += 1;
            let half = self.next_pause / 2;
            self.next_pause = (self.next_pause * 2).min(self.rules.pause_max);
            self.due = Some(now + half + half.mul_f64(f64::from(chance()) / f64::from(u32::MAX)));
        }
    }

    /// A lost connection, or a full server. A server that never answered is not tried again.
    fn is_worth_another(&self, close: &Close) -> bool {
        let is_hopeless = matches!(close.code, code::SECURITY | code::NO_COMMON_VERSION | code::NO_COMMON_SUITE);
        let is_lost = close.by == ClosedBy::Nobody || close.code == code::HANDSHAKE_TIMEOUT;
        close.code == code::FULL || self.was_connected && is_lost && !is_hopeless
    }

    /// When the next connection begins, if there is one.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// True once, when it is time for the next connection.
    pub(crate) fn take_due(&mut self, now: Instant) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }
}

/// A random number; without entropy the pause is the shortest one.
fn chance() -> u32 {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_or(0, |()| u32::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn returning() -> Returning {
        Returning::new(Reconnect::default(), "skip+plain://127.0.0.1:1".parse().expect("a URL")).expect("in range")
    }

    fn closed(code: u64, by: ClosedBy, reason: &str) -> Close {
        Close { code, by, reason: Bytes::copy_from_slice(reason.as_bytes()) }
    }

    #[test]
    fn a_restart_is_followed_to_the_address_in_its_notice() {
        let (mut returning, now) = (returning(), Instant::now());
        returning.on_connected();
        returning.on_closed(&closed(code::RESTART, ClosedBy::Peer, "retry=300..300 at=other.example:9"), now);
        assert_eq!(returning.due(), Some(now + Duration::from_millis(300)));
        assert_eq!(returning.target().url, "skip+plain://other.example:9");
        assert!(!returning.take_due(now) && returning.take_due(now + Duration::from_millis(300)));
        assert!(!returning.take_due(now + Duration::from_secs(9)), "once");
    }

    #[test]
    fn a_refusal_before_the_connection_does_not_redirect() {
        let (mut returning, now) = (returning(), Instant::now());
        let elsewhere = closed(code::RESTART, ClosedBy::Peer, "retry=0..0 at=evil.example:9");
        returning.on_closed(&elsewhere, now);
        assert_eq!(returning.target().url, "skip+plain://127.0.0.1:1");
        assert!(returning.due() >= Some(now + Duration::from_millis(125)), "not at once, however often");
        // Nor after an established connection: another host may answer the next one.
        returning.on_connected();
        returning.on_closed(&closed(code::IDLE_TIMEOUT, ClosedBy::Nobody, ""), now);
        returning.on_closed(&elsewhere, now);
        assert_eq!(returning.target().url, "skip+plain://127.0.0.1:1");
    }

    #[test]
    fn a_redirect_to_a_server_that_admits_no_client_is_undone() {
        for (code, by) in
            [(code::HANDSHAKE_TIMEOUT, ClosedBy::Nobody), (code::SECURITY, ClosedBy::Nobody), (7, ClosedBy::Peer)]
        {
            let (mut returning, now) = (returning(), Instant::now());
            returning.on_connected();
            returning.on_closed(&closed(code::RESTART, ClosedBy::Peer, "retry=0..0 at=other.example:9"), now);
            assert_eq!(returning.target().url, "skip+plain://other.example:9");
            returning.on_closed(&closed(code, by, ""), now);
            assert!(returning.due().is_some(), "code {code}");
            assert_eq!(returning.target().url, "skip+plain://127.0.0.1:1");
        }
    }

    #[test]
    fn intentional_closes_are_final() {
        let mut returning = returning();
        returning.on_connected();
        for (code, by) in [
            (code::KICKED, ClosedBy::Peer),
            (code::SHUTDOWN, ClosedBy::Peer),
            (code::NONE, ClosedBy::Local),
            (code::RESTART, ClosedBy::Local),
            (code::SECURITY, ClosedBy::Nobody),
            (7, ClosedBy::Peer),
        ] {
            returning.on_closed(&closed(code, by, ""), Instant::now());
            assert_eq!(returning.due(), None, "code {code} by {by:?}");
        }
    }

    #[test]
    fn lost_connections_are_retried_with_backoff_and_a_limit() {
        let (mut returning, now) = (returning(), Instant::now());
        let lost = closed(code::IDLE_TIMEOUT, ClosedBy::Nobody, "");
        returning.on_closed(&lost, now);
        assert_eq!(returning.due(), None, "a server that never was there");
        returning.on_connected();
        for attempt in 0..Reconnect::default().attempts_max {
            returning.on_closed(&lost, now);
            let pause = returning.due().expect("another attempt") - now;
            let whole = (Duration::from_millis(250) * 2_u32.pow(attempt.min(16))).min(Duration::from_secs(30));
            assert!(pause >= whole / 2 && pause <= whole, "attempt {attempt}: {pause:?}");
        }
        returning.on_closed(&lost, now);
        assert_eq!(returning.due(), None);
        returning.on_connected();
        returning.on_closed(&lost, now);
        assert!(returning.due().is_some());
    }
}
