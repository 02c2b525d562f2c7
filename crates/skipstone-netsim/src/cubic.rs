//! A model TCP flow to share a link with: CUBIC (RFC 9438) with slow start, selective acknowledgements, fast retransmit
//! and retransmission timeouts, clocked by its acknowledgements and not paced. The sender always has data to send.
//!
//! The model has no bytes and no clock: the flow returns the next segment to send, and takes the segments that arrived.
//! The receiver's state is a [`CubicReceiver`], which makes the acknowledgements. The same calls give the same results
//! on every machine.

use core::time::Duration;
use std::collections::{BTreeSet, VecDeque};

/// One transmission of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The number of the segment: 0, 1, 2, …
    pub number: u64,
    /// The number of the transmission: 0, 1, 2, …, retransmissions included.
    pub order: u64,
}

/// The receiver's acknowledgement of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// All segments below this number have arrived.
    pub next: u64,
    /// The transmission that caused this acknowledgement.
    pub segment: Segment,
}

/// The sender of a flow without end.
#[derive(Clone, Debug)]
pub struct CubicFlow {
    /// Segments that may be in flight; its fraction grows too.
    window: f64,
    threshold: f64,
    epoch: Option<Epoch>,
    window_max: f64,
    /// From the first segment that the receiver may lack.
    segments: VecDeque<Sent>,
    base: u64,
    order_next: u64,
    /// The greatest transmission that arrived, and how many are assumed to be on the way.
    order_arrived: Option<u64>,
    in_flight: u64,
    /// Losses of transmissions below this have already reduced the window.
    recovery_order: u64,
    /// Until all segments below this have arrived, the window does not grow.
    recovery_until: u64,
    lost: BTreeSet<u64>,
    rtt: Option<(Duration, Duration)>,
    backoff: u32,
    timeout_at: Option<Duration>,
    timeouts: u64,
    reductions: u64,
}

/// A stretch of growth between two reductions.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Duration,
    /// Seconds until the window is back at its old maximum.
    k: f64,
    /// The window at the plateau, and the window of a Reno flow.
    plateau: f64,
    reno: f64,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    order: u64,
    at: Duration,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Arrived,
    Lost,
}

const WINDOW_INITIAL: f64 = 10.0;
/// Later transmissions that must have arrived before one is lost.
const DUPLICATES: u64 = 3;
const DECREASE: f64 = 0.7;
/// Segments per second cubed.
const C: f64 = 0.4;
/// Linux's minimum; RFC 6298 requires one second.
const TIMEOUT_MIN: Duration = Duration::from_millis(200);
const TIMEOUT_INITIAL: Duration = Duration::from_secs(1);
const TIMEOUT_MAX: Duration = Duration::from_secs(60);

impl Default for CubicFlow {
    fn default() -> Self {
        CubicFlow {
            window: WINDOW_INITIAL,
            threshold: f64::INFINITY,
            epoch: None,
            window_max: 0.0,
            segments: VecDeque::new(),
            base: 0,
            order_next: 0,
            order_arrived: None,
            in_flight: 0,
            recovery_order: 0,
            recovery_until: 0,
            lost: BTreeSet::new(),
            rtt: None,
            backoff: 0,
            timeout_at: None,
            timeouts: 0,
            reductions: 0,
        }
    }
}

impl CubicFlow {
    /// A flow that has sent nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next segment to send, if the window has room: lost segments first. Call this until it returns `None`.
    pub fn poll_transmit(&mut self, now: Duration) -> Option<Segment> {
        if self.in_flight as f64 >= self.window.floor().max(1.0) {
            return None;
        }
        let number = self.lost.pop_first().unwrap_or(self.base + self.segments.len() as u64);
        let sent = Sent { order: self.order_next, at: now, state: State::InFlight };
        match self.segments.get_mut((number - self.base) as usize) {
            Some(old) => *old = sent,
            None => self.segments.push_back(sent),
        }
        self.order_next += 1;
        self.in_flight += 1;
        self.timeout_at.get_or_insert(now + self.timeout());
        Some(Segment { number, order: sent.order })
    }

    /// Takes an acknowledgement.
    pub fn on_ack(&mut self, now: Duration, ack: Acknowledgement) {
        let mut arrived = 0;
        if let Some(index) = ack.segment.number.checked_sub(self.base)
            && let Some(sent) = self.segments.get(index as usize).copied()
        {
            if sent.order == ack.segment.order {
                self.on_rtt(now.saturating_sub(sent.at));
            }
            arrived += self.on_arrived(index as usize);
        }
        while self.base < ack.next && !self.segments.is_empty() {
            arrived += self.on_arrived(0);
            self.segments.pop_front();
            self.base += 1;
        }
        self.order_arrived = self.order_arrived.max(Some(ack.segment.order));
        if arrived > 0 {
            self.backoff = 0;
            self.timeout_at = (self.in_flight > 0).then(|| now + self.timeout());
        }
        self.detect_losses();
        if self.base >= self.recovery_until {
            self.grow(now, arrived as f64);
        }
    }

    /// When [`on_timeout`](Self::on_timeout) is due, unless an acknowledgement arrives before.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.timeout_at
    }

    /// No acknowledgement arrived for too long: everything counts as lost, and the window starts again.
    pub fn on_timeout(&mut self, now: Duration) {
        if self.timeout_at.is_none_or(|at| at > now) {
            return;
        }
        self.timeouts += 1;
        // Further timeouts of the same silence carry no new information (RFC 5681, section 3.1).
        if self.backoff == 0 {
            self.threshold = (self.window * DECREASE).max(2.0);
            self.window_max = self.window;
        }
        self.window = 1.0;
        self.epoch = None;
        for (index, sent) in self.segments.iter_mut().enumerate() {
            if sent.state == State::InFlight {
                sent.state = State::Lost;
                self.lost.insert(self.base + index as u64);
            }
        }
        self.in_flight = 0;
        self.recovery_order = self.order_next;
        self.recovery_until = self.base;
        self.backoff = (self.backoff + 1).min(8);
        self.timeout_at = Some(now + self.timeout());
    }

    /// Segments that may be in flight.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Segments that the receiver has without a gap.
    pub fn delivered(&self) -> u64 {
        self.base
    }

    /// How often the window was reduced for losses, and how often the timeout expired.
    pub fn reductions_and_timeouts(&self) -> (u64, u64) {
        (self.reductions, self.timeouts)
    }

    /// Marks a segment as arrived; returns 1 if it had not arrived before.
    fn on_arrived(&mut self, index: usize) -> u64 {
        let sent = &mut self.segments[index];
        match core::mem::replace(&mut sent.state, State::Arrived) {
            State::Arrived => 0,
            State::InFlight => {
                self.in_flight -= 1;
                1
            }
            State::Lost => {
                self.lost.remove(&(self.base + index as u64));
                1
            }
        }
    }

    fn detect_losses(&mut self) {
        let Some(limit) = self.order_arrived.and_then(|order| order.checked_sub(DUPLICATES)) else { return };
        let mut is_news = false;
        for (index, sent) in self.segments.iter_mut().enumerate() {
            if sent.state == State::InFlight && sent.order <= limit {
                sent.state = State::Lost;
                self.lost.insert(self.base + index as u64);
                self.in_flight -= 1;
                is_news |= sent.order >= self.recovery_order;
            }
        }
        if is_news {
            self.reduce();
        }
    }

    fn reduce(&mut self) {
        self.reductions += 1;
        // Fast convergence: a flow with a loss before it reached its previous maximum yields.
        let is_below = self.window < self.window_max;
        self.window_max = if is_below { self.window * (1.0 + DECREASE) / 2.0 } else { self.window };
        self.window = (self.window * DECREASE).max(2.0);
        self.threshold = self.window;
        self.epoch = None;
        self.recovery_order = self.order_next;
        self.recovery_until = self.base + self.segments.len() as u64;
    }

    fn grow(&mut self, now: Duration, arrived: f64) {
        if self.window < self.threshold {
            self.window += arrived;
            return;
        }
        let window = self.window;
        let plateau = self.window_max.max(window);
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: now,
            k: cube_root((plateau - window) / C),
            plateau,
            reno: window,
        });
        let reno_increase = if epoch.reno < epoch.plateau { 3.0 * (1.0 - DECREASE) / (1.0 + DECREASE) } else { 1.0 };
        epoch.reno += reno_increase * arrived / window;
        let rtt = self.rtt.map_or(0.0, |(smoothed, _)| smoothed.as_secs_f64());
        let apart = now.saturating_sub(epoch.start).as_secs_f64() + rtt - epoch.k;
        let target = (C * apart * apart * apart + epoch.plateau).clamp(window, 1.5 * window);
        self.window = (window + (target - window) * arrived / window).max(epoch.reno);
    }

    fn on_rtt(&mut self, sample: Duration) {
        self.rtt = Some(match self.rtt {
            None => (sample, sample / 2),
            Some((smoothed, variation)) => {
                ((smoothed * 7 + sample) / 8, (variation * 3 + smoothed.abs_diff(sample)) / 4)
            }
        });
    }

    fn timeout(&self) -> Duration {
        let timeout = self.rtt.map_or(TIMEOUT_INITIAL, |(smoothed, variation)| smoothed + variation * 4);
        (timeout.max(TIMEOUT_MIN) * 2u32.pow(self.backoff)).min(TIMEOUT_MAX)
    }
}

/// By Newton's method, because the `cbrt` of the platforms differ in their last digits.
fn cube_root(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let mut root = value.max(1.0);
    for _ in 0..100 {
        root = (2.0 * root + value / (root * root)) / 3.0;
    }
    root
}

/// The receiver of a [`CubicFlow`]: acknowledges every segment.
#[derive(Clone, Debug, Default)]
pub struct CubicReceiver {
    next: u64,
    beyond: BTreeSet<u64>,
}

impl CubicReceiver {
    /// Receives a segment and returns its acknowledgement.
    pub fn on_segment(&mut self, segment: Segment) -> Acknowledgement {
        if segment.number >= self.next {
            self.beyond.insert(segment.number);
        }
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
        Acknowledgement { next: self.next, segment }
    }

    /// Segments that arrived without a gap.
    pub fn delivered(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `rounds` round trips of 100 ms; in each, `lose` selects the transmissions that do not arrive.
    fn run(
        flow: &mut CubicFlow,
        receiver: &mut CubicReceiver,
        now: &mut Duration,
        rounds: u32,
        lose: impl Fn(u64) -> bool,
    ) {
        for _ in 0..rounds {
            let mut sent = Vec::new();
            while let Some(segment) = flow.poll_transmit(*now) {
                sent.push(segment);
            }
            *now += Duration::from_millis(100);
            flow.on_timeout(*now);
            for segment in sent.into_iter().filter(|segment| !lose(segment.order)) {
                flow.on_ack(*now, receiver.on_segment(segment));
            }
        }
    }

    fn start() -> (CubicFlow, CubicReceiver, Duration) {
        (CubicFlow::new(), CubicReceiver::default(), Duration::ZERO)
    }

    #[test]
    fn slow_start_doubles_each_round_trip() {
        let (mut flow, mut receiver, mut now) = start();
        run(&mut flow, &mut receiver, &mut now, 5, |_| false);
        assert_eq!(flow.window(), 320.0);
        assert_eq!(receiver.delivered(), 10 + 20 + 40 + 80 + 160);
    }

    #[test]
    fn a_loss_reduces_the_window_once_and_it_regrows_after_k_seconds() {
        let (mut flow, mut receiver, mut now) = start();
        run(&mut flow, &mut receiver, &mut now, 6, |_| false);
        run(&mut flow, &mut receiver, &mut now, 1, |order| order == 700 || order == 720);
        let (reduced, maximum) = (flow.window(), flow.window() / 0.7);
        assert!(flow.reductions_and_timeouts() == (1, 0) && maximum > 640.0, "{reduced}");
        // K = cbrt(0.3 * W_max / 0.4), and a round trip of recovery before it; RFC 9438, section 4.2.
        let k = cube_root(0.75 * maximum);
        let rounds = (k * 10.0) as u32;
        run(&mut flow, &mut receiver, &mut now, rounds / 2, |_| false);
        assert!(flow.window() > reduced + 0.8 * (maximum - reduced) && flow.window() < maximum, "concave");
        run(&mut flow, &mut receiver, &mut now, rounds - rounds / 2 + 2, |_| false);
        assert!((flow.window() / maximum - 1.0).abs() < 0.01, "{} {maximum}", flow.window());
        run(&mut flow, &mut receiver, &mut now, 50, |_| false);
        let expected = maximum + 0.4 * 5.1f64.powi(3);
        assert!((flow.window() / expected - 1.0).abs() < 0.03, "convex: {} {expected}", flow.window());
        assert_eq!(flow.delivered(), receiver.delivered());
    }

    #[test]
    fn a_timeout_restarts_the_flow_and_everything_still_arrives() {
        let (mut flow, mut receiver, mut now) = start();
        run(&mut flow, &mut receiver, &mut now, 4, |_| false);
        run(&mut flow, &mut receiver, &mut now, 10, |_| true);
        assert!(flow.reductions_and_timeouts().1 >= 1 && flow.window() == 1.0);
        run(&mut flow, &mut receiver, &mut now, 60, |_| false);
        assert_eq!(flow.delivered(), receiver.delivered());
        assert!(flow.window() > 100.0, "slow start to 0.7 of the old window: {}", flow.window());
    }
}
