//! A driver with its own thread: the state that it shares with the application, and the thread's loop.

use super::Driver;
use super::command::{Command, event_weight};
use skipstone_mailbox::{Bound, Consumed, Produced, Queue, Sleep, Wakeup};
use skipstone_proto::Cost;
use skipstone_proto::Duration;
use skipstone_proto::Event;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// State that an application shares with its driver's thread: two queues, and nothing of the protocol.
pub(crate) struct DriverShared {
    pub(crate) commands: Queue<Command>,
    pub(crate) events: Queue<Event>,
    /// The driver waits for its sockets and must be woken for a command.
    pub(crate) driver: Sleep,
    /// The driver has events for which the queue had no room.
    pub(crate) is_driver_stalled: AtomicBool,
    /// Wakes the application, which may wait for several drivers.
    pub(crate) wakeup: Arc<Wakeup>,
    /// Error that stopped the driver, if one did.
    pub(crate) failure: OnceLock<String>,
    /// The thread has ended, for any reason: no commands are handled, and no further event arrives.
    pub(crate) is_over: AtomicBool,
    /// The thread has ended, and the application, which still has the handle, has polled every event.
    pub(crate) is_drained: AtomicBool,
}

/// Budget of all commands in one round.
const COMMANDS: Cost = Cost::micros(2_000);
/// Limit on queued commands and on queued events. Control commands, which another limit bounds, are added to this.
const ENTRIES_MAX: u64 = 1 << 16;

impl DriverShared {
    /// Creates queues that hold this number of bytes each. Further events stay in the endpoint, whose flow control then
    /// stops the peers.
    pub(crate) fn new(queue_bytes_max: u64, wakeup: &Arc<Wakeup>) -> Self {
        let bound = Bound { entries: ENTRIES_MAX, bytes: queue_bytes_max };
        DriverShared {
            commands: Queue::new(bound, Command::weight),
            events: Queue::new(bound, event_weight),
            driver: Sleep::default(),
            is_driver_stalled: AtomicBool::new(false),
            wakeup: Arc::clone(wakeup),
            failure: OnceLock::new(),
            is_over: AtomicBool::new(false),
            is_drained: AtomicBool::new(false),
        }
    }
}

/// Marks the driver as ended and wakes the application, however the thread ends.
struct Farewell<'a>(&'a DriverShared);

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.0.failure.set("the driver's thread panicked; its message went to standard error".into());
        }
        self.0.is_over.store(true, Ordering::SeqCst);
        self.0.wakeup.wake();
    }
}

/// The driver's thread.
pub(crate) fn run(mut driver: Driver, shared: &DriverShared) {
    let _farewell = Farewell(shared);
    crate::net::wait::sharpen_timers();
    let (mut consumed, mut produced) = (Consumed::default(), Produced::default());
    loop {
        let must_stop = apply_some(&mut driver, || shared.commands.pop(&mut consumed));
        if must_stop {
            // The last packets are sent. If this fails, there is no caller left to report the error to.
            let _ = driver.drive(Duration::ZERO);
            return;
        }
        hand_events_up(&mut driver, shared, &mut produced);
        let may_sleep = shared.driver.begin(|| !shared.commands.is_empty());
        let result = driver.drive(if may_sleep { Duration::MAX } else { Duration::ZERO });
        shared.driver.end();
        if let Err(error) = result {
            let _ = shared.failure.set(format!("the system refuses to wait for the sockets: {error}"));
            return;
        }
    }
}

/// Applies commands within the budget of a round, so that a thread that sends without a pause does not starve
/// receiving. True if the driver must stop.
fn apply_some(driver: &mut Driver, mut pop: impl FnMut() -> Option<Command>) -> bool {
    let (mut left, mut must_stop) = (COMMANDS, false);
    while left.is_left()
        && let Some(command) = pop()
    {
        left -= command.cost();
        must_stop |= matches!(command, Command::Stop);
        driver.apply(command);
    }
    must_stop
}

fn hand_events_up(driver: &mut Driver, shared: &DriverShared, produced: &mut Produced) {
    let mut handed = false;
    loop {
        // The weight of the next event is not known in advance: one long message may exceed the limit once.
        while shared.events.has_room(produced, 1) {
            let Some(event) = driver.poll_event() else { break };
            handed = true;
            shared.events.push(produced, event);
        }
        let is_stalled = driver.endpoint.event_count() > 0;
        shared.is_driver_stalled.store(is_stalled, Ordering::SeqCst);
        // If the application emptied the queue before it could see the flag, this thread would never be woken.
        if !is_stalled || !shared.events.has_room(produced, 1) {
            break;
        }
    }
    if handed {
        shared.wakeup.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone_proto::{Config, Settings};

    #[test]
    fn a_thread_that_sends_continuously_does_not_block_others() {
        let mut driver = Driver::of_clients(Config::server(Settings::default()), 8).expect("sockets");
        let mut popped = 0;
        let must_stop = apply_some(&mut driver, || {
            popped += 1;
            (popped < 1_000_000).then_some(Command::Flush)
        });
        assert!(!must_stop && (1_000..10_000).contains(&popped), "{popped} commands in one round");
        assert!(apply_some(&mut driver, || Some(Command::Stop)));
    }
}
