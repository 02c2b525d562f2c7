//! The comparison as a table: a line for each contender, the best figure of each column marked, the path's round
//! trip as the floor that nothing can beat.

use super::contender::Contender;
use super::result::{Comparison, ConditionWords};
use super::row::{CompareFigures, Summary};
use crate::report::format::{counted, thousands};
use crate::report::{Cell, Page, Style, Tone, Verdict};

/// The table; ends with a line feed.
pub(crate) fn table(comparison: &Comparison, style: Style) -> String {
    let mut page = Page::new(style);
    title(&mut page, comparison);
    if comparison.conditions.is_empty() {
        grid(&mut page, comparison, None);
    }
    for condition in &comparison.conditions {
        let link: Vec<String> = condition.link.iter().map(|(name, value)| format!("{name} {value}")).collect();
        page.toned(Tone::Strong, &format!("{}: {} entities, {}", condition.name, condition.entities, link.join(", ")));
        grid(&mut page, comparison, Some(condition));
    }
    notes(&mut page, comparison);
    page.thresholds(&comparison.thresholds);
    if comparison.verdict == Verdict::Interrupted {
        page.line("Stopped early: the remaining runs are missing.");
    }
    page.into_text()
}

/// A column of figures, of which the smallest is the best, or the greatest.
struct CompareColumn {
    head: &'static str,
    of: fn(&CompareFigures) -> Option<f64>,
    show: fn(f64) -> String,
    best: Best,
    /// Omitted if no transport has it.
    is_always: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Best {
    Smallest,
    Greatest,
    /// Zero is good, anything else is bad.
    Zero,
}

const fn column(head: &'static str, of: fn(&CompareFigures) -> Option<f64>, best: Best) -> CompareColumn {
    CompareColumn { head, of, show: two_decimals, best, is_always: true }
}

const fn share(head: &'static str, of: fn(&CompareFigures) -> Option<f64>, best: Best) -> CompareColumn {
    CompareColumn { head, of, show: percent, best, is_always: false }
}

/// Medians over the seeds.
const COLUMNS: [CompareColumn; 17] = [
    column("p50", |figures| figures.p50, Best::Smallest),
    column("p99", |figures| figures.p99, Best::Smallest),
    column("p99.8", |figures| figures.p998, Best::Smallest),
    column("p99.99", |figures| figures.p9999, Best::Smallest),
    column("max", |figures| figures.max, Best::Smallest),
    CompareColumn { is_always: false, ..column("calm 99.8", |figures| figures.p998_calm, Best::Smallest) },
    CompareColumn { is_always: false, ..column("calm max", |figures| figures.max_calm, Best::Smallest) },
    column("bytes", |figures| figures.bytes_per_payload, Best::Smallest),
    CompareColumn { show: count, ..column("lost", |figures| figures.lost.map(measure), Best::Zero) },
    CompareColumn {
        show: count,
        is_always: false,
        ..column("refused", |figures| figures.refused.filter(|count| *count > 0).map(measure), Best::Smallest)
    },
    CompareColumn { show: count, ..column("disorder", |figures| figures.reordered.map(measure), Best::Zero) },
    CompareColumn { is_always: false, ..column("queue p95", |figures| figures.queue_delay_p95, Best::Smallest) },
    CompareColumn { show: percent, is_always: false, ..column("stalled", CompareFigures::stalled_share, Best::Zero) },
    share("link", |figures| figures.link_share, Best::Greatest),
    share("useful", |figures| figures.useful_share, Best::Greatest),
    share("goodput", |figures| figures.goodput_share, Best::Greatest),
    share("beside", |figures| figures.beside_share, Best::Greatest),
];

/// The worst seed's percentiles, to which thresholds usually apply.
const WORST: [CompareColumn; 2] =
    [column("p99.8", |figures| figures.p998, Best::Smallest), column("max", |figures| figures.max, Best::Smallest)];

/// The description of a real run's figures.
const REAL: &str = include_str!("real.txt").trim_ascii_end();
const SHARES: &str = include_str!("shares.txt").trim_ascii_end();
const NAME_COLUMNS: usize = 29;
const CELL_COLUMNS: usize = 10;
const TEXT_COLUMNS: usize = 100;

/// The plan in a line.
pub(crate) fn heading(comparison: &Comparison) -> String {
    let plan = &comparison.plan;
    format!(
        "{}: {}, {} updates a second of {} bytes each, for {}",
        plan.name,
        counted(plan.entities.into(), "entity").replace("entitys", "entities"),
        plan.ticks_per_second,
        plan.payload_bytes,
        if comparison.over.is_some() {
            format!("{} real seconds", (plan.minutes * 60.0).round())
        } else {
            format!("{} simulated minutes", (plan.minutes * 1_000.0).round() / 1_000.0)
        }
    )
}

fn title(page: &mut Page, comparison: &Comparison) {
    let link: Vec<String> = comparison.plan.link.iter().map(|(name, value)| format!("{name} {value}")).collect();
    page.blank();
    page.toned(Tone::Strong, &heading(comparison));
    page.line(&format!("{}; {}", link.join(", "), seeds(&comparison.seeds)));
    if let Some(over) = &comparison.over {
        page.line(&format!("over {over}"));
    }
    page.blank();
}

fn grid(page: &mut Page, comparison: &Comparison, condition: Option<&ConditionWords>) {
    let name_of = condition.map(|condition| condition.name.as_str());
    let summaries: Vec<&Summary> =
        comparison.summary.iter().filter(|summary| summary.condition.as_deref() == name_of).collect();
    let floor = condition.map_or(comparison.plan.floor, |condition| condition.floor);
    let shown = |column: &&CompareColumn| {
        column.is_always || summaries.iter().any(|summary| (column.of)(&summary.median).is_some())
    };
    let columns: Vec<&CompareColumn> = COLUMNS.iter().filter(shown).collect();
    let worst: Vec<&CompareColumn> = WORST.iter().filter(|_| comparison.seeds.len() > 1).collect();
    let heads = columns.iter().map(|column| column.head.to_owned());
    let heads = heads.chain(worst.iter().map(|column| format!("<={}", column.head)));
    let round_trips = columns.iter().take(5).map(|_| two_decimals(floor));
    for (label, cells) in
        [("ms; bytes per payload byte", heads.collect::<Vec<_>>()), ("(the path's round trip)", round_trips.collect())]
    {
        let cells = cells.into_iter().map(|text| format!("{text:>CELL_COLUMNS$}"));
        page.toned(Tone::Faint, &format!("{label:<NAME_COLUMNS$}{}", cells.collect::<String>()));
    }
    for summary in &summaries {
        let medians = columns.iter().map(|column| cell(column, &summary.median, &summaries, |other| &other.median));
        let worsts = worst.iter().map(|column| cell(column, &summary.worst, &summaries, |other| &other.worst));
        page.row(&name(summary), NAME_COLUMNS, medians.chain(worsts));
    }
    page.blank();
}

/// A figure; with a star if it is the best of its column.
fn cell(
    column: &CompareColumn,
    own: &CompareFigures,
    summaries: &[&Summary],
    of: impl Fn(&Summary) -> &CompareFigures,
) -> Cell {
    let Some(value) = (column.of)(own) else { return Cell::right("-", CELL_COLUMNS) };
    let shown = (column.show)(value);
    let others = summaries.iter().filter_map(|other| (column.of)(of(other)));
    let mut others = others.map(column.show).filter_map(|text| number(&text));
    let number = number(&shown).unwrap_or(f64::NAN);
    let is_best = match column.best {
        Best::Smallest => others.all(|other| number <= other),
        Best::Greatest => others.all(|other| number >= other),
        Best::Zero => false,
    };
    match (column.best, is_best) {
        (Best::Zero, _) if value > 0.0 => Cell::right(format!("{shown} "), CELL_COLUMNS).toned(Tone::Bad),
        (_, true) => Cell::right(format!("{shown}*"), CELL_COLUMNS).toned(Tone::Good),
        _ => Cell::right(format!("{shown} "), CELL_COLUMNS),
    }
}

fn notes(page: &mut Page, comparison: &Comparison) {
    let over = match comparison.seeds.len() {
        1 => "",
        _ => " Medians over the seeds; <= is the worst seed's.",
    };
    let columns = format!(
        "* best of its column.{over} Latency is from the tick to the delivery of the echo, of every update from the \
         first; bytes are IP bytes of both directions, handshake and acknowledgements included, per payload byte \
         delivered there and back."
    );
    page.note(&columns, TEXT_COLUMNS);
    if comparison.plan.link.contains_key("latency") {
        page.note(ONE_WAY, TEXT_COLUMNS);
    }
    if let Some(sealing) = comparison.sealing {
        page.note(sealing, TEXT_COLUMNS);
    }
    if comparison.over.is_some() {
        page.note(REAL, TEXT_COLUMNS);
    }
    if comparison.summary.iter().any(|summary| summary.median.link_share.is_some()) {
        page.note(SHARES, TEXT_COLUMNS);
    }
    for summary in comparison.summary.iter().filter(|summary| summary.gave_up > 0) {
        let (who, of, runs) = (name(summary), comparison.seeds.len(), counted(summary.gave_up as u64, "run"));
        let gave_up = format!("{who} gave up in {runs} of {of}: it sent more datagrams than a run may have.");
        page.note(&gave_up, TEXT_COLUMNS);
    }
    page.blank();
}

const ONE_WAY: &str = "The recording is played both ways: each end sends its own messages, which do not come back. \
                       Latency is that of one way, of both ends' messages, and the payload is counted once.";

fn name(summary: &Summary) -> String {
    summary.mode.as_ref().map_or(summary.transport.to_owned(), |mode| format!("{} {mode}", summary.transport))
}

fn seeds(seeds: &[u64]) -> String {
    match seeds {
        [] => "no seed".into(),
        [one] => format!("seed {one}"),
        [first, .., last] => format!("seeds {first} to {last}"),
    }
}

/// The progress of a run, for display.
pub(crate) fn job(contender: Contender, seed: u64) -> String {
    format!("{contender}, seed {seed}")
}

fn two_decimals(number: f64) -> String {
    format!("{number:.2}")
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn measure(count: u64) -> f64 {
    count as f64
}

fn count(number: f64) -> String {
    thousands(number as u64)
}

/// Figures that are shown alike are alike.
fn number(shown: &str) -> Option<f64> {
    shown.trim_end_matches('%').replace(',', "").parse().ok()
}
