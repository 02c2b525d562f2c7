//! The cost of a process: CPU time, time spent waiting for a CPU, memory. From /proc; `None` elsewhere than on Linux.

use std::time::Duration;

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
    /// Of this process.
    pub fn of_self() -> Probe {
        Probe { directory: "/proc/self".into() }
    }

    /// Of another process of the same user.
    pub fn of(pid: u32) -> Probe {
        Probe { directory: format!("/proc/{pid}") }
    }

    /// The cost until now; `None` once the process has ended.
    pub fn sample(&self) -> Option<Sample> {
        let (on_cpu, run_queue_wait) = self.scheduled()?;
        let whole = cpu_of_stat(&self.read("stat")?)?;
        let rss_bytes = kilobytes(&self.read("status")?, "VmRSS:")? * 1024;
        // schedstat knows nanoseconds, and nothing of threads that ended; stat knows both, in hundredths of a second.
        Some(Sample { cpu: on_cpu.max(whole), run_queue_wait, rss_bytes })
    }

    /// How many cores the process may run on.
    pub fn cores(&self) -> Option<usize> {
        let status = self.read("status")?;
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        cores_in(list.trim())
    }

    /// Time on a CPU and time waited for one, summed over the threads.
    fn scheduled(&self) -> Option<(Duration, Duration)> {
        let mut sums = (Duration::ZERO, Duration::ZERO);
        for thread in std::fs::read_dir(format!("{}/task", self.directory)).ok()?.flatten() {
            // A thread may end between the listing and the reading.
            let Ok(text) = std::fs::read_to_string(thread.path().join("schedstat")) else {
                continue;
            };
            let (on_cpu, waited) = times_of_schedstat(&text)?;
            sums = (sums.0 + on_cpu, sums.1 + waited);
        }
        Some(sums)
    }

    fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(format!("{}/{file}", self.directory)).ok()
    }
}

impl Sample {
    /// The usage since an earlier sample, `elapsed` before this one.
    pub fn since(&self, earlier: &Sample, elapsed: Duration) -> Usage {
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

/// Time on a CPU and time waited for one, from `schedstat` (nanoseconds; Documentation/scheduler/sched-stats.rst).
pub(super) fn times_of_schedstat(text: &str) -> Option<(Duration, Duration)> {
    let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().ok().map(Duration::from_nanos));
    Some((numbers.next()??, numbers.next()??))
}

/// User and system time from `stat` (proc(5), fields 14 and 15). The name in field 2 may hold blanks and brackets.
fn cpu_of_stat(text: &str) -> Option<Duration> {
    let (_, after_name) = text.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(11).map(|field| field.parse::<u64>().ok());
    let ticks = fields.next()?? + fields.next()??;
    Some(Duration::from_millis(ticks * TICK_MS))
}

fn kilobytes(status: &str, name: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The number of cores in a list such as `0-3,8`.
fn cores_in(list: &str) -> Option<usize> {
    list.split(',').try_fold(0, |count, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(count + last.checked_sub(first)? + 1)
    })
}

/// The unit of `stat`: Linux shows programs 100 ticks a second, whatever it uses itself.
const TICK_MS: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_read_past_a_name_with_brackets() {
        let stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 150 25 9 9 20 0 3 0 1000 1 1";
        assert_eq!(cpu_of_stat(stat), Some(Duration::from_millis(1750)));
        assert_eq!(cpu_of_stat("42 (x) S 1"), None);
    }

    #[test]
    fn schedstat_and_status_are_read() {
        let times = (Duration::from_nanos(232_837), Duration::from_nanos(947_225));
        assert_eq!(times_of_schedstat("232837 947225 2\n"), Some(times));
        assert_eq!(times_of_schedstat(""), None);
        assert_eq!(kilobytes("VmPeak:\t  9 kB\nVmRSS:\t  1234 kB\n", "VmRSS:"), Some(1234));
    }

    #[test]
    fn a_core_list_is_counted() {
        assert_eq!(cores_in("0-3,8"), Some(5));
        assert_eq!(cores_in("1"), Some(1));
        assert_eq!(cores_in("3-1"), None);
        assert_eq!(cores_in(""), None);
    }

    #[test]
    fn usage_is_the_difference_in_percent_of_one_core() {
        let sample = |cpu| Sample { cpu: Duration::from_millis(cpu), run_queue_wait: Duration::ZERO, rss_bytes: 7 };
        let usage = sample(1500).since(&sample(500), Duration::from_secs(4));
        assert_eq!((usage.cpu_percent, usage.cpu), (25.0, Duration::from_secs(1)));
        assert_eq!(sample(1).since(&sample(1), Duration::ZERO).cpu_percent, 0.0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_seen_to_work() {
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
        assert!(probe.cores().unwrap() >= 1);
    }

    #[test]
    fn a_process_that_does_not_exist_has_no_cost() {
        assert_eq!(Probe::of(u32::MAX).sample(), None);
    }
}
