//! What the game loop reports to the dashboard: figures in atomics, lines in a bounded queue. Reporting never blocks.

use crate::dashboard::roster::{GuestKind, Roster};
use crate::move_figures::MoveFigures;
use parking_lot::Mutex;
use skipstone::PeerId;
use skipstone_lab::clean;
use skipstone_lab::workload::StressTurn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The game loop's end.
#[derive(Clone, Debug)]
pub(crate) struct Feed {
    meters: Arc<Meters>,
    lines: SyncSender<LogLine>,
}

/// The dashboard's end.
#[derive(Debug)]
pub(crate) struct Intake {
    pub(super) meters: Arc<Meters>,
    pub(super) lines: Receiver<LogLine>,
}

/// Figures of the game loop.
#[derive(Debug)]
pub(super) struct Meters {
    pub(super) roster: Roster,
    /// When the loop began.
    pub(super) began: Instant,
    lines: AtomicU64,
    ticks: AtomicU64,
    /// The slowest tick since the last sample, in microseconds.
    slowest_us: AtomicU64,
    /// The end of the last tick, in milliseconds since the loop began.
    last_tick_ms: AtomicU64,
    /// Log lines for which the queue had no room.
    skipped: AtomicU64,
    /// Of a node of a fleet.
    pub(super) moves: Mutex<MoveFigures>,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogLine {
    /// Milliseconds since 1970.
    pub(super) at_ms: u64,
    pub(super) kind: LineKind,
    /// The speaker of a chat line.
    pub(super) speaker: String,
    pub(super) text: String,
}

/// The kind of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LineKind {
    /// Clients that come and go.
    Event,
    /// A line of a chat client.
    Chat,
    /// A server message to all clients.
    Say,
}

/// Both ends.
pub(crate) fn feed() -> (Feed, Intake) {
    let (sender, receiver) = sync_channel(QUEUE_LINES_MAX);
    let meters = Arc::new(Meters {
        roster: Roster::default(),
        began: Instant::now(),
        lines: AtomicU64::new(0),
        ticks: AtomicU64::new(0),
        slowest_us: AtomicU64::new(0),
        last_tick_ms: AtomicU64::new(0),
        skipped: AtomicU64::new(0),
        moves: Mutex::new(MoveFigures::default()),
    });
    (Feed { meters: Arc::clone(&meters), lines: sender }, Intake { meters, lines: receiver })
}

impl Feed {
    /// A client is there.
    pub(crate) fn joined(&self, peer: PeerId, name: &str, kind: GuestKind) {
        self.meters.roster.insert(peer, name, kind);
    }

    /// A stress client tells what it does.
    pub(crate) fn turned(&self, peer: PeerId, turn: StressTurn) {
        self.meters.roster.turn(peer, turn);
    }

    /// A client left.
    pub(crate) fn left(&self, peer: PeerId) {
        self.meters.roster.remove(peer);
    }

    /// A line of the log.
    pub(crate) fn log(&self, text: &str) {
        self.push(LineKind::Event, "", text);
    }

    /// A line of a chat client.
    pub(crate) fn chat(&self, speaker: &str, text: &str) {
        self.push(LineKind::Chat, speaker, text);
    }

    /// A server message to all clients.
    pub(crate) fn say(&self, text: &str) {
        self.push(LineKind::Say, "server", text);
    }

    /// How many players this node has moved.
    #[cfg(feature = "fleet")]
    pub(crate) fn moves(&self, figures: &MoveFigures) {
        let mut known = self.meters.moves.lock();
        if *known != *figures {
            known.clone_from(figures);
        }
    }

    /// A tick ended, `took` after it was due; `lines` came since the loop began.
    pub(crate) fn tick(&self, lines: u64, took: Duration) {
        self.meters.lines.store(lines, Ordering::Relaxed);
        self.meters.ticks.fetch_add(1, Ordering::Relaxed);
        self.meters.slowest_us.fetch_max(took.as_micros() as u64, Ordering::Relaxed);
        self.meters.last_tick_ms.store(self.meters.began.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    fn push(&self, kind: LineKind, speaker: &str, text: &str) {
        let text = clean::line(&text[..text.floor_char_boundary(LINE_BYTES_MAX)]);
        let line = LogLine { at_ms: unix_ms(), kind, speaker: speaker.into(), text };
        if self.lines.try_send(line).is_err() {
            self.meters.skipped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Meters {
    pub(super) fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    pub(super) fn ticks(&self) -> u64 {
        self.ticks.load(Ordering::Relaxed)
    }

    pub(super) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// The slowest tick since the last call.
    pub(super) fn take_slowest(&self) -> Duration {
        Duration::from_micros(self.slowest_us.swap(0, Ordering::Relaxed))
    }

    /// Time since the loop ended a tick.
    pub(super) fn since_tick(&self) -> Duration {
        self.began.elapsed().saturating_sub(Duration::from_millis(self.last_tick_ms.load(Ordering::Relaxed)))
    }
}

/// Milliseconds since 1970.
pub(super) fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |span| span.as_millis() as u64)
}

/// The number of lines that may wait for the dashboard, and their maximum length: 4 MiB together.
const QUEUE_LINES_MAX: usize = 4096;
const LINE_BYTES_MAX: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_the_queue_limit_are_counted() {
        let (feed, intake) = feed();
        (0..QUEUE_LINES_MAX + 3).for_each(|number| feed.log(&format!("{number}")));
        assert_eq!((intake.lines.try_iter().count(), intake.meters.skipped()), (QUEUE_LINES_MAX, 3));
    }

    #[test]
    fn a_line_is_short_and_has_no_control_characters() {
        let (feed, intake) = feed();
        feed.chat("Zoë", &format!("\x1b[2J{}", "é".repeat(1000)));
        let line = intake.lines.recv().expect("it is there");
        assert!(line.text.starts_with("␛[2Jé") && line.text.chars().count() < 510, "{line:?}");
        assert_eq!(line.speaker, "Zoë");
    }
}
