//! The display of a running test: a block that is redrawn on a terminal, a line a second elsewhere.

use super::child::{ServerFigures, ServerProcess};
use super::generator::{ClientState, Generator};
use super::outcome;
use serde::{Deserialize, Serialize};
use skipstone_lab::measure::latency::LatencyCounts;
use skipstone_lab::measure::process::{Probe, Sample};
use skipstone_lab::report::output;
use skipstone_lab::report::paint::{Style, style};
use skipstone_lab::report::stress::live::{Draw, Phase, RecentLatency, RecentServer, Snapshot, block, progress_line};
use skipstone_lab::report::stress::result::{Protocol, Side};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Who reads the display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Viewer {
    /// Text.
    People,
    /// A parent process: a line of JSON for each piece of news.
    Parent,
    /// Only the result is shown.
    Nobody,
}

/// The live view.
pub(crate) struct LiveView {
    style: Style,
    is_live: bool,
    pub(crate) viewer: Viewer,
    has_drawn: bool,
    phase: Phase,
    phase_began: Instant,
    due: Instant,
    looked: Instant,
    delivered: u64,
    sent: u64,
    own: Probe,
    own_before: Option<Sample>,
    server_before: Option<(Instant, Sample)>,
    server: Option<RecentServer>,
    /// The counters of the server's protocol, from its last answer.
    server_side: Option<Side>,
}

/// How often a terminal is redrawn, and how often a line is printed elsewhere.
const REDRAW: Duration = Duration::from_millis(500);
const LINE: Duration = Duration::from_secs(1);

impl LiveView {
    /// Draws to standard output, if that is a terminal; else prints lines.
    pub(crate) fn new(viewer: Viewer) -> Self {
        let is_live = viewer == Viewer::People
            && std::io::stdout().is_terminal()
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let now = Instant::now();
        Self {
            style: style(),
            is_live,
            viewer,
            has_drawn: false,
            phase: Phase::Connecting,
            phase_began: now,
            due: now,
            looked: now,
            delivered: 0,
            sent: 0,
            own: Probe::of_self(),
            own_before: None,
            server_before: None,
            server: None,
            server_side: None,
        }
    }

    /// A new phase begins.
    pub(crate) fn enter(&mut self, phase: Phase) {
        (self.phase, self.phase_began) = (phase, Instant::now());
        if self.is_live {
            self.due = self.phase_began;
        }
        if phase == Phase::Running {
            (self.delivered, self.sent, self.looked) = (0, 0, self.phase_began);
            self.due = self.phase_began + if self.is_live { REDRAW } else { LINE };
        }
    }

    /// A line of its own, above what follows.
    pub(crate) fn say(&mut self, text: &str) {
        if self.viewer == Viewer::People {
            output::say(text);
            self.has_drawn = false;
        }
    }

    /// The number of clients that wait for the start command.
    pub(crate) fn waiting(&mut self, count: usize) {
        match self.viewer {
            Viewer::Parent => output::say(serde_json::json!({ "waiting": count })),
            _ => self.say(&format!("{count} clients wait for `stress on` on the console")),
        }
    }

    /// Shows the run, if it is time to.
    pub(crate) fn show(
        &mut self,
        generator: &mut Generator<'_>,
        server: Option<&mut ServerProcess>,
        duration: Duration,
        offered: f64,
    ) {
        if !self.is_due() {
            return;
        }
        let now = Instant::now();
        if let Some(server) = server {
            self.look_at(server, now);
        }
        let latencies = generator.is_part().then(|| generator.proof.recent.counts());
        let snapshot = self.snapshot(generator, now, duration, offered);
        self.present(&snapshot, ForParent { latencies, ..ForParent::default() });
    }

    /// Whether it is time to show the run; then the next time is later.
    pub(crate) fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let is_due = self.viewer != Viewer::Nobody && now >= self.due;
        if is_due {
            self.due = now + if self.is_live { REDRAW } else { LINE };
        }
        is_due
    }

    /// Shows the run as a line, which the next one replaces on a terminal.
    #[cfg(all(feature = "bots", feature = "fleet"))]
    pub(crate) fn line(&mut self, text: &str) {
        if self.is_live {
            output::draw(format_args!("\r\x1b[K{text}"));
        } else if self.viewer == Viewer::People {
            output::say(text);
        }
    }

    /// Clears the last line that was drawn.
    #[cfg(all(feature = "bots", feature = "fleet"))]
    pub(crate) fn end_line(&self) {
        if self.is_live {
            output::draw("\r\x1b[K");
        }
    }

    /// The phase, and for how long it has lasted.
    #[cfg(feature = "fleet")]
    pub(crate) fn phase(&self) -> (Phase, Duration) {
        (self.phase, self.phase_began.elapsed())
    }

    /// Shows the run as it is.
    pub(crate) fn present(&mut self, snapshot: &Snapshot, more: ForParent) {
        if self.is_live {
            let draw = if self.has_drawn { Draw::Again } else { Draw::First };
            output::draw(block(snapshot, self.style, draw, columns()));
            self.has_drawn = true;
        } else if self.viewer == Viewer::Parent {
            output::say(serde_json::json!({ "progress": Figures::of(snapshot, more) }));
        } else {
            output::say(progress_line(snapshot));
        }
    }

    fn look_at(&mut self, server: &mut ServerProcess, now: Instant) {
        let figures: Option<ServerFigures> = server.answered();
        server.ask_figures();
        let sample = server.probe.sample();
        let both = sample.zip(self.server_before);
        let cpu_percent = both.map(|(sample, (then, before))| sample.since(&before, now - then).cpu_percent);
        self.server_before = sample.map(|sample| (now, sample));
        let before = self.server;
        self.server = Some(RecentServer {
            cpu_percent,
            ticks_per_second: figures.as_ref().map(|f| f.ticks_per_second).or(before.and_then(|b| b.ticks_per_second)),
            slowest_tick_ms: figures.as_ref().map(|f| f.slowest_tick_ms).or(before.and_then(|b| b.slowest_tick_ms)),
        });
        self.server_side = figures.map(|figures| figures.protocol).or(self.server_side.take());
    }

    fn snapshot(&mut self, generator: &mut Generator<'_>, now: Instant, duration: Duration, offered: f64) -> Snapshot {
        let span = (now - self.looked).as_secs_f64().max(1e-3);
        let sent: u64 = generator.sent.iter().map(|sent| u64::from(*sent)).sum();
        let delivered = generator.proof.delivered;
        let sample = self.own.sample();
        let both = sample.zip(self.own_before);
        let cpu = both.map(|(sample, before)| sample.since(&before, now - self.looked).cpu_percent);
        let recent = &mut generator.proof.recent;
        let latency = (recent.count() > 0).then(|| RecentLatency {
            p50_ms: recent.quantile_ms(0.5),
            p99_ms: recent.quantile_ms(0.99),
            max_ms: recent.max_ms(),
        });
        recent.clear();
        let missing = match self.phase {
            Phase::Draining | Phase::Closing => generator.tally(None).lost,
            Phase::Connecting | Phase::Running => generator.proof.overtaken(),
        };
        let clients = Side::from(&outcome::sum(&generator.stats_by_carrier()));
        let protocol = Protocol { clients, server: self.server_side.clone() };
        let latest = std::mem::take(&mut generator.schedule.latest_recent);
        let snapshot = Snapshot {
            phase: self.phase,
            elapsed: now - self.phase_began,
            duration,
            clients_asked: generator.clients.len() as u64,
            clients_connected: generator.count(ClientState::Connected) as u64,
            clients_dropped: generator.drops.values().sum(),
            offered_per_second: if self.phase == Phase::Running { offered } else { 0.0 },
            sent_per_second: sent.saturating_sub(self.sent) as f64 / span,
            delivered_per_second: delivered.saturating_sub(self.delivered) as f64 / span,
            delivered,
            missing,
            latency,
            server: self.server,
            redundancy: protocol.balance(),
            drops: drops(&protocol),
            paths_changed: protocol.server.as_ref().map_or(0, |server| server.paths_changed),
            generator_cpu_percent: cpu,
            latest_send_ms: latest.as_secs_f64() * 1e3,
            late_sends: generator.schedule.late_count,
        };
        (self.looked, self.sent, self.delivered, self.own_before) = (now, sent, delivered, sample);
        snapshot
    }
}

/// The figures that a parent shows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) phase: Phase,
    pub(crate) clients_asked: u64,
    pub(crate) clients_connected: u64,
    pub(crate) clients_dropped: u64,
    pub(crate) sent_per_second: f64,
    pub(crate) offered_per_second: f64,
    pub(crate) delivered_per_second: f64,
    pub(crate) delivered: u64,
    pub(crate) missing: u64,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    pub(crate) max_ms: Option<f64>,
    pub(crate) late_sends: u64,
    pub(crate) latest_send_ms: f64,
    pub(crate) cpu_percent: Option<f64>,
    #[serde(flatten)]
    pub(crate) more: ForParent,
}

/// Figures that only a parent process reads.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ForParent {
    /// Latencies of the last second, for a parent that merges several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) latencies: Option<LatencyCounts>,
    /// The agents of a run on several machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) agents: Vec<AgentFigures>,
    /// For how long NATS has been away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nats_away_s: Option<f64>,
}

/// An agent of a run on several machines, as its coordinator last heard of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct AgentFigures {
    pub(crate) name: String,
    pub(crate) state: AgentPhase,
    pub(crate) clients_asked: u64,
    pub(crate) clients_connected: u64,
    pub(crate) sent_per_second: f64,
    pub(crate) delivered_per_second: f64,
    pub(crate) delivered: u64,
    pub(crate) late_sends: u64,
    /// CPU of its clients' process, in percent of one core.
    pub(crate) cpu_percent: Option<f64>,
    /// Since its last sign of life.
    pub(crate) silent_s: f64,
    /// Why it is lost or has no evidence.
    pub(crate) why: Option<String>,
}

/// How far an agent is in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AgentPhase {
    #[default]
    Connecting,
    /// Its clients wait for the start.
    Ready,
    Running,
    /// The last lines are on their way.
    Draining,
    /// Its evidence is on its disk.
    Done,
    /// It has no evidence.
    Failed,
    Lost,
}

impl Figures {
    fn of(snapshot: &Snapshot, more: ForParent) -> Self {
        Figures {
            phase: snapshot.phase,
            clients_asked: snapshot.clients_asked,
            clients_connected: snapshot.clients_connected,
            clients_dropped: snapshot.clients_dropped,
            sent_per_second: snapshot.sent_per_second,
            offered_per_second: snapshot.offered_per_second,
            delivered_per_second: snapshot.delivered_per_second,
            delivered: snapshot.delivered,
            missing: snapshot.missing,
            p50_ms: snapshot.latency.map(|latency| latency.p50_ms),
            p99_ms: snapshot.latency.map(|latency| latency.p99_ms),
            max_ms: snapshot.latency.map(|latency| latency.max_ms),
            late_sends: snapshot.late_sends,
            latest_send_ms: snapshot.latest_send_ms,
            cpu_percent: snapshot.generator_cpu_percent,
            more,
        }
    }
}

/// Arrivals that both sides dropped, by reason.
fn drops(protocol: &Protocol) -> Vec<(String, u64)> {
    let mut all = protocol.clients.clone();
    for (reason, count) in protocol.server.iter().flat_map(|server| &server.drops_by_reason) {
        *all.drops_by_reason.entry(reason.clone()).or_default() += count;
    }
    all.drops().into_iter().map(|(reason, count)| (reason.to_owned(), count)).collect()
}

fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(columns, _)| usize::from(columns.0))
}
