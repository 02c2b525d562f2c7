//! Clients that come back after a restart or a loss: when they try again, and when they are given up.

use super::Generator;
use super::absence::Absence;
use super::client::ClientState;
use crate::stress::attendance::Departure;
use crate::stress::client_drop::{ClientDrop, told};
use skipstone::{Close, ClosedBy, RestartNotice, code};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A client that is away for longer is given up.
const AWAY_MAX: Duration = Duration::from_secs(20);
/// After a lost connection a client tries again in once to twice this time.
const RETRY: Duration = Duration::from_millis(250);

impl Generator<'_> {
    /// Whether a client whose connection ended comes back, and when.
    pub(super) fn will_return(&mut self, number: u32, close: &Close) -> bool {
        let (now, at) = (Instant::now(), self.epoch.elapsed());
        let notice = RestartNotice::of(close);
        let is_temporary = notice.is_some() || close.by == ClosedBy::Nobody || close.code == code::FULL;
        let client = &mut self.clients[number as usize];
        let since = client.away_since(now);
        if !is_temporary || now.saturating_duration_since(since) > AWAY_MAX {
            return false;
        }
        if let Some((host, port)) = notice.as_ref().and_then(RestartNotice::address) {
            let moved = self.targets[client.carrier].moved(host, port);
            // A name without an address: the client looks where it was.
            if let Ok(address) = moved.resolve() {
                self.address = address;
                self.targets.iter_mut().for_each(|target| *target = target.moved(host, port));
            }
        }
        self.restarts += u64::from(notice.is_some());
        let departure = if notice.is_some() { Departure::Restart } else { Departure::Lost };
        self.attendance.iter_mut().for_each(|attendance| attendance.on_closed(number, at, departure));
        // Each client draws a moment of its own; a multiplicative hash spreads their numbers evenly.
        let chance = (number ^ self.restarts as u32).wrapping_mul(0x9E37_79B9);
        let notice = notice.unwrap_or_else(|| RestartNotice::after(RETRY).spread(RETRY));
        let next_try = now + notice.pause(chance);
        let why = told(close.by, close.code, &close.reason_text());
        client.away = Some(Absence { since, next_try, end: ClientDrop::of(close.by, close.code), why });
        client.state = ClientState::Away;
        true
    }

    /// Begins the connections of clients whose time to come back it is.
    pub(super) fn bring_back(&mut self) -> Result<(), String> {
        if self.attendance.is_none() || self.is_closing || self.count(ClientState::Away) == 0 {
            return Ok(());
        }
        let now = Instant::now();
        for number in 0..self.clients.len() {
            let client = &self.clients[number];
            if client.state == ClientState::Away && client.away.as_ref().is_none_or(|away| away.next_try <= now) {
                self.connect_one(number)?;
            }
        }
        Ok(())
    }

    /// Clients that were there and have not come back count as dropped. Returns them by the reason of their last
    /// attempt.
    pub(crate) fn drop_missing(&mut self) -> BTreeMap<String, u64> {
        let mut missing = BTreeMap::new();
        for client in self.clients.iter_mut().filter(|client| client.is_on_its_way()) {
            let Some(away) = &client.away else { continue };
            client.drop = Some(away.end);
            *missing.entry(format!("did not come back, {}", away.why)).or_default() += 1;
        }
        missing
    }
}
