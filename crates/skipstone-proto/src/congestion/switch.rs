//! The default controller: the delay controller, and CUBIC's share where others keep the queue long.
//!
//! ```text
//!                 a queue stands though we yield
//!   Delay ──────────────────────────────────────────► Cubic
//!    │ ▲ ▲                                              │
//!    │ │ └───────── in a lull: it was our queue ────────┘
//!    │ └─────────── silence ────────────────────────────┘
//!    └─ each 10 s, and Cubic as well: a lull, in which the window is small
//! ```

use super::controller::{Controller, loses_too_much};
use super::cubic::{self, Cubic};
use super::delay::Delay;
use super::model::{PathModel, Queue};
use super::pacer::Pace;
use super::phase::Phase;
use super::samples::AckSample;
use super::units::micros;
use super::window::{WINDOW_MAX, window_min};
use crate::time::{Duration, Time};

/// The window, and who sets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch {
    /// The number of TCP flows as which it competes.
    flows: u32,
    delay: Delay,
    /// While other flows keep the queue.
    cubic: Option<Cubic>,
    lull: Option<Lull>,
    /// The time since which a queue of others has stood.
    standing_from: Time,
    /// The window with which the queue was last as short as this side keeps it.
    kept_window: u32,
}

/// A moment in which the window is small, to see the path without our queue, and whether others keep it.
#[derive(Clone, Copy, Debug)]
struct Lull {
    until: Time,
    window: u32,
    /// The shortest queueing delay since it began.
    least: u32,
}

/// A shorter queue is not attributed to other flows.
const PATIENCE_MIN: Duration = Duration::from_millis(200);
/// The queue is drained for a moment each 10 s or this many round trips.
const LULL_SECONDS: u64 = 10;
const LULL_ROUND_TRIPS: u32 = 32;

impl Switch {
    pub(super) fn new(flows: u32, path: &PathModel) -> Self {
        let delay = Delay::new(path.datagram());
        Switch { flows, delay, cubic: None, lull: None, standing_from: Time::ZERO, kept_window: delay.window() }
    }

    /// The window but for lulls.
    fn usual_window(&self) -> u32 {
        self.cubic.map_or_else(|| self.delay.window(), |cubic| cubic.window())
    }

    /// Whether the queue is longer than flows of our kind keep it, or still longer than we keep it ourselves although
    /// two fifths of the window are gone with which it was as short as that.
    fn is_of_others(&self, path: &PathModel) -> bool {
        let has_yielded = self.usual_window() <= self.kept_window / 5 * 3;
        path.queue() >= if has_yielded { Queue::AboveTarget } else { Queue::Foreign }
    }

    /// How long the queue has stood counts from now.
    fn begin_standing(&mut self, now: Time) {
        self.standing_from = now;
        self.kept_window = self.usual_window();
    }

    /// The delay controller decides. When its start ends, a queue has stood for no time yet.
    fn keep_short(&mut self, now: Time, decide: impl FnOnce(&mut Delay)) {
        let was_starting = self.delay.is_starting();
        decide(&mut self.delay);
        if was_starting && !self.delay.is_starting() {
            self.begin_standing(now);
        }
    }

    fn steer(&mut self, now: Time, acked: u32, path: &PathModel) {
        self.keep_short(now, |delay| delay.on_ack(now, acked, path));
        match () {
            () if self.delay.is_starting() => {}
            () if is_lull_due(now, path) => self.begin_lull(now, path),
            () if now.since(self.standing_from) > patience(path) => {
                let window = self.delay.window().max(cubic::reduced(self.kept_window, 1));
                self.compete_from(now, window, self.kept_window, path);
            }
            () => {}
        }
    }

    /// Grows as CUBIC does, from this window towards the plateau.
    fn compete_from(&mut self, now: Time, window: u32, plateau: u32, path: &PathModel) {
        self.cubic = Some(Cubic::new(now, window, plateau, path.datagram().into(), self.flows));
    }

    /// The window is less than the path holds without a queue, until that must have shown.
    fn begin_lull(&mut self, now: Time, path: &PathModel) {
        let base = path.base_us();
        let span = u64::from((base / 2).max(base.saturating_sub(50_000)));
        let little = (path.delivery_rate().saturating_mul(span) / 1_000_000).min(WINDOW_MAX.into()) as u32;
        let window = little.min(self.usual_window()).max(window_min(path.datagram()));
        let until = now + micros(path.standing_us().max(path.smoothed_us()) + base * 3 / 2);
        self.lull = Some(Lull { until, window, least: u32::MAX });
    }

    fn end_lull(&mut self, now: Time, least: u32, path: &PathModel) {
        self.lull = None;
        match self.cubic {
            None => self.delay.begin_steady(now, WINDOW_MAX, path),
            // Other flows keep the queue even while we do not.
            Some(cubic) if path.bare_queue_of(least) >= Queue::AboveTarget => {
                return self.compete_from(now, cubic.window(), cubic.window(), path);
            }
            Some(cubic) => {
                self.cubic = None;
                self.delay.return_to(now, cubic.window(), path);
            }
        }
        self.begin_standing(now);
    }
}

impl Controller for Switch {
    fn window(&self) -> u64 {
        self.lull.map_or_else(|| self.usual_window(), |lull| lull.window).into()
    }

    fn pace(&self, path: &PathModel) -> Pace {
        let is_delay = self.cubic.is_none() && self.lull.is_none();
        if is_delay { self.delay.pace(path) } else { path.pace_of_window(self.window()) }
    }

    fn phase(&self) -> Phase {
        match (self.cubic.is_some(), self.lull.is_some()) {
            (false, false) if self.delay.is_starting() => Phase::Starting,
            (false, false) => Phase::Steady,
            (false, true) => Phase::Draining,
            (true, false) => Phase::Competing,
            (true, true) => Phase::Probing,
        }
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathModel) {
        let now = ack.now;
        // A path that we do not fill says nothing about others.
        if !self.is_of_others(path) || !path.is_full(now) {
            self.standing_from = now;
        }
        if path.queue() < Queue::AboveTarget {
            self.kept_window = self.usual_window();
        }
        if let Some(lull) = &mut self.lull {
            lull.least = lull.least.min(path.latest_delay_us());
            if now >= lull.until {
                let least = lull.least;
                self.end_lull(now, least, path);
            }
            return;
        }
        let Some(cubic) = &mut self.cubic else { return self.steer(now, ack.bytes, path) };
        if path.is_limited(now) {
            cubic.on_acked(now, ack.bytes, path.smoothed_us(), path.datagram().into());
        }
        if is_lull_due(now, path) {
            self.begin_lull(now, path);
        }
    }

    /// While competing with other flows, a loss counts where it indicates a queue overflow; random loss comes at any
    /// time.
    fn is_congestion(&self, path: &PathModel) -> bool {
        let overflows = self.phase() == Phase::Competing && path.queue() >= Queue::AtTarget;
        overflows || loses_too_much(path)
    }

    fn on_congestion(&mut self, now: Time, path: &PathModel) {
        match &mut self.cubic {
            _ if self.lull.is_some() => {}
            Some(cubic) => cubic.on_overflow(now, path.datagram().into(), window_min(path.datagram())),
            None => self.keep_short(now, |delay| delay.on_congestion(now, path)),
        }
    }

    fn on_silence(&mut self, _: Time, path: &PathModel) {
        let (window, before) = (self.window() as u32, self.usual_window());
        (self.cubic, self.lull) = (None, None);
        self.delay.on_silence(window, before, path);
    }

    fn on_first_rtt(&mut self, rtt: Duration, path: &PathModel) {
        self.delay.on_first_rtt(rtt, path);
    }

    fn on_datagram_bytes(&mut self, path: &PathModel) {
        let least = window_min(path.datagram());
        self.delay.raise_to(least);
        if let Some(cubic) = &mut self.cubic {
            cubic.raise_to(least);
        }
        if let Some(lull) = &mut self.lull {
            lull.window = lull.window.max(least);
        }
    }

    fn on_flight_settled(&mut self, now: Time, in_flight: u32, path: &PathModel) {
        let keeps_queue = self.cubic.is_none() && self.lull.is_none();
        if keeps_queue && self.delay.on_flight_settled(now, in_flight, path) {
            self.begin_standing(now);
        }
    }
}

/// How long a queue has to stand although we yield before it is attributed to other flows.
fn patience(path: &PathModel) -> Duration {
    (6 * path.smoothed()).max(PATIENCE_MIN).mul_f32(path.patience())
}

/// Whether it is time for a lull: a fixed time after the queue's last dip, which all flows that share the queue saw. So
/// these flows drain the queue together (as BBR's flows do), and measure the path without it.
fn is_lull_due(now: Time, path: &PathModel) -> bool {
    let interval = (LULL_ROUND_TRIPS * path.smoothed()).max(Duration::from_secs(LULL_SECONDS));
    path.is_full(now) && now.since(path.dip_at()) >= interval
}
