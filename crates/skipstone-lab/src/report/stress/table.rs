//! The last output of a run on a terminal: the figures, and at the very end, where one looks first, the verdict.
//! At most 80 columns, as long as texts from outside have blanks to break at.

use crate::report::format::{bytes, counted, milliseconds, or_dash, percent, percent_of, thousands, three_digits};
use crate::report::paint::{Style, Tone, wrap};
use crate::report::stress::result::{ClientCounts, LatencyMs, Messages, Side, StressResult, Wire};
use crate::report::{Cell, Page, Verdict};

mod agents;

/// The final table; ends with a line feed.
pub fn table(result: &StressResult, style: Style) -> String {
    let mut page = Page::new(style);
    title(&mut page, result);
    Grid { columns: columns(result), page: &mut page }.figures(result);
    result.fleet.iter().for_each(|fleet| agents::rows(&mut page, fleet));
    notes(result).iter().for_each(|(label, text)| note(&mut page, label, text));
    page.blank();
    page.thresholds(&result.thresholds);
    if !result.thresholds.is_empty() {
        page.blank();
    }
    verdict(&mut page, result);
    page.into_text()
}

/// The figures: a row for each, a column for all clients and for each carrier.
struct Grid<'a> {
    page: &'a mut Page,
    columns: Vec<StressColumn<'a>>,
}

/// One column of the grid: all clients, or one carrier's clients.
struct StressColumn<'a> {
    name: String,
    clients: &'a ClientCounts,
    messages: &'a Messages,
    latency: Option<LatencyMs>,
    wire: &'a Wire,
}

fn title(page: &mut Page, result: &StressResult) {
    page.blank();
    page.toned(Tone::Strong, &heading(result));
    page.blank();
}

/// The run in a line.
pub fn heading(result: &StressResult) -> String {
    let plan = &result.plan;
    let size = match plan.size.as_str() {
        "sentence" => "a sentence".to_owned(),
        bytes => format!("{bytes} bytes"),
    };
    format!(
        "{}, {size} of each at {} for {:.1} s; seed {}",
        counted(result.clients.asked, "client"),
        plan.rate,
        result.duration_s,
        result.seed
    )
}

impl Grid<'_> {
    fn figures(&mut self, result: &StressResult) {
        self.row("", |column| Cell::right(&column.name, CELL_COLUMNS).toned(Tone::Faint));
        self.row("Clients connected", |column| {
            alarming(column.clients.connected, column.clients.connected < column.clients.asked)
        });
        self.fault("  dropped", |column| column.clients.dropped);
        self.count("Lines sent", |messages| messages.sent);
        self.count("Deliveries expected", |messages| messages.expected);
        self.count("  delivered", |messages| messages.delivered);
        self.fault("  lost", |column| column.messages.lost);
        self.fault("  duplicated", |column| column.messages.duplicated);
        self.fault("  reordered", |column| column.messages.reordered);
        self.fault("  corrupted", |column| column.messages.corrupted);
        if result.messages.unexpected > 0 {
            self.fault("  never sent", |column| column.messages.unexpected);
        }
        self.count("  per second", |messages| messages.per_second.round() as u64);
        for (label, figure) in LATENCIES {
            let shown = |column: &StressColumn<'_>| or_dash(column.latency.as_ref().and_then(figure), milliseconds);
            self.row(label, |column| Cell::right(shown(column), CELL_COLUMNS));
        }
        self.row("Overhead", |column| Cell::right(or_dash(column.wire.overhead_percent, percent), CELL_COLUMNS));
        self.page.blank();
    }

    fn row(&mut self, label: &str, cell: impl Fn(&StressColumn<'_>) -> Cell) {
        self.page.row(label, LABEL_COLUMNS, self.columns.iter().map(cell));
    }

    fn count(&mut self, label: &str, figure: impl Fn(&Messages) -> u64) {
        self.row(label, |column| alarming(figure(column.messages), false));
    }

    /// A count that should be zero.
    fn fault(&mut self, label: &str, figure: impl Fn(&StressColumn<'_>) -> u64) {
        self.row(label, |column| alarming(figure(column), figure(column) > 0));
    }
}

/// How many clients connected, and how long connecting and closing took.
fn attendance(result: &StressResult) -> String {
    let (connected, asked) = (result.clients.connected, result.clients.asked);
    if connected < asked {
        return format!("{} of {} connected", thousands(connected), thousands(asked));
    }
    let ramp = format!("all connected after {}", milliseconds(result.timing.ramp_ms));
    // Clients that continue waiting after a run are not closed.
    match result.timing.close_ms {
        0.0 => ramp,
        close => format!("{ramp}, all closed in {}", milliseconds(close)),
    }
}

fn alarming(count: u64, is_bad: bool) -> Cell {
    let cell = Cell::right(thousands(count), CELL_COLUMNS);
    if is_bad { cell.toned(Tone::Bad) } else { cell }
}

/// The notes below the figures: a label and a sentence each.
pub(crate) fn notes(result: &StressResult) -> Vec<(&'static str, String)> {
    let mut notes =
        vec![("Network", network(&result.wire)), ("Server", server(result)), ("Generator", generator(result))];
    let timing = &result.timing;
    let connect = timing.connect_ms.map_or(String::new(), |connect| {
        format!("connect p50 {}, max {}; ", milliseconds(connect.p50), milliseconds(connect.max))
    });
    notes.push(("Clients", format!("{connect}{}", attendance(result))));
    if let Some(impairment) = &result.impairment {
        let settings: Vec<String> =
            impairment.settings.iter().map(|(option, value)| format!("{option} {value}")).collect();
        let lost = impairment.to_server.lost() + impairment.to_clients.lost();
        let sent = impairment.to_server.sent + impairment.to_clients.sent;
        let settings = settings.join(", ");
        notes.push(("Link", format!("{settings}; it lost {} of {}", thousands(lost), counted(sent, "datagram"))));
    }
    if let Some(fleet) = &result.fleet {
        notes.extend(agents::notes(fleet));
    }
    notes.push(("Redundancy", redundancy(result)));
    for (who, side) in [("clients", Some(&result.protocol.clients)), ("server", result.protocol.server.as_ref())] {
        if let Some(drops) = side.and_then(drops) {
            notes.push(("Dropped", format!("by the {who}: {drops}")));
        }
    }
    if let Some(roaming) = &result.roaming {
        let followed = roaming.path_changes.map(|count| format!("the server followed {}, ", thousands(count)));
        let (moves, every) = (counted(roaming.moves, "change"), milliseconds(roaming.every_ms));
        let followed = followed.unwrap_or_default();
        let reconnects = counted(roaming.reconnects, "reconnect");
        let text = format!("{moves} of the port, one per client every {every}; {followed}{reconnects}");
        notes.push(("Roaming", text));
    }
    if let Some(returns) = &result.returns {
        let (back, away) = (counted(returns.returned, "time"), milliseconds(returns.longest_away_ms));
        let (acknowledged, not) = (thousands(returns.lines_acknowledged), thousands(returns.lines_unacknowledged));
        let missing = match returns.missing {
            0 => String::new(),
            missing => format!(", {} did not", thousands(missing)),
        };
        let text = format!(
            "clients came back {back}{missing}, away for {away} at the longest; of their lines {acknowledged} came \
             back, {not} did not"
        );
        notes.push(("Restarts", text));
    }
    let machine = &result.machine;
    let cores = counted(machine.cores, "core");
    notes.push(("Machine", format!("{}, {cores}, {}{}", machine.cpu, machine.kernel, stalls(result))));
    notes
}

/// The verdict's word, its tone, and the sentence that stands above the reasons.
pub(crate) fn verdict_words(verdict: Verdict) -> (&'static str, Tone, &'static str) {
    match verdict {
        Verdict::Pass => ("PASS", Tone::Good, "Every line arrived once, in order and unchanged."),
        Verdict::Fail => ("FAIL", Tone::Bad, "Some checks failed:"),
        Verdict::Invalid => ("INVALID", Tone::Doubtful, "This run proves nothing about the server:"),
        Verdict::Unavailable => ("UNAVAILABLE", Tone::Bad, "There was no server that this run could measure:"),
        Verdict::Interrupted => ("INTERRUPTED", Tone::Doubtful, "The figures are of the part that was run:"),
    }
}

fn verdict(page: &mut Page, result: &StressResult) {
    let (word, tone, sentence) = verdict_words(result.verdict);
    page.line(&format!("{}  {sentence}", page.paint(tone, word)));
    for reason in &result.reasons {
        for (at, part) in wrap(reason, COLUMNS - 4).into_iter().enumerate() {
            page.line(&format!("  {} {part}", if at == 0 { '-' } else { ' ' }));
        }
    }
}

fn note(page: &mut Page, label: &str, text: &str) {
    for (at, part) in wrap(text, COLUMNS - NOTE_COLUMNS).into_iter().enumerate() {
        let label = if at == 0 { label } else { "" };
        page.line(&format!("{label:<NOTE_COLUMNS$}{part}"));
    }
}

/// All clients; with more than one carrier, each of them too.
fn columns(result: &StressResult) -> Vec<StressColumn<'_>> {
    let all = StressColumn {
        name: "all".into(),
        clients: &result.clients,
        messages: &result.messages,
        latency: result.latency_ms,
        wire: &result.wire,
    };
    let by_carrier = result.carriers.iter().filter(|_| result.carriers.len() > 1).map(|carrier| StressColumn {
        name: carrier.carrier.to_string(),
        clients: &carrier.clients,
        messages: &carrier.messages,
        latency: carrier.latency_ms,
        wire: &carrier.wire,
    });
    std::iter::once(all).chain(by_carrier).collect()
}

fn network(wire: &Wire) -> String {
    format!(
        "{} ({}) sent by the clients, {} ({}) received",
        counted(wire.datagrams_sent, "datagram"),
        bytes(wire.bytes_sent),
        thousands(wire.datagrams_received),
        bytes(wire.bytes_received)
    )
}

fn redundancy(result: &StressResult) -> String {
    let balance = result.protocol.balance();
    let mode = result.plan.redundancy.as_ref().map_or(String::new(), |mode| format!("{mode}: "));
    let share = percent_of(balance.bytes, result.wire.bytes_sent + result.wire.bytes_received);
    let of = if result.protocol.server.is_some() { "" } else { " by the clients" };
    format!(
        "{mode}{} and {} ({}{}) sent{of}, {} recovered",
        counted(balance.repairs, "repair"),
        if balance.copies == 1 { "1 copy".into() } else { format!("{} copies", thousands(balance.copies)) },
        bytes(balance.bytes),
        share.map_or_else(String::new, |share| format!(", {} of all", percent(share))),
        counted(balance.packets_recovered, "lost packet")
    )
}

/// Arrivals that were dropped, by reason; `None` if nothing was.
fn drops(side: &Side) -> Option<String> {
    let drops: Vec<String> =
        side.drops().into_iter().map(|(reason, count)| format!("{reason} {}", thousands(count))).collect();
    (!drops.is_empty()).then(|| drops.join(", "))
}

fn server(result: &StressResult) -> String {
    let Some(server) = &result.server else {
        return "remote, so not measured".into();
    };
    let parts = [
        server.cpu_percent.map(|cpu| format!("{} of one core", percent(cpu))),
        server.cpu_us_per_delivery.map(|cpu| format!("{} us CPU per delivery", three_digits(cpu))),
        server.rss_bytes.map(bytes),
        server.ticks_per_second.map(|ticks| format!("{ticks:.1} ticks/s")),
        server.slowest_tick_ms.map(|tick| format!("slowest tick {}", milliseconds(tick))),
    ];
    let by_shard: Vec<String> = server.shards.iter().map(|shard| thousands(shard.clients)).collect();
    let shards = (by_shard.len() > 1).then(|| format!("{} shards of {} clients", by_shard.len(), by_shard.join(" + ")));
    let known: Vec<String> = parts.into_iter().flatten().chain(shards).collect();
    if known.is_empty() { "not measured".into() } else { known.join(", ") }
}

fn generator(result: &StressResult) -> String {
    let generator = &result.generator;
    let cpu = generator
        .cpu_percent
        .map_or(String::new(), |cpu| format!("{} of one core (it had {}), ", percent(cpu), thousands(generator.cores)));
    let (late, planned) = (thousands(generator.late_sends), counted(generator.planned_sends, "send"));
    format!("{cpu}{late} of {planned} late, the latest by {}", milliseconds(generator.latest_send_ms))
}

fn stalls(result: &StressResult) -> String {
    match &result.stalls {
        None => String::new(),
        Some(stalls) if stalls.count == 0 => "; it never stalled".into(),
        Some(stalls) => {
            format!("; {}, the longest {}", counted(stalls.count, "stall"), milliseconds(stalls.longest_ms))
        }
    }
}

/// A row of latencies: its label, and its figure.
type LatencyRow = (&'static str, fn(&LatencyMs) -> Option<f64>);

const LATENCIES: [LatencyRow; 6] = [
    ("Latency p50", |latency| latency.p50),
    ("  p90", |latency| latency.p90),
    ("  p99", |latency| latency.p99),
    ("  p99.9", |latency| latency.p999),
    ("  p99.99", |latency| latency.p9999),
    ("  max", |latency| latency.max),
];

const COLUMNS: usize = 80;
const LABEL_COLUMNS: usize = 20;
/// Wide enough for 999,999,999,999; four cells and the label fill 80 columns.
const CELL_COLUMNS: usize = 15;
const NOTE_COLUMNS: usize = 11;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::stress::example;
    use crate::report::stress::judge::{Ending, judge};

    const PASSED: &str = "
300 clients, a sentence of each at 1/s for 10.0 s; seed 42

                                all            udp             ws
Clients connected               300            200            100
  dropped                         0              0              0
Lines sent                    3,000          2,000          1,000
Deliveries expected         900,000        600,000        300,000
  delivered                 900,000        600,000        300,000
  lost                            0              0              0
  duplicated                      0              0              0
  reordered                       0              0              0
  corrupted                       0              0              0
  per second                 90,000         60,000         30,000
Latency p50                 1.20 ms        1.20 ms        1.20 ms
  p90                       2.01 ms        2.01 ms        2.01 ms
  p99                       4.51 ms        4.51 ms        4.51 ms
  p99.9                     9.90 ms        9.90 ms        9.90 ms
  p99.99                    14.1 ms        14.1 ms        14.1 ms
  max                       21.3 ms        21.3 ms        21.3 ms
Overhead                      15.3%          15.3%          15.3%

Network    12,345 datagrams (684 KiB) sent by the clients, 180,210 (76.3 MiB)
           received
Server     35.2% of one core, 1.31 us CPU per delivery, 23.0 MiB, 60.0 ticks/s,
           slowest tick 3.21 ms, 2 shards of 146 + 154 clients
Generator  52.5% of one core (it had 2), 0 of 3,000 sends late, the latest by
           1.42 ms
Clients    connect p50 2.50 ms, max 8.00 ms; all connected after 2,010 ms, all
           closed in 12.5 ms
Link       delay 10ms, loss 2%; it lost 3,851 of 192,555 datagrams
Redundancy adaptive: 1,920 repairs and 192 copies (938 KiB, 1.2% of all) sent,
           243 lost packets recovered
Dropped    by the clients: duplicate_message 12
Dropped    by the server: duplicate_message 180
Roaming    1,000 changes of the port, one per client every 2,000 ms; the server
           followed 998, 0 reconnects
Machine    AMD EPYC 7B13, 2 cores, linux 6.1.0; 3 stalls, the longest 12.2 ms

kept    latency.p99<50ms                                                 4.51 ms

PASS  Every line arrived once, in order and unchanged.
";

    #[test]
    fn a_passing_run_looks_like_this() {
        assert_eq!(table(&example::passing(), Style::Plain), PASSED);
    }

    #[test]
    fn a_failing_run_ends_with_its_reasons() {
        let mut result = example::passing();
        result.messages.lost = 3;
        result.messages.delivered -= 3;
        judge(&mut result, &["latency.p99<4ms".parse().unwrap()], Ending::Completed);
        let text = table(&result, Style::Plain);
        let end = "
missed  latency.p99<4ms                                                  4.51 ms

FAIL  Some checks failed:
  - 3 deliveries were lost, of 900,000 expected (less than 0.01%).
  - The threshold latency.p99<4ms was missed: latency.p99 is 4.512 ms.
";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn no_line_exceeds_80_columns_or_ends_in_spaces() {
        let mut crowded = example::passing();
        crowded.generator.late_sends = 3_000;
        crowded.clients.dropped = 150;
        crowded.clients.drops_by_reason = [("the server's send queue was full".into(), 150)].into();
        judge(&mut crowded, &["messages.lost==0".parse().unwrap()], Ending::Interrupted);
        crowded.messages.expected = u64::from(u32::MAX) * 200;
        for result in [example::passing(), example::sparse(), example::fleet(), crowded] {
            for line in table(&result, Style::Plain).lines() {
                assert!(line.chars().count() <= 80 && line.trim_end() == line, "{line:?}");
            }
        }
    }

    #[test]
    fn unmeasured_figures_are_marked_and_not_printed_as_zero() {
        let text = table(&example::sparse(), Style::Plain);
        assert!(text.contains("Server     remote, so not measured\n"), "{text}");
        assert!(text.contains("Latency p50                       -\n"), "{text}");
        assert!(!text.contains("stall"), "{text}");
        assert!(!text.contains(" udp "), "one carrier needs no column of its own: {text}");
    }

    #[test]
    fn each_machine_has_a_row_and_a_lost_one_says_so() {
        let text = table(&example::fleet(), Style::Plain);
        let rows = "
Agent             clients  delivered       lost        p99       late        CPU
frankfurt-mac         100    300,000          0    4.51 ms          0      52.5%
oslo                  100    300,000          0    4.51 ms          0      52.5%
paris                 100       LOST
";
        assert!(text.contains(rows), "{text}");
        let excused = "Excused    400,000 deliveries by or to the clients of paris (udp 134-199, ws
           266-299; no sign of life for 3.0 s)
";
        assert!(text.contains(excused), "{text}");
    }

    #[test]
    fn a_run_of_one_process_has_no_rows_of_machines() {
        let mut result = example::fleet();
        result.fleet.as_mut().expect("its fleet").agents.clear();
        let text = table(&result, Style::Plain);
        assert!(!text.contains("Agent") && text.contains("Clocks     by"), "{text}");
    }

    #[test]
    fn colours_change_only_escape_sequences() {
        let mut result = example::passing();
        result.messages.corrupted = 7;
        judge(&mut result, &[], Ending::Completed);
        let mut coloured = table(&result, Style::Coloured);
        assert!(coloured.contains("\x1b[1;31m              7\x1b[0m"), "{coloured:?}");
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[1;32m", "\x1b[1;33m"] {
            coloured = coloured.replace(code, "");
        }
        assert_eq!(coloured, table(&result, Style::Plain));
    }
}
