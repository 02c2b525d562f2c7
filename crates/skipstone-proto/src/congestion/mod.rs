//! Congestion control and pacing: the bytes that may be in flight, and the time when the next datagram may be sent.
//!
//! `docs/design/congestion.md` says what happens and why; here is where it is:
//!
//! - **The path** (`model`): delays, rates, losses and the use of the window become one model, which alone knows what a
//!   queue is.
//! - **The window** (`delay_aware`) keeps the queue at a target delay: start and steady state, drains, and `cubic` in
//!   competition with flows that yield to loss only (`delay_aware/phases`).
//! - **Pacing** (`pacer`) is a token bucket at a rate that the window gives.
//! - **Redundancy** (`spare`, `share`, `bottleneck`) gets the capacity that data leave.
//!
//! A window that is not used up does not change: traffic far below the path's rate keeps its window despite losses and
//! jitter.

mod aggressiveness;

mod bandwidth;
mod bottleneck;
mod cubic;
mod delay_aware;
mod model;
mod pacer;
mod samples;
mod share;
mod spare;

pub use crate::delivery::DeliveryStamp;
use crate::time::{Duration, Time};
use aggressiveness::Aggressiveness;

pub use bandwidth::Bandwidth;
use delay_aware::DelayAware;
use model::PathModel;
use pacer::Pacer;
pub use samples::{AckSample, LossSample};
use spare::SpareCapacity;

/// Which controller a connection uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Congestion {
    /// Keeps the queue short, yields to flows that yield, and keeps a fair share in competition with TCP.
    #[default]
    DelayAware,
    /// The same for the owner of the link: in competition, the controller takes the share of several TCP flows.
    Aggressive,
    /// No limit and no pacing, for carriers with their own controller, or by choice.
    Off,
}

/// Limits the bytes in flight and decides when the next datagram may leave.
#[derive(Clone, Debug)]
pub struct Controller(Option<Control>);

/// What the sender of a path knows, and what follows from it.
#[derive(Clone, Debug)]
struct Control {
    path: PathModel,
    window: DelayAware,
    pacer: Pacer,
    spare: SpareCapacity,
}

impl Control {
    fn new(aggressiveness: Aggressiveness, datagram_bytes: u16) -> Self {
        Control {
            path: PathModel::new(datagram_bytes),
            window: DelayAware::new(aggressiveness, datagram_bytes),
            pacer: Pacer::default(),
            spare: SpareCapacity::new(),
        }
    }

    fn on_first_rtt(&mut self, rtt: Duration) {
        if self.window.on_first_rtt(rtt, &self.path) {
            self.path.on_first_rtt(rtt);
        }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if ack.rtt.is_some() && !self.path.is_measured() {
            self.on_first_rtt(ack.smoothed);
        }
        self.path.on_round_trip(ack);
        if let Some(rtt) = ack.rtt {
            self.spare.on_sample(ack, rtt, &self.path);
        }
        if !self.path.is_measured() {
            return;
        }
        self.path.on_delivered(ack, self.window.window());
        self.window.watch_queue(ack.now, &self.path);
        self.path.watch_calm(ack.now, self.window.keeps_queue());
        self.spare.on_time(ack.now, &self.path, self.window.is_competing());
        self.path.fade_depth(ack.now);
        self.window.on_ack(ack, &mut self.path);
    }
}

impl Controller {
    /// A controller for a path of which only the datagram size is known.
    pub fn new(algorithm: Congestion, datagram_bytes: u16) -> Self {
        Controller(match algorithm {
            Congestion::DelayAware => Some(Control::new(Aggressiveness::Default, datagram_bytes)),
            Congestion::Aggressive => Some(Control::new(Aggressiveness::Aggressive, datagram_bytes)),
            Congestion::Off => None,
        })
    }

    /// The path carries datagrams of another size.
    pub fn set_datagram_bytes(&mut self, bytes: u16) {
        if let Some(control) = &mut self.0 {
            control.path.set_datagram_bytes(bytes);
            control.window.on_datagram_bytes(&control.path);
        }
    }

    /// The ends of the path may space packets that left together by this much, which does not indicate a slow
    /// bottleneck.
    pub fn set_spread(&mut self, spread: Duration) {
        if let Some(control) = &mut self.0 {
            control.spare.set_spread(spread);
        }
    }

    /// The carrier has its own controller, which makes queues that this side does not cause.
    pub fn expect_foreign_queues(&mut self) {
        if let Some(control) = &mut self.0 {
            control.spare.expect_foreign_queues();
        }
    }

    /// A packet that asks for an acknowledgement leaves; the argument has the bytes in flight before it.
    pub fn on_sent(&mut self, now: Time, bytes: u32, bytes_in_flight_before: u32) -> DeliveryStamp {
        let Some(control) = &mut self.0 else { return DeliveryStamp::default() };
        control.pacer.on_sent(now, bytes.into(), control.window.pace(&control.path));
        control.spare.on_sent(now, bytes);
        control.path.on_sent(now, bytes, bytes_in_flight_before, control.window.window())
    }

    /// A packet that is never acknowledged is sent: it takes its share of the pacing rate.
    pub fn on_sent_untracked(&mut self, now: Time, bytes: u32) {
        if let Some(control) = &mut self.0 {
            control.pacer.on_sent(now, bytes.into(), control.window.pace(&control.path));
            control.spare.on_sent(now, bytes);
            control.path.on_sent_untracked(now, bytes);
        }
    }

    /// A round trip of the handshake took this long; until the first sample there is no better estimate.
    pub fn on_handshake(&mut self, rtt: Duration) {
        if let Some(control) = &mut self.0 {
            control.on_first_rtt(rtt);
        }
    }

    /// Packets were acknowledged.
    pub fn on_ack(&mut self, ack: &AckSample) {
        if let Some(control) = &mut self.0 {
            control.on_ack(ack);
        }
    }

    /// Packets were lost.
    pub fn on_loss(&mut self, now: Time, loss: LossSample) {
        if let Some(control) = &mut self.0 {
            control.path.on_lost(loss);
            control.window.on_loss(now, loss, &mut control.path);
        }
    }

    /// Nothing is acknowledged, not even probes: the path is down, or too full to use.
    pub fn on_silence(&mut self, now: Time) {
        if let Some(control) = &mut self.0 {
            control.path.on_silence(now);
            control.window.on_silence(now, &control.path);
        }
    }

    /// The peer has another address on the same path: all packets in flight are lost, above all those that waited in a
    /// queue.
    pub fn on_flight_settled(&mut self, now: Time, in_flight: u32) {
        if let Some(control) = &mut self.0 {
            control.path.on_flight_settled(now, in_flight);
            control.window.on_flight_settled(now, in_flight, &control.path);
        }
    }

    /// The peer has another path now: all estimates of the old path are void.
    pub fn on_path_changed(&mut self, _now: Time) {
        if let Some(control) = &mut self.0 {
            *control = Control::new(control.window.aggressiveness(), control.path.datagram());
        }
    }

    /// The share of the repairs required by the path's losses that fits in addition to the data, 0 to 1; a new path
    /// gets none at first.
    pub fn repair_share(&self) -> f32 {
        self.0.as_ref().map_or(1.0, |control| control.spare.repair_share())
    }

    /// A burst of new data begins.
    pub fn begin_burst(&mut self, now: Time) {
        if let Some(control) = &mut self.0 {
            control.spare.begin_burst(now);
        }
    }

    /// Whether `more` bytes fit in addition to the `bytes` of data that leave now, so that the next data need not wait
    /// for them at the bottleneck for longer than the time that they save.
    pub fn has_room_beside(&self, now: Time, bytes: usize, more: usize, saved: Duration) -> bool {
        let fits = |control: &Control| control.spare.has_room_beside(now, bytes, more, saved, &control.path);
        self.0.as_ref().is_none_or(fits)
    }

    /// Bytes that may be in flight; `u64::MAX` without a limit.
    pub fn window(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |control| u64::from(control.window.window()))
    }

    /// Bytes of datagrams per second that the path is known to carry; `u64::MAX` without a controller.
    pub fn send_rate(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |control| control.window.send_rate(&control.path))
    }

    /// When a datagram of this length may leave; `now` if it may at once.
    pub fn next_send(&self, now: Time, bytes: u32) -> Time {
        let Some(control) = &self.0 else { return now };
        control.pacer.next_send(now, bytes.into(), control.window.pace_of_next(now, &control.path))
    }

    /// Whether the path is full: for longer than a burst there was more to send than it carries, or there is a queue
    /// longer than the target, or other flows keep one. Unnecessary traffic, redundancy above all, should yield.
    pub fn is_congested(&self, now: Time) -> bool {
        let is_congested =
            |control: &Control| control.spare.is_congested(now, &control.path, control.window.is_competing());
        self.0.as_ref().is_some_and(is_congested)
    }
}
