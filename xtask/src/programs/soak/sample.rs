//! The resources of a process, from /proc (proc(5)).

use std::fmt;
use std::fs;

#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    /// Resident memory, in KiB.
    pub(super) memory: u64,
    pub(super) threads: u64,
    pub(super) descriptors: usize,
    pub(super) timers: usize,
}

impl Sample {
    pub(super) fn of(pid: u32) -> Result<Sample, String> {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}"));
        let status = read("status").map_err(|error| format!("process {pid} is gone: {error}"))?;
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
        };
        Ok(Sample {
            memory: number("VmRSS:"),
            threads: number("Threads:"),
            descriptors: fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count),
            timers: read("timers").map_or(0, |timers| timers.lines().filter(|line| line.starts_with("ID")).count()),
        })
    }

    /// Whether a later sample shows no more, except what a busy allocator keeps. Clients that come and go have a few
    /// sockets.
    pub(super) fn is_kept_by(&self, later: &Sample) -> bool {
        later.memory <= self.memory + self.memory / 5 + 2_048
            && later.threads <= self.threads
            && later.timers <= self.timers
            && later.descriptors <= self.descriptors + DESCRIPTORS_MORE
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sample { memory, threads, descriptors, timers } = self;
        write!(f, "{memory} KiB, {threads} threads, {descriptors} descriptors, {timers} timers")
    }
}

const DESCRIPTORS_MORE: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_noticed() {
        let first = Sample { memory: 20_000, threads: 7, descriptors: 40, timers: 0 };
        assert!(first.is_kept_by(&Sample { memory: 25_000, descriptors: 44, ..first }));
        for later in [
            Sample { memory: 27_000, ..first },
            Sample { threads: 8, ..first },
            Sample { descriptors: 60, ..first },
            Sample { timers: 1, ..first },
        ] {
            assert!(!first.is_kept_by(&later), "{later}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_holds_something() {
        let it = Sample::of(std::process::id()).expect("it runs");
        assert!(it.memory > 100 && it.threads >= 1 && it.descriptors >= 3, "{it}");
    }
}
