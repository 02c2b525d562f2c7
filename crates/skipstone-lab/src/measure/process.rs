//! The cost of a process: CPU time, time spent waiting for a CPU, memory. From /proc; `None` elsewhere than on Linux.

use std::time::Duration;

use procfs_core::FromRead;
use procfs_core::process::{Schedstat, Stat, Status};

/// Reads the cost of one process, again and again.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The process's directory in /proc.
    directory: String,
}

/// The cost of a process from its start until one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// User and system time of all its threads, those that ended included.
    pub cpu: Duration,
    /// How long its threads that still live have waited for a CPU while they could have run.
    pub run_queue_wait: Duration,
    /// Resident memory.
    pub rss_bytes: u64,
}

/// The cost of a process between two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usage {
    /// CPU time used.
    pub cpu: Duration,
    /// CPU time used, in percent of one core.
    pub cpu_percent: f64,
    /// Time waited for a CPU; threads that ended in between take their share with them.
    pub run_queue_wait: Duration,
    /// Resident memory at the end.
    pub rss_bytes: u64,
}

impl Probe {
    /// The usage of this process.
    pub fn of_self() -> Self {
        Self { directory: "/proc/self".into() }
    }

    /// The usage of another process of the same user.
    pub fn of(pid: u32) -> Self {
        Self { directory: format!("/proc/{pid}") }
    }

    /// The cost until now; `None` once the process has ended.
    pub fn sample(&self) -> Option<Sample> {
        let (on_cpu, run_queue_wait) = self.scheduled()?;
        let stat = self.read::<Stat>("stat")?;
        let whole = Duration::from_millis((stat.utime + stat.stime) * TICK_MS);
        let rss_bytes = self.read::<Status>("status")?.vmrss? * 1024;
        // schedstat knows nanoseconds, and nothing of threads that ended; stat knows both, in hundredths of a second.
        Some(Sample { cpu: on_cpu.max(whole), run_queue_wait, rss_bytes })
    }

    /// Time on a CPU and time waited for one, summed over the threads.
    fn scheduled(&self) -> Option<(Duration, Duration)> {
        let threads = std::fs::read_dir(format!("{}/task", self.directory)).ok()?.flatten();
        // A thread may end between the listing and the reading.
        let of_each = threads.filter_map(|thread| Schedstat::from_file(thread.path().join("schedstat")).ok());
        let (on_cpu, waited) = of_each
            .fold((0, 0), |(on_cpu, waited), thread| (on_cpu + thread.sum_exec_runtime, waited + thread.run_delay));
        Some((Duration::from_nanos(on_cpu), Duration::from_nanos(waited)))
    }

    fn read<T: FromRead>(&self, file: &str) -> Option<T> {
        T::from_file(format!("{}/{file}", self.directory)).ok()
    }
}

impl Sample {
    /// The usage since an earlier sample, `elapsed` before this one.
    pub fn since(&self, earlier: &Self, elapsed: Duration) -> Usage {
        let cpu = self.cpu.saturating_sub(earlier.cpu);
        let elapsed = elapsed.as_secs_f64();
        Usage {
            cpu,
            cpu_percent: if elapsed > 0.0 { 100.0 * cpu.as_secs_f64() / elapsed } else { 0.0 },
            run_queue_wait: self.run_queue_wait.saturating_sub(earlier.run_queue_wait),
            rss_bytes: self.rss_bytes,
        }
    }
}

/// The unit of `stat`: Linux shows programs 100 ticks a second, whatever it uses itself.
const TICK_MS: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_the_difference_in_percent_of_one_core() {
        let sample = |cpu| Sample { cpu: Duration::from_millis(cpu), run_queue_wait: Duration::ZERO, rss_bytes: 7 };
        let usage = sample(1500).since(&sample(500), Duration::from_secs(4));
        assert_eq!((usage.cpu_percent, usage.cpu), (25.0, Duration::from_secs(1)));
        assert_eq!(sample(1).since(&sample(1), Duration::ZERO).cpu_percent, 0.0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cpu_time_of_this_process_is_measured() {
        let probe = Probe::of_self();
        let before = probe.sample().unwrap();
        let mut sum = 0_u64;
        for number in 0..40_000_000_u64 {
            sum = std::hint::black_box(sum ^ number);
        }
        // The kernel counts a running thread at its next tick; to give way makes it count now.
        std::thread::yield_now();
        let after = probe.sample().unwrap();
        assert!(after.cpu > before.cpu, "{before:?} {after:?}");
        assert!(after.rss_bytes > 100_000);
    }

    #[test]
    fn a_process_that_does_not_exist_has_no_cost() {
        assert_eq!(Probe::of(u32::MAX).sample(), None);
    }
}
