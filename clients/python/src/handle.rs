//! The common part of servers and clients: one thread at a time, waiting without the interpreter's lock, batches of
//! events.

use crate::errors::{BusyError, ClosedError};
use crate::events;
use pyo3::prelude::*;
use skipstone::{Event, Ticks};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// A server or a client until it is closed.
pub(crate) struct Handle<T> {
    inner: Mutex<Option<T>>,
    ticks: Mutex<Ticks>,
    kind: &'static str,
}

/// The parts of a server or a client that a poll needs.
pub(crate) trait Polled: Send {
    /// The next event, if there is one.
    fn next(&mut self) -> Option<Event>;
    /// Waits for an event; a stepped one runs its driver for one round.
    fn wait_for(&mut self, span: Duration) -> io::Result<()>;
    /// Waits until the deadline, regardless of events; a stepped one runs its driver.
    fn wait_until(&mut self, deadline: Instant);
    /// Why the driver failed, if it did.
    fn why_failed(&self) -> Option<String>;
}

impl<T: Send> Handle<T> {
    pub(crate) fn new(kind: &'static str, inner: T) -> Self {
        Handle { inner: Mutex::new(Some(inner)), ticks: Mutex::default(), kind }
    }

    /// Calls the library.
    pub(crate) fn with<R>(&self, call: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        let mut inner = self.lock()?;
        inner.as_mut().map(call).ok_or_else(|| self.closed())
    }

    /// Calls the library with the interpreter unlocked, for a call that may take long.
    pub(crate) fn with_detached<R: Send>(&self, py: Python<'_>, call: impl FnOnce(&mut T) -> R + Send) -> PyResult<R> {
        let mut inner = self.lock()?;
        let inner = inner.as_mut().ok_or_else(|| self.closed())?;
        Ok(py.detach(|| call(inner)))
    }

    /// Takes it out; every later call is a `ClosedError`.
    pub(crate) fn take(&self) -> PyResult<T> {
        self.lock()?.take().ok_or_else(|| self.closed())
    }

    /// Whether it was taken out. One that another thread is using is open.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_ok_and(|inner| inner.is_none())
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Option<T>>> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(BusyError::new_err(format!(
                "another thread is in a call of this {}: let one thread use it, or take a lock of your own around \
                 each call and poll with a short timeout",
                self.kind
            ))),
        }
    }

    fn closed(&self) -> PyErr {
        ClosedError::new_err(format!("this {} was closed: make a new one", self.kind))
    }
}

impl<T: Polled> Handle<T> {
    /// The available events, at most a batch; waits for the first of them.
    pub(crate) fn poll(&self, py: Python<'_>, timeout: Duration) -> PyResult<Vec<Py<PyAny>>> {
        let mut inner = self.lock()?;
        let inner = inner.as_mut().ok_or_else(|| self.closed())?;
        let end = Instant::now().checked_add(timeout);
        loop {
            let left = end.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            let span = left.min(SLICE);
            let (waited, batch) = py.detach(|| {
                let waited = inner.wait_for(span);
                let batch: Vec<Event> = std::iter::from_fn(|| inner.next()).take(BATCH).collect();
                (waited, batch)
            });
            // A failed driver leaves events, including the closes of its connections: the failure is reported by the
            // first poll that has none.
            if !batch.is_empty() {
                let events = batch.into_iter().filter_map(|event| events::event(py, event).transpose());
                return events.collect();
            }
            waited.map_err(|error| failed(self.kind, &error.to_string()))?;
            if let Some(why) = inner.why_failed() {
                return Err(failed(self.kind, &why));
            }
            // Ctrl+C, and other signals with a handler in Python.
            py.check_signals()?;
            if left <= SLICE {
                return Ok(Vec::new());
            }
        }
    }
}

impl<T: Polled> Handle<T> {
    /// Waits for the next tick, regardless of the number of events. Returns the number of skipped ticks.
    pub(crate) fn wait_tick(&self, py: Python<'_>, interval: Duration) -> PyResult<u64> {
        let mut inner = self.lock()?;
        let inner = inner.as_mut().ok_or_else(|| self.closed())?;
        // Only the thread that has locked the handle gets here.
        let mut ticks = self.ticks.lock().unwrap_or_else(PoisonError::into_inner);
        let tick = ticks.next_after(Instant::now(), interval);
        loop {
            let until = tick.due.min(Instant::now() + SLICE);
            py.detach(|| inner.wait_until(until));
            py.check_signals()?;
            if until == tick.due {
                return Ok(tick.missed);
            }
        }
    }
}

fn failed(kind: &str, why: &str) -> PyErr {
    ClosedError::new_err(format!("the driver of this {kind} has failed, and no more events will arrive: {why}"))
}

/// Maximum number of events of one poll, so that a busy server reaches its next tick.
const BATCH: usize = 4_096;
/// How long a wait leaves signals unhandled.
const SLICE: Duration = Duration::from_millis(50);
