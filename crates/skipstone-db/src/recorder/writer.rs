//! The writing thread: gathers notes into batches, and retries each until it is known to be stored.

use super::batch::Batch;
use super::counters::Counters;
use super::note::Note;
use crate::database::{Database, Limits};
use crate::error::{Failure, FailureKind, Outcome};
use crate::session::Session;
use crate::url::DatabaseUrl;
use skipstone_lab::measure::splitmix::splitmix;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

/// Notes of a batch, and how long the first of them waits for others.
const NOTES_MAX: usize = 1_000;
const GATHER: Duration = Duration::from_millis(100);

/// The wait before a batch is tried again doubles from the first to the last of these.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// A thread that waits for SQLite's lock cannot be notified, so it polls instead.
const LOCK_MAX: Duration = Duration::from_millis(500);

/// A batch is dropped after this many consecutive refusals by the database.
const REFUSALS_MAX: u32 = 5;

/// A database that takes longer for a statement is given up, and a new connection is made.
pub(super) const LIMITS: Limits =
    Limits { connections_max: 1, connect_max: Duration::from_secs(5), answer_max: Duration::from_secs(10) };

pub(super) const TOO_LATE: &str = "the server ended before everything was written";

/// The end of the queue.
pub(super) struct Writer {
    database: Database,
    session: Option<Session>,
    counters: Arc<Counters>,
    run: i64,
    batches: i64,
    jitter: u64,
}

impl Writer {
    /// Makes the tables, and this run's row.
    pub(super) async fn open(url: DatabaseUrl, run: i64, counters: Arc<Counters>) -> Outcome<Writer> {
        let database = Database::new(&url, LIMITS);
        database.migrate().await?;
        let mut session = database.session().await?;
        let statement = session.dialect().statement("INSERT INTO skipstone_runs (run, batch) VALUES (?, 0)");
        session.execute(&statement, &[run.into()]).await?;
        Ok(Writer { database, session: Some(session), counters, run, batches: 0, jitter: run as u64 })
    }

    /// Writes until the server has ended and nothing is left, or the time for that is over.
    pub(super) async fn run(mut self, mut notes: UnboundedReceiver<Note>) {
        while let Some(batch) = self.gather(&mut notes).await {
            let (count, bytes) = (batch.notes.len() as u64, batch.bytes);
            match self.write(&batch).await {
                Ok(()) => self.counters.written(count, bytes),
                Err(failure) => {
                    self.counters.remember(&failure.sentence);
                    self.counters.dropped(count, bytes);
                }
            }
        }
        self.session = None;
        self.database.close().await;
    }

    async fn gather(&mut self, notes: &mut UnboundedReceiver<Note>) -> Option<Batch> {
        let mut taken = vec![notes.recv().await?];
        let end = Instant::now() + GATHER;
        while taken.len() < NOTES_MAX {
            match timeout(end.saturating_duration_since(Instant::now()), notes.recv()).await {
                Ok(Some(note)) => taken.push(note),
                Ok(None) | Err(_) => break,
            }
        }
        self.batches += 1;
        let bytes = taken.iter().map(Note::bytes).sum();
        Some(Batch { run: self.run, number: self.batches, notes: taken, bytes })
    }

    /// Retries until the database accepts it. The error is the one of the last attempt: the server has ended, or the
    /// database will never accept it.
    async fn write(&mut self, batch: &Batch) -> Outcome<()> {
        let mut wait = BACK_OFF.0;
        let mut refusals = 0;
        loop {
            if self.is_over() {
                return Err(too_late());
            }
            let Err(failure) = self.attempt(batch).await else { return Ok(()) };
            // The connection may be in any state, so a new one is opened.
            self.session = None;
            self.counters.failed(&failure.sentence);
            refusals = if failure.is_passing() { 0 } else { refusals + 1 };
            if refusals == REFUSALS_MAX {
                return Err(failure);
            }
            let share = 0.5 + (splitmix(&mut self.jitter) >> 11) as f64 / (1_u64 << 54) as f64;
            self.counters.sleep(wait.mul_f64(share)).await;
            wait = (wait * 2).min(BACK_OFF.1);
        }
    }

    /// Is given up when the time for the last batches is over; that time may be set during the wait.
    async fn attempt(&mut self, batch: &Batch) -> Outcome<()> {
        let lock_max = self.counters.left().map_or(LOCK_MAX, |left| left.min(LOCK_MAX));
        let work = async {
            let session = match &mut self.session {
                Some(session) => session,
                empty => empty.insert(self.database.session().await?),
            };
            session.wait_for_locks(lock_max)?;
            batch.write(session).await
        };
        let (mut work, mut over) = (pin!(work), pin!(self.counters.over()));
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(outcome),
            Poll::Pending => over.as_mut().poll(context).map(|()| Err(too_late())),
        })
        .await
    }

    fn is_over(&self) -> bool {
        self.counters.left().is_some_and(|left| left.is_zero())
    }
}

fn too_late() -> Failure {
    Failure::new(FailureKind::Busy, TOO_LATE)
}
