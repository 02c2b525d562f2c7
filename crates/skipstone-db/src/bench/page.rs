//! A bench as a page: one file without scripts or external resources, its plots drawn as SVG.

use super::plan::{Asking, Work};
use super::result::{CellResult, DbBench, PARTIAL, StageResult};
use crate::timing::fine;
use skipstone_lab::report::format::{bytes, thousands};
use std::fmt::Write;

/// The page.
pub(crate) fn page(bench: &DbBench) -> String {
    let mut body = String::new();
    let records = thousands(bench.records as u64);
    let _ = write!(body, "<h1>The database of a game server</h1><p>{records} accounts, seed {}, ", bench.seed);
    let _ = write!(body, "{} s for each measurement. ", bench.seconds_per_cell);
    if let Some(flush) = bench.flush_ms {
        let _ = write!(body, "This disk writes and flushes 4 KiB in {}: no durable commit is quicker.", fine(flush));
    }
    body += "</p>";
    if bench.is_partial {
        let _ = write!(body, "<p class=bad><b>{PARTIAL}</b></p>");
    }
    for reason in &bench.reasons {
        let _ = write!(body, "<p class=bad>{}</p>", escaped(reason));
    }
    body += &costs(bench);
    body += "<h2>One prepared statement over one connection</h2><p>p50 to p99 in milliseconds, on a logarithmic scale; \
             the line is the original's figure (MySQL, 50,000 records). Hatched: a commit may be lost with the \
             machine's power.</p>";
    for work in [Work::Seek, Work::Update, Work::Add, Work::RankUnindexed, Work::RankIndexed] {
        body += &durability_plot(bench, work);
    }
    body += "<h2>Connections and statement forms</h2><p>Accounts a second, with the safest durability of each.</p>";
    for work in [Work::Seek, Work::Update, Work::Add] {
        body += &rate_plot(bench, work);
    }
    body += "<h2>Every measurement</h2>";
    bench.stages.iter().for_each(|stage| body += &rows(stage));
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>Database bench</title><style>{STYLE}</style><body>{body}</body></html>\n"
    )
}

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 \
1rem;color:#222;background:#fff}\
div{overflow-x:auto}svg{width:100%;min-width:46rem;height:auto;margin:.5rem 0}\
text{font:12px system-ui,sans-serif;fill:#222;stroke:#fff;stroke-width:4px;paint-order:stroke}\
table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}\
td,th{text-align:right;white-space:nowrap;padding:.15rem .5rem;border-bottom:1px solid \
#ddd}td:first-child,th:first-child{text-align:left}.bad{color:#b00020}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}text{fill:#ddd;stroke:#181818}.bad{color:#ff6b81}\
td,th{border-color:#444}}";

/// A bar of a plot: its label, from where to where, and how it is filled.
struct Bar {
    label: String,
    range: (f64, f64),
    fill: &'static str,
    text: String,
}

/// The latency of one prepared statement over one connection, with the original's figures.
fn costs(bench: &DbBench) -> String {
    let works = [Work::Seek, Work::Update, Work::Add, Work::RankUnindexed, Work::RankIndexed];
    let mut text = "<div><table><tr><th>p50 of one prepared statement".to_owned();
    works.iter().for_each(|work| text += &format!("<th>{}", work.name()));
    text += "</tr><tr><td>the original's, MySQL, 50,000 records";
    for work in works {
        let figure = bench.original.iter().find(|figure| figure.work == work);
        text += &format!("<td>{}", figure.map_or("-".into(), |figure| fine(figure.milliseconds)));
    }
    for stage in &bench.stages {
        let mark = if stage.is_durable { "" } else { " *" };
        text += &format!("</tr><tr><td>{}, {}{mark}", stage.engine, stage.durability);
        for work in works {
            text += &format!("<td>{}", stage.plain(work).map_or("-".into(), |result| fine(result.timing.p50_ms)));
        }
    }
    text + "</tr></table></div><p>* A commit that returned may be lost with the machine's power.</p>"
}

fn durability_plot(bench: &DbBench, work: Work) -> String {
    let bars: Vec<Bar> = bench
        .stages
        .iter()
        .filter_map(|stage| {
            let timing = stage.plain(work)?.timing;
            Some(Bar {
                label: format!("{}, {}", stage.engine, stage.durability),
                range: (timing.p50_ms, timing.p99_ms),
                fill: if stage.is_durable { "#1f77b4" } else { "url(#hatch)" },
                text: format!("{} to {}", fine(timing.p50_ms), fine(timing.p99_ms)),
            })
        })
        .collect();
    let original = bench.original.iter().find(|figure| figure.work == work).map(|figure| figure.milliseconds);
    plot(&format!("{}, ms", work.name()), &bars, original)
}

fn rate_plot(bench: &DbBench, work: Work) -> String {
    let mut seen = Vec::new();
    let mut bars = Vec::new();
    for stage in &bench.stages {
        if seen.contains(&&stage.url) {
            continue;
        }
        seen.push(&stage.url);
        for result in stage.cells.iter().filter(|result| result.cell.work == work && result.failure.is_none()) {
            let cell = &result.cell;
            let fill = match cell.asking {
                Asking::Single => "#7f7f7f",
                Asking::Prepared => "#1f77b4",
                Asking::Batched => "#2ca02c",
                Asking::Transaction => "#ff7f0e",
            };
            bars.push(Bar {
                label: format!("{}, {}, {}", stage.engine, cell.asking.name(), cell.connections),
                range: (1.0, result.per_second),
                fill,
                text: format!("{} a second", thousands(result.per_second as u64)),
            });
        }
    }
    plot(&format!("{}, a second", work.name()), &bars, None)
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 260.0;
const RIGHT: f64 = 170.0;
const ROW: f64 = 22.0;

/// Bars below each other on a logarithmic scale, and a line.
fn plot(title: &str, bars: &[Bar], line: Option<f64>) -> String {
    if bars.is_empty() {
        return String::new();
    }
    let positive = |value: f64| value.max(1e-6);
    let ends = || bars.iter().flat_map(|bar| [bar.range.0, bar.range.1]).chain(line).map(positive);
    let low = ends().fold(f64::MAX, f64::min).log10().floor();
    let high = ends().fold(f64::MIN, f64::max).log10().ceil().max(low + 1.0);
    let x = |value: f64| LEFT + (positive(value).log10() - low) / (high - low) * (WIDTH - LEFT - RIGHT);
    let height = ROW * (bars.len() as f64 + 2.0);
    let mut svg = format!(
        "<div><svg viewBox=\"0 0 {WIDTH} {height}\" role=img aria-label=\"{}\"><defs><pattern id=hatch width=6 \
         height=6 patternUnits=userSpaceOnUse patternTransform=\"rotate(45)\"><rect width=6 height=6 \
         fill=\"#9ecae1\"/><rect width=2 height=6 fill=\"#1f77b4\"/></pattern></defs><text x=0 y=15 \
         font-weight=bold>{}</text>",
        escaped(title),
        escaped(title)
    );
    for decade in low as i32..=high as i32 {
        let (at, value) = (x(10f64.powi(decade)), 10f64.powi(decade));
        let value = if decade < 0 { value.to_string() } else { thousands(value as u64) };
        let _ = write!(
            svg,
            "<line x1={at:.1} x2={at:.1} y1={ROW} y2={height} stroke=\"#8886\"/><text x={at:.1} y=15 \
             text-anchor=middle>{value}</text>"
        );
    }
    if let Some(value) = line {
        let (at, end) = (x(value), height - ROW * 0.5);
        let _ = write!(
            svg,
            "<line x1={at:.1} x2={at:.1} y1={ROW} y2={end} stroke=\"#d62728\" stroke-width=2 stroke-dasharray=\"6 \
             3\"/><text x={:.1} y={:.1}>the original: {}</text>",
            at + 6.0,
            height - 4.0,
            fine(value)
        );
    }
    for (row, bar) in bars.iter().enumerate() {
        let top = ROW * (row as f64 + 1.25);
        let (from, to) = (x(bar.range.0), x(bar.range.1).max(x(bar.range.0) + 2.0));
        let _ = write!(
            svg,
            "<text x=0 y={:.1}>{}</text><rect x={from:.1} y={top:.1} width={:.1} height=14 fill=\"{}\"/><text x={:.1} \
             y={:.1}>{}</text>",
            top + 12.0,
            escaped(&bar.label),
            to - from,
            bar.fill,
            to + 6.0,
            top + 12.0,
            escaped(&bar.text)
        );
    }
    svg + "</svg></div>"
}

fn rows(stage: &StageResult) -> String {
    let mut text = format!(
        "<h3>{} {}, {}</h3><p>{}: {}; filled at {} accounts a second; {}.</p><div><table><tr><th>work, statement form, \
         connections<th>p50<th>p90<th>p99<th>p99.9<th>max<th>a second</tr>",
        stage.engine,
        escaped(&stage.version),
        stage.durability,
        escaped(&stage.url),
        bytes(stage.bytes),
        thousands(stage.load_per_second as u64),
        stage.rows()
    );
    for CellResult { cell, timing, per_second, failure, .. } in &stage.cells {
        let _ = write!(text, "<tr><td>{}, {}, {}", cell.work.name(), cell.asking.name(), cell.connections);
        if failure.is_some() {
            text += "<td colspan=6 class=bad>failed</tr>";
            continue;
        }
        for ms in [timing.p50_ms, timing.p90_ms, timing.p99_ms, timing.p999_ms, timing.max_ms] {
            let _ = write!(text, "<td>{}", fine(ms));
        }
        let _ = write!(text, "<td>{}</tr>", thousands(per_second.round() as u64));
    }
    text + "</table></div>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
