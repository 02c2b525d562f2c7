//! The server: its resource, its messages, its systems.

use crate::failure::{DriverFailed, IsNew, Reported};
use crate::schedule::NetSystems;
use bevy_app::{App, Last, Plugin, PreUpdate};
use bevy_ecs::prelude::*;
use skipstone::{Event, Server, Side};
use std::iter;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// Receives and sends for the [`NetServer`] resource, while there is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerPlugin;

/// The running server. Systems that take it as `Res` read statistics in parallel; those that take it as `ResMut` accept
/// and send, and get the library's errors. Removing the resource closes its sockets at once: take it out and call
/// [`Server::shutdown`] to close the connections with a reason first.
#[derive(Resource)]
pub struct NetServer(pub Server);

/// An event of a client's connection, in the order in which they happened: one stream for all kinds, so that a message
/// is never seen before its sender has connected. Each [`Event::Requested`] must be answered by [`Server::accept`] or
/// [`Server::refuse`].
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub struct FromClients(pub Event);

impl Plugin for ServerPlugin {
    fn build(&self, app: &mut App) {
        let is_there = resource_exists::<NetServer>;
        app.add_message::<FromClients>()
            .add_message::<DriverFailed>()
            .add_systems(PreUpdate, (receive, report_failure).chain().in_set(NetSystems::Receive).run_if(is_there))
            .add_systems(Last, flush.in_set(NetSystems::Flush).run_if(is_there));
    }
}

impl Deref for NetServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl DerefMut for NetServer {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.0
    }
}

fn receive(mut server: ResMut<NetServer>, mut events: MessageWriter<FromClients>) {
    // In stepped mode only. What fails is in `failure`.
    let _ = server.drive(Duration::ZERO);
    events.write_batch(iter::from_fn(|| server.poll_event()).map(FromClients));
}

fn report_failure(server: Res<NetServer>, mut reported: Local<Reported>, mut failures: MessageWriter<DriverFailed>) {
    failures.write_batch(reported.first(IsNew(server.is_added()), Side::Server, server.failure()));
}

/// An error means that a driver is gone, which `report_failure` reports in the next frame.
fn flush(mut server: ResMut<NetServer>) {
    let _ = server.flush();
    let _ = server.drive(Duration::ZERO);
}
