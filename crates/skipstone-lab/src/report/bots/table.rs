//! The last output of a run of bots on a terminal: the figures, what the script measured, and at the very end the
//! verdict.

use super::metric::MetricFigures;
use super::result::{BotsFleet, BotsResult, SlowTime};
use crate::report::format::{bytes, counted, milliseconds, or_dash, percent, thousands, three_digits};
use crate::report::paint::{Style, Tone, wrap};
use crate::report::stress::table::verdict_words;
use crate::report::{Cell, Page, Verdict};

/// The final table; ends with a line feed.
pub fn table(result: &BotsResult, style: Style) -> String {
    let mut page = Page::new(style);
    page.blank();
    page.toned(Tone::Strong, &heading(result));
    page.blank();
    figures(&mut page, result);
    if let Some(fleet) = &result.fleet {
        page.blank();
        agents(&mut page, fleet);
    }
    metrics(&mut page, result);
    slow_times(&mut page, result);
    page.blank();
    page.thresholds(&result.thresholds);
    if !result.thresholds.is_empty() {
        page.blank();
    }
    verdict(&mut page, result);
    page.into_text()
}

/// The run in a line.
fn heading(result: &BotsResult) -> String {
    let place = result.url.as_ref().map_or(String::new(), |url| format!(" at {url}"));
    let (bots, script) = (counted(result.bots.asked, "bot"), &result.script);
    format!("{bots} of {script}{place} for {:.1} s; seed {}", result.duration_s, result.seed)
}

fn figures(page: &mut Page, result: &BotsResult) {
    let (bots, messages, wire) = (&result.bots, &result.messages, &result.wire);
    row(page, "Bots connected", &thousands(bots.connected), bots.connected < bots.asked);
    row(page, "  lost their connection", &thousands(bots.dropped), bots.dropped > 0);
    row(page, "  ended by an error", &thousands(bots.faulted), bots.faulted > 0);
    if bots.attempts > bots.started {
        row(page, "Connections", &format!("{} of {}", thousands(bots.connects), thousands(bots.attempts)), false);
    }
    let connect = |ms: Option<f64>| or_dash(ms, milliseconds);
    let spread = result.connect_ms;
    let text = format!("{} / {}", connect(spread.map(|it| it.p50)), connect(spread.map(|it| it.p99)));
    row(page, "Connecting, p50 / p99", &text, false);
    if let Some(rtt) = result.rtt_ms {
        row(page, "Round trip, p50 / p99", &format!("{} / {}", connect(rtt.p50), connect(rtt.p99)), false);
    }
    let both = |out: u64, back: u64| format!("{} / {}", thousands(out), thousands(back));
    row(page, "Messages sent / received", &both(messages.sent, messages.received), false);
    row(page, "Packets sent / received", &both(wire.sent, wire.received), false);
    row(page, "Bytes sent / received", &format!("{} / {}", bytes(wire.bytes_sent), bytes(wire.bytes_received)), false);
    if wire.retransmitted > 0 {
        row(page, "Packets sent again", &thousands(wire.retransmitted), false);
    }
    if wire.invalid + wire.unsent > 0 {
        row(page, "Packets invalid / unsent", &both(wire.invalid, wire.unsent), true);
    }
    let generator = &result.generator;
    let cost = format!("{} of a core", or_dash(generator.cpu_percent, percent));
    row(page, "The bots' own cost", &cost, false);
    let (script, memory) = (percent(result.scripts.core_percent), bytes(result.scripts.memory_bytes));
    row(page, "  of it scripts", &format!("{script}, {memory}"), false);
    if let Some(server) = result.server {
        let text = format!("{} of a core, {}", percent(server.cpu_percent), bytes(server.rss_bytes));
        row(page, "The server's cost", &text, false);
    }
    let late = format!("{} of {}", thousands(generator.late_sends), thousands(generator.planned_sends));
    row(page, "Late ticks and timers", &late, false);
    row(page, "  the latest", &milliseconds(generator.latest_send_ms), false);
}

/// A row for each agent.
fn agents(page: &mut Page, fleet: &BotsFleet) {
    let heads = ["bots", "sent", "received", "late", "CPU"].map(|head| Cell::right(head, AGENT_COLUMNS));
    page.row("Agent", NAME_COLUMNS, heads.map(|head| head.toned(Tone::Faint)));
    for agent in &fleet.agents {
        let name: String = agent.name.chars().take(NAME_COLUMNS - 1).collect();
        let cell = |text: String| Cell::right(text, AGENT_COLUMNS);
        let Some(generator) = agent.generator.filter(|_| agent.lost.is_none()) else {
            page.row(&name, NAME_COLUMNS, [cell(thousands(agent.bots.asked)), cell("LOST".into()).toned(Tone::Bad)]);
            continue;
        };
        let bots = cell(thousands(agent.bots.connected));
        let cells = [
            if agent.bots.connected < agent.bots.asked { bots.toned(Tone::Bad) } else { bots },
            cell(thousands(agent.messages.sent)),
            cell(thousands(agent.messages.received)),
            cell(thousands(generator.late_sends)),
            cell(or_dash(generator.cpu_percent, percent)),
        ];
        page.row(&name, NAME_COLUMNS, cells);
    }
    if fleet.bots_excused > 0 {
        page.line(&format!("Excused: {} of lost agents", counted(fleet.bots_excused, "bot")));
    }
}

fn metrics(page: &mut Page, result: &BotsResult) {
    if result.metrics.is_empty() {
        return;
    }
    page.blank();
    for (name, figures) in &result.metrics {
        page.line(&format!("{name:<LABEL_COLUMNS$}{}", told(figures)));
    }
}

/// The worst of them, by time.
fn slow_times(page: &mut Page, result: &BotsResult) {
    let mut times: Vec<&SlowTime> = result.slow_times.iter().collect();
    times.sort_by(|one, other| other.worst_ms.total_cmp(&one.worst_ms));
    times.truncate(SLOW_TIMES_SHOWN);
    times.sort_by(|one, other| one.from_s.total_cmp(&other.from_s));
    for time in times {
        // Where this machine stood still for most of it, the server is not why.
        let machine =
            if result.fleet.is_some() { ", a stall of an agent's machine" } else { ", a stall of this machine" };
        let whose = if time.stalled_ms * 2.0 > time.worst_ms { machine } else { "" };
        let label = format!("Slow from {:.1} to {:.1} s", time.from_s, time.until_s);
        let line = format!("{label:<LABEL_COLUMNS$}{} up to {}{whose}", time.metric, milliseconds(time.worst_ms));
        wrap(&line, COLUMNS).into_iter().for_each(|part| page.line(&part));
    }
}

fn told(figures: &MetricFigures) -> String {
    let number = |value: &Option<f64>| or_dash(*value, three_digits);
    match figures {
        MetricFigures::Trend { count, p50, p99, max, .. } => {
            let (p50, p99, max) = (number(p50), number(p99), number(max));
            format!("p50 {p50}, p99 {p99}, max {max}, of {}", thousands(*count))
        }
        MetricFigures::Rate { yes, no, share } | MetricFigures::Check { passed: yes, failed: no, share } => {
            let share = or_dash(*share, |share| percent(share * 100.0));
            format!("{share}, {} of {}", thousands(*yes), thousands(yes + no))
        }
        MetricFigures::Counter { sum, sum_per_s } => format!("{}, {}/s", three_digits(*sum), number(sum_per_s)),
        MetricFigures::Gauge { last, min, max } => {
            format!("{}, of {} to {}", number(last), number(min), number(max))
        }
    }
}

fn row(page: &mut Page, label: &str, text: &str, is_bad: bool) {
    let cell = Cell::right(text, CELL_COLUMNS);
    page.row(label, LABEL_COLUMNS, [if is_bad { cell.toned(Tone::Bad) } else { cell }]);
}

fn verdict(page: &mut Page, result: &BotsResult) {
    let (word, tone, sentence) = match result.verdict {
        Verdict::Pass => ("PASS", Tone::Good, "Every bot was served, and every threshold kept."),
        other => verdict_words(other),
    };
    page.line(&format!("{}  {sentence}", page.paint(tone, word)));
    for reason in &result.reasons {
        for (at, part) in wrap(reason, COLUMNS - 4).into_iter().enumerate() {
            page.line(&format!("  {} {part}", if at == 0 { '-' } else { ' ' }));
        }
    }
}

const COLUMNS: usize = 80;
const LABEL_COLUMNS: usize = 28;
const CELL_COLUMNS: usize = 26;
const NAME_COLUMNS: usize = 20;
const AGENT_COLUMNS: usize = 12;
const SLOW_TIMES_SHOWN: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_line() {
        let mut result = BotsResult::default();
        let trend = |p99| MetricFigures::Trend {
            count: 2,
            mean: None,
            min: None,
            p50: Some(1.0),
            p90: None,
            p95: None,
            p99,
            p999: None,
            max: Some(3.5),
        };
        result.metrics.insert("spawn_ms".into(), trend(Some(3.0)));
        result.metrics.insert("won".into(), MetricFigures::Rate { yes: 3, no: 1, share: Some(0.75) });
        result.metrics.insert("never".into(), trend(None));
        let slow = SlowTime { metric: "spawn_ms".into(), from_s: 4.2, until_s: 4.5, worst_ms: 312.0, stalled_ms: 3.0 };
        let stalled = SlowTime { from_s: 1.0, stalled_ms: 300.0, ..slow.clone() };
        result.slow_times = vec![slow, stalled];
        let text = table(&result, Style::Plain);
        for line in [
            "Slow from 4.2 to 4.5 s      spawn_ms up to 312",
            ", a stall of this machine",
            "p50 1.00, p99 3.00, max 3.50, of 2",
            "75.0%, 3 of 4",
            "p99 -",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
