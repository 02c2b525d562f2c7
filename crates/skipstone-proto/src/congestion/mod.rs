//! Congestion control and pacing: the bytes that may be in flight, and the time when the next datagram may be sent.
//!
//! The default controller keeps the queue at the bottleneck at a short target delay and treats loss as congestion only
//! where a queue, or its excess, indicates it (`delay_aware`). Its parts, their files and their sources:
//!
//! - **The signal** (`model`) is the standing queue: minimum round-trip time of the last half round trip, less
//!   the minimum of the last 30 to 60 s (Copa: Arun and Balakrishnan, NSDI 2018). Jitter of the path is measured and
//!   allowed for. After a silence, so is the delay that existed before it while the window was not used up: where
//!   packets keep their order, all packets of a flow with many per round trip wait for the latest.
//! - **The target** (`model`) falls with the square root of the flow's rate (as in Swift, SIGCOMM 2020, section
//!   3.5), so that flows with the same queue converge to the same rate. The window moves towards the target in steps
//!   that double while their direction lasts (Copa), and from twice the target at once.
//! - **The start** (`delay_aware/phases`) doubles each round trip up to what the dispersion of the first packets
//!   promises (packet trains), then grows only by what a queue of 60 ms would hold until the acknowledgement arrives: a
//!   path of 600 ms is not flooded.
//! - **Competitors that yield to loss only** (CUBIC, Reno; `cubic`, `aggressiveness`) are detected by a queue that
//!   persists although this side yields, or that overflows repeatedly although this side keeps to the target. In
//!   competition with them the window grows and shrinks as CUBIC's does (RFC 9438).
//! - **Drains** (`delay_aware/phases`). Ten seconds after the queue was at its shortest, which all flows that share it
//!   observe at the same time, the window is small for a moment (as in BBR's ProbeRTT): that shows the path without a
//!   queue, and whether other flows keep the queue.
//! - **Loss** (`model/losses`) counts when a queue is there and it exceeds twice the path's usual loss and ten per cent, or
//!   exceeds 30% without a queue (policers); and in competition, each time that a queue is there. Random losses of an
//!   application that sends less than the window do not reduce its window. Of consecutive losses only the first few
//!   count: a queue that overflows, or a policer, lets some packets of a paced sender through; the loss of all of them
//!   is a fade.
//! - **Rates** (`model/rate`) are estimated as in draft-cheng-iccrg-delivery-rate-estimation.
//! - **Redundancy** (`spare`, `share`, `bottleneck`) gets the capacity that data leave: none before the first round-trip time,
//!   twice as much after each round trip without a queue, and never enough to delay the next data at the bottleneck,
//!   whose rate is measured by the dispersion of packets that left together.
//! - **Pacing** (`pacer`) is a token bucket at 1.25 times window over round trip; ten datagrams may leave at once
//!   unless the window has been full for two round trips, then two, or one if it is small.
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
            control.path.on_lost(now, loss);
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

    /// The share of the redundancy required by the path's losses that fits in addition to the data, 0 to 1.
    pub fn redundancy_share(&self) -> f32 {
        self.0.as_ref().map_or(1.0, |control| control.spare.redundancy_share())
    }

    /// The same for repairs; a new path gets none at first.
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
