//! The records of a running server: connections, sessions and totals of each day, written by their own thread. The
//! server never waits: records that exceed the queue are dropped and counted.
//!
//! ```text
//! server ── note ──> queue (bounded in bytes) ──> writer: batch ──> one transaction ──> acknowledged
//!                                                  ^ the same batch again, with back-off, until it is confirmed
//! ```

mod batch;
mod counters;
mod note;
mod writer;

use crate::database::Database;
use crate::dialect::Dialect;
use crate::error::{FailureKind, Outcome};
use crate::runtime::block_on;
use crate::session::Session;
use crate::url::DatabaseUrl;
use counters::Counters;
use note::Note;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

pub use counters::RecorderStats;
pub use note::{Began, Ended};

/// The time limit for dropping records and closing connections.
const GRACE: Duration = Duration::from_secs(2);

/// Records what happens on a server.
pub struct Recorder {
    url: DatabaseUrl,
    notes: Option<mpsc::UnboundedSender<Note>>,
    counters: Arc<Counters>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// Creates missing tables and starts. At most this many bytes are queued for the database.
    ///
    /// # Errors
    /// A sentence with the remedy, if the database cannot be written to now.
    pub fn start(url: DatabaseUrl, queue_bytes_max: u64) -> Result<Recorder, String> {
        if url.is_in_memory() {
            return Err("sqlite::memory: would be lost with the server: name a file".into());
        }
        let (notes, received) = mpsc::unbounded_channel();
        let counters = Arc::new(Counters::new(queue_bytes_max));
        let run = now_ms() * 1_000 + i64::from(std::process::id() % 1_000);
        let (told, opened) = std::sync::mpsc::sync_channel(1);
        let (place, count) = (url.clone(), Arc::clone(&counters));
        let thread = std::thread::Builder::new().name("recorder".into());
        let thread = thread.spawn(move || {
            let work = async {
                let writer = writer::Writer::open(place, run, count).await?;
                let _ = told.send(Ok(()));
                writer.run(received).await;
                Ok(())
            };
            if let Err(failure) = block_on(work).flatten() {
                let _ = told.send(Err(failure.sentence));
            }
        });
        let thread = thread.map_err(|error| format!("no thread for the database: {error}"))?;
        opened.recv().map_err(|_| "the database's thread ended".to_owned())??;
        Ok(Recorder { url, notes: Some(notes), counters, thread: Some(thread) })
    }

    /// Whether the database can be connected to now, and a file of SQLite be written to. Nothing in it changes; a file
    /// that is missing is made, empty.
    ///
    /// # Errors
    /// A sentence with the remedy.
    pub fn check(url: &DatabaseUrl) -> Result<(), String> {
        let connected = block_on(async {
            let database = Database::new(url, writer::LIMITS);
            let checked = match database.session().await {
                Ok(mut session) if url.dialect() == Dialect::Sqlite => written_to(&mut session).await,
                session => session.map(drop),
            };
            database.close().await;
            checked
        });
        connected.flatten().map_err(|failure| failure.sentence)
    }

    /// Where it writes to.
    pub fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// A connection began.
    pub fn began(&self, began: Began<'_>) {
        self.note(Note::began(began, now_ms()));
    }

    /// A connection ended.
    pub fn ended(&self, ended: Ended<'_>) {
        self.note(Note::ended(ended, now_ms()));
    }

    fn note(&self, note: Note) {
        let bytes = note.bytes();
        if !self.counters.reserve(bytes) {
            return;
        }
        if self.notes.as_ref().is_none_or(|notes| notes.send(note).is_err()) {
            self.counters.dropped(1, bytes);
        }
    }

    /// The numbers of written, queued and dropped notes.
    pub fn stats(&self) -> RecorderStats {
        self.counters.stats()
    }

    /// Writes queued records within this time limit and drops the rest. Returns the totals.
    pub fn close(mut self, flush_max: Duration) -> RecorderStats {
        self.end(flush_max);
        let mut stats = self.stats();
        // A thread that was left has them.
        if stats.queued > 0 {
            stats.last_failure = Some(writer::TOO_LATE.into());
        }
        stats.dropped += std::mem::take(&mut stats.queued);
        stats.queued_bytes = 0;
        stats
    }

    /// A stuck driver or disk does not delay the server's end: its thread is abandoned.
    fn end(&mut self, flush_max: Duration) {
        let end = Instant::now() + flush_max;
        self.counters.close_by(end);
        self.notes = None;
        let Some(thread) = self.thread.take() else { return };
        while !thread.is_finished() && Instant::now() < end + GRACE {
            std::thread::sleep(Duration::from_millis(2));
        }
        if thread.is_finished() {
            let _ = thread.join();
        }
    }
}

/// Creates a table and rolls it back: SQLite opens a file even if it cannot write to it, and creates its journal only
/// at the first change.
async fn written_to(session: &mut Session) -> Outcome<()> {
    const WRITE: &str = "BEGIN IMMEDIATE; CREATE TABLE skipstone_write_check (number INTEGER); ROLLBACK";
    match session.script(WRITE).await {
        // Another program writes to it.
        Err(failure) if failure.kind == FailureKind::Busy => Ok(()),
        outcome => outcome,
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_database_delays_no_caller_and_its_queue_is_bounded() {
        // This end is never read: no thread and no clock can help by chance.
        let (notes, mut never_read) = mpsc::unbounded_channel();
        let url = DatabaseUrl::with_secrets("sqlite:never-opened.db").expect("a good URL");
        let counters = Arc::new(Counters::new(100_000));
        let recorder = Recorder { url, notes: Some(notes), counters, thread: None };
        for number in 0..100_000 {
            recorder.began(Began { number, account: "somebody", carrier: "udp" });
            recorder.ended(Ended { number, account: "somebody", lasted: Duration::ZERO, lines: 1, code: 0 });
            assert!(recorder.stats().queued_bytes <= 100_000);
        }
        let stats = recorder.close(Duration::ZERO);
        let mut waited = 0;
        while never_read.try_recv().is_ok() {
            waited += 1;
        }
        assert!(waited > 0 && waited < 2_000, "{waited} notes in 100,000 bytes");
        assert_eq!((stats.queued, stats.written, stats.dropped), (0, 0, 200_000), "{stats:?}");
    }
}
