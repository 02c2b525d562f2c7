//! The counters of a link: as text and as JSON.

use std::time::Duration;

use serde::Serialize;
use skipstone::netsim::LinkStats;

use super::clock_thread::cpu_time;
use super::live_path::{Direction, LivePath, LossLine};
use crate::measure::latency::LatencyMs;
use crate::report::format::{bytes, or_dash, percent_of, thousands, three_digits};

/// The counters of a link.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct LinkSnapshot {
    /// Since it began.
    pub(crate) seconds: f64,
    pub(crate) up: DirectionCounts,
    pub(crate) down: DirectionCounts,
    /// How much later than planned packets were delivered, in ms.
    pub(crate) lateness_ms: Option<LatencyMs>,
    /// The share of one core that the link's thread used, spinning included.
    pub(crate) cpu_percent: Option<f64>,
    /// Why it is less punctual than it could be.
    pub(crate) imprecise: Option<String>,
    /// Streams of the kernel's TCP, relayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) streams: Option<StreamCounts>,
    /// Clients of the relay over UDP, so far and now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sessions: Option<SessionCounts>,
    /// Packets that the system rejected or that belong to no client.
    pub(crate) refused: u64,
    #[serde(skip)]
    pub(crate) losses: Vec<String>,
    /// The latest packets that were lost, many of them: at the end of a run alone.
    #[serde(skip)]
    pub(crate) lost_packets: Vec<LossLine>,
    /// When the link began, by the clock that all processes share.
    #[serde(skip)]
    pub(crate) begun: Option<Duration>,
}

/// A direction's packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct DirectionCounts {
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) delivered: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) lost: u64,
    pub(crate) lost_random: u64,
    pub(crate) lost_burst: u64,
    pub(crate) lost_fade: u64,
    pub(crate) lost_queue: u64,
    pub(crate) lost_outage: u64,
    pub(crate) lost_too_large: u64,
    /// Dropped because the link's memory was full.
    pub(crate) overflowed: u64,
    pub(crate) reordered: u64,
    pub(crate) duplicated: u64,
    pub(crate) corrupted: u64,
}

/// Relayed streams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct StreamCounts {
    pub(crate) opened: u64,
    pub(crate) open: u64,
    /// Connections that ended by an error of either side, or because the server was unreachable.
    pub(crate) broken: u64,
    pub(crate) bytes_up: u64,
    pub(crate) bytes_down: u64,
}

/// Clients that are distinguished by their addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct SessionCounts {
    pub(crate) opened: u64,
    pub(crate) open: u64,
}

impl LinkSnapshot {
    /// Must be called by the link's thread.
    pub(crate) fn of(path: &LivePath, imprecise: Option<String>) -> LinkSnapshot {
        let counts = |direction| DirectionCounts::of(&path.stats(direction), path.overflowed(direction));
        let lateness = path.lateness();
        LinkSnapshot {
            seconds: path.now().as_secs_f64(),
            up: counts(Direction::Up),
            down: counts(Direction::Down),
            lateness_ms: lateness.figures(),
            cpu_percent: cpu_time().map(|used| used.as_secs_f64() / path.now().as_secs_f64().max(1e-3) * 100.0),
            imprecise,
            streams: None,
            sessions: None,
            refused: 0,
            losses: path.losses().iter().rev().take(LOSSES_SHOWN).rev().map(told).collect(),
            lost_packets: Vec::new(),
            begun: path.begun(),
        }
    }

    /// A line for those who watch.
    pub(crate) fn line(&self) -> String {
        let direction = |counts: &DirectionCounts| {
            let (sent, lost) = (thousands(counts.sent), thousands(counts.lost));
            let share = percent_of(counts.lost, counts.sent);
            let share = share.map_or_else(String::new, |share| format!(" ({share:.2}%)"));
            format!("{sent} packets, {lost} lost{share}")
        };
        let streams = self.streams.filter(|streams| streams.opened > 0);
        let streams = streams.map_or(String::new(), |streams| format!("   streams {}", streams.open));
        let late = self
            .lateness_ms
            .map_or(String::new(), |late| format!("   late p99 {} ms", or_dash(late.p99, three_digits)));
        format!("{:.0} s   up {}   down {}{streams}{late}", self.seconds, direction(&self.up), direction(&self.down))
    }

    /// All of it; ends with a line feed.
    pub(crate) fn table(&self) -> String {
        let mut text = format!("{:<22}{:>14}{:>14}\n", "", "up", "down");
        let mut row = |name: &str, of: fn(&DirectionCounts) -> u64, is_always: bool| {
            if is_always || of(&self.up) + of(&self.down) > 0 {
                text += &format!("{name:<22}{:>14}{:>14}\n", thousands(of(&self.up)), thousands(of(&self.down)));
            }
        };
        row("packets sent", |counts| counts.sent, true);
        row("delivered", |counts| counts.delivered, true);
        row("lost", |counts| counts.lost, true);
        row("  at random", |counts| counts.lost_random, false);
        row("  in bursts", |counts| counts.lost_burst, false);
        row("  in fades", |counts| counts.lost_fade, false);
        row("  queue full", |counts| counts.lost_queue, false);
        row("  in outages", |counts| counts.lost_outage, false);
        row("  too large", |counts| counts.lost_too_large, false);
        row("memory full", |counts| counts.overflowed, false);
        row("reordered", |counts| counts.reordered, false);
        row("duplicated", |counts| counts.duplicated, false);
        row("corrupted", |counts| counts.corrupted, false);
        let of_bytes = [self.up.delivered_bytes, self.down.delivered_bytes].map(bytes);
        text += &format!("{:<22}{:>14}{:>14}\n", "bytes delivered", of_bytes[0], of_bytes[1]);
        if let Some(streams) = self.streams.filter(|streams| streams.opened > 0) {
            let (up, down) = (bytes(streams.bytes_up), bytes(streams.bytes_down));
            text += &format!("{:<22}{up:>14}{down:>14}\n", "bytes of streams");
            text += &format!("{} streams, {} open, {} broken\n", streams.opened, streams.open, streams.broken);
        }
        if let Some(late) = self.lateness_ms {
            let [p50, p99, max] = [late.p50, late.p99, late.max].map(|figure| or_dash(figure, three_digits));
            text += &format!("deliveries were late by {p50} ms (p50), {p99} (p99), {max} (max)\n");
        }
        if let Some(imprecise) = &self.imprecise {
            text += &format!("{imprecise}\n");
        }
        if let Some(one_sided) = self.one_sided() {
            text += &format!("{one_sided}\n");
        }
        text
    }

    /// The diagnosis of a link without traffic, or without traffic in one direction.
    fn one_sided(&self) -> Option<&'static str> {
        let streams = self.streams.unwrap_or_default();
        match (self.up.sent + streams.bytes_up, self.down.sent + streams.bytes_down) {
            (0, 0) if streams.opened == 0 => Some("No packet used the link."),
            (_, 0) => Some("Nothing came back from the server's end: does a server listen there?"),
            _ => None,
        }
    }
}

const LOSSES_SHOWN: usize = 10;

fn told(loss: &LossLine) -> String {
    let (direction, at) = (loss.direction.name(), loss.at.as_secs_f64());
    format!("{at:.6} s  {direction} packet {}, {} bytes: {}", loss.number, loss.bytes, loss.cause)
}

impl DirectionCounts {
    fn of(stats: &LinkStats, overflowed: u64) -> DirectionCounts {
        DirectionCounts {
            sent: stats.sent + overflowed,
            sent_bytes: stats.bytes_sent,
            delivered: stats.delivered,
            delivered_bytes: stats.bytes_delivered,
            lost: stats.lost() + overflowed,
            lost_random: stats.lost_random,
            lost_burst: stats.lost_burst,
            lost_fade: stats.lost_fade,
            lost_queue: stats.lost_queue,
            lost_outage: stats.lost_outage,
            lost_too_large: stats.lost_too_large,
            overflowed,
            reordered: stats.reordered,
            duplicated: stats.duplicated,
            corrupted: stats.corrupted,
        }
    }
}
