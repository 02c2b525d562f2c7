//! What a run's processes tell each other: the parent in words, the children in lines of JSON.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::mpsc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::stress::output;

/// What a child tells its parent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// It is where it shall be: on its CPU, in its network.
    Ready,
    /// The server listens; clients connect by this URL.
    Listening { url: String },
    /// The server's counters.
    Snapshot(Snapshot),
    /// The load's clients are connected, all that will be.
    Connected { clients: u32, ms: f64 },
    /// The load is under way.
    Progress(Progress),
    /// The measured window begins.
    WindowBegins,
    /// The measured window is over.
    WindowEnds,
    /// What the load found; the last that it tells.
    Found(Box<Found>),
    /// It cannot go on.
    Failed { reason: String },
}

/// A server's counters since it began.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    /// By the clock that all processes share.
    pub(crate) at_ns: u64,
    pub(crate) cpu_us: Option<u64>,
    pub(crate) ticks: u64,
    /// From when a tick was due until its work was done; since the last snapshot.
    pub(crate) slowest_tick_us: u64,
    /// Lines received.
    pub(crate) lines: u64,
    pub(crate) clients: u64,
    /// Both directions, with IP headers.
    pub(crate) ip_bytes: Option<u64>,
    pub(crate) rss_bytes: Option<u64>,
}

/// How the load goes.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    pub(crate) connected: u32,
    /// Since the last line of progress.
    pub(crate) delivered_per_second: f64,
    pub(crate) p99: f64,
}

/// What the load found.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) connected: u32,
    pub(crate) connect_ms: f64,
    /// Clients whose connection ended before the run did.
    pub(crate) dropped: u32,
    /// Why connections ended or did not begin, with their number.
    pub(crate) reasons: BTreeMap<String, u64>,
    /// Lines that came due, and those of them that were sent.
    pub(crate) planned: u64,
    pub(crate) sent: u64,
    pub(crate) expected: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    pub(crate) reordered: u64,
    pub(crate) corrupted: u64,
    /// The measured window.
    pub(crate) window_ms: f64,
    pub(crate) sent_in_window: u64,
    pub(crate) deliveries_in_window: u64,
    pub(crate) p50: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) p999: Option<f64>,
    pub(crate) max: Option<f64>,
    /// The load itself.
    pub(crate) latest_send: f64,
    pub(crate) cpu_percent: Option<f64>,
    pub(crate) closed: u32,
    pub(crate) close_ms: Option<f64>,
}

/// Tells the parent.
pub(crate) fn tell(told: &Told) {
    output::say(serde_json::to_string(told).expect("it has only text keys"));
}

/// What a parent asks of its child, a word a line. The channel closes when the parent is gone.
pub(crate) fn orders() -> mpsc::Receiver<String> {
    let (to, orders) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if to.send(line).is_err() {
                break;
            }
        }
        drop(to);
        // Whoever waits for orders ends now; whoever is stuck does not outlive its parent by much.
        std::thread::sleep(ORPHAN_MAX);
        std::process::exit(crate::report::exit::Exit::Interrupted.code().into());
    });
    orders
}

const ORPHAN_MAX: Duration = Duration::from_secs(3);
