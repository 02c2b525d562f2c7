//! Punctual threads: a priority above all ordinary threads, locked memory, timers that end to the nanosecond; and
//! busy-waiting for short times, because a sleep ends about 50 us late.

use std::io;
use std::time::{Duration, Instant};

use mio::{Events, Poll};

/// The priority of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// All but the link.
    Others,
    /// All others, those that measure it too.
    All,
}

/// Why the calling thread is less punctual than it could be; `None` if it is not.
pub(crate) fn make_punctual(before: Before) -> Option<String> {
    skipstone::net::wait::sharpen_timers();
    take_priority(before)
}

#[cfg(target_os = "linux")]
fn take_priority(before: Before) -> Option<String> {
    use nix::sys::mman::{MlockAllFlags, mlockall};
    use thread_priority::{
        RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
        thread_native_id,
    };

    // Page faults cost less than a wrong priority: locking that is refused is no reason to say anything.
    let _ = mlockall(MlockAllFlags::MCL_CURRENT);
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority: u8 = if before == Before::All { 60 } else { 40 };
    // Of 1 to 99: below the kernel's own real-time threads, above all ordinary ones.
    let priority = ThreadPriority::Crossplatform(priority.try_into().expect("it is below 100"));
    let set = set_thread_priority_and_policy(thread_native_id(), priority, policy);
    set.err().map(|_| "other programs may make it late (no right to a real-time priority)".into())
}

#[cfg(not(target_os = "linux"))]
fn take_priority(_before: Before) -> Option<String> {
    Some("other programs may make it late (a real-time priority is set on Linux only)".into())
}

/// The CPU time that the calling thread has used, spinning included.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok().map(Duration::from)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cpu_time() -> Option<Duration> {
    None
}

/// Waits with a budget for spinning.
pub(crate) struct Waiter {
    window_began: Instant,
    spun: Duration,
}

/// Shorter waits are spun.
const SPIN: Duration = Duration::from_micros(120);
/// WHY: the kernel takes the CPU from real-time threads that use more than 95% of a second, for the rest of it. A
/// thread that spins more than this part of a window sleeps, and is a little late instead of very late.
const SPIN_SHARE: u32 = 4;
const WINDOW: Duration = Duration::from_millis(100);

impl Waiter {
    pub(crate) fn new() -> Waiter {
        Waiter { window_began: Instant::now(), spun: Duration::ZERO }
    }

    /// Waits until something is ready, or until the remaining time is short enough to spin.
    pub(crate) fn wait(&mut self, poll: &mut Poll, events: &mut Events, left: Duration) -> io::Result<()> {
        let began = Instant::now();
        if began - self.window_began >= WINDOW {
            (self.window_began, self.spun) = (began, Duration::ZERO);
        }
        let may_spin = self.spun < WINDOW / SPIN_SHARE;
        if left < SPIN && may_spin {
            skipstone::net::wait::wait(poll, events, Some(Duration::ZERO))?;
            self.spun += began.elapsed();
            return Ok(());
        }
        let left = if may_spin { left - SPIN } else { left };
        skipstone::net::wait::wait(poll, events, Some(left))
    }
}
