//! The comparison as people read it: a line for each contender, the best figure of each column marked, the path's round
//! trip as the floor that nothing can beat.

use super::contender::Contender;
use super::result::Comparison;
use super::row::{Figures, Summary};
use crate::report::format::{counted, thousands, three_digits};
use crate::report::paint::{Style, Tone, wrap};
use crate::report::rows::Verdict;

/// The table; ends with a line feed.
pub(crate) fn table(comparison: &Comparison, style: Style) -> String {
    let mut page = Page { text: String::new(), style };
    page.title(comparison);
    page.grid(comparison);
    page.notes(comparison);
    page.thresholds(comparison);
    page.text
}

/// A column of figures, of which the smallest is the best, or the greatest.
struct Column {
    head: &'static str,
    of: fn(&Figures) -> Option<f64>,
    show: fn(f64) -> String,
    best: Best,
    /// Left out when nobody has it.
    is_always: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Best {
    Smallest,
    Greatest,
    /// Zero is good, anything else is bad.
    Zero,
}

const fn column(head: &'static str, of: fn(&Figures) -> Option<f64>, best: Best) -> Column {
    Column { head, of, show: two_decimals, best, is_always: true }
}

const fn share(head: &'static str, of: fn(&Figures) -> Option<f64>, best: Best) -> Column {
    Column { head, of, show: percent, best, is_always: false }
}

/// Medians over the seeds.
const COLUMNS: [Column; 14] = [
    column("p50", |figures| figures.p50, Best::Smallest),
    column("p99", |figures| figures.p99, Best::Smallest),
    column("p99.8", |figures| figures.p998, Best::Smallest),
    column("p99.99", |figures| figures.p9999, Best::Smallest),
    column("max", |figures| figures.max, Best::Smallest),
    column("bytes", |figures| figures.bytes_per_payload, Best::Smallest),
    Column { show: count, ..column("lost", |figures| figures.lost, Best::Zero) },
    Column {
        show: count,
        is_always: false,
        ..column("refused", |figures| figures.refused.filter(|count| *count > 0.0), Best::Smallest)
    },
    Column { show: count, ..column("disorder", |figures| figures.reordered, Best::Zero) },
    Column { is_always: false, ..column("queue p95", |figures| figures.queue_delay_p95, Best::Smallest) },
    share("link", |figures| figures.link_share, Best::Greatest),
    share("useful", |figures| figures.useful_share, Best::Greatest),
    share("goodput", |figures| figures.goodput_share, Best::Greatest),
    share("beside", |figures| figures.beside_share, Best::Greatest),
];

/// The worst seed's percentiles, which bars are set for.
const WORST: [Column; 2] =
    [column("p99.8", |figures| figures.p998, Best::Smallest), column("max", |figures| figures.max, Best::Smallest)];

const SHARES: &str = "Shares are of what the link carries towards the server while all flows share it: link, all IP \
    bytes; useful, first copies of payload with their headers that the rate took in (by what each sender's counters say \
    of each datagram); goodput, payload that came back; beside, IP bytes of the flows beside.";
const NAME_COLUMNS: usize = 27;
const CELL_COLUMNS: usize = 10;
const TEXT_COLUMNS: usize = 100;

struct Page {
    text: String,
    style: Style,
}

impl Page {
    fn title(&mut self, comparison: &Comparison) {
        let plan = &comparison.plan;
        let link: Vec<String> = plan.link.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let title = format!(
            "{}: {}, {} updates a second of {} bytes each, for {} simulated minutes",
            plan.name,
            counted(plan.entities.into(), "entity").replace("entitys", "entities"),
            plan.ticks_per_second,
            plan.payload_bytes,
            plan.minutes
        );
        self.blank();
        self.line(&self.style.paint(Tone::Strong, &title));
        self.line(&format!("{}; {}", link.join(", "), seeds(&comparison.seeds)));
        self.blank();
    }

    fn grid(&mut self, comparison: &Comparison) {
        let summaries = &comparison.summary;
        let shown = |column: &&Column| {
            column.is_always || summaries.iter().any(|summary| (column.of)(&summary.median).is_some())
        };
        let columns: Vec<&Column> = COLUMNS.iter().filter(shown).collect();
        let worst: Vec<&Column> = WORST.iter().filter(|_| comparison.seeds.len() > 1).collect();
        let mut head = format!("{:<NAME_COLUMNS$}", "ms; bytes per payload byte");
        columns.iter().for_each(|column| head += &format!("{:>CELL_COLUMNS$}", column.head));
        worst.iter().for_each(|column| head += &format!("{:>CELL_COLUMNS$}", format!("<={}", column.head)));
        self.line(&self.style.paint(Tone::Faint, &head));
        let mut floor = format!("{:<NAME_COLUMNS$}", "(the path's round trip)");
        let round_trip = two_decimals(comparison.plan.floor);
        columns.iter().take(5).for_each(|_| floor += &format!("{round_trip:>CELL_COLUMNS$}"));
        self.line(&self.style.paint(Tone::Faint, &floor));
        for summary in summaries {
            let mut line = format!("{:<NAME_COLUMNS$}", name(summary));
            for column in &columns {
                line += &self.cell(column, &summary.median, summaries.iter().map(|summary| &summary.median));
            }
            for column in &worst {
                line += &self.cell(column, &summary.worst, summaries.iter().map(|summary| &summary.worst));
            }
            self.line(&line);
        }
        self.blank();
    }

    /// A figure; with a star if it is the best of its column.
    fn cell<'a>(&self, column: &Column, own: &Figures, all: impl Iterator<Item = &'a Figures>) -> String {
        let Some(value) = (column.of)(own) else { return format!("{:>CELL_COLUMNS$}", "-") };
        let shown = (column.show)(value);
        let mut others = all.filter_map(column.of).map(column.show).filter_map(|text| number(&text));
        let number = number(&shown).unwrap_or(f64::NAN);
        let is_best = match column.best {
            Best::Smallest => others.all(|other| number <= other),
            Best::Greatest => others.all(|other| number >= other),
            Best::Zero => false,
        };
        let width = CELL_COLUMNS - 1;
        match (column.best, is_best) {
            (Best::Zero, _) if value > 0.0 => self.style.paint(Tone::Bad, &format!("{shown:>width$} ")),
            (_, true) => self.style.paint(Tone::Good, &format!("{shown:>width$}*")),
            _ => format!("{shown:>width$} "),
        }
    }

    fn notes(&mut self, comparison: &Comparison) {
        let over = match comparison.seeds.len() {
            1 => "",
            _ => " Medians over the seeds; <= is the worst seed's.",
        };
        self.note(&format!(
            "* best of its column.{over} Latency is from the tick to the delivery of the echo, of every update from the \
             first; bytes are IP bytes of both directions, handshake and acknowledgements included, per payload byte \
             delivered there and back."
        ));
        self.note(comparison.sealing);
        if comparison.summary.iter().any(|summary| summary.median.link_share.is_some()) {
            self.note(SHARES);
        }
        for summary in comparison.summary.iter().filter(|summary| summary.gave_up > 0) {
            let (who, of) = (name(summary), comparison.seeds.len());
            self.note(&format!(
                "{who} gave up in {} of {of}: it wanted more datagrams than a run may take.",
                counted(summary.gave_up as u64, "run")
            ));
        }
        self.blank();
    }

    fn thresholds(&mut self, comparison: &Comparison) {
        for threshold in &comparison.thresholds {
            let (mark, tone) = if threshold.passed { ("kept  ", Tone::Good) } else { ("missed", Tone::Bad) };
            let actual = threshold.actual.map_or("not measured".into(), three_digits);
            let mark = self.style.paint(tone, mark);
            self.line(&format!("{mark}  {:<42}{:<34}{actual:>14}", threshold.expression, threshold.of));
        }
        match comparison.verdict {
            Verdict::Interrupted => self.line("Stopped before its end: what was not run is left out."),
            Verdict::Pass | Verdict::Fail => {}
        }
    }

    fn note(&mut self, text: &str) {
        for line in wrap(text, TEXT_COLUMNS) {
            self.line(&self.style.paint(Tone::Faint, &line));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }
}

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

/// How far a run is, for those who watch.
pub(crate) fn job(contender: Contender, seed: u64) -> String {
    format!("{contender}, seed {seed}")
}

fn two_decimals(number: f64) -> String {
    format!("{number:.2}")
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn count(number: f64) -> String {
    thousands(number as u64)
}

/// What is shown alike is alike.
fn number(shown: &str) -> Option<f64> {
    shown.trim_end_matches('%').replace(',', "").parse().ok()
}
