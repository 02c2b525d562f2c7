//! System calls of the bench: the CPU time of a process, a clock that all processes share, a separate network. Linux
//! has all of these; on other systems a run is neither pinned nor isolated, and says so.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::measure::monotonic::monotonic;

#[cfg(target_os = "linux")]
pub(crate) use self::linux::{cpu_time, cpu_time_of, join_network, leave_network};
#[cfg(not(target_os = "linux"))]
pub(crate) use self::other::{cpu_time, cpu_time_of, join_network, leave_network};

/// By the clock that all processes of a machine read alike. Where that is the wall clock, it should not be set during a
/// run.
pub(crate) fn now_ns() -> u64 {
    let by_wall = || SystemTime::now().duration_since(UNIX_EPOCH).ok();
    monotonic().or_else(by_wall).unwrap_or_default().as_nanos() as u64
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::time::Duration;

    use nix::sched::{CloneFlags, setns, unshare};
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    use nix::time::{clock_getcpuclockid, clock_gettime};
    use nix::unistd::Pid;

    /// User and system time of all threads of this process, those that ended included.
    pub(crate) fn cpu_time() -> Option<Duration> {
        let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        Some(Duration::from_micros(micros.try_into().ok()?))
    }

    /// The same of another process.
    pub(crate) fn cpu_time_of(process: u32) -> Option<Duration> {
        let process = Pid::from_raw(process.try_into().ok()?);
        let time = clock_gettime(clock_getcpuclockid(process).ok()?).ok()?;
        Some(Duration::from_nanos(time.num_nanoseconds().try_into().ok()?))
    }

    /// Moves this process into a new network, with only an idle loopback interface. The network and any interface moved
    /// into it disappear when the process ends, so nothing must be cleaned up. Must be called before the first thread
    /// starts.
    pub(crate) fn leave_network() -> Result<(), String> {
        unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("no separate network namespace: {error}"))
    }

    /// The network of another process, which stays as long as one of them does. Before the first thread.
    pub(crate) fn join_network(process: u32) -> Result<(), String> {
        let text =
            |error: &dyn std::fmt::Display| format!("the network of process {process} cannot be joined: {error}");
        let network = File::open(format!("/proc/{process}/ns/net")).map_err(|error| text(&error))?;
        setns(network, CloneFlags::CLONE_NEWNET).map_err(|error| text(&error))
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::time::Duration;

    pub(crate) fn cpu_time() -> Option<Duration> {
        None
    }

    pub(crate) fn cpu_time_of(_process: u32) -> Option<Duration> {
        None
    }

    pub(crate) fn leave_network() -> Result<(), String> {
        Err("network namespaces exist on Linux only".into())
    }

    pub(crate) fn join_network(_process: u32) -> Result<(), String> {
        leave_network()
    }
}
