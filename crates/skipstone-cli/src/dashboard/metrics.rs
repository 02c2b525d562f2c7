//! The metrics for Prometheus. Names and units are documented in docs/guide/dashboard.md, which a test compares.

use crate::dashboard::bytes_split::BytesSplit;
use crate::dashboard::state::DashboardState;
use crate::move_figures::MoveFigures;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use skipstone_lab::measure::process::Probe;
use skipstone_proto::Figure;
use std::borrow::Cow;
use std::fmt;

/// OpenMetrics text, which Prometheus reads.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All metrics at one moment.
pub(super) fn text(state: &DashboardState) -> String {
    let mut registry = Registry::with_prefix("skipstone");
    registry.register_collector(Box::new(Snapshot(families(state))));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).expect("a text takes every text");
    text
}

/// Values of one name, which differ in their labels.
#[derive(Debug)]
struct Family {
    name: &'static str,
    help: Cow<'static, str>,
    unit: Option<Unit>,
    /// A counter only grows; its name gets `_total`.
    kind: MetricType,
    values: Vec<(Vec<(&'static str, String)>, f64)>,
}

#[derive(Debug)]
struct Snapshot(Vec<Family>);

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for family in &self.0 {
            let metric = encoder.encode_descriptor(family.name, &family.help, family.unit.as_ref(), family.kind)?;
            family.encode(metric)?;
        }
        Ok(())
    }
}

impl EncodeMetric for Family {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for (labels, value) in &self.values {
            match (self.kind, labels.is_empty()) {
                (MetricType::Counter, true) => encoder.encode_counter::<NoLabelSet, _, f64>(value, None)?,
                (_, true) => encoder.encode_gauge(value)?,
                (MetricType::Counter, false) => {
                    encoder.encode_family(labels)?.encode_counter::<NoLabelSet, _, f64>(value, None)?
                }
                (_, false) => encoder.encode_family(labels)?.encode_gauge(value)?,
            }
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        self.kind
    }
}

fn counter(name: &'static str, help: impl Into<Cow<'static, str>>, value: u64) -> Family {
    Family { name, help: help.into(), unit: None, kind: MetricType::Counter, values: vec![(Vec::new(), value as f64)] }
}

fn gauge(name: &'static str, help: &'static str, value: f64) -> Family {
    Family { name, help: help.into(), unit: None, kind: MetricType::Gauge, values: vec![(Vec::new(), value)] }
}

impl Family {
    fn in_unit(self, unit: Unit) -> Family {
        Family { unit: Some(unit), ..self }
    }

    fn by<L: ToString>(self, label: &'static str, values: impl IntoIterator<Item = (L, u64)>) -> Family {
        let values = values.into_iter().map(|(of, value)| (vec![(label, of.to_string())], value as f64));
        Family { values: values.collect(), ..self }
    }
}

/// The statistics of the catalogue that are metrics. Metrics of one family differ in a label.
fn counters(statistics: impl Iterator<Item = (&'static Figure, u64)>) -> Vec<Family> {
    let mut all: Vec<Family> = Vec::new();
    for (figure, value) in statistics {
        let Some(metric) = figure.metric else { continue };
        let labels = metric.label.map(|(label, of)| (label, of.to_owned())).into_iter().collect();
        match all.iter_mut().find(|family| family.name == metric.family) {
            Some(family) => family.values.push((labels, value as f64)),
            None => {
                let help = metric.about.map_or_else(|| figure.summary(), str::to_owned);
                let family = counter(metric.family, help.trim_end_matches('.').to_owned(), 0);
                all.push(Family { values: vec![(labels, value as f64)], ..family });
            }
        }
    }
    all
}

/// What a node of a fleet does with its players.
fn moves(figures: &MoveFigures) -> [Family; 4] {
    [
        counter("moves", "Players that moved to another node, or from there, while they played", 0)
            .by("direction", [("out", figures.left), ("in", figures.arrived)]),
        counter("moves_failed", "Moves after which the player stayed, by reason", 0)
            .by("reason", figures.failed.iter().map(|(why, count)| (*why, *count))),
        counter(
            "moves_told",
            "Players that were told to reconnect at another node, for their clients do not follow moves",
            figures.told,
        ),
        gauge("draining", "Whether this node gives its players away, 0 or 1", f64::from(u8::from(figures.is_draining))),
    ]
}

fn families(state: &DashboardState) -> Vec<Family> {
    let (stats, driver, frame) =
        (state.statistics.stats(), state.statistics.driver_stats(), state.frame.lock().clone());
    let guests = state.meters.roster.counts();
    let redundancy = &stats.redundancy;
    let redundant = redundancy.repairs_sent + redundancy.copies_sent;
    let sent = BytesSplit::of(&stats.sent, redundancy.bytes_sent, redundant);
    let received = BytesSplit::of(&stats.received, 0, 0);
    let mut all = counters(stats.figures().chain(driver.figures()));
    all.extend([
        gauge("clients", "Clients that are connected, by kind", 0.0)
            .by("kind", [("chat", guests.chat as u64), ("stress", guests.stress as u64)]),
        gauge("connections", "Connections by carrier", 0.0)
            .by("carrier", frame.carriers.iter().map(|(carrier, count)| (*carrier, *count as u64))),
        counter("lines", "Lines that clients sent", state.meters.lines()),
        counter("sent", "Bytes sent, with IP headers, by what they are", 0)
            .in_unit(Unit::Bytes)
            .by("part", sent.parts()),
        counter("received", "Bytes received, with IP headers, by what they are", 0)
            .in_unit(Unit::Bytes)
            .by("part", received.parts()),
        gauge(
            "driver_round_cost_max",
            "The greatest work of one round's reading, counted by what was read",
            driver.round_cost_max.as_secs_f64(),
        )
        .in_unit(Unit::Seconds),
        counter("ticks", "Ticks of the game loop", state.meters.ticks()),
        gauge("tick_slowest", "The slowest tick of the last second, from when it was due", frame.slowest_tick_ms / 1e3)
            .in_unit(Unit::Seconds),
        gauge("queued", "Bytes that wait or are in flight to clients", frame.queued_bytes as f64).in_unit(Unit::Bytes),
        gauge("uptime", "Time since the server began", state.meters.began.elapsed().as_secs_f64())
            .in_unit(Unit::Seconds),
        gauge("dashboard_viewers", "Pages that are open", state.streams.viewers() as f64),
        counter("dashboard_refusals", "Requests that the dashboard refused", state.refusals()),
        counter("log_lines_skipped", "Log lines that the dashboard had no room for", state.meters.skipped()),
    ]);
    if let Some(node) = &state.server.node {
        let labels = vec![("node", node.clone()), ("version", state.server.version.to_owned())];
        let help = "The node of a fleet that this server is, always 1";
        all.push(Family { values: vec![(labels, 1.0)], ..gauge("node_info", help, 1.0) });
        all.extend(moves(&state.meters.moves.lock()));
    }
    if let Some(rtt) = frame.rtt_ms {
        let values = ["0.5", "0.9", "0.99", "1"].into_iter().zip(rtt);
        let values = values.map(|(quantile, ms)| (vec![("quantile", quantile.to_string())], ms / 1e3)).collect();
        let help = "Smoothed round-trip times of the clients, at these shares of them";
        all.push(Family { values, ..gauge("rtt", help, 0.0).in_unit(Unit::Seconds) });
    }
    let loss = frame.packet_loss_percent;
    let loss = [("sent", loss.sent), ("received", loss.received)];
    let loss = loss
        .into_iter()
        .filter_map(|(direction, percent)| Some((vec![("direction", direction.to_string())], percent? / 100.0)));
    let loss = loss.collect::<Vec<_>>();
    if !loss.is_empty() {
        let help = "Packet loss: share of the packets sent, 0 to 1, as a mean over the clients";
        all.push(Family { values: loss, ..gauge("packet_loss_ratio", help, 0.0) });
    }
    if let Some(sample) = Probe::of_self().sample() {
        let cpu = counter("cpu", "CPU time of the server's process", 0).in_unit(Unit::Seconds);
        all.push(Family { values: vec![(Vec::new(), sample.cpu.as_secs_f64())], ..cpu });
        all.push(gauge("memory", "Resident memory of the process", sample.rss_bytes as f64).in_unit(Unit::Bytes));
    }
    all
}
