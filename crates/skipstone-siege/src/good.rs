//! Good clients: `skipstone stress`, which proves every line, and `stress --connects`, which connects new clients.

use crate::process::Running;
use crate::row::{Lines, Newcomers};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// A run of `stress` that continues.
struct Stress {
    running: Running,
    result: NamedTempFile,
}

impl Stress {
    fn start(tool: &Path, url: &str, lasting: Duration, flags: [&str; 4]) -> Result<Stress, String> {
        let result = NamedTempFile::new().map_err(|error| format!("no file for a result: {error}"))?;
        let mut stress = Command::new(tool);
        stress.args(["stress", url, "-q", "-d", &format!("{}ms", lasting.as_millis())]).args(flags);
        stress.arg("--json").arg(result.path());
        Ok(Stress { running: Running::start(stress)?, result })
    }

    /// Its output; none if it does not end in time.
    fn result(mut self, until: Instant) -> Option<Value> {
        self.running.ends_by(until)?;
        serde_json::from_str(&std::fs::read_to_string(self.result.path()).ok()?).ok()
    }
}

/// Clients that play.
pub(crate) struct Good(Stress);

impl Good {
    /// Clients on each carrier that send for this long.
    pub(crate) fn start(tool: &Path, url: &str, lasting: Duration) -> Result<Good, String> {
        Stress::start(tool, url, lasting, ["--mix", MIX, "-r", "5/s"]).map(Good)
    }

    /// Their measurements; without a result in time, all lines count as lost.
    pub(crate) fn result(self, until: Instant) -> Lines {
        let Some(result) = self.0.result(until) else { return Lines::default() };
        Lines {
            p99_ms: result.pointer("/latency_ms/p99").and_then(Value::as_f64),
            lost: count(&result, "/messages/lost"),
            dropped: count(&result, "/clients/dropped"),
            machine_stalls: count(&result, "/stalls/machine_count"),
        }
    }
}

/// Clients that connect and leave.
pub(crate) struct Connects(Stress);

impl Connects {
    /// New clients within this time.
    pub(crate) fn start(tool: &Path, url: &str, lasting: Duration) -> Result<Connects, String> {
        let rate = format!("{NEWCOMERS}/{}ms", lasting.as_millis());
        Stress::start(tool, url, lasting, ["--mix", "udp=2,ws=1,wss=1", "--connects", &rate]).map(Connects)
    }

    /// The clients that connected; none without a result in time.
    pub(crate) fn result(self, until: Instant) -> Newcomers {
        let Some(result) = self.0.result(until) else { return Newcomers::default() };
        Newcomers {
            attempted: count(&result, "/all/attempted"),
            connected: count(&result, "/all/connected"),
            slowest_ms: result.pointer("/all/connect_ms/max").and_then(Value::as_f64),
        }
    }
}

fn count(result: &Value, path: &str) -> u64 {
    result.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

/// 50 clients; not by DTLS, which a server with a key of RSA has not.
const MIX: &str = "udp=25,tcp=5,ws=10,wss=10";
const NEWCOMERS: u32 = 20;
