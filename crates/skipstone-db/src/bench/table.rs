//! A bench for people: the original's figures and ours, what durability costs, and every measurement.

use super::plan::Work;
use super::result::{CellResult, DbBench, PARTIAL, StageResult};
use crate::timing::fine;
use skipstone_lab::report::format::{bytes, thousands};
use skipstone_lab::report::{Cell, Page, Style, Tone};

const LABEL: usize = 44;
const COLUMN: usize = 13;
/// Of a kind of work, whose name is longer than a time.
const WORK: usize = 16;

/// The table; ends with a line feed.
pub(crate) fn table(bench: &DbBench, style: Style) -> String {
    let mut page = Page::new(style);
    let records = thousands(bench.records as u64);
    page.toned(Tone::Strong, &format!("db bench: {records} accounts, {} s each", bench.seconds_per_cell));
    if bench.is_partial {
        page.toned(Tone::Bad, PARTIAL);
    }
    if let Some(flush) = bench.flush_ms {
        page.line(&format!("this disk writes and flushes 4 KiB in {}: no durable commit is quicker", fine(flush)));
    }
    page.blank();
    costs(&mut page, bench);
    for stage in &bench.stages {
        details(&mut page, stage);
    }
    page.into_text()
}

/// The latency of one prepared statement over one connection, by durability.
fn costs(page: &mut Page, bench: &DbBench) {
    let works = [Work::Seek, Work::Update, Work::Add, Work::RankUnindexed, Work::RankIndexed];
    let mut head = format!("{:<LABEL$}", "p50 of one prepared statement");
    works.iter().for_each(|work| head += &format!("{:>WORK$}", work.name()));
    page.toned(Tone::Faint, &head);
    let original = works.map(|work| {
        let figure = bench.original.iter().find(|figure| figure.work == work);
        Cell::right(figure.map_or("-".into(), |figure| fine(figure.milliseconds)), WORK)
    });
    page.row("the original's, MySQL", LABEL, original);
    for stage in &bench.stages {
        let cells = works.map(|work| {
            let Some(ours) = stage.plain(work) else { return Cell::right("-", WORK) };
            let cell = Cell::right(fine(ours.timing.p50_ms), WORK);
            let original = bench.original.iter().find(|figure| figure.work == work);
            match original {
                Some(figure) if ours.timing.p50_ms <= figure.milliseconds => cell.toned(Tone::Good),
                Some(_) => cell.toned(Tone::Bad),
                None => cell,
            }
        });
        page.row(&name(stage), LABEL, cells);
    }
    page.note("* a commit that returned may be lost with the machine's power", 120);
    page.blank();
}

fn name(stage: &StageResult) -> String {
    format!("{}, {}{}", stage.engine, stage.durability, if stage.is_durable { "" } else { " *" })
}

fn details(page: &mut Page, stage: &StageResult) {
    page.toned(Tone::Strong, &format!("{} {}, {}", stage.engine, stage.version, stage.durability));
    page.line(&format!(
        "{}; filled at {} accounts a second; {}",
        bytes(stage.bytes),
        thousands(stage.load_per_second as u64),
        stage.rows()
    ));
    let mut head = format!("{:<LABEL$}", "work, statement form, connections; times of a call");
    ["p50", "p90", "p99", "max", "a second"].iter().for_each(|column| head += &format!("{column:>COLUMN$}"));
    page.toned(Tone::Faint, &head);
    for result in &stage.cells {
        let CellResult { cell, timing, .. } = result;
        let label = format!("{}, {}, {}", cell.work.name(), cell.asking.name(), cell.connections);
        if result.failure.is_some() {
            page.row(&label, LABEL, [Cell::right("failed", COLUMN).toned(Tone::Bad)]);
            continue;
        }
        let times = [timing.p50_ms, timing.p90_ms, timing.p99_ms, timing.max_ms].map(fine);
        let rate = thousands(result.per_second.round() as u64);
        page.row(&label, LABEL, times.iter().chain([&rate]).map(|text| Cell::right(text, COLUMN)));
    }
    page.blank();
}
