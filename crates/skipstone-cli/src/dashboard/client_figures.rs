//! The figures of one client, and its row in the table.

use crate::dashboard::roster::Named;
use serde::Serialize;
use skipstone::{Flow, Overview, PeerId};
use std::net::SocketAddr;

/// One client, as the sampler saw it last: small, because all of them are kept.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ClientFigures {
    #[serde(skip)]
    pub(super) peer: PeerId,
    pub(super) carrier: &'static str,
    pub(super) remote: SocketAddr,
    /// Missing before a round trip was measured.
    pub(super) rtt_ms: Option<f32>,
    /// Percent of the packets; missing on a stream, which loses none, and before the first packet.
    loss_sent: Option<f32>,
    loss_received: Option<f32>,
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
    figures: ClientFigures,
}

impl ClientFigures {
    pub(super) fn new(peer: PeerId, seen: &Overview) -> Self {
        let is_lossy = !seen.path.carrier.is_reliable;
        let loss = |share: f64, flow: &Flow| (is_lossy && flow.datagrams > 0).then_some(100.0 * share as f32);
        ClientFigures {
            peer,
            carrier: seen.path.carrier.name,
            remote: seen.path.remote,
            rtt_ms: rtt_ms(seen).map(|ms| ms as f32),
            loss_sent: loss(seen.sending.loss, &seen.stats.sent),
            loss_received: loss(seen.receiving.loss, &seen.stats.received),
            queued_bytes: seen.depth.bytes,
            sent_bytes: seen.sending.ip_bytes_per_second as f32,
            received_bytes: seen.receiving.ip_bytes_per_second as f32,
            sent_messages: seen.sending.messages_per_second as f32,
            received_messages: seen.receiving.messages_per_second as f32,
        }
    }

    /// The greater loss of the two directions.
    pub(super) fn loss(&self) -> Option<f32> {
        [self.loss_sent, self.loss_received].into_iter().flatten().max_by(f32::total_cmp)
    }

    pub(super) fn row(&self, named: Option<&Named>) -> ClientRow {
        ClientRow {
            id: id(self.peer),
            name: named.map_or_else(|| "?".into(), |named| named.name.to_string()),
            kind: named.map_or("?", |named| named.kind.name()),
            figures: *self,
        }
    }
}

/// The smoothed round-trip time, in milliseconds; `None` before one was measured.
pub(super) fn rtt_ms(seen: &Overview) -> Option<f64> {
    seen.rtt.is_measured().then(|| seen.rtt.smoothed().as_secs_f64() * 1e3)
}

/// A client's id as the console has it: `12.3`.
pub(super) fn id(peer: PeerId) -> String {
    format!("{}.{}", peer.index, peer.generation)
}

/// The client that an id names.
pub(super) fn parse_id(text: &str) -> Option<PeerId> {
    let (index, generation) = text.split_once('.')?;
    Some(PeerId { index: index.parse().ok()?, generation: generation.parse().ok()? })
}
