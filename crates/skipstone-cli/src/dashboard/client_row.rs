//! One client of the table: the figures that are kept of every client, and its row.

use crate::client_figures::{PacketLoss, rtt_ms};
use crate::dashboard::roster::Named;
use serde::Serialize;
use skipstone::{Overview, PeerId};
use std::net::SocketAddr;

/// One client as of the last sample. It is small, because every client has one.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ClientSample {
    #[serde(skip)]
    pub(super) peer: PeerId,
    pub(super) carrier: &'static str,
    pub(super) remote: SocketAddr,
    /// Missing before a round trip was measured.
    pub(super) rtt_ms: Option<f64>,
    #[serde(rename = "packet_loss_percent")]
    pub(super) loss: PacketLoss,
    pub(super) queued_bytes: u64,
    pub(super) sent_bytes: f32,
    pub(super) received_bytes: f32,
    sent_messages: f32,
    received_messages: f32,
}

/// A row of the table. Rates are per second.
#[derive(Debug, Serialize)]
pub(super) struct ClientRow {
    id: String,
    name: String,
    kind: &'static str,
    #[serde(flatten)]
    sample: ClientSample,
}

impl ClientSample {
    pub(super) fn new(peer: PeerId, seen: &Overview) -> Self {
        ClientSample {
            peer,
            carrier: seen.path.carrier.name,
            remote: seen.path.remote,
            rtt_ms: rtt_ms(seen),
            loss: PacketLoss::of(seen),
            queued_bytes: seen.depth.bytes,
            sent_bytes: seen.sending.ip_bytes_per_second as f32,
            received_bytes: seen.receiving.ip_bytes_per_second as f32,
            sent_messages: seen.sending.messages_per_second as f32,
            received_messages: seen.receiving.messages_per_second as f32,
        }
    }

    pub(super) fn row(&self, named: Option<&Named>) -> ClientRow {
        ClientRow {
            id: id(self.peer),
            name: named.map_or_else(|| "?".into(), |named| named.name.to_string()),
            kind: named.map_or("?", |named| named.kind.name()),
            sample: *self,
        }
    }
}

/// A client's id as the console prints it: `12.3`.
pub(super) fn id(peer: PeerId) -> String {
    format!("{}.{}", peer.index, peer.generation)
}

/// The client that an id names.
pub(super) fn parse_id(text: &str) -> Option<PeerId> {
    let (index, generation) = text.split_once('.')?;
    Some(PeerId { index: index.parse().ok()?, generation: generation.parse().ok()? })
}
