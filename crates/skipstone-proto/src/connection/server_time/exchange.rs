//! State of both ends of the time exchange, and when a request or response is due.

use super::bounds::OffsetBounds;
use crate::channel::packet::Packet;
use crate::time::{Duration, Time};
use crate::wire::frame::{self, TIME_REQUEST_BYTES_MAX, TIME_RESPONSE_BYTES_MAX};
use crate::wire::varint;

/// Requests in packets of their own at the beginning: the one that waits least decides, and some may be lost.
const FIRST_REQUESTS: u8 = 8;
/// The time between them.
const FIRST_INTERVAL: Duration = Duration::from_millis(100);
/// The time after a request from which on the next packet brings another.
const INTERVAL: Duration = Duration::from_secs(3);

/// Both ends of the exchange.
#[derive(Debug, Default)]
pub(in crate::connection) struct TimeExchange {
    /// A client's, if its endpoint is to follow the server's clock.
    pub(super) follower: Option<Box<Follower>>,
    /// A server's: the client's request that is to be answered.
    pub(super) request: Option<TimeRequest>,
}

/// A client that follows the server's clock.
#[derive(Debug)]
pub(super) struct Follower {
    /// The time at which a request leaves even if no other packet does.
    pub(super) due: Time,
    /// Requests that have yet to leave so close together.
    pub(super) first_left: u8,
    pub(super) asked_at: Time,
    pub(super) bounds: Option<OffsetBounds>,
}

/// A client's request, and its time of arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeRequest {
    pub(super) sent_us: u64,
    pub(super) received_at: Time,
}

impl Follower {
    fn is_to_ask(&self, now: Time) -> bool {
        self.due <= now || self.asked_at != Time::NEVER && now >= self.asked_at + INTERVAL
    }

    fn on_asked(&mut self, now: Time) {
        self.asked_at = now;
        if self.due <= now {
            self.first_left -= 1;
            self.due = if self.first_left > 0 { now + FIRST_INTERVAL } else { Time::NEVER };
        }
    }
}

impl TimeExchange {
    /// The time at which a request needs its own packet.
    pub(in crate::connection) fn due(&self) -> Time {
        self.follower.as_ref().map_or(Time::NEVER, |follower| follower.due)
    }

    /// Whether something is to leave now, even in its own packet.
    pub(in crate::connection) fn is_due(&self, now: Time) -> bool {
        self.request.is_some() || self.due() <= now
    }

    /// The connection is established, or a better estimate is wanted: requests are due in packets of their own.
    pub(in crate::connection) fn ask(&mut self, now: Time) {
        if let Some(follower) = &mut self.follower {
            (follower.due, follower.first_left) = (now, FIRST_REQUESTS);
        }
    }

    /// Writes the response that is due, and a request if its time has come. True if anything was written.
    #[inline]
    pub(in crate::connection) fn write(&mut self, now: Time, packet: &mut Packet<'_>) -> bool {
        (self.request.is_some() || self.follower.is_some()) && self.write_some(now, packet)
    }

    fn write_some(&mut self, now: Time, packet: &mut Packet<'_>) -> bool {
        let before = packet.writer.len();
        if let Some(request) = self.request.take_if(|_| packet.room() >= TIME_RESPONSE_BYTES_MAX) {
            let held_us = now.since(request.received_at).as_micros() as u64;
            frame::encode_time_response(&mut packet.writer, request.sent_us, micros(now), held_us.min(varint::MAX));
        }
        if let Some(follower) = &mut self.follower
            && follower.is_to_ask(now)
            && packet.room() >= TIME_REQUEST_BYTES_MAX
        {
            frame::encode_time_request(&mut packet.writer, micros(now));
            follower.on_asked(now);
        }
        packet.writer.len() > before
    }
}

/// A time as the wire has it.
fn micros(time: Time) -> u64 {
    time.as_micros().min(varint::MAX)
}
