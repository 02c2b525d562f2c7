//! The end of a driver, after which nothing arrives or leaves any more.

use bevy_ecs::message::Message;
use skipstone::Side;
use std::fmt;

/// The driver of a server or of a client has failed: no further event arrives, and every call is refused. Once for each
/// [`NetServer`](crate::NetServer) and [`NetClient`](crate::NetClient) that is inserted. To go on, insert a new one.
///
/// The end of a connection is no failure: it is [`Event::Closed`](skipstone::Event::Closed), with its reason.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub struct DriverFailed {
    /// Whether the server's driver or the client's.
    pub side: Side,
    /// What the system refused.
    pub reason: String,
}

impl fmt::Display for DriverFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Client => "client",
            Side::Server => "server",
        };
        write!(f, "the {side}'s driver has failed: {}", self.reason)
    }
}

impl std::error::Error for DriverFailed {}

/// Whether the failure of a resource was reported.
#[derive(Default)]
pub(crate) struct Reported(bool);

impl Reported {
    /// The failure, the first time that it is seen. A resource that was inserted, or that replaced another one and has
    /// not failed, begins anew.
    pub(crate) fn first(&mut self, is_new: IsNew, side: Side, failure: Option<String>) -> Option<DriverFailed> {
        self.0 &= !is_new.0 && failure.is_some();
        let reason = failure.filter(|_| !self.0)?;
        self.0 = true;
        Some(DriverFailed { side, reason })
    }
}

/// Whether the resource was inserted since the last frame.
pub(crate) struct IsNew(pub(crate) bool);
