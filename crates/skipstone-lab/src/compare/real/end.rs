//! One end of a connection over real sockets: the interface by which every transport is driven there.

use std::time::Duration;

use crate::compare::peers::peer::{Telemetry, Update};

/// A client's end, or a server with one client.
pub(super) trait RealEnd {
    /// Waits for data or the end of the time, handles what is due, and sends waiting data.
    fn drive(&mut self, wait_max: Duration) -> Result<(), String>;

    /// Whether updates can be sent.
    fn is_connected(&self) -> bool;

    /// Queues an update. False if the queue is full: it was refused.
    fn send(&mut self, update: Update) -> bool;

    /// The next update that arrived.
    fn poll_message(&mut self) -> Option<Update>;

    /// Its address, or a URL that contains it.
    fn address(&self) -> String;

    /// Its own counters; none, if the transport does not report it.
    fn telemetry(&mut self) -> Telemetry {
        Telemetry::default()
    }
}
