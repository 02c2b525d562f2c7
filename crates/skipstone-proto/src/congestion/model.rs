//! The model of the path: what a sender knows of it from acknowledgements, losses and its own sending. It alone knows
//! what a queue is: controllers and redundancy ask it. Only the window's steps in steady state compare the delay with a
//! target themselves, that of the rate which the window gives.

mod calm;
mod delays;
mod demand;
mod losses;
mod rate;

use super::pacer::Pace;
use super::phase::Phase;
use super::samples::{AckSample, LossSample};
use super::units::{RTT_MAX_US, in_range, micros, per_second};
use crate::delivery::DeliveryStamp;
use crate::time::{Duration, Time};
use calm::Calm;
use delays::Delays;
use demand::Demand;
use losses::Losses;
use rate::DeliveryRate;

/// How long the standing queue is, beyond the jitter of the path itself, measured by the delay that a flow of this rate
/// should cause: its target. docs/design/congestion.md has the lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Queue {
    /// None that shows.
    Empty,
    /// It begins to form: the path may be far from full, but traffic that makes the queue grow is too much.
    Forming,
    /// From half of the target on: about as long as this side keeps it.
    AtTarget,
    /// Longer than that.
    AboveTarget,
    /// Longer than a few flows of our kind would keep.
    Foreign,
}

/// The path as far as it is known: what a congestion controller and redundancy ask.
#[derive(Clone, Debug)]
pub struct PathModel {
    datagram: u16,
    /// Smoothed round-trip time, in microseconds.
    smoothed: u32,
    delays: Delays,
    calm: Calm,
    rate: DeliveryRate,
    losses: Losses,
    demand: Demand,
    /// The observed queueing delay at which this path lost too much.
    depth: u32,
    depth_at: Time,
    /// The delay that remained when our own queue was drained.
    residual: u32,
    /// Whether other flows keep the queue.
    is_hidden: bool,
    /// The time of the last acknowledgement.
    acked_at: Time,
}

const SMOOTHED_INITIAL_US: u32 = 100_000;
/// The greatest delivery rate of as many round trips without a queue, at least of this time, is the present one. The
/// same of round trips with their queue, and of a longer time, is what the path once carried.
const RATE_ROUND_TRIPS: u64 = 16;
const RATE_US_MIN: u64 = 700_000;
const LASTING_RATE_US_MIN: u64 = 2_000_000;
const SHARED_TARGET_US: u64 = 5_000;
/// A queue of as many targets is not kept by flows of our kind.
const FOREIGN: u32 = 3;
/// No queue has overflowed yet.
const NOT_SEEN: u32 = u32::MAX;
/// Time for which a measured depth is used before a longer queue is tried.
const DEPTH_SECONDS: u64 = 30;
/// Loss beyond the usual, in percent, that indicates an overflow while there is a queue.
const LOSS_WITH_QUEUE: u32 = 10;
/// Jitter beyond this is treated as a queue.
const NOISE_MAX_US: u32 = 20_000;

/// What the sender reports.
impl PathModel {
    pub(super) fn new(datagram_bytes: u16) -> Self {
        PathModel {
            datagram: datagram_bytes,
            smoothed: SMOOTHED_INITIAL_US,
            delays: Delays::new(),
            calm: Calm::new(),
            rate: DeliveryRate::new(),
            losses: Losses::new(),
            demand: Demand::new(),
            depth: NOT_SEEN,
            depth_at: Time::ZERO,
            residual: 0,
            is_hidden: false,
            acked_at: Time::ZERO,
        }
    }

    pub(super) fn set_datagram_bytes(&mut self, bytes: u16) {
        self.datagram = bytes;
    }

    /// The handshake's time, then the first sample.
    pub(super) fn on_first_rtt(&mut self, rtt: Duration) {
        self.smoothed = in_range(rtt).max(SMOOTHED_INITIAL_US);
    }

    pub(super) fn on_sent(&mut self, now: Time, bytes: u32, in_flight_before: u32, window: u32) -> DeliveryStamp {
        let untracked = self.demand.untracked_in_flight(now, self.smoothed());
        self.note_demand(now, in_flight_before.saturating_add(bytes).saturating_add(untracked), window);
        self.rate.on_sent(now, in_flight_before == 0)
    }

    /// A packet that is never acknowledged takes its share of the pacing rate, and thus of the window: a sender that
    /// the pacer holds back has more to send than the window allows.
    pub(super) fn on_sent_untracked(&mut self, now: Time, bytes: u32) {
        self.demand.note_untracked(now, bytes, self.smoothed());
    }

    /// The round-trip time of an acknowledgement.
    pub(super) fn on_round_trip(&mut self, ack: &AckSample) {
        if ack.rtt.is_some() && !self.is_measured() {
            self.calm.begin(ack.now);
        }
        self.smoothed = in_range(ack.smoothed);
        if let Some(rtt) = ack.rtt {
            self.delays.on_sample(ack.now, in_range(rtt), self.smoothed, self.is_hidden);
        }
    }

    /// The bytes of an acknowledgement.
    pub(super) fn on_delivered(&mut self, ack: &AckSample, window: u32) {
        let now = ack.now;
        self.acked_at = now;
        // A rate that fell while this side filled the path must not be believed for long, or its target would be that
        // of a faster flow; but what others' queue is worth is judged by what the path once carried.
        let [short, lasting] = [self.delays.base(), self.smoothed].map(|rtt| RATE_ROUND_TRIPS * u64::from(rtt));
        let windows = [short.max(RATE_US_MIN), lasting.max(LASTING_RATE_US_MIN)];
        self.rate.on_ack(now, ack.bytes, ack.sent_at, ack.stamp, self.delays.base(), windows);
        // An acknowledgement that covers most of a window was held back: until now, the window was used up, however few
        // bytes are left. On a path whose round trip is shorter than that, every acknowledgement is such a one.
        let is_held_back = ack.bytes > window / 2;
        let covered = if is_held_back { ack.bytes } else { 0 };
        let in_flight = ack.bytes_in_flight.saturating_add(covered);
        let untracked = self.demand.untracked_in_flight(now, self.smoothed());
        let in_flight = in_flight.saturating_add(untracked);
        self.note_demand(now, in_flight, window);
        self.demand.note_unused(now, in_flight, window, self.datagram.into());
        let tells_usual = !self.is_full(now) && self.queue() < Queue::AtTarget;
        self.losses.on_acked(now, ack.bytes, self.smoothed, self.datagram.into(), tells_usual);
    }

    /// Time has passed; what the controller does.
    pub(super) fn on_time(&mut self, now: Time, phase: Phase) {
        self.is_hidden = phase.is_competing();
        let smoothed = self.smoothed();
        self.calm.on_time(now, self.is_limited(now), smoothed);
        if matches!(phase, Phase::Starting | Phase::Steady) {
            self.calm.on_delay(now, self.delays.delay(), NOISE_MAX_US, smoothed);
        }
        if now.since(self.depth_at) > Duration::from_secs(DEPTH_SECONDS) && self.depth != NOT_SEEN {
            self.depth = self.depth.saturating_mul(2);
            self.depth_at = now;
        }
    }

    /// Packets were lost.
    pub(super) fn on_lost(&mut self, loss: LossSample) {
        self.losses.on_lost(loss.bytes);
    }

    /// Losses are about to be answered. If the queue overflows, it was as long as it gets.
    pub(super) fn note_overflow(&mut self, now: Time) {
        if self.overflows() {
            self.depth = self.delays.longest_delay();
            self.depth_at = now;
        }
    }

    /// Losses were answered: those that follow are counted anew.
    pub(super) fn on_losses_answered(&mut self, now: Time) {
        self.losses.begin(now);
    }

    pub(super) fn on_silence(&mut self, now: Time) {
        self.calm.on_silence(now);
        self.demand.limit_until(now + self.smoothed());
        self.losses.begin(now);
    }

    /// What was in flight still counts as sent: a path that is full stays full.
    pub(super) fn on_flight_settled(&mut self, now: Time, in_flight: u32) {
        self.demand.note_untracked(now, in_flight, self.smoothed());
        self.calm.begin(now);
    }

    /// What the controller does has changed.
    pub(super) fn on_phase(&mut self, from: Phase, to: Phase) {
        match (from, to) {
            (from, to) if from == to => {}
            // The next dip of the queue is looked for.
            (_, Phase::Draining | Phase::Probing) => self.delays.begin_dip(),
            (Phase::Draining, _) => self.residual = self.delays.delay(),
            // Other flows keep the queue from now on.
            (_, Phase::Competing) => self.calm.forget(),
            _ => {}
        }
    }

    fn note_demand(&mut self, now: Time, in_flight: u32, window: u32) {
        // Before the first acknowledgement the round-trip time is unknown.
        let span = if self.is_measured() { 2 * self.smoothed } else { RTT_MAX_US };
        self.demand.note(now, in_flight, window, self.datagram.into(), micros(span));
    }
}

/// What the path is: spans in microseconds, for the controllers of this crate.
impl PathModel {
    pub(super) fn smoothed_us(&self) -> u32 {
        self.smoothed
    }

    pub(super) fn base_us(&self) -> u32 {
        self.delays.base()
    }

    pub(super) fn standing_us(&self) -> u32 {
        self.delays.standing()
    }

    pub(super) fn delay_us(&self) -> u32 {
        self.delays.delay()
    }

    /// How long the last packet waited.
    pub(super) fn latest_delay_us(&self) -> u32 {
        self.delays.latest_delay()
    }

    /// The delay at which the path overflowed; `u32::MAX` if it has not.
    pub(super) fn depth_us(&self) -> u32 {
        self.depth
    }

    /// When the queue was at its shortest. All flows that share the queue see that at about the same time.
    pub(super) fn dip_at(&self) -> Time {
        self.delays.dip_at()
    }

    /// The window that the recent delivery rate fills with a queue of this length; none before the first sample.
    pub(super) fn window_with_queue(&self, queue_us: u32) -> Option<u32> {
        let rate = self.rate.best();
        let span = u64::from(self.base_us()) + u64::from(queue_us);
        (rate > 0).then(|| u32::try_from(rate.saturating_mul(span) / 1_000_000).unwrap_or(u32::MAX))
    }

    /// Bytes per second for this many bytes in each of the shortest recent round trips.
    pub(super) fn per_round_trip(&self, bytes: u32) -> u64 {
        per_second(bytes, if self.is_measured() { self.standing_us() } else { self.smoothed })
    }

    /// The slowest pace that keeps a path measured: this many bytes in a round trip, or in a second if that is longer.
    pub(super) fn rate_min(&self, bytes: u32) -> u64 {
        let round_trip = if self.is_measured() { self.standing_us() } else { self.smoothed };
        per_second(bytes, round_trip.max(1_000_000))
    }

    /// Whether the window was used up at the last acknowledgement.
    pub(super) fn was_limited(&self) -> bool {
        self.is_limited(self.acked_at)
    }
}

/// What the path is.
impl PathModel {
    /// Bytes of a full datagram.
    pub fn datagram(&self) -> u16 {
        self.datagram
    }

    /// Whether a round-trip time was measured. Until then, the other values are guesses.
    pub fn is_measured(&self) -> bool {
        self.delays.is_measured()
    }

    /// Smoothed round-trip time (RFC 9002, section 5.3).
    pub fn smoothed(&self) -> Duration {
        micros(self.smoothed)
    }

    /// The round-trip time of the path without a queue: the least of the last 30 to 60 s, and of ten times as long
    /// while other flows keep a queue; the smoothed one until it is measured.
    pub fn base(&self) -> Duration {
        micros(if self.is_measured() { self.base_us() } else { self.smoothed })
    }

    /// The least round-trip time of the last half round trip or so; the smoothed one until it is measured.
    pub fn standing(&self) -> Duration {
        micros(if self.is_measured() { self.standing_us() } else { self.smoothed })
    }

    /// The variation of round-trip times that the path itself causes, not our own queue; 20 ms at most.
    pub fn jitter(&self) -> Duration {
        micros(self.noise())
    }

    /// The greatest recent delivery rate (draft-cheng-iccrg-delivery-rate-estimation), in bytes per second; 0 before
    /// the first sample.
    pub fn delivery_rate(&self) -> u64 {
        self.rate.best()
    }

    /// The rate that the spacing of acknowledgements promises (packet trains), in bytes per second: the bottleneck's,
    /// if nothing delayed acknowledgements; 0 before the first train.
    pub fn promised_rate(&self) -> u64 {
        self.rate.promised()
    }

    /// 5/4 of this window in each of the shortest recent round trips, and the usual burst.
    pub fn pace_of_window(&self, window: u64) -> Pace {
        self.pace_of_rate(self.per_round_trip(u32::try_from(window).unwrap_or(u32::MAX)) * 5 / 4)
    }

    /// This many bytes per second, and the usual burst: ten datagrams, or the bytes of 2 ms.
    pub fn pace_of_rate(&self, rate: u64) -> Pace {
        Pace::of_rate(rate, self.datagram)
    }

    /// Whether there is more to send than the window allows: only then do the queue and the losses say anything about
    /// the window.
    pub fn is_limited(&self, now: Time) -> bool {
        self.demand.is_limited(now)
    }

    /// The same for longer than two round trips: the path is full.
    pub fn is_full(&self, now: Time) -> bool {
        self.demand.is_full(now, self.smoothed())
    }

    /// The share of what was sent that was lost, 0 to 1, in the current measuring period: it ends after a round trip
    /// and 48 datagrams, and when losses are answered.
    pub fn loss(&self) -> f32 {
        self.losses.share()
    }

    /// Whether more is lost at present than twice the usual loss of this path plus this percentage.
    pub fn loses_too_much(&self, percent: u32) -> bool {
        self.losses.is_excessive(self.datagram.into(), percent)
    }

    /// Whether losses indicate that the queue overflows.
    pub fn overflows(&self) -> bool {
        self.queue() >= Queue::AtTarget && self.loses_too_much(LOSS_WITH_QUEUE)
    }
}

/// The queue.
impl PathModel {
    /// The standing queue.
    pub fn queue(&self) -> Queue {
        self.queue_of(self.delays.delay())
    }

    /// The queue that has not drained for several round trips.
    pub fn settled_queue(&self) -> Queue {
        self.queue_of(self.delays.settled_delay())
    }

    /// The queue that a delay means, in microseconds beyond the path without a queue.
    pub(super) fn queue_of(&self, delay: u32) -> Queue {
        let noise = self.noise();
        let shared = self.shared_target(self.rate.best());
        match delay.saturating_sub(noise) {
            queue if queue <= shared / 8 => Queue::Empty,
            queue if queue <= shared / 2 => Queue::Forming,
            queue if queue <= self.own_part(shared, noise) => Queue::AtTarget,
            queue if queue <= self.foreign_queue() => Queue::AboveTarget,
            _ => Queue::Foreign,
        }
    }

    /// The queue without an allowance for jitter: one that appears and disappears with the peer's moves resembles it.
    pub(super) fn bare_queue(&self) -> Queue {
        self.bare_queue_of(self.delays.delay())
    }

    /// The same for a delay: the least of many packets, say, which jitter has not lengthened.
    pub(super) fn bare_queue_of(&self, delay: u32) -> Queue {
        self.queue_of(delay.saturating_add(self.noise()))
    }

    /// The longest queue that a few flows of our kind keep. The promised rate counts up to twice the delivered rate:
    /// acknowledgements that a queue on their path compressed promise many times the rate, and our own queue would look
    /// like another flow's.
    fn foreign_queue(&self) -> u32 {
        let lasting = self.rate.lasting();
        FOREIGN * self.shared_target(lasting.max(self.rate.promised() / 2).min(2 * lasting))
    }

    /// How long a queue of others has to stand before it counts, as a multiple of the shortest such time: several flows
    /// of our kind at their least windows keep the queue hardly longer than a few would, so a small excess takes
    /// longer.
    pub(super) fn patience(&self) -> f32 {
        let foreign = self.foreign_queue() + self.noise();
        let excess = self.delays.delay().saturating_sub(foreign).max(1);
        (foreign as f32 / (2 * excess) as f32).clamp(1.0, 4.0)
    }

    /// The queueing delay to keep, in microseconds, for a flow of this rate: less for a faster one, so that flows that
    /// share a queue converge to the same rate.
    pub(super) fn target(&self, rate: u64) -> u32 {
        let noise = self.noise();
        self.own_part(self.shared_target(rate), noise) + noise
    }

    /// The part of the target that is a queue: less than half of one that overflowed, as far as it was not jitter.
    fn own_part(&self, shared: u32, noise: u32) -> u32 {
        shared.min((self.depth.saturating_sub(noise) / 2).max(shared / 2))
    }

    /// The part of the target that depends on the rate: twice the geometric mean of 5 ms and a datagram's time, which
    /// falls with the square root of the rate; at least 1.4 datagrams, or the link would run dry.
    pub(super) fn shared_target(&self, rate: u64) -> u32 {
        let datagram_us = self.datagram_us(rate);
        let shared = (4 * SHARED_TARGET_US * datagram_us).isqrt().max(datagram_us * 7 / 5).min(1_000_000) as u32;
        shared + if self.is_measured() { self.base_us() / 64 } else { 0 }
    }

    /// The variation of round-trip times that the path itself causes. Our own packets also make them vary, by their
    /// length; as much of what a drained queue leaves is that length, and more of it is others' queue.
    fn noise(&self) -> u32 {
        let own = (2 * self.datagram_us(self.path_rate())).min(u64::from(NOISE_MAX_US)) as u32;
        let path = self.delays.noise().max(self.calm.kept()).saturating_sub(own);
        path.max(self.residual.min(own)).min(NOISE_MAX_US)
    }

    /// The rate that the path carries, although we may have less to send.
    fn path_rate(&self) -> u64 {
        self.rate.best().max(self.rate.promised() / 2)
    }

    /// How long a full datagram takes at a rate.
    fn datagram_us(&self, rate: u64) -> u64 {
        u64::from(self.datagram) * 1_000_000 / rate.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What counts as jitter of a path of this many bytes per second after a drain that left 10 ms of queue.
    fn jitter_after_drain(rate: u32) -> Duration {
        let at = |millis: u64| Time::from_micros(millis * 1_000);
        let mut path = PathModel::new(1_200);
        let stamp = DeliveryStamp { delivered: 0, delivered_at: 1, first_sent_at: 1 };
        path.rate.on_ack(at(100), rate / 10, at(80), stamp, 20_000, [1_000_000; 2]);
        path.delays.on_sample(at(0), 20_000, 20_000, false);
        (20..40).for_each(|tick| path.delays.on_sample(at(tick * 10), 30_000, 20_000, false));
        path.on_phase(Phase::Draining, Phase::Steady);
        path.jitter()
    }

    #[test]
    fn what_a_drained_queue_leaves_counts_up_to_two_datagrams() {
        let [slow, fast] = [250_000, 4_500_000].map(|rate| jitter_after_drain(rate).as_micros());
        assert!((9_500..=9_700).contains(&slow), "two of 4.8 ms: {slow}");
        assert!((530..=540).contains(&fast), "two of 0.27 ms, the rest is others': {fast}");
    }
}
