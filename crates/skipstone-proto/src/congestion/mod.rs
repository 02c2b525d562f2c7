//! Congestion control and pacing: the bytes that may be in flight, and the time when the next datagram may be sent.
//!
//! `docs/design/congestion.md` says what happens and why; here is where it is:
//!
//! - **The path** (`model`): delays, rates, losses and the use of the window become one model, which alone knows what a
//!   queue is.
//! - **A controller** (`controller`) decides on the window and the pace; `algorithm` makes it, `answers` brings what it
//!   answers into range. Ours is `switch`: `delay` keeps the queue at a target, `cubic` competes with flows that yield
//!   to loss only.
//! - **Pacing** (`pacer`) is a token bucket at the controller's pace.
//! - **Redundancy** (`spare`, `share`, `bottleneck`) gets the capacity that data leave.

mod algorithm;
mod answers;
mod bandwidth;
mod bottleneck;
mod controller;
mod cubic;
mod delay;
mod model;
mod pacer;
mod phase;
mod samples;
mod share;
mod spare;
mod switch;
mod units;
mod window;

pub use crate::delivery::DeliveryStamp;
use crate::time::{Duration, Time};
use answers::Answers;
use core::fmt;
use spare::SpareCapacity;
use units::per_second;

pub use algorithm::{Congestion, CustomController};
pub use bandwidth::Bandwidth;
pub use controller::Controller;
pub use model::{PathModel, Queue};
pub use pacer::Pace;
use pacer::Pacer;
pub use phase::Phase;
pub use samples::{AckSample, LossSample};

/// Limits the bytes in flight and decides when the next datagram may leave.
pub struct CongestionControl {
    algorithm: Congestion,
    /// `None` if nothing limits this path.
    control: Option<Control>,
}

/// What the sender of a path knows, and what follows from it.
struct Control {
    path: PathModel,
    controller: Box<dyn Controller>,
    answers: Answers,
    /// Losses of packets that left before this were answered.
    answered_until: Time,
    pacer: Pacer,
    spare: SpareCapacity,
}

/// In a window of fewer datagrams, a datagram is a large part of it, and possibly most of the path's queue.
const WINDOW_DATAGRAMS_FEW: u32 = 8;

impl Control {
    fn new(algorithm: &Congestion, datagram_bytes: u16) -> Option<Self> {
        let path = PathModel::new(datagram_bytes);
        let controller = algorithm.controller(&path)?;
        let answers = Answers::of(&*controller, &path);
        Some(Control {
            path,
            controller,
            answers,
            answered_until: Time::ZERO,
            pacer: Pacer::default(),
            spare: SpareCapacity::new(),
        })
    }

    fn renew(&mut self) {
        self.answers.renew(&*self.controller, &self.path);
    }

    fn on_first_rtt(&mut self, rtt: Duration) {
        self.path.on_first_rtt(rtt);
        self.controller.on_first_rtt(rtt, &self.path);
        self.renew();
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if ack.rtt.is_some() && !self.path.is_measured() {
            self.on_first_rtt(ack.smoothed);
        }
        self.path.on_round_trip(ack);
        if let Some(rtt) = ack.rtt {
            self.spare.on_sample(ack, rtt, &self.path);
        }
        if self.path.is_measured() {
            self.path.on_delivered(ack, self.answers.window);
            self.path.on_time(ack.now, self.answers.phase);
            self.spare.on_time(ack.now, &self.path, self.answers.phase.is_competing());
            let before = self.answers;
            self.controller.on_ack(ack, &self.path);
            self.renew();
            self.path.on_phase(before.phase, self.answers.phase);
            let has_started = before.phase == Phase::Starting && self.answers.phase != Phase::Starting;
            if has_started && self.answers.window < before.window {
                self.answered_until = just_after(ack.now);
            }
        } else {
            self.renew();
        }
    }

    fn on_loss(&mut self, now: Time, loss: LossSample) {
        self.path.on_lost(loss);
        let is_news = loss.sent_at >= self.answered_until && self.path.is_measured();
        if is_news && self.controller.is_congestion(&self.path) {
            self.answered_until = just_after(now);
            self.path.note_overflow(now);
            self.controller.on_congestion(now, &self.path);
            self.path.on_losses_answered(now);
            self.renew();
        }
    }

    fn on_flight_settled(&mut self, now: Time, in_flight: u32) {
        let before = self.answers.window;
        self.path.on_flight_settled(now, in_flight);
        self.controller.on_flight_settled(now, in_flight, &self.path);
        self.renew();
        if self.answers.window < before {
            self.answered_until = just_after(now);
        }
    }

    /// Bytes per second that the path carries: a window each round trip, and on a full path little more than it
    /// delivers. The moments in which the window is small, to measure the path without a queue, are excluded.
    fn send_rate(&self) -> u64 {
        // A datagram may begin while less than the window is in flight.
        let bytes = self.answers.usual.saturating_add(self.path.datagram().into());
        let rate = per_second(bytes, self.path.smoothed_us());
        // Before the first sample the path's delivery rate is unknown.
        let delivered = Some(self.path.delivery_rate()).filter(|best| *best > 0 && self.path.was_limited());
        delivered.map_or(rate, |best| rate.min(best * 5 / 4))
    }

    /// The pace of the next datagram. While the window is full few may leave at once: two datagrams that leave together
    /// may overflow a queue of a few.
    fn pace_of_next(&self, now: Time) -> Pace {
        let mut pace = self.answers.pace;
        if self.path.is_full(now) && self.answers.phase != Phase::Starting {
            let datagram = u32::from(self.path.datagram());
            let are_few = self.answers.window < WINDOW_DATAGRAMS_FEW * datagram;
            pace.burst = pace.burst.min((if are_few { 1 } else { 2 } * datagram).into());
        }
        pace
    }
}

/// Without the controller: what it says of itself would be in each program that has one, unused.
impl fmt::Debug for CongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CongestionControl").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// What leaves now was sent before this.
fn just_after(now: Time) -> Time {
    now + Duration::from_micros(1)
}

impl CongestionControl {
    /// A controller for a path of which only the datagram size is known.
    pub fn new(algorithm: Congestion, datagram_bytes: u16) -> Self {
        let control = Control::new(&algorithm, datagram_bytes);
        CongestionControl { algorithm, control }
    }

    /// The path carries datagrams of another size.
    pub fn set_datagram_bytes(&mut self, bytes: u16) {
        if let Some(control) = &mut self.control
            && control.path.datagram() != bytes
        {
            control.path.set_datagram_bytes(bytes);
            control.controller.on_datagram_bytes(&control.path);
            control.renew();
        }
    }

    /// The ends of the path may space packets that left together by this much, which does not indicate a slow
    /// bottleneck.
    pub fn set_spread(&mut self, spread: Duration) {
        if let Some(control) = &mut self.control {
            control.spare.set_spread(spread);
        }
    }

    /// The carrier has its own controller, which makes queues that this side does not cause.
    pub fn expect_foreign_queues(&mut self) {
        if let Some(control) = &mut self.control {
            control.spare.expect_foreign_queues();
        }
    }

    /// A packet that asks for an acknowledgement leaves; the argument has the bytes in flight before it.
    pub fn on_sent(&mut self, now: Time, bytes: u32, bytes_in_flight_before: u32) -> DeliveryStamp {
        let Some(control) = &mut self.control else { return DeliveryStamp::default() };
        control.pacer.on_sent(now, bytes.into(), control.answers.pace);
        control.spare.on_sent(now, bytes);
        control.path.on_sent(now, bytes, bytes_in_flight_before, control.answers.window)
    }

    /// A packet that is never acknowledged is sent: it takes its share of the pacing rate.
    pub fn on_sent_untracked(&mut self, now: Time, bytes: u32) {
        if let Some(control) = &mut self.control {
            control.pacer.on_sent(now, bytes.into(), control.answers.pace);
            control.spare.on_sent(now, bytes);
            control.path.on_sent_untracked(now, bytes);
        }
    }

    /// A round trip of the handshake took this long; until the first sample there is no better estimate.
    pub fn on_handshake(&mut self, rtt: Duration) {
        if let Some(control) = &mut self.control {
            control.on_first_rtt(rtt);
        }
    }

    /// Packets were acknowledged.
    pub fn on_ack(&mut self, ack: &AckSample) {
        if let Some(control) = &mut self.control {
            control.on_ack(ack);
        }
    }

    /// Packets were lost.
    pub fn on_loss(&mut self, now: Time, loss: LossSample) {
        if let Some(control) = &mut self.control {
            control.on_loss(now, loss);
        }
    }

    /// Nothing is acknowledged, not even probes: the path is down, or too full to use.
    pub fn on_silence(&mut self, now: Time) {
        if let Some(control) = &mut self.control {
            control.path.on_silence(now);
            control.controller.on_silence(now, &control.path);
            control.answered_until = just_after(now);
            control.renew();
        }
    }

    /// The peer has another address on the same path: all packets in flight are lost, above all those that waited in a
    /// queue.
    pub fn on_flight_settled(&mut self, now: Time, in_flight: u32) {
        if let Some(control) = &mut self.control {
            control.on_flight_settled(now, in_flight);
        }
    }

    /// The peer has another path now: all estimates of the old path are void, and what was said of its ends.
    pub fn begin(&mut self) {
        if let Some(old) = &self.control {
            let corrections = old.answers.corrections;
            self.control = Control::new(&self.algorithm, old.path.datagram());
            if let Some(control) = &mut self.control {
                control.answers.corrections = control.answers.corrections.saturating_add(corrections);
            }
        }
    }

    /// The share of the repairs required by the path's losses that fits in addition to the data, 0 to 1; a new path
    /// gets none at first.
    pub fn repair_share(&self) -> f32 {
        self.control.as_ref().map_or(1.0, |control| control.spare.repair_share())
    }

    /// A burst of new data begins.
    pub fn begin_burst(&mut self, now: Time) {
        if let Some(control) = &mut self.control {
            control.spare.begin_burst(now);
        }
    }

    /// Whether `more` bytes fit in addition to the `bytes` of data that leave now, so that the next data need not wait
    /// for them at the bottleneck for longer than the time that they save.
    pub fn has_room_beside(&self, now: Time, bytes: usize, more: usize, saved: Duration) -> bool {
        let fits = |control: &Control| control.spare.has_room_beside(now, bytes, more, saved, &control.path);
        self.control.as_ref().is_none_or(fits)
    }

    /// Bytes that may be in flight; `u64::MAX` without a limit.
    pub fn window(&self) -> u64 {
        self.control.as_ref().map_or(u64::MAX, |control| u64::from(control.answers.window))
    }

    /// What the controller does at present; `None` without one.
    pub fn phase(&self) -> Option<Phase> {
        self.control.as_ref().map(|control| control.answers.phase)
    }

    /// How often an answer of the controller was out of range, and was corrected.
    pub fn corrections(&self) -> u32 {
        self.control.as_ref().map_or(0, |control| control.answers.corrections)
    }

    /// Bytes of datagrams per second that the path is known to carry; `u64::MAX` without a controller.
    pub fn send_rate(&self) -> u64 {
        self.control.as_ref().map_or(u64::MAX, Control::send_rate)
    }

    /// When a datagram of this length may leave; `now` if it may at once.
    pub fn next_send(&self, now: Time, bytes: u32) -> Time {
        let Some(control) = &self.control else { return now };
        control.pacer.next_send(now, bytes.into(), control.pace_of_next(now))
    }

    /// Whether the path is full: for longer than a burst there was more to send than it carries, or there is a queue at
    /// the target, or other flows keep one. Unnecessary traffic, redundancy above all, should yield.
    pub fn is_congested(&self, now: Time) -> bool {
        let is_congested =
            |control: &Control| control.spare.is_congested(now, &control.path, control.answers.phase.is_competing());
        self.control.as_ref().is_some_and(is_congested)
    }
}
