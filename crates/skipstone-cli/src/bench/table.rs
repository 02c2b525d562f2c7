//! The bench as people read it: a line for each transport and number of clients.

use super::result::Bench;
use super::row::Row;
use crate::report::format::{bytes, thousands, three_digits};
use crate::report::paint::{Style, Tone, wrap};
use crate::report::rows::Verdict;

/// The table; ends with a line feed.
pub(super) fn table(bench: &Bench, style: Style) -> String {
    let mut page = Page { text: String::new(), style };
    page.title(bench);
    page.grid(bench);
    page.failures(bench);
    page.notes(bench);
    page.text
}

/// A row in a sentence, for those who watch.
pub(super) fn sentence(row: &Row) -> String {
    let cost = row.figures.cpu_us_per_delivery.map(|cost| format!("{} us/delivery", three_digits(cost)));
    let p99 = row.figures.p99.map(|p99| format!("p99 {p99:.1} ms"));
    let figures: Vec<String> = [cost, p99].into_iter().flatten().collect();
    let how = if row.passed { "passed".to_owned() } else { format!("did not pass: {}", row.reasons.join("; ")) };
    [vec![how], figures].concat().join(", ")
}

struct Column {
    head: &'static str,
    of: fn(&Row) -> Option<String>,
}

const COLUMNS: [Column; 16] = [
    Column { head: "clients", of: |row| Some(thousands(row.clients.into())) },
    Column { head: "passed", of: |row| Some(if row.passed { "yes" } else { "NO" }.into()) },
    Column { head: "us/line", of: |row| row.figures.cpu_us_per_delivery.map(three_digits) },
    Column { head: "ratio", of: |row| row.figures.ratio.map(three_digits) },
    Column { head: "lines/s", of: |row| count(row.figures.deliveries_per_second.filter(|rate| *rate > 0.0)) },
    Column { head: "p50", of: |row| row.figures.p50.map(three_digits) },
    Column { head: "p99", of: |row| row.figures.p99.map(three_digits) },
    Column { head: "max", of: |row| row.figures.max.map(three_digits) },
    Column { head: "overhead", of: |row| row.figures.overhead_percent.map(|percent| format!("{percent:.1}%")) },
    Column { head: "memory", of: |row| row.figures.rss_bytes.map(|rss| bytes(rss as u64)) },
    Column { head: "ticks/s", of: |row| row.figures.ticks_per_second.map(three_digits) },
    Column { head: "CPU", of: |row| row.figures.server_cpu_percent.map(|percent| format!("{percent:.1}%")) },
    Column {
        head: "connect",
        of: |row| idle(row).and(row.figures.connect).map(|ms| format!("{} s", three_digits(ms / 1e3))),
    },
    Column { head: "each", of: |row| idle(row).and(row.figures.rss_bytes_per_client).map(|rss| bytes(rss as u64)) },
    Column {
        head: "B/s each",
        of: |row| {
            idle(row).and(row.figures.ip_bytes_per_second).map(|rate| three_digits(rate / f64::from(row.clients)))
        },
    },
    Column {
        head: "close",
        of: |row| idle(row).and(row.figures.close).map(|ms| format!("{} s", three_digits(ms / 1e3))),
    },
];

const NAME_COLUMNS: usize = 16;
const CELL_COLUMNS: usize = 10;
const TEXT_COLUMNS: usize = 120;

fn count(number: Option<f64>) -> Option<String> {
    number.map(|number| thousands(number.round() as u64))
}

/// Columns for those who say nothing.
fn idle(row: &Row) -> Option<()> {
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

struct Page {
    text: String,
    style: Style,
}

impl Page {
    fn title(&mut self, bench: &Bench) {
        let (plan, machine) = (&bench.plan, &bench.machine);
        let what = match bench.preset {
            "idle" => "nobody says anything".to_owned(),
            "pingpong" => format!("lines of {} bytes, there and back, as fast as it goes", plan.line_bytes),
            _ => format!("each client sends {} lines of {} bytes a second", plan.rate, plan.line_bytes),
        };
        let load = match plan.load_processes {
            1 => "load".to_owned(),
            processes => format!("load in {processes} processes"),
        };
        let title = format!("{}: {what}, {} s measured", bench.preset, plan.duration_s);
        self.line(&self.style.paint(Tone::Strong, &title));
        self.line(&format!(
            "{} ticks a second, over {}, server on {}, {load} on {}; {}, {}",
            plan.ticks_per_second,
            plan.network,
            cores(plan.server_cpu.as_slice()),
            cores(&plan.load_cpus),
            machine.cpu,
            machine.kernel
        ));
        self.line("");
    }

    fn grid(&mut self, bench: &Bench) {
        let shown = |column: &&Column| bench.results.iter().any(|row| (column.of)(row).is_some());
        let longest = bench.results.iter().map(|row| row.name().len()).max().unwrap_or(0);
        let name_columns = NAME_COLUMNS.max(longest + 1);
        let columns: Vec<&Column> = COLUMNS.iter().filter(shown).collect();
        let mut head = format!("{:<name_columns$}", "times in ms");
        columns.iter().for_each(|column| head += &format!("{:>CELL_COLUMNS$}", column.head));
        self.line(&self.style.paint(Tone::Faint, &head));
        for row in &bench.results {
            let mut line = format!("{:<name_columns$}", row.name());
            for column in &columns {
                let cell = format!("{:>CELL_COLUMNS$}", (column.of)(row).unwrap_or("-".into()));
                let tone = if row.passed { Tone::Good } else { Tone::Bad };
                line += &if column.head == "passed" { self.style.paint(tone, &cell) } else { cell };
            }
            self.line(&line);
        }
        for limit in &bench.limits {
            let failed = limit.failed.map_or(String::new(), |failed| format!(", and not {}", thousands(failed.into())));
            self.line(&format!("{} holds {} clients{failed}", limit.transport, thousands(limit.clients.into())));
        }
        self.line("");
    }

    fn failures(&mut self, bench: &Bench) {
        for row in bench.results.iter().filter(|row| !row.passed) {
            let text = format!("{}, {} clients: {}", row.name(), thousands(row.clients.into()), row.reasons.join("; "));
            wrap(&text, TEXT_COLUMNS).iter().for_each(|line| self.line(line));
        }
        for row in bench.results.iter().filter(|row| row.is_load_short()) {
            self.note(&format!(
                "{}, {} clients: the load used {:.0}% of its core and was up to {:.0} ms late: its own share of the latency \
                 is not small.",
                row.name(),
                thousands(row.clients.into()),
                row.figures.load_cpu_percent.unwrap_or(0.0),
                row.figures.latest_send.unwrap_or(0.0)
            ));
        }
    }

    fn notes(&mut self, bench: &Bench) {
        self.note(&format!(
            "us/line is the server's user and system time per delivered line, ratio the same over that of {}; latency is from \
             when a line was due; overhead is IP bytes of both directions beyond the payload.",
            bench.plan.ratio_of
        ));
        for threshold in &bench.thresholds {
            let (mark, tone) = if threshold.passed { ("kept  ", Tone::Good) } else { ("missed", Tone::Bad) };
            let actual = threshold.actual.map_or("not measured".into(), three_digits);
            let mark = self.style.paint(tone, mark);
            self.line(&format!("{mark}  {:<42}{:<34}{actual:>14}", threshold.expression, threshold.of));
        }
        if bench.verdict == Verdict::Interrupted {
            self.line("Stopped before its end: what was not run is left out.");
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
}
