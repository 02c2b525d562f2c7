//! The runtime beneath the drivers: one thread, the caller's.

use std::future::Future;

/// Waits for work of a database in this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime of one thread needs no more than a descriptor").block_on(work)
}
