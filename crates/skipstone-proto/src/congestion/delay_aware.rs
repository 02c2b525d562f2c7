//! The delay-aware controller: its window and its decisions, as docs/design/congestion.md describes them; `phases`
//! contains the behaviour in each phase.

mod phases;

use super::aggressiveness::Aggressiveness;
use super::cubic::{self, Cubic};
use super::model::{PathModel, Queue, in_range};
use super::pacer::Pace;
use super::samples::{AckSample, LossSample};
use crate::time::{Duration, Time};

#[derive(Clone, Debug)]
pub(super) struct DelayAware {
    aggressiveness: Aggressiveness,
    /// Bytes that may be in flight.
    window: u32,
    phase: Phase,
    /// Losses of packets that left before this were answered.
    recovery_from: Time,
    /// The time since which the queue has persisted although this side yields, and the window before that.
    standing_from: Time,
    standing_window: u32,
}

/// ```text
///          queue or heavy loss                  stands though we yield
///   Ramp ──────────────────────► Steady ──────────────────────────────────────► Competing ◄── not ours ──┐
///    ▲                           │ ▲  │ ▲                                            │                   │
///    └───────── silence ─────────┘ │  └─┴── each 10 s: Draining                      └── each 10 s: Probing
///                                  └─────────────────── it was our queue ────────────────────────────────┘
/// ```
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The window grows by a share of itself each round trip, up to `until`.
    Ramp { until: u32 },
    /// The window keeps the queue near its target.
    Steady(Steady),
    /// Other flows keep the queue long, and yield to loss only.
    Competing(Cubic),
    /// The window is small for a moment, to find out whether our own traffic causes the queue.
    Probing { until: Time, least: u32, back: u32 },
    /// The window is small for a moment, to see the path without our queue.
    Draining { until: Time, back: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Steady {
    round_until: Time,
    /// Steps per round trip by which the window moves.
    velocity: u16,
    /// Round trips on this course.
    rounds: u8,
    course: Course,
}

/// How the window moves in steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Up,
    /// By a part of a datagram in each round trip.
    UpFinely,
    Down,
}

/// The initial congestion window, before the path is measured; paced except for the first burst.
const WINDOW_DATAGRAMS_INITIAL: u32 = 32;
/// On a path whose round trip is longer than the first value, the initial window is larger in proportion, up to the
/// second.
const WINDOW_INITIAL_RTT_US: u32 = 50_000;
const WINDOW_INITIAL_RTT_MAX_US: u32 = 2_000_000;
/// The minimum congestion window: with fewer datagrams the path could not be measured.
const WINDOW_DATAGRAMS_MIN: u32 = 2;
const WINDOW_MAX: u32 = 1 << 30;
/// In a window of fewer datagrams, a datagram is a large part of it, and possibly most of the path's queue.
const WINDOW_DATAGRAMS_FEW: u32 = 8;
/// Datagrams that leave at once while nothing waits.
const BURST_DATAGRAMS: u64 = 10;
/// Loss in percent that is too much even without a visible queue: a policer, or a queue of one or two datagrams.
const LOSS_WITHOUT_QUEUE: u32 = 30;
/// Growth is limited so that the data sent before the queue is visible makes a queue of about half of this.
const OVERSHOOT_US: u32 = 120_000;

impl DelayAware {
    pub(super) fn new(aggressiveness: Aggressiveness, datagram_bytes: u16) -> Self {
        let window = WINDOW_DATAGRAMS_INITIAL * u32::from(datagram_bytes);
        DelayAware {
            aggressiveness,
            window,
            phase: Phase::Ramp { until: WINDOW_MAX },
            recovery_from: Time::ZERO,
            standing_from: Time::ZERO,
            standing_window: window,
        }
    }

    pub(super) fn aggressiveness(&self) -> Aggressiveness {
        self.aggressiveness
    }

    pub(super) fn window(&self) -> u32 {
        self.window
    }

    /// Whether other flows keep the queue, as far as it is known.
    pub(super) fn is_competing(&self) -> bool {
        matches!(self.phase, Phase::Competing(_) | Phase::Probing { .. })
    }

    /// Whether the queue is kept by this side.
    pub(super) fn keeps_queue(&self) -> bool {
        matches!(self.phase, Phase::Ramp { .. } | Phase::Steady(_))
    }

    pub(super) fn on_datagram_bytes(&mut self, path: &PathModel) {
        self.window = self.window.max(window_min(path));
    }

    /// The rate at which datagrams leave, and the bytes that may leave at once. While the window is full these are few:
    /// two datagrams that leave together may overflow a queue of a few.
    pub(super) fn pace_of_next(&self, now: Time, path: &PathModel) -> Pace {
        let mut pace = self.pace(path);
        if path.is_full(now) && !matches!(self.phase, Phase::Ramp { .. }) {
            let are_few = self.window < WINDOW_DATAGRAMS_FEW * u32::from(path.datagram());
            pace.burst = if are_few { 1 } else { 2 } * u64::from(path.datagram());
        }
        pace
    }

    /// Bytes per second that the path carries: a window each round trip, and on a full path little more than it
    /// delivers. The moments in which the window is small, to measure the path without a queue, are excluded.
    pub(super) fn send_rate(&self, path: &PathModel) -> u64 {
        let window = match self.phase {
            Phase::Probing { back, .. } | Phase::Draining { back, .. } => back,
            _ => self.window,
        };
        // A datagram may begin while less than the window is in flight.
        let rate = per_second(window.saturating_add(path.datagram().into()), path.smoothed_us());
        // Before the first sample the path's delivery rate is unknown.
        let delivered = Some(path.delivery_rate()).filter(|best| *best > 0 && path.was_limited());
        delivered.map_or(rate, |best| rate.min(best * 5 / 4))
    }

    pub(super) fn pace(&self, path: &PathModel) -> Pace {
        let rtt = if path.is_measured() { path.standing() } else { path.smoothed_us() };
        let even = per_second(self.window, rtt);
        let rate = match self.phase {
            // A round trip's growth must find room, but not by sending faster than the path is known to carry.
            Phase::Ramp { .. } if path.is_measured() && !is_unpromised(path) => {
                (even + self.ramp_growth(path, even)).min(path.promised_rate().max(even * 5 / 4))
            }
            Phase::Ramp { .. } => even * 2,
            _ => even * 5 / 4,
        };
        Pace { rate, burst: (BURST_DATAGRAMS * u64::from(path.datagram())).max(rate / 500) }
    }

    /// The handshake's time, then the first sample, gives the length of the first round trip: a rate determines the
    /// bytes that may be sent in it. Otherwise a path of a second would need five round trips until an application's
    /// data fits. Returns whether nothing better was known.
    pub(super) fn on_first_rtt(&mut self, rtt: Duration, path: &PathModel) -> bool {
        let is_first = self.recovery_from == Time::ZERO;
        if is_first {
            let span = in_range(rtt).clamp(WINDOW_INITIAL_RTT_US, WINDOW_INITIAL_RTT_MAX_US);
            let initial = WINDOW_DATAGRAMS_INITIAL * u32::from(path.datagram());
            self.window = initial * (span / 1_000) / (WINDOW_INITIAL_RTT_US / 1_000);
        }
        is_first
    }

    /// A queue that is not longer than we keep ourselves, or a path that we do not fill, says nothing about others.
    pub(super) fn watch_queue(&mut self, now: Time, path: &PathModel) {
        if path.queue() < Queue::Foreign || !path.is_full(now) {
            self.standing_from = now;
            self.standing_window = self.window;
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample, path: &mut PathModel) {
        let now = ack.now;
        match self.phase {
            Phase::Ramp { until } => self.ramp(now, ack.bytes, until, path),
            Phase::Steady(steady) => self.steer(now, ack, steady, path),
            Phase::Competing(cubic) => self.compete(now, ack.bytes, cubic, path),
            Phase::Probing { .. } => self.probe(now, path),
            Phase::Draining { until, back } => self.drain(now, until, back, path),
        }
    }

    pub(super) fn on_loss(&mut self, now: Time, loss: LossSample, path: &mut PathModel) {
        if loss.sent_at < self.recovery_from || !path.is_measured() {
            return;
        }
        let has_queue = path.queue() >= Queue::AtTarget;
        let percent = if has_queue { self.aggressiveness.loss_with_queue() } else { LOSS_WITHOUT_QUEUE };
        let is_excessive = path.loses_too_much(percent);
        // While competing with other flows, a loss counts where it indicates a queue overflow; random loss comes at any
        // time.
        let is_competing = matches!(self.phase, Phase::Competing(_));
        if !(is_excessive || is_competing && has_queue) {
            return;
        }
        self.recovery_from = now + Duration::from_micros(1);
        path.on_losses_answered(now);
        if is_excessive && has_queue {
            path.on_overflow(now);
        }
        match self.phase {
            Phase::Competing(_) => {
                let plateau = self.window;
                self.window = cubic::reduced(self.window, self.aggressiveness.flows()).max(window_min(path));
                self.grow_from(now, plateau, path);
            }
            Phase::Probing { .. } | Phase::Draining { .. } => {}
            Phase::Ramp { .. } if path.is_limited(now) => self.leave_ramp(now, path),
            Phase::Ramp { .. } => self.window = cubic::reduced(self.window, 1).max(window_min(path)),
            Phase::Steady(steady) => {
                self.window = cubic::reduced(self.window, 1).max(window_min(path));
                self.phase = Phase::Steady(Steady { velocity: 1, rounds: 0, ..steady });
            }
        }
    }

    /// Data that waits here reaches a peer that moves; data that waits at the bottleneck does not, and is retransmitted
    /// after packets that the old path no longer delivers. So during a queue, no more is in flight from now on than the
    /// path holds without one, even if the window was not used up.
    pub(super) fn on_flight_settled(&mut self, now: Time, in_flight: u32, path: &PathModel) {
        let has_queue = path.is_measured() && path.bare_queue() >= Queue::AtTarget;
        if self.keeps_queue() && has_queue && in_flight > self.bare_window(path) {
            self.begin_bare(now, path);
        }
    }

    pub(super) fn on_silence(&mut self, now: Time, path: &PathModel) {
        let until = match self.phase {
            // A path that showed no queue before it fell silent was faded, not full: slow start continues.
            Phase::Ramp { until } if path.queue() < Queue::AtTarget => until,
            Phase::Ramp { until } => until.min(self.window),
            Phase::Probing { back, .. } | Phase::Draining { back, .. } => back,
            _ => self.window,
        };
        let burst = BURST_DATAGRAMS as u32 * u32::from(path.datagram());
        self.window = (self.window / 2).max(burst.min(self.window));
        self.phase = Phase::Ramp { until: until.max(self.window) };
        self.recovery_from = now + Duration::from_micros(1);
    }
}

fn window_min(path: &PathModel) -> u32 {
    WINDOW_DATAGRAMS_MIN * u32::from(path.datagram())
}

/// Whether no packet train long enough to estimate a rate was sent yet, on a path so long that growth without an
/// estimate would take minutes. Only queues end the growth then.
fn is_unpromised(path: &PathModel) -> bool {
    path.promised_rate() == 0 && path.smoothed_us() > overshoot(path)
}

/// The queue, in microseconds, that growth may build before it shows; twice that, to be exact.
fn overshoot(path: &PathModel) -> u32 {
    OVERSHOOT_US.min(path.depth().max(10_000).saturating_mul(2))
}

/// Bytes per second for this many bytes in each round trip, in microseconds.
fn per_second(bytes: u32, rtt: u32) -> u64 {
    u64::from(bytes) * 1_000_000 / u64::from(rtt.max(1))
}
