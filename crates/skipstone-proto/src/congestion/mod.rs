//! Congestion control and pacing: the bytes that may be in flight, and the time when the next datagram may be sent.
//!
//! The default controller keeps the queue at the bottleneck at a short target delay and takes loss for congestion only
//! where a queue, or its excess, says so. Its parts and where they come from:
//!
//! - **The signal** is the standing queue: least round-trip time of the last half round trip, less the least of the
//!   last 30 to 60 s (Copa: Arun and Balakrishnan, NSDI 2018). Jitter of the path is measured and allowed for. After
//!   a silence, so is the delay that stood before it while the window was not used up: where packets keep their order, all
//!   of a flow with many in a round trip wait for the latest.
//! - **The target** falls with the square root of the flow's rate (as in Swift, SIGCOMM 2020, section 3.5), so that
//!   flows which see the same queue come to send at the same rate. The window moves towards it by steps that double
//!   while their direction lasts (Copa), and from twice the target at once.
//! - **The start** doubles each round trip up to what the dispersion of the first packets promises (packet trains),
//!   then grows only by what a queue of 60 ms would hold until the answer comes: a path of 600 ms is not flooded.
//! - **Others that yield to loss only** (CUBIC, Reno) are found by a queue that stands though we yield, or that
//!   overflows again and again though we keep to the target. Beside them the window grows and shrinks as CUBIC's does
//!   (RFC 9438).
//! - **Drains.** Ten seconds after the queue was at its shortest, which all flows that share it see at the same time,
//!   the window is small for a moment (as in BBR's ProbeRTT): that shows the path without a queue, and whether others
//!   hold it.
//! - **Loss** counts when a queue is there and it exceeds twice the path's usual loss and ten per cent, or exceeds 30%
//!   without a queue (policers); and beside others, each time that a queue is there. Random losses of an application
//!   that sends less than the window do not reduce its window. Of packets lost in a row only the first few count: a
//!   queue that overflows, or a policer, lets some packets of a paced sender through, and what takes all of them is a
//!   fade.
//! - **Rates** are estimated as in draft-cheng-iccrg-delivery-rate-estimation.
//! - **Redundancy** gets the room that data leave it: none before the first round-trip time, twice as much after each
//!   round trip without a queue, and at no time so much that it keeps the next data waiting at the bottleneck, whose rate
//!   the dispersion of packets shows that left together.
//! - **Pacing** is a token bucket at 1.25 times window over round trip; ten datagrams may leave at once unless the
//!   window has been full for two round trips, then two, or one if it is small.
//!
//! A window that is not used up does not change: traffic far below the path's rate keeps its window despite losses and
//! jitter.

mod aggressiveness;
mod bandwidth;
mod bottleneck;
mod calm;
mod cubic;
mod delay;
mod losses;
mod pacer;
mod queue;
mod rate;
mod samples;
mod share;

pub use crate::delivery::DeliveryStamp;
use crate::time::{Duration, Time};
use aggressiveness::Aggressiveness;
pub use bandwidth::Bandwidth;
use delay::DelayAware;
pub use samples::{AckSample, LossSample};

/// Which controller a connection uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Congestion {
    /// Keeps the queue short, yields to others as they yield, and holds its own beside TCP.
    #[default]
    DelayAware,
    /// The same for an owner of the link: in competition, the controller takes as much as several TCP flows would.
    Aggressive,
    /// No limit and no pacing: the carrier has a controller of its own, or none is wanted.
    Off,
}

/// Decides how much may be in flight and when the next datagram may leave.
#[derive(Clone, Debug)]
pub struct Controller(Option<DelayAware>);

impl Controller {
    /// A controller for a path of which nothing is known but that it carries datagrams of this size.
    pub fn new(algorithm: Congestion, datagram_bytes: u16) -> Self {
        Controller(match algorithm {
            Congestion::DelayAware => Some(DelayAware::new(Aggressiveness::Default, datagram_bytes)),
            Congestion::Aggressive => Some(DelayAware::new(Aggressiveness::Aggressive, datagram_bytes)),
            Congestion::Off => None,
        })
    }

    /// The path carries datagrams of another size.
    pub fn set_datagram_bytes(&mut self, bytes: u16) {
        if let Some(controller) = &mut self.0 {
            controller.set_datagram_bytes(bytes);
        }
    }

    /// The ends of the path may set packets apart by so much that left together, as a browser does by its pacing and its event loop:
    /// that is no sign of a slow bottleneck.
    pub fn set_spread(&mut self, spread: Duration) {
        if let Some(controller) = &mut self.0 {
            controller.set_spread(spread);
        }
    }

    /// A packet that asks for an acknowledgement leaves; so many bytes were in flight before it.
    pub fn on_sent(&mut self, now: Time, bytes: u32, bytes_in_flight_before: u32) -> DeliveryStamp {
        self.0
            .as_mut()
            .map_or(DeliveryStamp::default(), |controller| controller.on_sent(now, bytes, bytes_in_flight_before))
    }

    /// A packet is sent that is never acknowledged: it takes its share of the pacing rate.
    pub fn on_sent_untracked(&mut self, now: Time, bytes: u32) {
        if let Some(controller) = &mut self.0 {
            controller.on_sent_untracked(now, bytes);
        }
    }

    /// The handshake took so long for a round trip; until the first sample there is no better estimate.
    pub fn on_handshake(&mut self, rtt: Duration) {
        if let Some(controller) = &mut self.0 {
            controller.on_first_rtt(rtt);
        }
    }

    /// Packets were acknowledged.
    pub fn on_ack(&mut self, ack: &AckSample) {
        if let Some(controller) = &mut self.0 {
            controller.on_ack(ack);
        }
    }

    /// Packets were lost.
    pub fn on_loss(&mut self, now: Time, loss: LossSample) {
        if let Some(controller) = &mut self.0 {
            controller.on_loss(now, loss);
        }
    }

    /// Nothing comes back, not even when asked for: the path is down, or full beyond use.
    pub fn on_silence(&mut self, now: Time) {
        if let Some(controller) = &mut self.0 {
            controller.on_silence(now);
        }
    }

    /// The peer has another address on the same path: all that was in flight is lost, and what waited in a queue most of all.
    pub fn on_flight_settled(&mut self, now: Time, in_flight: u32) {
        if let Some(controller) = &mut self.0 {
            controller.on_flight_settled(now, in_flight);
        }
    }

    /// The peer is reached on another path now: all estimates of the old path are void.
    pub fn on_path_changed(&mut self, _now: Time) {
        if let Some(controller) = &mut self.0 {
            *controller = DelayAware::new(controller.aggressiveness(), controller.datagram_bytes());
        }
    }

    /// The share of the redundancy required by the path's losses that has room beside the data that must be sent, 0 to
    /// 1.
    pub fn redundancy_share(&self) -> f32 {
        self.0.as_ref().map_or(1.0, |controller| controller.redundancy_share())
    }

    /// The same for repairs, of which a new path gets none at first.
    pub fn repair_share(&self) -> f32 {
        self.0.as_ref().map_or(1.0, |controller| controller.repair_share())
    }

    /// A burst of new data begins.
    pub fn begin_burst(&mut self, now: Time) {
        if let Some(controller) = &mut self.0 {
            controller.begin_burst(now);
        }
    }

    /// Whether `more` bytes have room beside the `bytes` of data that leave now, so that the next data need not wait for
    /// them at the bottleneck for longer than the time that they save.
    pub fn has_room_beside(&self, now: Time, bytes: usize, more: usize, saved: Duration) -> bool {
        self.0.as_ref().is_none_or(|controller| controller.has_room_beside(now, bytes, more, saved))
    }

    /// Bytes that may be in flight; `u64::MAX` without a limit.
    pub fn window(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |controller| u64::from(controller.window()))
    }

    /// Bytes of datagrams per second that the path takes, as far as is known; `u64::MAX` without a controller.
    pub fn send_rate(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |controller| controller.send_rate())
    }

    /// When a datagram of so many bytes may leave; `now` if it may at once.
    pub fn next_send(&self, now: Time, bytes: u32) -> Time {
        self.0.as_ref().map_or(now, |controller| controller.next_send(now, bytes))
    }

    /// Whether the path is full: there has been more to send than it takes for longer than a burst, a queue stands that
    /// is longer than the controller wants, or others hold it. Traffic beyond need, redundancy above all, should yield.
    pub fn is_congested(&self, now: Time) -> bool {
        self.0.as_ref().is_some_and(|controller| controller.is_congested(now))
    }
}
