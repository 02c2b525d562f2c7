//! The clients as rows of a table, sorted and cut here so that a page never gets tens of thousands; and one in full.

use crate::dashboard::roster::Named;
use crate::dashboard::state::DashboardState;
use serde::{Deserialize, Serialize};
use skipstone::{Overview, PeerId, Stats};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// One client, as the sampler saw it last: small, because all of them are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientFigures {
    pub(super) peer: PeerId,
    carrier: &'static str,
    remote: SocketAddr,
    rtt_ms: f32,
    loss_sent: f32,
    loss_received: f32,
    queued_bytes: u64,
    sent_bytes: f32,
    received_bytes: f32,
    sent_messages: f32,
    received_messages: f32,
}

/// A row of the table. Rates are per second.
#[derive(Debug, Serialize)]
pub(super) struct ClientRow {
    id: String,
    name: String,
    kind: &'static str,
    carrier: &'static str,
    remote: String,
    rtt_ms: f32,
    /// Percent of the packets.
    loss_sent: f32,
    loss_received: f32,
    queued_bytes: u64,
    sent_bytes: f32,
    received_bytes: f32,
    sent_messages: f32,
    received_messages: f32,
}

/// Which rows are asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientsQuery {
    #[serde(default)]
    sort: SortKey,
    #[serde(default)]
    descending: bool,
    #[serde(default)]
    offset: usize,
    #[serde(default = "rows_default")]
    limit: usize,
    /// A part of the name, the address or the id.
    #[serde(default)]
    find: String,
}

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SortKey {
    #[default]
    Id,
    Name,
    Carrier,
    Remote,
    Rtt,
    Loss,
    Queued,
    Sent,
    Received,
}

/// A part of the table.
#[derive(Debug, Serialize)]
pub(super) struct ClientsPage {
    /// Clients that were looked for.
    total: usize,
    offset: usize,
    rows: Vec<ClientRow>,
}

/// Everything about one client.
#[derive(Debug, Serialize)]
pub(super) struct ClientDetail {
    row: ClientRow,
    rtt_min_ms: f64,
    rtt_latest_ms: f64,
    rtt_variation_ms: f64,
    bytes_in_flight: u32,
    /// Missing without congestion control.
    congestion_window: Option<u64>,
    datagram_bytes: u16,
    queued_messages: u64,
    channels: u32,
    counters: Vec<(&'static str, u64)>,
    drops: BTreeMap<&'static str, u64>,
}

const ROWS_MAX: usize = 200;

fn rows_default() -> usize {
    100
}

impl ClientFigures {
    pub(super) fn new(peer: PeerId, seen: &Overview) -> Self {
        ClientFigures {
            peer,
            carrier: seen.path.carrier.name,
            remote: seen.path.remote,
            rtt_ms: rtt_ms(seen) as f32,
            loss_sent: 100.0 * seen.sending.loss as f32,
            loss_received: 100.0 * seen.receiving.loss as f32,
            queued_bytes: seen.depth.bytes,
            sent_bytes: seen.sending.ip_bytes_per_second as f32,
            received_bytes: seen.receiving.ip_bytes_per_second as f32,
            sent_messages: seen.sending.messages_per_second as f32,
            received_messages: seen.receiving.messages_per_second as f32,
        }
    }

    fn loss(&self) -> f32 {
        self.loss_sent.max(self.loss_received)
    }

    fn row(&self, named: Option<&Named>) -> ClientRow {
        ClientRow {
            id: id(self.peer),
            name: named.map_or_else(|| "?".into(), |named| named.name.to_string()),
            kind: named.map_or("?", |named| named.kind.name()),
            carrier: self.carrier,
            remote: self.remote.to_string(),
            rtt_ms: self.rtt_ms,
            loss_sent: self.loss_sent,
            loss_received: self.loss_received,
            queued_bytes: self.queued_bytes,
            sent_bytes: self.sent_bytes,
            received_bytes: self.received_bytes,
            sent_messages: self.sent_messages,
            received_messages: self.received_messages,
        }
    }
}

/// The smoothed round-trip time, in milliseconds.
pub(super) fn rtt_ms(seen: &Overview) -> f64 {
    seen.rtt.smoothed().as_secs_f64() * 1e3
}

/// The rows that were asked for.
pub(super) fn page(state: &DashboardState, query: &ClientsQuery) -> ClientsPage {
    let mut all = state.clients();
    let names = state.meters.roster.all();
    let name = |peer: &PeerId| names.get(peer).map_or("?", |named| &*named.name);
    let wanted = query.find.trim().to_lowercase();
    if !wanted.is_empty() {
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        all.retain(|it| has(name(&it.peer)) || has(&it.remote.to_string()) || has(&id(it.peer)) || has(it.carrier));
    }
    // All sorts are stable upon this one.
    all.sort_unstable_by_key(|it| it.peer);
    match query.sort {
        SortKey::Id => {}
        SortKey::Name => all.sort_by(|a, b| name(&a.peer).cmp(name(&b.peer))),
        SortKey::Carrier => all.sort_by_key(|it| it.carrier),
        SortKey::Remote => all.sort_by_key(|it| it.remote),
        SortKey::Rtt => all.sort_by(|a, b| a.rtt_ms.total_cmp(&b.rtt_ms)),
        SortKey::Loss => all.sort_by(|a, b| a.loss().total_cmp(&b.loss())),
        SortKey::Queued => all.sort_by_key(|it| it.queued_bytes),
        SortKey::Sent => all.sort_by(|a, b| a.sent_bytes.total_cmp(&b.sent_bytes)),
        SortKey::Received => all.sort_by(|a, b| a.received_bytes.total_cmp(&b.received_bytes)),
    }
    if query.descending {
        all.reverse();
    }
    let rows = all.iter().skip(query.offset).take(query.limit.min(ROWS_MAX));
    let rows = rows.map(|it| it.row(names.get(&it.peer))).collect();
    ClientsPage { total: all.len(), offset: query.offset, rows }
}

/// Everything about one client, if it is there.
pub(super) fn detail(state: &DashboardState, peer: PeerId) -> Option<ClientDetail> {
    let seen = state.statistics.overview(peer)?;
    let stats = &seen.stats;
    Some(ClientDetail {
        row: ClientFigures::new(peer, &seen).row(state.meters.roster.of(peer).as_ref()),
        rtt_min_ms: seen.rtt.min().as_secs_f64() * 1e3,
        rtt_latest_ms: seen.rtt.latest().as_secs_f64() * 1e3,
        rtt_variation_ms: seen.rtt.variation().as_secs_f64() * 1e3,
        bytes_in_flight: seen.bytes_in_flight,
        congestion_window: (seen.congestion_window != u64::MAX).then_some(seen.congestion_window),
        datagram_bytes: seen.datagram_bytes,
        queued_messages: seen.depth.messages,
        channels: seen.depth.channels,
        counters: counters(stats),
        drops: stats
            .drops
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(reason, count)| (reason.name(), count))
            .collect(),
    })
}

fn counters(stats: &Stats) -> Vec<(&'static str, u64)> {
    vec![
        ("messages sent", stats.sent.messages),
        ("messages received", stats.received.messages),
        ("datagrams sent", stats.sent.datagrams),
        ("datagrams received", stats.received.datagrams),
        ("bytes sent", stats.sent.ip_bytes),
        ("bytes received", stats.received.ip_bytes),
        ("packets lost", stats.packets_lost),
        ("spurious losses", stats.packets_spurious),
        ("retransmissions", stats.resent),
        ("probe timeouts", stats.probes),
        ("repairs sent", stats.redundancy.repairs_sent),
        ("copies sent", stats.redundancy.copies_sent),
        ("recovered there", stats.redundancy.packets_recovered_by_peer),
        ("recovered here", stats.redundancy.packets_recovered),
        ("addresses changed", stats.paths_changed),
        ("queue overflows", stats.queue_overflows),
    ]
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
