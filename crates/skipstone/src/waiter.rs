//! Waits for events without the handle, for a thread that must leave the handle to others meanwhile.

use crate::driver::thread::DriverShared;
use skipstone_proto::Duration;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Waits for events of a server or client whose drivers have threads of their own, while another thread may use the
/// handle. Only one thread at a time may wait, with this or with the handle's own `wait`: of two, only one is woken.
#[derive(Clone)]
pub struct Waiter(Arc<[Arc<DriverShared>]>);

impl Waiter {
    pub(crate) fn new(drivers: impl IntoIterator<Item = Arc<DriverShared>>) -> Self {
        Waiter(drivers.into_iter().collect())
    }

    /// Waits until there is an event, for `span` at most.
    pub fn wait(&self, span: Duration) {
        if let Some(first) = self.0.first() {
            first.wakeup.wait(span, || self.has_news());
        }
    }

    /// Whether there are events, or a driver has ended and the application has not polled all events about that.
    pub(crate) fn has_news(&self) -> bool {
        self.0.iter().any(|driver| {
            let is_over = || driver.is_over.load(Ordering::SeqCst) && !driver.is_drained.load(Ordering::SeqCst);
            !driver.events.is_empty() || is_over()
        })
    }
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").finish_non_exhaustive()
    }
}
