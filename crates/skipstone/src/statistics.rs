//! Statistics as published snapshots: the driver publishes them regularly, any thread reads them at any time, and
//! neither side blocks the other. A read costs one pointer load, whatever the driver is doing.
//!
//! The driver publishes the snapshots of connections that have changed, at most each [`PUBLISH_SPAN`]: an idle
//! connection costs nothing, and its snapshot remains correct.

use crate::driver_stats::DriverStats;
use crate::server_time::ServerTime;
use arc_swap::{ArcSwap, ArcSwapOption};
#[cfg(feature = "simulate")]
use skipstone_netsim::LinkStats;
use skipstone_proto::Depth;
use skipstone_proto::Path;
use skipstone_proto::Rtt;
use skipstone_proto::Transfers;
use skipstone_proto::{PeerId, Stats};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Greatest age of a snapshot while the driver runs.
pub(crate) const PUBLISH_SPAN: Duration = Duration::from_millis(50);

/// A connection at one moment, up to 50 ms ago.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Overview {
    /// The connection's counters.
    pub stats: Stats,
    /// Round-trip time; its variation is the jitter.
    pub rtt: Rtt,
    /// The network path to the peer.
    pub path: Path,
    /// Fill level of the connection's queues.
    pub depth: Depth,
    /// Bytes in flight.
    pub bytes_in_flight: u32,
    /// Bytes that may be in flight; `u64::MAX` without congestion control.
    pub congestion_window: u64,
    /// How often the congestion controller asked for a window or a pace of which no connection is able to make use, and
    /// was corrected: 0 for those of this library.
    pub controller_corrections: u32,
    /// Bytes of datagrams per second that may be sent to the peer, as far as the path is known: a congestion window
    /// each round trip, and no more than
    /// [`ServerConfig::bandwidth_max_per_peer`](crate::ServerConfig::bandwidth_max_per_peer). A game can scale its
    /// snapshots by it. If the path is fully used, the value follows it within seconds; an application that sends less
    /// learns that the path carries this much, and not how much more it would carry. `u64::MAX` where neither limits:
    /// on a stream, whose load shows in [`Overview::depth`].
    pub available_bytes_per_second: u64,
    /// Bytes of a datagram at present: the size that the path is known to carry.
    pub datagram_bytes: u16,
    /// Traffic to the peer.
    pub sending: Traffic,
    /// Traffic from the peer.
    pub receiving: Traffic,
}

/// One direction of a connection: rates over about a second, and loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Traffic {
    /// Messages of the application's, per second.
    pub messages_per_second: f64,
    /// Bytes of those messages, per second.
    pub payload_bytes_per_second: f64,
    /// Bytes on the wire with IP and carrier headers, per second.
    pub ip_bytes_per_second: f64,
    /// Share of packets that the path lost, 0 to 1, over about the last thousand; of those to the peer, packets that
    /// were sent together count as one. Always 0 on a stream, which loses nothing.
    pub loss: f64,
}

/// Load and counters of one shard of a server, up to 50 ms ago.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ShardOverview {
    /// Established connections.
    pub clients: usize,
    /// Handshakes under way: encrypted ones of the protocol, sessions of DTLS and WebTransport without a connection,
    /// and streams without one.
    pub handshakes: usize,
    /// Counters of the shard's connections, past and present.
    pub stats: Stats,
    /// Counters of the shard's driver and its sockets.
    pub driver: DriverStats,
}

/// Snapshots that a driver publishes.
#[derive(Debug, Default)]
pub(crate) struct Board {
    shard: ArcSwap<ShardOverview>,
    #[cfg(feature = "simulate")]
    links: ArcSwap<(LinkStats, LinkStats)>,
    /// Indexed by a peer's index. Pages are added and never removed, so that a reader's list stays valid.
    pages: ArcSwap<Vec<Arc<Page>>>,
}

/// A page of [`PAGE`] snapshots.
#[derive(Debug)]
struct Page([ArcSwapOption<Published>; PAGE]);

const PAGE: usize = 64;

/// A snapshot of a peer's connection.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) peer: PeerId,
    pub(crate) at: Instant,
    pub(crate) overview: Overview,
    /// Packets that the peer must have sent by then, and those that arrived.
    pub(crate) packets: (u64, u64),
    /// Values that few connections have.
    pub(crate) extras: Option<Box<Extras>>,
}

/// Parts of a snapshot that an idle connection of a server does not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Extras {
    /// A client's estimate of its server's clock at that moment.
    pub(crate) server_time: Option<skipstone_proto::ServerTime>,
    /// Long messages in transfer, if the configuration asks for their progress.
    pub(crate) transfers: Transfers,
}

impl Board {
    /// Load and counters of the shard.
    pub(crate) fn shard(&self) -> ShardOverview {
        **self.shard.load()
    }

    /// Counters of the simulated links, towards the server and towards the clients.
    #[cfg(feature = "simulate")]
    pub(crate) fn links(&self) -> (LinkStats, LinkStats) {
        **self.links.load()
    }

    #[cfg(feature = "simulate")]
    pub(crate) fn publish_links(&self, links: (LinkStats, LinkStats)) {
        self.links.store(Arc::new(links));
    }

    pub(crate) fn publish_shard(&self, overview: ShardOverview) {
        self.shard.store(Arc::new(overview));
    }

    /// Snapshot of a connection.
    pub(crate) fn overview(&self, peer: PeerId) -> Option<Overview> {
        let pages = self.pages.load();
        let (page, place) = place_of(peer);
        let published = pages.get(page)?.0[place].load_full().filter(|published| published.peer == peer)?;
        Some(published.seen_at(Instant::now()))
    }

    /// Snapshots of all connections.
    pub(crate) fn overviews(&self) -> Vec<(PeerId, Overview)> {
        let (pages, now) = (self.pages.load(), Instant::now());
        let all = pages.iter().flat_map(|page| page.0.iter()).filter_map(ArcSwapOption::load_full);
        all.map(|published| (published.peer, published.seen_at(now))).collect()
    }

    /// A client's estimate of its server's clock now.
    pub(crate) fn server_time(&self, peer: PeerId) -> Option<ServerTime> {
        let published = self.last(peer).filter(|published| published.peer == peer)?;
        let since = Instant::now().saturating_duration_since(published.at);
        Some(ServerTime::new(published.extras.as_ref()?.server_time?.after(since)))
    }

    /// The long messages of a connection in transfer.
    pub(crate) fn transfers(&self, peer: PeerId) -> Option<Transfers> {
        let published = self.last(peer).filter(|published| published.peer == peer)?;
        Some(published.extras.as_ref().map(|extras| extras.transfers.clone()).unwrap_or_default())
    }

    /// The snapshot in a peer's place. It may belong to an earlier peer.
    pub(crate) fn last(&self, peer: PeerId) -> Option<Arc<Published>> {
        let (page, place) = place_of(peer);
        self.pages.load().get(page)?.0[place].load_full()
    }

    /// Publishes a snapshot, in the memory of `spare` if no reader holds it any more; the previous snapshot is the next
    /// spare.
    pub(crate) fn publish(&self, published: Published, spare: &mut Option<Arc<Published>>) {
        let (page, place) = place_of(published.peer);
        if self.pages.load().len() <= page {
            let mut pages = Vec::clone(&self.pages.load());
            pages.resize_with(page + 1, || Arc::new(Page([const { ArcSwapOption::const_empty() }; PAGE])));
            self.pages.store(Arc::new(pages));
        }
        let mut snapshot = spare.take();
        match snapshot.as_mut().and_then(Arc::get_mut) {
            Some(unread) => *unread = published,
            None => snapshot = Some(Arc::new(published)),
        }
        *spare = self.pages.load()[page].0[place].swap(snapshot);
    }

    /// The connection is gone.
    pub(crate) fn remove(&self, peer: PeerId) {
        let (page, place) = place_of(peer);
        if let Some(page) = self.pages.load().get(page) {
            page.0[place].store(None);
        }
    }
}

fn place_of(peer: PeerId) -> (usize, usize) {
    (peer.index as usize / PAGE, peer.index as usize % PAGE)
}

impl Published {
    /// A connection's snapshot, with rates since the last snapshot if that belongs to the same connection.
    pub(crate) fn new(peer: PeerId, at: Instant, now: skipstone_proto::Overview, last: Option<&Published>) -> Self {
        let last = last.filter(|last| last.peer == peer);
        let span = last.map_or(Duration::ZERO, |last| at.saturating_duration_since(last.at));
        let packets = (now.packets_due, now.packets_received);
        let before = last.map(|last| &last.overview);
        let zero = skipstone_proto::Flow::default();
        let mut sending = Traffic::since(before.map(|it| (&it.sending, &it.stats.sent)), &now.stats.sent, span, &zero);
        let mut receiving =
            Traffic::since(before.map(|it| (&it.receiving, &it.stats.received)), &now.stats.received, span, &zero);
        sending.loss = f64::from(now.loss);
        let since = |now: u64, then: u64| now.saturating_sub(then);
        let (due, came) =
            last.map_or(packets, |last| (since(packets.0, last.packets.0), since(packets.1, last.packets.1)));
        receiving.loss = average_loss(receiving.loss, (due, came), packets.0);
        let overview = Overview {
            stats: now.stats,
            rtt: now.rtt,
            path: now.path,
            depth: now.depth,
            bytes_in_flight: now.bytes_in_flight,
            congestion_window: now.congestion_window,
            controller_corrections: now.controller_corrections,
            available_bytes_per_second: now.available_bytes_per_second,
            datagram_bytes: now.datagram_bytes,
            sending,
            receiving,
        };
        Published { peer, at, overview, packets, extras: None }
    }

    /// The snapshot as of a later moment: nothing has happened on the connection since.
    fn seen_at(&self, now: Instant) -> Overview {
        let kept = 1.0 - share_of(now.saturating_duration_since(self.at).saturating_sub(PUBLISH_SPAN).as_secs_f64());
        let fade = |traffic: Traffic| Traffic {
            messages_per_second: traffic.messages_per_second * kept,
            payload_bytes_per_second: traffic.payload_bytes_per_second * kept,
            ip_bytes_per_second: traffic.ip_bytes_per_second * kept,
            loss: traffic.loss,
        };
        let overview = self.overview.clone();
        Overview { sending: fade(overview.sending), receiving: fade(overview.receiving), ..overview }
    }
}

/// Packets after which an observation of losses has lost two thirds of its weight.
const LOSS_MEMORY_PACKETS: f64 = 1_000.0;

/// The average loss, with these packets that were due and that arrived; `due_in_all` is the connection's total, these
/// included. The first packets have equal weight: a young connection's loss would otherwise appear too small.
fn average_loss(before: f64, (due, came): (u64, u64), due_in_all: u64) -> f64 {
    if due == 0 {
        return before;
    }
    let weight = share_of(due as f64 / LOSS_MEMORY_PACKETS).max(due as f64 / due_in_all as f64);
    let loss = due.saturating_sub(came) as f64 / due as f64;
    before + (loss - before) * weight.min(1.0)
}

/// The weight of a new observation that covers this share of the memory.
fn share_of(spans: f64) -> f64 {
    1.0 - (-spans).exp()
}

impl Traffic {
    /// The average, including the count between `then` and `now`, with a memory of one second.
    fn since(
        before: Option<(&Traffic, &skipstone_proto::Flow)>,
        now: &skipstone_proto::Flow,
        span: Duration,
        zero: &skipstone_proto::Flow,
    ) -> Traffic {
        let (average, then) = before.map_or((Traffic::default(), zero), |(average, then)| (*average, then));
        let (seconds, weight) = (span.as_secs_f64(), share_of(span.as_secs_f64()));
        let blend = |average: f64, then: u64, now: u64| {
            if seconds > 0.0 {
                average + (now.saturating_sub(then) as f64 / seconds - average) * weight
            } else {
                average
            }
        };
        Traffic {
            messages_per_second: blend(average.messages_per_second, then.messages, now.messages),
            payload_bytes_per_second: blend(average.payload_bytes_per_second, then.payload_bytes, now.payload_bytes),
            ip_bytes_per_second: blend(average.ip_bytes_per_second, then.ip_bytes, now.ip_bytes),
            loss: average.loss,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The average after `count` packets of which every twentieth was lost, published every 20 packets.
    fn of_a_path_that_loses_5_percent(count: u64) -> f64 {
        (1..=count / 20).fold(0.0, |loss, block| average_loss(loss, (20, 19), 20 * block))
    }

    #[test]
    fn the_loss_of_a_young_connection_is_not_underestimated() {
        for count in [20, 200, 1_000, 10_000] {
            let loss = of_a_path_that_loses_5_percent(count);
            assert!((loss - 0.05).abs() < 1e-9, "{loss} after {count}");
        }
    }

    #[test]
    fn old_losses_decay() {
        let loss = of_a_path_that_loses_5_percent(2_000);
        let clean = (1..=150).fold(loss, |loss, block| average_loss(loss, (20, 20), 2_000 + 20 * block));
        assert!(clean < 0.05 * 0.06, "{clean}");
        assert_eq!(average_loss(0.5, (0, 0), 0), 0.5);
    }

    /// The averages after a second of silence and this many spans, each with an even share of 100 messages a second.
    fn of_100_messages_a_second(spans: u64, span: Duration) -> Traffic {
        let flow = |count: u64| {
            let messages = (count as f64 * 100.0 * span.as_secs_f64()) as u64;
            let mut flow = skipstone_proto::Flow::default();
            (flow.messages, flow.payload_bytes, flow.ip_bytes) = (messages, 20 * messages, 60 * messages);
            flow
        };
        (1..=spans).fold(Traffic::default(), |average, at| {
            Traffic::since(Some((&average, &flow(at - 1))), &flow(at), span, &flow(0))
        })
    }

    #[test]
    fn averages_follow_a_steady_rate_over_one_second_for_any_interval() {
        for millis in [100, 500, 2_000] {
            let spans = |seconds: u64| seconds * 1_000 / millis;
            let span = Duration::from_millis(millis);
            let young = of_100_messages_a_second(spans(2), span).messages_per_second;
            assert!((young - 100.0 * share_of(2.0)).abs() < 0.1, "{young} after 2 s in spans of {span:?}");
            let old = of_100_messages_a_second(spans(20), span);
            let rates = [old.messages_per_second, old.payload_bytes_per_second / 20.0, old.ip_bytes_per_second / 60.0];
            assert!(rates.iter().all(|rate| (rate - 100.0).abs() < 0.01), "{rates:?} in spans of {span:?}");
        }
    }
}
