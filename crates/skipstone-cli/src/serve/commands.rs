//! The commands of the console and of a parent process: their replies and effects.

use super::admin::Question;
use super::audience::Audience;
use super::game::Game;
use super::node::FleetNode;
use super::rates::Rates;
use super::ticks::{RECENT, Ticks};
use crate::client_figures::{PacketLoss, rtt_ms};
use crate::console::{ENGINE_HELP, Reply};
use skipstone::{DriverStats, PeerId, ShardOverview, Stats, code};
use skipstone_lab::natural::natural;
use skipstone_lab::report::format::{bytes, counted, milliseconds, or_dash, percent, percent_of, seconds, thousands};
use skipstone_lab::report::stress::result::{Shard, Side};
use skipstone_lab::units::{Rate, UnitError};
use skipstone_lab::workload::{Guest, StressTurn, Word};
use std::time::{Duration, Instant};

/// The number of sessions whose last `stats` is kept. It is more than there can be at once, so dropped ones have ended.
const RATES_MAX: usize = 64;

const HELP: &str = include_str!("help.txt");
const KEYS: &[&str] = &["id", "name", "rtt", "loss", "queue", "sent", "received"];

impl Game {
    /// Answers one line.
    pub(super) fn answer(&mut self, question: &Question, ticks: &mut Ticks, audience: &Audience) -> Reply {
        let (word, rest) = question.line.split_once(' ').unwrap_or((&question.line, ""));
        let rest = rest.trim();
        match (word, question.session) {
            ("help", _) => Reply::Text(format!("{HELP}{}", ENGINE_HELP.trim_end())),
            ("stats", Some(_)) => self.stats_text(question, ticks, audience),
            ("stats", None) => self.stats_json(ticks, audience),
            ("reset", None) => {
                ticks.reset();
                Reply::Text("{}".into())
            }
            ("clients", _) => self.list(rest).into(),
            ("client", _) => self.describe(rest).into(),
            ("say", _) if !rest.is_empty() => {
                let peers: Vec<PeerId> = self.guests.keys().copied().collect();
                peers.iter().for_each(|peer| self.say_to(*peer, &Word::Say(rest.into())));
                audience.all().for_each(|watcher| watcher.say(rest));
                Reply::Text(format!("said to {}", peers.len()))
            }
            ("kick", _) => self.kick(rest).into(),
            ("stress", _) => self.stress(rest).into(),
            ("drain", Some(_)) => self.restart.ask(rest).into(),
            ("move", _) if !rest.is_empty() => self.move_one(rest).into(),
            ("stop", _) => {
                self.must_stop = true;
                Reply::Text("the server ends".into())
            }
            _ => {
                Reply::Unknown(format!("'{}' is not a command, or lacks an argument; `help` lists them", question.line))
            }
        }
    }

    fn stats_text(&mut self, question: &Question, ticks: &Ticks, audience: &Audience) -> Reply {
        let stats = self.server.stats();
        let figures = ticks.figures();
        let now = Rates { at: Instant::now(), stats, lines: self.lines, ticks: figures.total };
        let first = Rates { at: self.began, stats: Stats::default(), lines: 0, ticks: 0 };
        let before = self.rates.insert(question.session, now).unwrap_or(first);
        if self.rates.len() > RATES_MAX {
            self.rates.pop_first();
        }
        let span = now.at.duration_since(before.at).as_secs_f64().max(1e-9);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / span;
        let row = |name: &str, now: u64, before: u64| {
            format!("{name:<22}{:>20}{:>16}/s", thousands(now), thousands(rate(now, before).round() as u64))
        };
        let counter = |name: String, now: u64, before: u64| row(&name, now, before);
        let (mut traffic, mut losses) = (Vec::new(), Vec::new());
        for ((figure, now), (_, before)) in stats.figures().zip(before.stats.figures()) {
            match figure.group {
                "sent" | "received" => traffic.push(counter(figure.title(), now, before)),
                "drops" => {}
                _ => losses.push(counter(figure.title(), now, before)),
            }
        }
        let up = seconds(self.began.elapsed());
        let mut lines = vec![format!("clients {}, up {up} s, rates over the last {span:.1} s", self.guests.len())];
        lines.push(row("lines in", self.lines, before.lines));
        lines.extend(traffic);
        lines.extend([shares("sent", &stats.sent), shares("received", &stats.received)]);
        lines.extend(losses);
        let lasting = now.ticks.saturating_sub(before.ticks) as f64 / span;
        let slowest = milliseconds(figures.slowest.as_secs_f64() * 1e3);
        let p99 = milliseconds(figures.p99.as_secs_f64() * 1e3);
        let ticks = thousands(figures.total);
        lines.push(format!("ticks {ticks} ({lasting:.1}/s), slowest {slowest}, p99 of the last {RECENT} {p99}"));
        lines.extend(self.node.iter().flat_map(FleetNode::lines));
        lines.push(drops(&stats));
        lines.extend(shards(&self.server.shards()));
        lines.extend(driver(&self.server.driver_stats()));
        lines.extend(audience.all().flat_map(|watcher| watcher.lines()));
        Reply::Text(lines.join("\n"))
    }

    /// Statistics for the parent process.
    fn stats_json(&mut self, ticks: &Ticks, audience: &Audience) -> Reply {
        let figures = ticks.figures();
        // Called once: costs are measured from then on.
        let (shards, mut stats) = (self.server.shards(), Stats::default());
        shards.iter().for_each(|shard| stats.add(&shard.stats));
        let json = serde_json::json!({
            "clients": self.guests.len(),
            "ticks_per_second": figures.per_second,
            "slowest_tick_ms": figures.slowest.as_secs_f64() * 1e3,
            "protocol": Side::from(&stats),
            "shards": shards.iter().map(Shard::from).collect::<Vec<_>>(),
            "messages_sent": stats.sent.messages,
            "messages_received": stats.received.messages,
            "database": audience.all().find_map(|watcher| watcher.json()),
        });
        Reply::Text(json.to_string())
    }

    fn list(&mut self, words: &str) -> Result<String, String> {
        let mut key = "id";
        let mut count = 20;
        for word in words.split_whitespace() {
            match (KEYS.iter().find(|known| **known == word), word.parse()) {
                (Some(known), _) => key = known,
                (None, Ok(number)) => count = number,
                _ => return Err(format!("'{word}' is neither a number nor one of {}", KEYS.join(", "))),
            }
        }
        let mut rows = self.server.overviews();
        let name = |peer: &PeerId| self.guests.get(peer).map_or_else(|| "?".into(), |visit| visit.name());
        let down = |value: Option<f64>| std::cmp::Reverse(value.map(|value| (value * 1e6) as u64));
        match key {
            "name" => rows.sort_by(|(one, _), (other, _)| natural(&name(one), &name(other))),
            "rtt" => rows.sort_by_key(|(_, seen)| down(rtt_ms(seen))),
            "loss" => rows.sort_by_key(|(_, seen)| down(PacketLoss::of(seen).greater())),
            "queue" => rows.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.depth.bytes)),
            "sent" => rows.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.stats.sent.messages)),
            "received" => rows.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.stats.received.messages)),
            _ => rows.sort_by_key(|(peer, _)| *peer),
        }
        let mut lines = vec![format!(
            "{:<8}{:<16}{:<5}{:<22}{:>9}{:>8}{:>10}{:>12}{:>12}",
            "id", "name", "over", "address", "rtt", "loss", "queue", "sent", "received"
        )];
        for (peer, seen) in rows.iter().take(count) {
            lines.push(format!(
                "{:<8}{:<16}{:<5}{:<22}{:>9}{:>8}{:>10}{:>12}{:>12}",
                peer.to_string(),
                name(peer),
                seen.path.carrier.name,
                seen.path.remote.to_string(),
                or_dash(rtt_ms(seen), milliseconds),
                loss_text(PacketLoss::of(seen).greater()),
                bytes(seen.depth.bytes),
                thousands(seen.stats.sent.messages),
                thousands(seen.stats.received.messages)
            ));
        }
        if rows.len() > count {
            lines.push(format!("… and {} more: `clients {key} {}` lists all", rows.len() - count, rows.len()));
        }
        Ok(lines.join("\n"))
    }

    fn describe(&mut self, words: &str) -> Result<String, String> {
        let peer = self.guest(words)?;
        let visit = &self.guests[&peer];
        let seen = self.server.overview(peer).ok_or_else(|| unknown(words))?;
        let (stats, rtt) = (&seen.stats, &seen.rtt);
        let ms = |span: Duration| milliseconds(span.as_secs_f64() * 1e3);
        let window = match seen.congestion_window {
            u64::MAX => "none".into(),
            window => bytes(window),
        };
        let rtt_text = match rtt.is_measured() {
            true => format!("rtt {} (min {}, variation {})", ms(rtt.smoothed()), ms(rtt.min()), ms(rtt.variation())),
            false => "rtt not measured yet".into(),
        };
        let loss = PacketLoss::of(&seen);
        let lines = [
            format!("{peer} {} over {} from {}", visit.name(), seen.path.carrier.name, seen.path.remote),
            format!("connected for {} s, {} lines", seconds(visit.since.elapsed()), thousands(visit.lines)),
            rtt_text,
            format!("in flight {}, congestion window {window}", bytes(u64::from(seen.bytes_in_flight))),
            format!(
                "queued {} messages, {}, on {} active channels",
                thousands(seen.depth.messages),
                bytes(seen.depth.bytes),
                seen.depth.channels
            ),
            shares("sent", &stats.sent),
            shares("received", &stats.received),
            format!("packet loss sent {}, received {}", loss_text(loss.sent), loss_text(loss.received)),
            losses(stats),
            drops(stats),
        ];
        Ok(lines.join("\n"))
    }

    fn kick(&mut self, words: &str) -> Result<String, String> {
        let (id, reason) = words.split_once(' ').unwrap_or((words, ""));
        let peer = self.guest(id)?;
        let reason = if reason.trim().is_empty() { "kicked from the console" } else { reason.trim() };
        let closed = self.server.close(peer, code::KICKED, reason, Duration::ZERO);
        closed.map_err(|error| format!("{peer} is not kicked: {error}"))?;
        Ok(format!("{peer} is told: {reason}"))
    }

    /// The guest of this id.
    fn guest(&self, id: &str) -> Result<PeerId, String> {
        parse_peer(id).filter(|peer| self.guests.contains_key(peer)).ok_or_else(|| unknown(id))
    }

    /// The guest of this id or this name.
    #[cfg(feature = "fleet")]
    pub(super) fn guest_named(&self, who: &str) -> Result<PeerId, String> {
        if let Ok(peer) = self.guest(who) {
            return Ok(peer);
        }
        let mut named = self.guests.iter().filter(|(_, visit)| visit.name() == who).map(|(peer, _)| *peer);
        match (named.next(), named.next()) {
            (Some(peer), None) => Ok(peer),
            (Some(_), Some(_)) => {
                Err(format!("several clients are named '{who}': give an id; `clients name` lists them"))
            }
            _ => Err(unknown(who)),
        }
    }

    fn stress(&mut self, words: &str) -> Result<String, String> {
        let word = match words.split_once(' ').unwrap_or((words, "1/s")) {
            ("off", _) => Word::StressOff,
            ("on", rate) => {
                let rate: Rate = rate.trim().parse().map_err(|error: UnitError| error.to_string())?;
                Word::StressOn(rate.to_string())
            }
            _ => return Err("say `stress on`, `stress on 5/s` or `stress off`".into()),
        };
        let stress = self.guests.iter().filter(|(_, visit)| matches!(visit.guest, Guest::Stress(_)));
        let peers: Vec<(PeerId, StressTurn)> = stress.map(|(peer, visit)| (*peer, visit.turn)).collect();
        if peers.is_empty() {
            return Err("no stress client is connected: start some by `skipstone stress URL --wait`".into());
        }
        peers.iter().for_each(|(peer, _)| self.say_to(*peer, &word));
        let told = format!("told {}: {}", counted(peers.len() as u64, "stress client"), word.encode());
        match peers.iter().filter(|(_, turn)| *turn == StressTurn::Own).count() {
            0 => Ok(told),
            deaf => {
                Ok(format!("{told}; {deaf} of them did not ask for it: those without --wait follow their own plan"))
            }
        }
    }
}

/// The last lines of `stats`: the driver's own counters.
fn driver(driver: &DriverStats) -> [String; 4] {
    let dtls = &driver.dtls;
    let sessions = named(&[
        ("open", dtls.open),
        ("begun", dtls.begun),
        ("established", dtls.established),
        ("displaced", dtls.displaced),
        ("datagrams dropped", dtls.dropped),
    ]);
    let webtransport = &driver.webtransport;
    let pages = named(&[
        ("open", webtransport.open),
        ("begun", webtransport.begun),
        ("established", webtransport.established),
        ("sessions", webtransport.sessions),
        ("retries", webtransport.retries),
        ("displaced", webtransport.displaced),
        ("refused", webtransport.refused),
        ("breaches", webtransport.breaches),
        ("datagrams dropped", webtransport.dropped),
    ]);
    let streams = &driver.streams;
    let streams = named(&[
        ("accepted", streams.accepted),
        ("timed out", streams.timed_out),
        ("displaced", streams.displaced),
        ("answered", streams.answered),
        ("not upgraded", streams.not_upgraded),
        ("lost", streams.lost),
        ("closed", streams.closed),
        ("malformed requests", streams.malformed_requests),
        ("oversized requests", streams.oversized_requests),
        ("broken frames", streams.broken_frames),
        ("oversized messages", streams.oversized_messages),
        ("TLS failures", streams.tls_failures),
        ("TLS over budget", streams.over_budget),
        ("bad PROXY headers", streams.bad_proxy_headers),
        ("not taken", streams.not_taken),
        ("foreign", streams.foreign),
        ("cost too much", streams.too_dear),
    ]);
    let calls = named(&[
        ("rounds", driver.rounds),
        ("rounds cut", driver.rounds_cut),
        ("greatest cost of a round in microseconds", driver.round_cost_max.as_micros() as u64),
        ("send calls", driver.send_calls),
        ("send errors", driver.send_errors),
        ("kernel receive drops", driver.sockets.receive_drops),
    ]);
    [
        format!("DTLS sessions: {sessions}"),
        format!("WebTransport: {pages}"),
        format!("TCP streams: {streams}"),
        format!("driver {calls}"),
    ]
}

fn named(counts: &[(&str, u64)]) -> String {
    let all: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {}", thousands(*count))).collect();
    all.join(", ")
}

/// The bytes of a direction, and their parts if bytes were sent.
fn shares(name: &str, flow: &skipstone::Flow) -> String {
    let whole = flow.ip_bytes;
    let headers = whole.saturating_sub(flow.datagram_bytes);
    let protocol = whole.saturating_sub(headers + flow.payload_bytes);
    let parts = [("payload", flow.payload_bytes), ("protocol", protocol), ("IP and carrier headers", headers)];
    let parts = parts.map(|(part, bytes)| Some(format!("{part} {}", percent(percent_of(bytes, whole)?))));
    let parts: Option<Vec<String>> = parts.into_iter().collect();
    let parts = parts.map_or_else(String::new, |parts| format!(": {}", parts.join(", ")));
    format!("{name:<9} {} of IP{parts}", bytes(whole))
}

/// A line for each shard, where there are several.
fn shards(all: &[ShardOverview]) -> Vec<String> {
    let line = |(number, shard): (usize, &ShardOverview)| {
        let of = Shard::from(shard);
        let counts = named(&[
            ("clients", of.clients),
            ("datagrams sent", of.datagrams_sent),
            ("received", of.datagrams_received),
            ("handed on to others", of.handed_on),
            ("no room", of.hand_over_drops),
        ]);
        format!("shard {number}: {counts}")
    };
    if all.len() > 1 { all.iter().enumerate().map(line).collect() } else { Vec::new() }
}

/// Packets lost, retransmitted, recovered and refused.
fn losses(stats: &Stats) -> String {
    let figures = stats.figures().filter(|(figure, _)| !matches!(figure.group, "sent" | "received" | "drops"));
    let counts: Vec<String> =
        figures.map(|(figure, count)| format!("{} {}", figure.title(), thousands(count))).collect();
    counts.join(", ")
}

fn drops(stats: &Stats) -> String {
    let all = stats.drops.iter().map(|(reason, count)| (reason.name(), count));
    let drops: Vec<_> = all.filter(|(_, count)| *count > 0).collect();
    format!("drops {}", if drops.is_empty() { "none".into() } else { named(&drops) })
}

fn loss_text(percent: Option<f64>) -> String {
    or_dash(percent, |percent| format!("{percent:.2}%"))
}

fn parse_peer(text: &str) -> Option<PeerId> {
    let (index, generation) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    Some(PeerId { index: index.parse().ok()?, generation: generation.parse().ok()? })
}

fn unknown(id: &str) -> String {
    format!("no client '{id}'; `clients` lists them")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_bytes_have_no_shares() {
        assert_eq!(shares("sent", &skipstone::Flow::default()), "sent      0 B of IP");
        let mut flow = skipstone::Flow::default();
        (flow.payload_bytes, flow.datagram_bytes, flow.ip_bytes) = (500, 720, 1_000);
        let text = "received  1000 B of IP: payload 50.0%, protocol 22.0%, IP and carrier headers 28.0%";
        assert_eq!(shares("received", &flow), text);
    }
}
