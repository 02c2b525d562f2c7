//! A result as text for Prometheus (exposition format 0.0.4). Names and labels are documented in docs/guide/bots.md.

use skipstone_lab::report::bots::{BotsResult, MetricFigures};
use std::fmt::Write;

/// All figures; `connected` bots are connected now.
pub(super) fn text(result: &BotsResult, connected: u64) -> String {
    let mut text = Exposition::default();
    bots(&mut text, result, connected);
    traffic(&mut text, result);
    costs(&mut text, result);
    metrics(&mut text, result);
    let kept = result.thresholds.iter().map(|one| (vec![("threshold", one.expression.as_str())], number(one.passed)));
    text.family("threshold_kept", "gauge", "Whether a threshold is kept so far, 0 or 1", "", kept);
    text.0
}

fn bots(text: &mut Exposition, result: &BotsResult, connected: u64) {
    let bots = &result.bots;
    text.gauge("seconds", "Seconds since the run began", result.duration_s);
    text.gauge("asked", "Bots that the run has", bots.asked as f64);
    text.gauge("connected", "Bots that are connected now", connected as f64);
    text.counter("started", "Bots that began", bots.started);
    text.counter("attempts", "Connections that were attempted", bots.attempts);
    text.counter("connects", "Connections that were made", bots.connects);
    text.counter(
        "dropped",
        "Bots that lost their connection, and had no way of their own to deal with that",
        bots.dropped,
    );
    text.counter("faulted", "Bots that ended by an error of the script", bots.faulted);
    let endings = result.endings.iter().map(|(why, count)| (vec![("why", why.as_str())], *count as f64));
    text.family("endings", "counter", "Connections that ended without the bot's wish", "_total", endings);
    let refused = result.refused_sends.iter().map(|(why, count)| (vec![("why", why.as_str())], *count as f64));
    text.family("refused_sends", "counter", "Messages that could not be sent", "_total", refused);
    let spread = result.connect_ms.map(|ms| [("0.5", ms.p50), ("0.99", ms.p99), ("1", ms.max)]);
    let connect = spread.into_iter().flatten().map(|(share, ms)| (vec![("quantile", share)], ms));
    text.family("connect_ms", "gauge", "How long connecting takes, in milliseconds", "", connect);
    let rtt = result.rtt_ms.and_then(|ms| Some([("0.5", ms.p50?), ("0.99", ms.p99?)]));
    let rtt = rtt.into_iter().flatten().map(|(share, ms)| (vec![("quantile", share)], ms));
    text.family("rtt_ms", "gauge", "Round-trip times as the protocol estimates them, in milliseconds", "", rtt);
}

fn traffic(text: &mut Exposition, result: &BotsResult) {
    let (messages, wire) = (&result.messages, &result.wire);
    let both = |sent: u64, received: u64| {
        [(vec![("direction", "sent")], sent as f64), (vec![("direction", "received")], received as f64)]
    };
    text.family("messages", "counter", "Messages of the script", "_total", both(messages.sent, messages.received));
    let bytes = both(messages.bytes_sent, messages.bytes_received);
    text.family("message_bytes", "counter", "Bytes of messages", "_total", bytes);
    text.family("packets", "counter", "Datagrams, or pieces of streams", "_total", both(wire.sent, wire.received));
    let bytes = both(wire.bytes_sent, wire.bytes_received);
    text.family("packet_bytes", "counter", "Bytes of packets, without headers of IP, UDP and TCP", "_total", bytes);
    text.counter("retransmitted", "Packets that the bots' side sent again", wire.retransmitted);
    text.counter("invalid", "Input that was not of the protocol", wire.invalid);
}

fn costs(text: &mut Exposition, result: &BotsResult) {
    let generator = &result.generator;
    text.counter("planned", "Ticks and timers that came due", generator.planned_sends);
    text.counter("late", "Ticks and timers that ran more than 50 ms late", generator.late_sends);
    let cpu = generator.cpu_percent.map(|percent| (vec![("of", "bots")], percent));
    let scripts = Some((vec![("of", "scripts")], result.scripts.core_percent));
    let server = result.server.map(|server| (vec![("of", "server")], server.cpu_percent));
    let all = cpu.into_iter().chain(scripts).chain(server);
    text.family("cpu_percent", "gauge", "CPU time in percent of one core, since the run began", "", all);
}

fn metrics(text: &mut Exposition, result: &BotsResult) {
    let (mut quantiles, mut counts, mut occasions, mut sums, mut gauges) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, figures) in &result.metrics {
        let label = ("name", name.as_str());
        match *figures {
            MetricFigures::Trend { count, p50, p90, p95, p99, p999, max, .. } => {
                let points = [("0.5", p50), ("0.9", p90), ("0.95", p95), ("0.99", p99), ("0.999", p999), ("1", max)];
                let measured = points.into_iter().filter_map(|(share, value)| Some((share, value?)));
                quantiles.extend(measured.map(|(share, value)| (vec![label, ("quantile", share)], value)));
                counts.push((vec![label], count as f64));
            }
            MetricFigures::Rate { yes, no, .. } | MetricFigures::Check { passed: yes, failed: no, .. } => {
                occasions.push((vec![label, ("holds", "true")], yes as f64));
                occasions.push((vec![label, ("holds", "false")], no as f64));
            }
            MetricFigures::Counter { sum, .. } => sums.push((vec![label], sum)),
            MetricFigures::Gauge { last, .. } => gauges.extend(last.map(|last| (vec![label], last))),
        }
    }
    text.family("trend", "gauge", "The script's trends, of the run so far", "", quantiles);
    text.family("trend_values", "counter", "Values of the script's trends", "_total", counts);
    text.family("occasions", "counter", "The script's rates and checks", "_total", occasions);
    text.family("counter", "counter", "The script's counters", "_total", sums);
    text.family("gauge", "gauge", "The script's gauges", "", gauges);
}

fn number(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// The text, as far as it is written.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.family(name, "gauge", help, "", [(Vec::new(), value)]);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "counter", help, "_total", [(Vec::new(), value as f64)]);
    }

    fn family<'a>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        ending: &str,
        values: impl IntoIterator<Item = (Vec<(&'a str, &'a str)>, f64)>,
    ) {
        let name = format!("skipstone_bots_{name}{ending}");
        let mut values = values.into_iter().peekable();
        if values.peek().is_none() {
            return;
        }
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let labels: Vec<String> = labels.iter().map(|(key, of)| format!("{key}=\"{}\"", escaped(of))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_script_measures_has_its_name_as_a_label() {
        let mut result = BotsResult::default();
        let trend = MetricFigures::Trend {
            count: 3,
            mean: None,
            min: None,
            p50: Some(1.5),
            p90: None,
            p95: None,
            p99: Some(7.0),
            p999: None,
            max: Some(9.0),
        };
        result.metrics.insert("spawn_ms".into(), trend);
        result.metrics.insert("won".into(), MetricFigures::Check { passed: 3, failed: 1, share: Some(0.75) });
        result.endings.insert("by-server: \"full\"\n".into(), 2);
        let text = text(&result, 17);
        for line in [
            "skipstone_bots_connected 17",
            "skipstone_bots_trend{name=\"spawn_ms\",quantile=\"0.99\"} 7",
            "skipstone_bots_trend_values_total{name=\"spawn_ms\"} 3",
            "skipstone_bots_occasions_total{name=\"won\",holds=\"false\"} 1",
            "skipstone_bots_endings_total{why=\"by-server: \\\"full\\\"\\n\"} 2",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\n{text}");
        }
        let names = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect::<Vec<_>>();
        assert!(names.is_sorted_by(|one, next| one != next), "{names:?}");
    }
}
