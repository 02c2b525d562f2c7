//! How much may be in flight, and when the next datagram may leave.
//!
//! The default controller keeps the queue at the bottleneck at a short target delay and takes loss for congestion only
//! where a queue, or its excess, says so. Its parts and where they come from:
//!
//! - **The signal** is the standing queue: least round-trip time of the last half round trip, less the least of the last
//!   30 to 60 s (Copa: Arun and Balakrishnan, NSDI 2018). Jitter of the path is measured and allowed for.
//! - **The target** falls with the square root of the flow's rate (as in Swift, SIGCOMM 2020, section 3.5), so that flows
//!   which see the same queue come to send at the same rate. The window moves towards it by steps that double while
//!   their direction lasts (Copa), and from twice the target at once.
//! - **The start** doubles each round trip up to what the dispersion of the first packets promises (packet trains), then
//!   grows only by what a queue of 60 ms would hold until the answer comes: a path of 600 ms is not flooded.
//! - **Others that yield to loss alone** (CUBIC, Reno) are found by a queue that stands though we yield, or that overflows
//!   again and again though we keep to the target. Beside them the window grows and shrinks as CUBIC's does (RFC 9438).
//! - **Drains.** Ten seconds after the queue was at its shortest, which all flows that share it see at the same time, the
//!   window is small for a moment (as in BBR's ProbeRTT): that shows the path without a queue, and whether others hold it.
//! - **Loss** counts when a queue is there and it exceeds twice the path's usual loss and ten per cent, or exceeds 30%
//!   without a queue (policers); and beside others, each time that a queue is there. What an application that sends less
//!   than the window loses at random costs it nothing.
//! - **Rates** are estimated as in draft-cheng-iccrg-delivery-rate-estimation.
//! - **Pacing** is a token bucket at 1.25 times window over round trip; ten datagrams may leave at once unless the window
//!   has been full for two round trips.
//!
//! What is not used up does not change: traffic far below the path's rate keeps its window whatever is lost or jumps.

mod cubic;
mod delay;
mod losses;
mod manner;
mod pacer;
mod queue;
mod rate;

pub use crate::delivery::Stamp;
use crate::time::{Duration, Time};
use delay::DelayAware;
use manner::Manner;

/// Which controller a connection uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Keeps the queue short, yields to others as they yield, and holds its own beside TCP.
    #[default]
    DelayAware,
    /// The same for whoever owns the link: beside others it takes as much as several TCP flows would.
    Aggressive,
    /// No limit and no pacing: the carrier has a controller of its own, or none is wanted.
    Off,
}

/// Decides how much may be in flight and when the next datagram may leave.
#[derive(Clone, Debug)]
pub struct Controller(Option<DelayAware>);

/// What an acknowledgement brought.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// When it came.
    pub now: Time,
    /// Bytes of packets that were in flight until now.
    pub bytes: u32,
    /// When the latest-sent of these packets left.
    pub sent_at: Time,
    /// What [`Controller::on_sent`] gave for that packet.
    pub stamp: Stamp,
    /// Time since that packet left, if it measures the path: it was sent once, and the peer did not hold the
    /// acknowledgement back for longer than it says.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time.
    pub smoothed: Duration,
    /// Bytes in flight, without those.
    pub bytes_in_flight: u32,
}

/// Packets that were declared lost, or that arrived only because a repair packet brought them back.
#[derive(Clone, Copy, Debug)]
pub struct LossSample {
    /// Their bytes.
    pub bytes: u32,
    /// When the latest-sent of them left.
    pub sent_at: Time,
}

impl Controller {
    /// A controller for a path of which nothing is known but that it carries datagrams of this size.
    pub fn new(algorithm: Algorithm, datagram_bytes: u16) -> Self {
        Controller(match algorithm {
            Algorithm::DelayAware => Some(DelayAware::new(Manner::Default, datagram_bytes)),
            Algorithm::Aggressive => Some(DelayAware::new(Manner::Aggressive, datagram_bytes)),
            Algorithm::Off => None,
        })
    }

    /// The path carries datagrams of another size.
    pub fn set_datagram_bytes(&mut self, bytes: u16) {
        if let Some(controller) = &mut self.0 {
            controller.set_datagram_bytes(bytes);
        }
    }

    /// A packet that asks for an acknowledgement leaves; so many bytes were in flight before it.
    pub fn on_sent(&mut self, now: Time, bytes: u32, bytes_in_flight_before: u32) -> Stamp {
        self.0.as_mut().map_or(Stamp::default(), |controller| controller.on_sent(now, bytes, bytes_in_flight_before))
    }

    /// A packet leaves that nobody will acknowledge: it takes its share of the pace.
    pub fn on_sent_untracked(&mut self, now: Time, bytes: u32) {
        if let Some(controller) = &mut self.0 {
            controller.on_sent_untracked(now, bytes);
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

    /// The peer is reached another way now: nothing of what was known holds.
    pub fn on_path_changed(&mut self, _now: Time) {
        if let Some(controller) = &mut self.0 {
            *controller = DelayAware::new(controller.manner(), controller.datagram_bytes());
        }
    }

    /// Bytes that may be in flight; `u64::MAX` without a limit.
    pub fn window(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |controller| u64::from(controller.window()))
    }

    /// When a datagram of so many bytes may leave; `now` if it may at once.
    pub fn next_send(&self, now: Time, bytes: u32) -> Time {
        self.0.as_ref().map_or(now, |controller| controller.next_send(now, bytes))
    }

    /// Bytes per second; `None` without pacing.
    pub fn pacing_rate(&self) -> Option<u64> {
        self.0.as_ref().map(|controller| controller.pace().rate)
    }

    /// The greatest rate at which data arrived of late, in bytes per second; 0 if that is not measured.
    pub fn delivery_rate(&self) -> u64 {
        self.0.as_ref().map_or(0, DelayAware::delivery_rate)
    }

    /// How long packets wait in a queue on the path, as far as is known.
    pub fn queue_delay(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, DelayAware::queue_delay)
    }

    /// Whether the path, not the application, decides how much is sent.
    pub fn is_limited(&self, now: Time) -> bool {
        self.0.as_ref().is_some_and(|controller| controller.is_limited(now))
    }

    /// Whether the path is full: there has been more to send than it takes for longer than a burst, a queue stands that is
    /// longer than the controller wants, or others hold it. What is sent beyond need, redundancy above all, should yield.
    pub fn is_congested(&self, now: Time) -> bool {
        self.0.as_ref().is_some_and(|controller| controller.is_congested(now))
    }
}
