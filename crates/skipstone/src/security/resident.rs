//! The memory of this process, for the tests that measure the memory of sessions.

/// KB of memory that are resident.
pub(super) fn resident_kb() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("it has one");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("a number")
}
