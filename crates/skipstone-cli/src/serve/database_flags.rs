//! Flags of `serve` about its database, and the server's calls to it.

use super::audience::{ServerEnd, Watcher};
use super::visit::Visit;
use skipstone::PeerId;
use skipstone_db::{Began, Credentials, DatabaseUrl, Ended, Recorder};
use skipstone_lab::report::format::{bytes, thousands};
use skipstone_lab::report::output;
use skipstone_lab::units::Size;
use std::time::Duration;

/// Flags of `serve` about its database.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct DatabaseFlags {
    /// Record connections, sessions and daily totals: sqlite:FILE, mysql://USER@HOST/DATABASE, mariadb://… or
    /// postgres://…; without a URL, that of SKIPSTONE_DB_URL, else sqlite:skipstone.db
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    db: Option<String>,
    /// With --db: bytes that may wait for the database before records are dropped and counted
    #[arg(long, value_name = "BYTES", default_value = "16MiB", requires = "db")]
    db_queue: Option<Size>,
    #[command(flatten)]
    credentials: Credentials,
}

/// A database that records.
pub(crate) struct OpenDatabase(Recorder);

/// How long a server's shutdown waits for its database.
const FLUSH_MAX: Duration = Duration::from_secs(5);

impl DatabaseFlags {
    /// Whether it would connect, if requested.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Some(url) = self.url()? else { return Ok(()) };
        Recorder::check(&url).map_err(|error| format!("--db: {error}"))
    }

    fn url(&self) -> Result<Option<DatabaseUrl>, String> {
        let Some(text) = &self.db else { return Ok(None) };
        let named = Some(text.as_str()).filter(|text| !text.is_empty());
        self.credentials.complete(named).map(Some).map_err(|error| format!("--db: {error}"))
    }

    /// Connects, if requested.
    pub(crate) fn open(&self) -> Result<Option<OpenDatabase>, String> {
        let Some(url) = self.url()? else { return Ok(None) };
        let Size::Bytes(queue_bytes_max) = self.db_queue.unwrap_or(Size::Bytes(16 << 20)) else {
            return Err("--db-queue is a number of bytes, such as 16MiB".into());
        };
        let recorder = Recorder::start(url, queue_bytes_max as u64);
        recorder.map(|recorder| Some(OpenDatabase(recorder))).map_err(|error| format!("--db: {error}"))
    }
}

impl OpenDatabase {
    /// The URL, for commands of the console.
    pub(crate) fn url(&self) -> DatabaseUrl {
        self.0.url().clone()
    }
}

impl Watcher for OpenDatabase {
    fn joined(&self, peer: PeerId, visit: &Visit, carrier: &dyn Fn() -> &'static str) {
        self.0.began(Began { number: number(peer), account: &visit.name(), carrier: carrier() });
    }

    fn left(&self, peer: PeerId, visit: &Visit, code: u64) {
        let lasted = visit.since.elapsed();
        self.0.ended(Ended { number: number(peer), account: &visit.name(), lasted, lines: visit.lines, code });
    }

    fn lines(&self) -> Vec<String> {
        let stats = self.0.stats();
        let mut lines = vec![format!(
            "database: written {} in {} batches, queued {} ({}), dropped {}, tried again {}",
            thousands(stats.written),
            thousands(stats.batches),
            thousands(stats.queued),
            bytes(stats.queued_bytes),
            thousands(stats.dropped),
            thousands(stats.retries)
        )];
        if let Some(failure) = stats.last_failure {
            let now = if stats.is_connected { "it writes again" } else { "it does not write now" };
            lines.push(format!("database: {now}; the last failure: {failure}"));
        }
        lines
    }

    fn json(&self) -> Option<serde_json::Value> {
        let stats = self.0.stats();
        Some(serde_json::json!({
            "written": stats.written,
            "batches": stats.batches,
            "queued": stats.queued,
            "queued_bytes": stats.queued_bytes,
            "dropped": stats.dropped,
            "retries": stats.retries,
            "is_connected": stats.is_connected,
        }))
    }

    /// Writes the waiting records, and reports those that could not be written.
    fn finish(self: Box<Self>, _end: ServerEnd) {
        let stats = self.0.close(FLUSH_MAX);
        if stats.dropped > 0 {
            let why = stats.last_failure.unwrap_or_else(|| "its queue was full".into());
            output::complain(format_args!(
                "skipstone serve: {} records did not reach the database, {} did: {why}",
                thousands(stats.dropped),
                thousands(stats.written)
            ));
        }
    }
}

/// No other connection of this run has it.
fn number(peer: PeerId) -> i64 {
    (i64::from(peer.generation) << 32) | i64::from(peer.index)
}
