//! The clock that all processes of a machine share, so that their observations can be compared.

use std::time::{Duration, Instant};

/// Its time, from some moment in the past on; `None` where there is no such clock.
#[cfg(target_os = "linux")]
pub fn monotonic() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_MONOTONIC).ok().map(Duration::from)
}

/// The clock's time; this system shares none with other processes.
#[cfg(not(target_os = "linux"))]
pub fn monotonic() -> Option<Duration> {
    None
}

/// Waits for a moment that is a multiple of `step` on the shared clock, and returns it: clocks of processes that begin
/// at such moments tick together. Without a shared clock it is now.
pub fn next_multiple(step: Duration) -> Instant {
    let Some(now) = monotonic() else { return Instant::now() };
    let into = Duration::from_nanos((now.as_nanos() % step.as_nanos()) as u64);
    let at = Instant::now() + (step - into);
    std::thread::sleep(step - into);
    at
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_epoch_is_a_multiple_that_has_passed() {
        let step = Duration::from_millis(20);
        for _ in 0..5 {
            let at = next_multiple(step);
            let (late, now) = (Instant::now().checked_duration_since(at), monotonic().expect("Linux has it"));
            let late = late.expect("it has come");
            let off = (now - late).as_nanos() % step.as_nanos();
            let off = off.min(step.as_nanos() - off);
            assert!(off < 5_000_000, "{off} ns off");
        }
    }
}
