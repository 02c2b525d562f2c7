//! A client of a stress run, and its state.

use super::absence::Absence;
use crate::stress::client_drop::ClientDrop;
use skipstone::PeerId;
use std::time::{Duration, Instant};

/// One client.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    /// Its number in the run, by which its lines name it.
    pub(crate) number: u32,
    /// Its carrier's place in the plan's mix.
    pub(crate) carrier: usize,
    /// Its place among the clients of its carrier.
    pub(super) place: u32,
    pub(super) peer: Option<PeerId>,
    pub(crate) state: ClientState,
    pub(super) began: Instant,
    /// How its connection ended, if it was connected and that ended before the run did.
    pub(crate) drop: Option<ClientDrop>,
    /// How long it took to connect.
    pub(crate) connected_in: Option<Duration>,
    /// If it comes back, or came back last: since when it is away, and when it tries next.
    pub(super) away: Option<Absence>,
    /// When its connection opened, if it is open.
    pub(super) connected_since: Option<Instant>,
}

/// State of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientState {
    Waiting,
    Connecting,
    Connected,
    /// On its way back after a restart.
    Away,
    Gone,
}

/// A client whose connection stood for less is still away, so that a server which closes each one at once is given up.
const STANDS_MIN: Duration = Duration::from_secs(1);

impl Client {
    /// Its connection, or an attempt, ends now. Since when it is away.
    pub(super) fn away_since(&mut self, now: Instant) -> Instant {
        let connected = self.connected_since.take();
        let has_stood = connected.is_some_and(|since| now.saturating_duration_since(since) >= STANDS_MIN);
        self.away.as_ref().filter(|_| !has_stood).map_or(now, |away| away.since)
    }

    pub(super) fn is_on_its_way(&self) -> bool {
        matches!(self.state, ClientState::Away | ClientState::Connecting)
    }

    /// Whether it was there, and waits or tries to be there again.
    pub(super) fn comes_back(&self) -> bool {
        self.is_on_its_way() && self.away.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone::{ClosedBy, code};

    #[test]
    fn a_client_closed_right_after_reconnecting_counts_as_absent() {
        let left = Instant::now();
        let (next_try, end) = (left, ClientDrop::of(ClosedBy::Peer, code::RESTART));
        let mut client = Client {
            number: 0,
            carrier: 0,
            place: 0,
            peer: None,
            state: ClientState::Connected,
            began: left,
            drop: None,
            connected_in: None,
            away: Some(Absence { since: left, next_try, end, why: String::new() }),
            connected_since: None,
        };
        let [back, soon, late] = [500, 600, 1_600].map(|ms| left + Duration::from_millis(ms));
        client.connected_since = Some(back);
        assert_eq!(client.away_since(soon), left);
        assert_eq!(client.away_since(late), left, "nor by an attempt that fails");
        client.connected_since = Some(back);
        assert_eq!(client.away_since(late), late);
    }
}
