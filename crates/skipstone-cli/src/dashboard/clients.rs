//! The table of clients, sorted and truncated here so that a page never gets tens of thousands of rows; and all figures
//! of one client.

use crate::dashboard::client_row::{ClientRow, ClientSample, id};
use crate::dashboard::state::DashboardState;
use serde::{Deserialize, Serialize};
use skipstone::{PeerId, Stats};
use skipstone_lab::natural::natural;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

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

/// The sort key of the rows.
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
    /// Missing, like the next two fields, before a round trip was measured.
    rtt_min_ms: Option<f64>,
    rtt_latest_ms: Option<f64>,
    rtt_variation_ms: Option<f64>,
    bytes_in_flight: u32,
    /// Missing without congestion control.
    congestion_window: Option<u64>,
    datagram_bytes: u16,
    queued_messages: u64,
    channels: u32,
    counters: Vec<(String, u64)>,
    drops: BTreeMap<&'static str, u64>,
}

const ROWS_MAX: usize = 200;

fn rows_default() -> usize {
    100
}

/// The rows that were asked for.
pub(super) fn page(state: &DashboardState, query: &ClientsQuery) -> ClientsPage {
    let mut all = state.clients.lock().clone();
    let names = state.meters.roster.all();
    let name = |peer: &PeerId| names.get(peer).map_or("?", |named| &*named.name);
    let wanted = query.find.trim().to_lowercase();
    if !wanted.is_empty() {
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        all.retain(|it| has(name(&it.peer)) || has(&it.remote.to_string()) || has(&id(it.peer)) || has(it.carrier));
    }
    // Later sorts are stable and keep this order.
    all.sort_unstable_by_key(|it| it.peer);
    match query.sort {
        SortKey::Id => {}
        SortKey::Name => all.sort_by(|a, b| natural(name(&a.peer), name(&b.peer))),
        SortKey::Carrier => all.sort_by_key(|it| it.carrier),
        SortKey::Remote => all.sort_by_key(|it| it.remote),
        SortKey::Rtt => all.sort_by(|a, b| compare(a.rtt_ms, b.rtt_ms)),
        SortKey::Loss => all.sort_by(|a, b| compare(a.loss.greater(), b.loss.greater())),
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

/// Unmeasured values sort below all others.
fn compare(one: Option<f64>, other: Option<f64>) -> Ordering {
    one.unwrap_or(f64::NEG_INFINITY).total_cmp(&other.unwrap_or(f64::NEG_INFINITY))
}

/// Everything about one client, if it is there.
pub(super) fn detail(state: &DashboardState, peer: PeerId) -> Option<ClientDetail> {
    let seen = state.statistics.overview(peer)?;
    let stats = &seen.stats;
    let measured = |span: Duration| seen.rtt.is_measured().then_some(span.as_secs_f64() * 1e3);
    Some(ClientDetail {
        row: ClientSample::new(peer, &seen).row(state.meters.roster.of(peer).as_ref()),
        rtt_min_ms: measured(seen.rtt.min()),
        rtt_latest_ms: measured(seen.rtt.latest()),
        rtt_variation_ms: measured(seen.rtt.variation()),
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

/// All counters except the ones by reason, which have their own list.
fn counters(stats: &Stats) -> Vec<(String, u64)> {
    stats.figures().filter(|(figure, _)| figure.group != "drops").map(|(of, value)| (of.title(), value)).collect()
}
