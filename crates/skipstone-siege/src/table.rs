//! Rows as Markdown.

use crate::row::{Lines, Round, Row, Verdict};
use std::fmt::Write;

/// The table's head, with the line below it.
pub const HEAD: &str = "| attack | MB/s, begun | p99 calm / under / decoy | newcomers, slowest \
    | operator admitted, slowest, stream cut | memory before, peak, back | longest round | verdict |\n\
    |---|---|---|---|---|---|---|---|";

/// One row of the table.
#[must_use]
pub fn line(row: &Row) -> String {
    let p99 = |of: fn(&Round) -> Option<Lines>| ms(row.p99_ms(of));
    let calm = p99(|round| Some(round.calm));
    let (under, decoy) = (p99(|round| Some(round.under)), p99(|round| round.decoy));
    let sum = |of: fn(&Round) -> f64| row.rounds.iter().map(of).sum::<f64>();
    let rate = sum(|round| round.sent.bytes as f64) / sum(|round| round.sent.seconds).max(0.001) / 1e6;
    let (connected, attempted) =
        (sum(|round| round.newcomers.connected as f64), sum(|round| round.newcomers.attempted as f64));
    let slowest = row.rounds.iter().filter_map(|round| round.newcomers.slowest_ms).reduce(f64::max);
    let (served, visits) = (sum(|round| round.operator.served as f64), sum(|round| round.operator.visits as f64));
    let operator = row.rounds.iter().map(|round| round.operator.slowest_ms).reduce(f64::max);
    let cuts = sum(|round| round.operator.stream_cuts as f64);
    let begun = sum(|round| round.sent.openings as f64);
    let (before, peak) = (row.memory.before >> 20, row.memory.peak >> 20);
    let back = row.memory.back_s.map_or("never".into(), |back| format!("{back:.1} s"));
    let round = row.rounds.iter().filter_map(|round| round.round_cost_max_ms).reduce(f64::max);
    let mut text = format!(
        "| {} | {rate:.1}, {begun} | {calm} / {under} / {decoy} | {connected} of {attempted}, {} \
         | {served} of {visits}, {}, {cuts} | {before}, {peak} MiB, {back} | {} | ",
        row.name,
        ms(slowest),
        ms(operator),
        ms(round)
    );
    text += match row.verdict() {
        Verdict::Held => "held",
        Verdict::Missed => "**missed**",
        Verdict::Machine => "machine",
    };
    for fault in row.faults() {
        let _ = write!(text, "; {fault}");
    }
    text + " |"
}

fn ms(time: Option<f64>) -> String {
    match time {
        None => "-".into(),
        Some(time) if time < 100.0 => format!("{time:.1} ms"),
        Some(time) if time < 1_000.0 => format!("{time:.0} ms"),
        Some(time) => format!("{:.1} s", time / 1_000.0),
    }
}
