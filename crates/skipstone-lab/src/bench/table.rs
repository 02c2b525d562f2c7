//! The results as a table: a line for each transport and number of clients.

use super::result::Bench;
use super::row::BenchRow;
use crate::report::format::{bytes, thousands, three_digits};
use crate::report::paint::{Style, Tone, wrap};
use crate::report::{Cell, Page, Verdict};

/// The table; ends with a line feed.
pub(super) fn table(bench: &Bench, style: Style) -> String {
    let mut page = Page::new(style);
    title(&mut page, bench);
    grid(&mut page, bench);
    failures(&mut page, bench);
    notes(&mut page, bench);
    page.into_text()
}

/// A column's heading, and a row's value in it.
type BenchColumn = (&'static str, fn(&BenchRow) -> Option<String>);

const COLUMNS: [BenchColumn; 16] = [
    ("clients", |row| Some(thousands(row.clients.into()))),
    ("passed", |row| Some(if row.passed { "yes" } else { "NO" }.into())),
    ("us/line", |row| row.figures.cpu_us_per_delivery.map(three_digits)),
    ("ratio", |row| row.figures.ratio.map(three_digits)),
    ("lines/s", |row| row.figures.deliveries_per_second.filter(|rate| *rate > 0.0).map(count)),
    ("p50", |row| row.figures.p50.map(three_digits)),
    ("p99", |row| row.figures.p99.map(three_digits)),
    ("max", |row| row.figures.max.map(three_digits)),
    ("overhead", |row| row.figures.overhead_percent.map(percent)),
    ("memory", |row| row.figures.rss_bytes.map(bytes)),
    ("ticks/s", |row| row.figures.ticks_per_second.map(three_digits)),
    ("CPU", |row| row.figures.server_cpu_percent.map(percent)),
    ("connect", |row| idle(row).and(row.figures.connect).map(seconds)),
    ("each", |row| idle(row).and(row.figures.rss_bytes_per_client).map(|rss| bytes(rss as u64))),
    ("B/s each", |row| {
        let rate = idle(row).and(row.figures.ip_bytes_per_second)?;
        Some(three_digits(rate / f64::from(row.clients)))
    }),
    ("close", |row| idle(row).and(row.figures.close).map(seconds)),
];

const NAME_COLUMNS: usize = 16;
const CELL_COLUMNS: usize = 10;
const TEXT_COLUMNS: usize = 120;

fn count(number: f64) -> String {
    thousands(number.round() as u64)
}

fn percent(percent: f64) -> String {
    format!("{percent:.1}%")
}

fn seconds(ms: f64) -> String {
    format!("{} s", three_digits(ms / 1e3))
}

/// Columns for those who say nothing.
fn idle(row: &BenchRow) -> Option<()> {
    (row.rate == 0.0).then_some(())
}

fn cores(cores: &[usize]) -> String {
    let numbers: Vec<String> = cores.iter().map(usize::to_string).collect();
    match cores {
        [] => "any core".to_owned(),
        [core] => format!("core {core}"),
        _ => format!("cores {}", numbers.join(", ")),
    }
}

fn title(page: &mut Page, bench: &Bench) {
    let (plan, machine) = (&bench.plan, &bench.machine);
    let what = match bench.preset {
        "idle" => "no client sends".to_owned(),
        "pingpong" => format!("lines of {} bytes, echoed, as fast as possible", plan.line_bytes),
        _ => format!("each client sends {} lines of {} bytes a second", plan.rate, plan.line_bytes),
    };
    let load = match plan.load_processes {
        1 => "load".to_owned(),
        processes => format!("load in {processes} processes"),
    };
    let title = format!("{}: {what}, {} s measured", bench.preset, plan.duration_s);
    page.toned(Tone::Strong, &title);
    page.line(&format!(
        "{} ticks a second, over {}, server on {}, {load} on {}; {}, {}",
        plan.ticks_per_second,
        plan.network,
        cores(plan.server_cpu.as_slice()),
        cores(&plan.load_cpus),
        machine.cpu,
        machine.kernel
    ));
    page.blank();
}

fn grid(page: &mut Page, bench: &Bench) {
    let shown = |(_, of): &&BenchColumn| bench.results.iter().any(|row| of(row).is_some());
    let longest = bench.results.iter().map(|row| row.name().len()).max().unwrap_or(0);
    let name_columns = NAME_COLUMNS.max(longest + 1);
    let columns: Vec<&BenchColumn> = COLUMNS.iter().filter(shown).collect();
    let mut head = format!("{:<name_columns$}", "times in ms");
    columns.iter().for_each(|(name, _)| head += &format!("{name:>CELL_COLUMNS$}"));
    page.toned(Tone::Faint, &head);
    for row in &bench.results {
        let cells = columns.iter().map(|(name, of)| {
            let cell = Cell::right(of(row).unwrap_or("-".into()), CELL_COLUMNS);
            let tone = if row.passed { Tone::Good } else { Tone::Bad };
            if *name == "passed" { cell.toned(tone) } else { cell }
        });
        page.row(&row.name(), name_columns, cells);
    }
    for limit in &bench.limits {
        let failed = limit.failed.map_or(String::new(), |failed| format!(", and not {}", thousands(failed.into())));
        page.line(&format!("{} holds {} clients{failed}", limit.transport, thousands(limit.clients.into())));
    }
    page.blank();
}

fn failures(page: &mut Page, bench: &Bench) {
    for row in bench.results.iter().filter(|row| !row.passed) {
        let text = format!("{}, {} clients: {}", row.name(), thousands(row.clients.into()), row.reasons.join("; "));
        wrap(&text, TEXT_COLUMNS).iter().for_each(|line| page.line(line));
    }
    for row in bench.results.iter().filter(|row| row.is_load_short()) {
        page.note(
            &format!(
                "{}, {} clients: the load used {:.0}% of its core and was up to {:.0} ms late: its own share of the \
             latency is not small.",
                row.name(),
                thousands(row.clients.into()),
                row.figures.load_cpu_percent.unwrap_or(0.0),
                row.figures.latest_send.unwrap_or(0.0)
            ),
            TEXT_COLUMNS,
        );
    }
}

fn notes(page: &mut Page, bench: &Bench) {
    page.note(
        &format!(
        "us/line is the server's user and system time per delivered line, ratio the same over that of {}; latency is \
         from when a line was due; overhead is IP bytes of both directions beyond the payload.",
        bench.plan.ratio_of
        ),
        TEXT_COLUMNS,
    );
    page.thresholds(&bench.thresholds);
    if bench.verdict == Verdict::Interrupted {
        page.line("Stopped early: the remaining runs are missing.");
    }
}
