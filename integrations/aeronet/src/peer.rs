//! What the sessions of servers and clients have in common: packets in and out, and their counters.

use aeronet_io::Session;
use aeronet_io::packet::RecvPacket;
use bevy_ecs::prelude::*;
use bevy_platform::time::Instant;
use skipstone::{Bytes, SendError};

/// Packets of a session that Skipstone did not accept, because a queue was full or the packet was too long. aeronet
/// sees them as lost.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketsRefused(pub u64);

/// Gives a packet to the session.
pub(crate) fn receive(session: &mut Session, recv_at: Instant, payload: Bytes) {
    session.stats.packets_recv += 1;
    session.stats.bytes_recv += payload.len();
    session.recv.push(RecvPacket { recv_at, payload });
}

/// Sends the session's packets.
pub(crate) fn send<Sent>(
    session: &mut Session,
    refused: &mut PacketsRefused,
    mut send: impl FnMut(Bytes) -> Result<Sent, SendError>,
) {
    let Session { stats, send: packets, .. } = session;
    for packet in packets.drain(..) {
        let bytes = packet.len();
        match send(packet) {
            Ok(_) => {
                stats.packets_sent += 1;
                stats.bytes_sent += bytes;
            }
            Err(_) => refused.0 += 1,
        }
    }
}
