//! Threads that stay on one CPU. Linux only: elsewhere a thread runs where the system puts it.

/// Keeps this thread, and every one that it starts from now on, on one CPU: the whole process, if it is the first.
#[cfg(target_os = "linux")]
pub(crate) fn pin(cpu: usize) -> Result<(), String> {
    use nix::sched::{CpuSet, sched_setaffinity};
    use nix::unistd::Pid;

    let mut set = CpuSet::new();
    let pinned = set.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
    pinned.map_err(|error| format!("cannot run on CPU {cpu}: {error}"))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(_cpu: usize) -> Result<(), String> {
    Err("threads are pinned on Linux only".into())
}

/// The CPUs on which this thread may run, in order; empty if unknown.
#[cfg(target_os = "linux")]
pub(crate) fn allowed() -> Vec<usize> {
    use nix::sched::{CpuSet, sched_getaffinity};
    use nix::unistd::Pid;

    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else { return Vec::new() };
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or_default()).collect()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn allowed() -> Vec<usize> {
    Vec::new()
}
