//! The client: its resource, its messages, its systems.

use crate::failure::{DriverFailed, IsNew, Reported};
use crate::schedule::NetSystems;
use bevy_app::{App, Last, Plugin, PreUpdate};
use bevy_ecs::prelude::*;
use skipstone::{Client, Event, Side};
use std::iter;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// Receives and sends for the [`NetClient`] resource, while there is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientPlugin;

/// The client, which connects or is connected. Removing the resource drops the connection without a word: take it out
/// and call [`Client::close`] to end it with a reason.
#[derive(Resource)]
pub struct NetClient(pub Client);

/// An event of the connection, in the order in which they happened. [`Event::Closed`] is the last, unless the client
/// reconnects by itself.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub struct FromServer(pub Event);

impl Plugin for ClientPlugin {
    fn build(&self, app: &mut App) {
        let is_there = resource_exists::<NetClient>;
        app.add_message::<FromServer>()
            .add_message::<DriverFailed>()
            .add_systems(PreUpdate, (receive, report_failure).chain().in_set(NetSystems::Receive).run_if(is_there))
            .add_systems(Last, flush.in_set(NetSystems::Flush).run_if(is_there));
    }
}

impl Deref for NetClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.0
    }
}

impl DerefMut for NetClient {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.0
    }
}

fn receive(mut client: ResMut<NetClient>, mut events: MessageWriter<FromServer>) {
    // In stepped mode only. What fails is in `failure`.
    let _ = client.drive(Duration::ZERO);
    events.write_batch(iter::from_fn(|| client.poll_event()).map(FromServer));
}

fn report_failure(client: Res<NetClient>, mut reported: Local<Reported>, mut failures: MessageWriter<DriverFailed>) {
    failures.write_batch(reported.first(IsNew(client.is_added()), Side::Client, client.failure()));
}

/// An error means that the driver is gone, which `report_failure` reports in the next frame.
fn flush(mut client: ResMut<NetClient>) {
    let _ = client.flush();
    let _ = client.drive(Duration::ZERO);
}
