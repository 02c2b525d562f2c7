//! Waiting for readiness with better than mio's millisecond, and the limit of open files.

use std::io;
use std::time::Duration;

use mio::{Events, Poll};

#[cfg(target_os = "linux")]
use super::linux;

/// Waits until a socket is ready or `timeout` is over (`None`: without a limit); either way `events` contains the ready
/// sockets, possibly none. On Linux precise to about a tenth of a millisecond (half of that after [`sharpen_timers`]),
/// elsewhere to a millisecond, rounded up. A signal ends the wait early, with no events.
///
/// # Errors
/// The system refuses to wait. A signal is not an error.
pub fn wait(poll: &mut Poll, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
    match wait_uninterrupted(poll, events, timeout) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            events.clear();
            Ok(())
        }
        result => result,
    }
}

#[cfg(target_os = "linux")]
fn wait_uninterrupted(poll: &mut Poll, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
    use std::os::fd::AsFd;

    let Some(timeout) = timeout.filter(|timeout| !timeout.is_zero()) else {
        return poll.poll(events, timeout);
    };
    // epoll_wait counts milliseconds, but its descriptor is itself readable when anything is ready.
    if linux::wait_readable(poll.registry().as_fd(), timeout)? {
        return poll.poll(events, Some(Duration::ZERO));
    }
    events.clear();
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn wait_uninterrupted(poll: &mut Poll, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
    poll.poll(events, timeout)
}

/// Makes the calling thread's waits end on time: Linux otherwise lets them oversleep by 50 us to save wake-ups. For the
/// driver's own thread; does nothing elsewhere.
pub fn sharpen_timers() {
    #[cfg(target_os = "linux")]
    linux::sharpen_timers();
}

/// Limit on the open files, and thus on the sockets, of this process; `None` where there is no such limit.
pub fn open_files_limit() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return linux::open_files_limit(linux::Raise::No);
    #[cfg(not(target_os = "linux"))]
    None
}

/// Raises the limit of open files as far as the system allows an ordinary user, and returns the new limit.
pub fn raise_open_files_limit() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return linux::open_files_limit(linux::Raise::ToHardLimit);
    #[cfg(not(target_os = "linux"))]
    None
}
