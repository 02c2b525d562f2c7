//! Results of a poll: events and datagrams, each with a few numbers and at most one slice of bytes.

use bytes::Bytes;
use skipstone_proto::{ClosedBy, Event, GivenUp};

/// One polled event or datagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The kind of event, one of the constants below; 0 for none.
    pub kind: u32,
    /// The connection.
    pub socket: u32,
    /// Numbers, depending on the kind of event.
    pub numbers: [f64; 3],
    /// Payload or reason.
    pub bytes: Bytes,
}

impl Outcome {
    /// Nothing happened.
    pub const NONE: u32 = 0;
    /// The connection is established; its settings can be read.
    pub const CONNECTED: u32 = 1;
    /// A message: channel, age in µs; its payload.
    pub const MESSAGE: u32 = 2;
    /// A message was acknowledged: channel, id.
    pub const ACKNOWLEDGED: u32 = 3;
    /// A message was given up: channel, id, reason.
    pub const GIVEN_UP: u32 = 4;
    /// The connection ended: code, which side closed it (0 this side, 1 the peer, 2 neither); the reason as UTF-8.
    pub const CLOSED: u32 = 5;
    /// A server moves the client: the page opens a carrier to another server, and calls
    /// [`Core::connect_there`](crate::Core::connect_there) or [`Core::move_failed`](crate::Core::move_failed); the
    /// server as `HOST:PORT`.
    pub const OPEN: u32 = 6;
    /// The client has been moved, and its connection has another socket: that socket.
    pub const MOVED: u32 = 7;

    /// The event in the form of the page; `None` for events that only servers have.
    pub(crate) fn of(event: Event, socket: u32) -> Option<Self> {
        let (kind, numbers, bytes) = match event {
            Event::Connected { .. } => (Outcome::CONNECTED, [0.0; 3], Bytes::new()),
            Event::Message { channel, payload, age, .. } => {
                (Outcome::MESSAGE, [f64::from(channel), age.as_micros() as f64, 0.0], payload)
            }
            Event::Acknowledged { id, channel, .. } => {
                (Outcome::ACKNOWLEDGED, [f64::from(channel), id.0 as f64, 0.0], Bytes::new())
            }
            Event::GivenUp { id, channel, why, .. } => {
                (Outcome::GIVEN_UP, [f64::from(channel), id.0 as f64, number_of(why)], Bytes::new())
            }
            Event::Closed { close, .. } => {
                let by = match close.by {
                    ClosedBy::Local => 0.0,
                    ClosedBy::Peer => 1.0,
                    ClosedBy::Nobody => 2.0,
                };
                (Outcome::CLOSED, [close.code as f64, by, 0.0], close.reason)
            }
            _ => return None,
        };
        Some(Outcome { kind, socket, numbers, bytes })
    }
}

/// The reasons in the page's order; a new one is `other` there until it is added.
fn number_of(why: GivenUp) -> f64 {
    match why {
        GivenUp::QueueFull => 0.0,
        GivenUp::Dropped => 1.0,
        GivenUp::Superseded => 2.0,
        GivenUp::Lost => 3.0,
        GivenUp::TooLong => 4.0,
        GivenUp::Closed => 5.0,
        _ => 6.0,
    }
}
