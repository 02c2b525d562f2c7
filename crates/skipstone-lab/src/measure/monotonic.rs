//! The clock that all processes of a machine share, so that what one of them saw can be put beside what another did.

use std::time::Duration;

/// Its time, from some moment in the past on; `None` where there is no such clock.
#[cfg(target_os = "linux")]
pub fn monotonic() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_MONOTONIC).ok().map(Duration::from)
}

/// Its time; none is shared here.
#[cfg(not(target_os = "linux"))]
pub fn monotonic() -> Option<Duration> {
    None
}
