//! A client's estimate of the server's clock: when a client sends a TIME_REQUEST, and how it uses the TIME_RESPONSE.
//! WIRE.md section 4.6. `bounds` is the arithmetic.
//!
//! Requests are few: some right after the handshake, in packets of their own, then one with a packet that is sent
//! anyway, every few seconds at most. An idle connection never sends a packet for a request.

mod bounds;
mod exchange;

use super::Connection;
use crate::time::Time;
pub use bounds::ServerTime;
use bounds::{Exchange, OffsetBounds};
pub(super) use exchange::TimeExchange;
use exchange::{Follower, TimeRequest};

impl Connection {
    /// Lets a client that has not connected yet follow its server's clock.
    pub(crate) fn follow_server_time(&mut self) {
        let follower = Follower { due: Time::NEVER, first_left: 0, asked_at: Time::NEVER, bounds: None };
        self.time.follower = Some(Box::new(follower));
    }

    /// Asks for the server's time several times, in packets of their own, if this client follows its clock.
    pub(crate) fn ask_server_time(&mut self, now: Time) {
        if self.is_open() {
            self.time.ask(now);
        }
    }

    /// The server's clock now; `None` before its first answer, or if the client does not follow it.
    pub(crate) fn server_time(&self, now: Time) -> Option<ServerTime> {
        Some(self.time.follower.as_ref()?.bounds?.read(now))
    }

    pub(super) fn on_time_request(&mut self, now: Time, sent_us: u64) {
        if self.identity.is_server() && self.is_open() {
            self.time.request = Some(TimeRequest { sent_us, received_at: now });
        }
    }

    pub(super) fn on_time_response(&mut self, now: Time, sent_us: u64, server_us: u64, held_us: u64) {
        let Some(follower) = &mut self.time.follower else { return };
        let exchange = Exchange { sent_at: Time::from_micros(sent_us), server_us, held_us, received_at: now };
        if let Some(sample) = OffsetBounds::of(&exchange) {
            follower.bounds = Some(follower.bounds.map_or(sample, |bounds| bounds.narrowed(&sample)));
        }
    }
}
