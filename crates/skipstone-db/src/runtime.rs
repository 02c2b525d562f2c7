//! The runtime of the drivers: one thread, the caller's.

use crate::error::{Failure, Outcome};
use std::future::Future;
use tokio::runtime::Runtime;

/// Waits for work of a database in this thread. The work's own outcome is within.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Outcome<T> {
    runtime().map(|runtime| runtime.block_on(work))
}

/// A runtime of one thread, which takes a few descriptors.
pub(crate) fn runtime() -> Outcome<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::other(format!("this process cannot wait for a database: {error}; may it open more files (ulimit -n)?"))
    })
}
