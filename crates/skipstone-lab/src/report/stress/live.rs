//! The view of a run under way: one plain line a second for files and pipes, or a block that is redrawn in place.
//! The view shows a [`Snapshot`] and keeps nothing; it uses no alternate screen, so that its output stays readable.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::report::format::{bytes, counted, milliseconds, percent, seconds, thousands};
use crate::report::stress::result::protocol::Balance;
use crate::report::{Style, Tone};

/// A run at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The phase that it is in.
    pub phase: Phase,
    /// Since the phase began.
    pub elapsed: Duration,
    /// How long the phase is to last.
    pub duration: Duration,
    /// Clients asked for.
    pub clients_asked: u64,
    /// Clients connected now.
    pub clients_connected: u64,
    /// Clients dropped until now.
    pub clients_dropped: u64,
    /// Lines due in the last second.
    pub offered_per_second: f64,
    /// Lines sent in the last second.
    pub sent_per_second: f64,
    /// Deliveries in the last second.
    pub delivered_per_second: f64,
    /// Deliveries until now.
    pub delivered: u64,
    /// Deliveries known to be missing: overtaken by later lines, or too old to be still on their way.
    pub missing: u64,
    /// Latency of the deliveries in the last second; `None` when there were none.
    pub latency: Option<RecentLatency>,
    /// The server's figures in the last second; `None` when it is remote.
    pub server: Option<RecentServer>,
    /// The cost of redundancy and its gain until now.
    pub redundancy: Balance,
    /// Arrivals that were dropped until now, by reason; only reasons that occurred.
    pub drops: Vec<(String, u64)>,
    /// Changes of address that the server followed until now.
    pub paths_changed: u64,
    /// CPU of the clients' process in the last second, in percent of one core.
    pub generator_cpu_percent: Option<f64>,
    /// The latest send of the last second, after it was due.
    pub latest_send_ms: f64,
    /// Late sends until now.
    pub late_sends: u64,
}

/// The phases of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::IntoStaticStr, strum::Display, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Phase {
    /// Clients connect.
    #[default]
    Connecting,
    /// Lines are sent.
    Running,
    /// All lines are sent; the last ones are in flight.
    Draining,
    /// Clients disconnect.
    Closing,
}

/// Latency of the last second, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecentLatency {
    /// Half took no longer.
    pub p50_ms: f64,
    /// 99% took no longer.
    pub p99_ms: f64,
    /// None took longer.
    pub max_ms: f64,
}

/// The server in the last second; `None` for figures that the server does not report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecentServer {
    /// CPU in percent of one core.
    pub cpu_percent: Option<f64>,
    /// Ticks of its loop.
    pub ticks_per_second: Option<f64>,
    /// The longest of them.
    pub slowest_tick_ms: Option<f64>,
}

/// Whether a block is the first, or replaces the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// Below what the terminal shows.
    First,
    /// Draws over the last block; nothing may have been printed since.
    Again,
}

/// One line for files and pipes, without its line feed.
pub fn progress_line(snapshot: &Snapshot) -> String {
    let mut parts = vec![
        format!("{:>6} s {}", seconds(snapshot.elapsed), snapshot.phase),
        format!("clients {}/{}", thousands(snapshot.clients_connected), thousands(snapshot.clients_asked)),
    ];
    if snapshot.clients_dropped > 0 {
        parts.push(format!("dropped {}", thousands(snapshot.clients_dropped)));
    }
    parts.push(format!("sent {}/s of {}/s", whole(snapshot.sent_per_second), whole(snapshot.offered_per_second)));
    parts.push(format!("delivered {}/s", whole(snapshot.delivered_per_second)));
    parts.push(format!("missing {}", thousands(snapshot.missing)));
    parts.extend(snapshot.latency.map(|latency| latency.text()));
    if let Some(cpu) = snapshot.server.and_then(|server| server.cpu_percent) {
        parts.push(format!("server {}", percent(cpu)));
    }
    if snapshot.late_sends > 0 {
        parts.push(counted(snapshot.late_sends, "late send"));
    }
    parts.join("  ")
}

/// The block of [`BLOCK_LINES`] lines, each ended by a line feed and none longer than `columns`, so that it can be
/// redrawn in place.
pub fn block(snapshot: &Snapshot, style: Style, draw: Draw, columns: usize) -> String {
    let rows: [(&str, String, Option<Tone>); BLOCK_LINES] = [
        (snapshot.phase.into(), time_bar(snapshot), None),
        ("clients", clients(snapshot), alarm(snapshot.clients_dropped)),
        ("lines", lines(snapshot), None),
        ("delivered", deliveries(snapshot), alarm(snapshot.missing)),
        ("latency", snapshot.latency.map_or("-".into(), |latency| latency.text() + ", last second"), None),
        ("redundancy", redundancy(snapshot), None),
        ("drops", drops(snapshot), None),
        ("server", server(snapshot), None),
        ("generator", generator(snapshot), alarm(snapshot.late_sends)),
    ];
    let mut text = match draw {
        Draw::First => String::new(),
        Draw::Again => format!("\x1b[{BLOCK_LINES}A"),
    };
    for (label, content, tone) in rows {
        let label = format!("{label:<LABEL_COLUMNS$}");
        let content = cut(&content, columns.saturating_sub(LABEL_COLUMNS));
        let content = tone.map_or_else(|| content.to_owned(), |tone| style.paint(tone, content));
        text += &format!("\r\x1b[2K{}{content}\n", style.paint(Tone::Faint, cut(&label, columns)));
    }
    text
}

impl RecentLatency {
    fn text(&self) -> String {
        let [p50, p99, max] = [self.p50_ms, self.p99_ms, self.max_ms].map(milliseconds);
        format!("p50 {p50}  p99 {p99}  max {max}")
    }
}

fn time_bar(snapshot: &Snapshot) -> String {
    let (elapsed, duration) = (snapshot.elapsed.as_secs_f64(), snapshot.duration.as_secs_f64());
    let share = if duration > 0.0 { (elapsed / duration).min(1.0) } else { 1.0 };
    let done = (share * BAR_COLUMNS as f64).floor() as usize;
    let bar = "#".repeat(done) + &"-".repeat(BAR_COLUMNS - done);
    format!("[{bar}] {} of {} s", seconds(snapshot.elapsed), seconds(snapshot.duration))
}

fn clients(snapshot: &Snapshot) -> String {
    let (connected, asked) = (thousands(snapshot.clients_connected), thousands(snapshot.clients_asked));
    let moved = match snapshot.paths_changed {
        0 => String::new(),
        count => format!(", moved {} times", thousands(count)),
    };
    format!("{connected} of {asked} connected, {} dropped{moved}", thousands(snapshot.clients_dropped))
}

fn lines(snapshot: &Snapshot) -> String {
    let [offered, sent, delivered] =
        [snapshot.offered_per_second, snapshot.sent_per_second, snapshot.delivered_per_second].map(whole);
    format!("{offered}/s due, {sent}/s sent, {delivered}/s delivered")
}

fn deliveries(snapshot: &Snapshot) -> String {
    format!("{}, {} missing", thousands(snapshot.delivered), thousands(snapshot.missing))
}

fn redundancy(snapshot: &Snapshot) -> String {
    let Balance { repairs, copies, bytes: cost, packets_recovered } = snapshot.redundancy;
    let (repairs, copies) = (thousands(repairs), thousands(copies));
    let recovered = counted(packets_recovered, "lost packet");
    format!("{repairs} repairs, {copies} copies ({}); {recovered} recovered", bytes(cost))
}

fn drops(snapshot: &Snapshot) -> String {
    let all: Vec<String> =
        snapshot.drops.iter().map(|(reason, count)| format!("{reason} {}", thousands(*count))).collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}

fn server(snapshot: &Snapshot) -> String {
    let Some(server) = snapshot.server else {
        return "remote".into();
    };
    let parts = [
        server.cpu_percent.map(|cpu| format!("{} of one core", percent(cpu))),
        server.ticks_per_second.map(|ticks| format!("{ticks:.1} ticks/s")),
        server.slowest_tick_ms.map(|tick| format!("slowest {}", milliseconds(tick))),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    if known.is_empty() { "-".into() } else { known.join(", ") }
}

fn generator(snapshot: &Snapshot) -> String {
    let cpu = snapshot.generator_cpu_percent.map_or(String::new(), |cpu| format!("{} of one core, ", percent(cpu)));
    let latest = milliseconds(snapshot.latest_send_ms);
    format!("{cpu}latest send {latest}, {}", counted(snapshot.late_sends, "late send"))
}

/// A count that should stay zero is highlighted when it does not.
fn alarm(count: u64) -> Option<Tone> {
    (count > 0).then_some(Tone::Bad)
}

fn whole(number: f64) -> String {
    thousands(number.round() as u64)
}

fn cut(text: &str, columns: usize) -> &str {
    text.char_indices().nth(columns).map_or(text, |(end, _)| &text[..end])
}

/// How many lines a block has.
pub const BLOCK_LINES: usize = 9;

const LABEL_COLUMNS: usize = 12;
const BAR_COLUMNS: usize = 40;

#[cfg(test)]
mod tests;
