//! The players of this node that are on their way to another, or from there.

use super::super::visit::Visit;
use crate::move_figures::MoveFigures;
use skipstone::{PeerId, Target};
use skipstone_fleet::directory::NodeName;
use skipstone_fleet::feed::Positions;
use skipstone_fleet::moves::{Drain, DrainSettings, DrainState, MoveFailure, MovesDriver};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The node's part of moves.
pub(in crate::serve) struct Travel {
    pub(in crate::serve) moves: MovesDriver,
    pub(in crate::serve) settings: DrainSettings,
    pub(in crate::serve) drain: Option<DrainRun>,
    /// Players whose move has begun, and where they go.
    pub(in crate::serve) destinations: BTreeMap<PeerId, NodeName>,
    /// Players that were handed over, and are nobody's until their clients have decided.
    pub(in crate::serve) handed: BTreeMap<PeerId, Handed>,
    /// Clients that have left, and whose connections end.
    pub(in crate::serve) departed: BTreeSet<PeerId>,
    pub(in crate::serve) figures: MoveFigures,
    /// Where clients that move come to.
    pub(in crate::serve) address: String,
    /// The fingerprint that this server's clients may insist on.
    pub(in crate::serve) pin: Option<String>,
    pub(in crate::serve) began: Instant,
}

/// A player that was handed over.
pub(in crate::serve) struct Handed {
    pub(in crate::serve) visit: Visit,
    pub(in crate::serve) heard: Option<Positions>,
}

/// A drain, and what was said about it.
pub(in crate::serve) struct DrainRun {
    pub(in crate::serve) drain: Drain,
    began: Duration,
    moved_before: u64,
    told_before: u64,
    next_report: Duration,
    pub(in crate::serve) is_over: bool,
}

impl DrainRun {
    pub(in crate::serve) fn begin(travel: &Travel) -> DrainRun {
        let now = travel.now();
        DrainRun {
            drain: Drain::new(travel.settings, now),
            began: now,
            moved_before: travel.figures.left,
            told_before: travel.figures.told,
            next_report: now + REPORT_EVERY,
            is_over: false,
        }
    }

    /// A line for the log each second, and a last one.
    pub(in crate::serve) fn report(&mut self, figures: &MoveFigures, here: usize, now: Duration) -> Option<String> {
        let state = self.drain.state(here, now);
        // Not for good: a player that was on its way here may arrive yet.
        let is_over = state != DrainState::UnderWay;
        let is_last = is_over && !self.is_over;
        self.is_over = is_over;
        if !is_last && (self.is_over || now < self.next_report) {
            return None;
        }
        self.next_report = now + REPORT_EVERY;
        let mut text = format!("drain: {} players moved", figures.left - self.moved_before);
        let told = figures.told - self.told_before;
        if told > 0 {
            text += &format!(", {told} told to reconnect elsewhere, as their clients do not follow moves");
        }
        if self.drain.failures() > 0 {
            text += &format!(", {} moves failed and were tried again", self.drain.failures());
        }
        let seconds = now.saturating_sub(self.began).as_secs_f64();
        text += &match state {
            DrainState::UnderWay => format!(", {here} connections of players are still open"),
            DrainState::Empty => format!("; none is left after {seconds:.1} s"),
            DrainState::TimeOver(here) => format!("; the time of {seconds:.0} s is over, and {here} are left"),
        };
        Some(text)
    }
}

impl Travel {
    pub(super) fn new(moves: MovesDriver, settings: DrainSettings, address: String, pin: Option<String>) -> Travel {
        let failed = MoveFailure::ALL.map(|why| (why.name(), 0)).into();
        Travel {
            moves,
            settings,
            drain: None,
            destinations: BTreeMap::new(),
            handed: BTreeMap::new(),
            departed: BTreeSet::new(),
            figures: MoveFigures { failed, ..MoveFigures::default() },
            address,
            pin,
            began: Instant::now(),
        }
    }

    pub(in crate::serve) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// For `stats`.
    pub(super) fn line(&self) -> String {
        let figures = &self.figures;
        let failed: Vec<String> = figures
            .failed
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(why, count)| format!("{why} {count}"))
            .collect();
        let failed = if failed.is_empty() { "none".to_owned() } else { failed.join(", ") };
        let (out, into) = self.moves.under_way();
        format!(
            "moves: {} went, {} came, {out} and {into} under way, failed: {failed}; {} told to reconnect elsewhere",
            figures.left, figures.arrived, figures.told
        )
    }

    /// Whether this server's clients can come to a node with this URL: those that insist on a fingerprint find the
    /// same.
    pub(in crate::serve) fn suits(&self, url: &str) -> bool {
        match (&self.pin, pin_of(url)) {
            (Some(own), Some(theirs)) => *own == theirs,
            _ => true,
        }
    }

    /// The connection ended: a player that was handed over may be the other node's, or is gone.
    pub(in crate::serve) fn on_closed(&mut self, peer: PeerId) -> Option<Visit> {
        self.destinations.remove(&peer);
        self.departed.remove(&peer);
        if let Some(run) = &mut self.drain {
            run.drain.on_gone(peer);
        }
        self.handed.remove(&peer).map(|handed| handed.visit)
    }
}

/// `HOST:PORT` of a URL.
pub(in crate::serve) fn host_and_port(url: &str) -> Option<String> {
    let target: Target = url.parse().ok()?;
    let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
    Some(format!("{host}:{}", target.port))
}

/// The fingerprint in a URL.
pub(in crate::serve) fn pin_of(url: &str) -> Option<String> {
    let target: Target = url.parse().ok()?;
    target.pin.map(|pin| pin.to_string())
}

const REPORT_EVERY: Duration = Duration::from_secs(1);
