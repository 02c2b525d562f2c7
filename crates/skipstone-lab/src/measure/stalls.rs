//! A control for every latency maximum: a thread that only sleeps, and logs when it was woken late. Until it was,
//! nothing on this machine was punctual, and a long latency says nothing about the server.
//!
//! The thread has ordinary priority, so that it needs no rights. A late waking is therefore either the machine (the
//! host stopped it) or a queue for the CPU; the kernel's own account of that queue distinguishes them.
//!
//! A host may stop one virtual CPU and leave the others alone: where several processes are measured, a thread sleeps on
//! each.

use std::fs::File;
use std::io::{self, Seek};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use procfs_core::FromRead;
use procfs_core::process::Schedstat;

use super::pinning;

/// The running control threads. Dropped without [`stop`](StallWatch::stop), they end by themselves within a step.
#[derive(Debug)]
pub struct StallWatch {
    stopping: Arc<AtomicBool>,
    threads: Vec<JoinHandle<StallLog>>,
}

/// One late waking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// When the thread should have woken, since the epoch of the run.
    pub start: Duration,
    /// How much later it woke.
    pub length: Duration,
    /// How much of that it spent queueing for a CPU that other threads used.
    pub queued: Duration,
}

/// All late wakings of a run, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StallLog {
    stalls: Vec<Stall>,
    summary: StallSummary,
}

/// The late wakings in sum, those included that the log had no room for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StallSummary {
    /// How many.
    pub count: u64,
    /// How many were mostly the machine's: less than half of the time was queueing for a CPU.
    pub machine_count: u64,
    /// The longest.
    pub longest: Duration,
    /// All together.
    pub total: Duration,
}

impl StallWatch {
    /// Starts one thread; times in its log count from `epoch`.
    pub fn start(epoch: Instant) -> io::Result<Self> {
        Self::start_on(epoch, &[None])
    }

    /// Starts one on each CPU, the first eight of many; one that stays nowhere, where threads cannot be kept on a CPU.
    pub fn start_on_each_cpu(epoch: Instant) -> io::Result<Self> {
        let cpus: Vec<Option<usize>> = pinning::allowed().into_iter().take(CPUS_MAX).map(Some).collect();
        Self::start_on(epoch, if cpus.is_empty() { &[None] } else { &cpus })
    }

    fn start_on(epoch: Instant, cpus: &[Option<usize>]) -> io::Result<Self> {
        let mut watch = Self { stopping: Arc::new(AtomicBool::new(false)), threads: Vec::with_capacity(cpus.len()) };
        for &cpu in cpus {
            let stopping = Arc::clone(&watch.stopping);
            let sleep = move || {
                // One that may not stay there is as good as the one that stays nowhere.
                cpu.map_or(Ok(()), pinning::pin).ok();
                self::watch(epoch, &stopping)
            };
            watch.threads.push(thread::Builder::new().name("stall-watch".into()).spawn(sleep)?);
        }
        Ok(watch)
    }

    /// Ends the threads and gives their log: what stalled several CPUs at once is one stall.
    pub fn stop(mut self) -> StallLog {
        self.stopping.store(true, Ordering::Relaxed);
        let logs = self.threads.drain(..).map(|thread| thread.join().expect("the stall watch does not panic"));
        StallLog::merged(logs.collect())
    }
}

impl Drop for StallWatch {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}

impl Stall {
    /// The union, where the other begins later. The queue of the longer one is reported.
    fn joined(&self, other: &Self) -> Self {
        let length = self.length.max(other.start + other.length - self.start);
        let longer = if self.length >= other.length { self } else { other };
        Self { start: self.start, length, queued: longer.queued }
    }
}

impl StallLog {
    /// The late wakings in sum.
    pub fn summary(&self) -> StallSummary {
        self.summary
    }

    /// Whether any part of this span of time, since the epoch, lies in a stall: whether a stall explains a late send,
    /// from the moment it was due to the moment it happened.
    pub fn touches(&self, from: Duration, to: Duration) -> bool {
        let first = self.stalls.partition_point(|stall| stall.start + stall.length < from);
        self.stalls.get(first).is_some_and(|stall| stall.start <= to)
    }

    /// The stalls for which the log had room, in order.
    pub fn stalls(&self) -> &[Stall] {
        &self.stalls
    }

    /// The stalls of several threads, those that overlap as one.
    fn merged(mut logs: Vec<Self>) -> Self {
        if logs.len() == 1 {
            return logs.remove(0);
        }
        let mut all: Vec<Stall> = logs.into_iter().flat_map(|log| log.stalls).collect();
        all.sort_unstable_by_key(|stall| stall.start);
        let (mut merged, mut open) = (Self::default(), None::<Stall>);
        for stall in all {
            open = Some(match open.take() {
                Some(before) if stall.start <= before.start + before.length => before.joined(&stall),
                before => {
                    before.into_iter().for_each(|before| merged.push(before));
                    stall
                }
            });
        }
        open.into_iter().for_each(|last| merged.push(last));
        merged
    }

    fn push(&mut self, stall: Stall) {
        self.summary.count += 1;
        self.summary.machine_count += u64::from(stall.queued * 2 < stall.length);
        self.summary.longest = self.summary.longest.max(stall.length);
        self.summary.total += stall.length;
        if self.stalls.len() < LOG_MAX {
            self.stalls.push(stall);
        }
    }
}

fn watch(epoch: Instant, stopping: &AtomicBool) -> StallLog {
    let mut log = StallLog::default();
    let mut schedstat = File::open("/proc/thread-self/schedstat").ok();
    let mut queued_before = waited(&mut schedstat);
    while !stopping.load(Ordering::Relaxed) {
        let due = Instant::now() + STEP;
        thread::sleep(STEP);
        let late = due.elapsed();
        let queued_now = waited(&mut schedstat);
        if late >= STALL_MIN {
            let queued = queued_now.saturating_sub(queued_before).min(late);
            log.push(Stall { start: due.saturating_duration_since(epoch), length: late, queued });
        }
        queued_before = queued_now;
    }
    log
}

/// How long this thread has waited for a CPU, by the kernel's account; zero where there is none.
fn waited(schedstat: &mut Option<File>) -> Duration {
    let read = |file: &mut File| {
        file.rewind().ok()?;
        Schedstat::from_read(file).ok()
    };
    schedstat.as_mut().and_then(read).map_or(Duration::ZERO, |times| Duration::from_nanos(times.run_delay))
}

/// More threads would themselves load the machine.
const CPUS_MAX: usize = 8;
const STEP: Duration = Duration::from_millis(1);
const STALL_MIN: Duration = Duration::from_millis(2);
/// 480 KB; a machine that stalls more often than this in one run has told enough.
const LOG_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn stall(start_ms: u64, length_ms: u64, queued_ms: u64) -> Stall {
        let [start, length, queued] = [start_ms, length_ms, queued_ms].map(Duration::from_millis);
        Stall { start, length, queued }
    }

    #[test]
    fn the_summary_counts_lines_that_the_log_omits() {
        let mut log = StallLog::default();
        for at in 0..LOG_MAX as u64 + 5 {
            log.push(stall(at * 10, 3, 0));
        }
        log.push(stall(10_000_000, 60, 59));
        assert_eq!(log.stalls.len(), LOG_MAX);
        let summary = log.summary();
        assert_eq!((summary.count, summary.machine_count), (10_006, 10_005));
        assert_eq!(summary.longest, Duration::from_millis(60));
        assert_eq!(summary.total, Duration::from_millis(10_005 * 3 + 60));
    }

    #[test]
    fn an_interval_overlaps_a_stall_only_if_they_share_time() {
        let mut log = StallLog::default();
        log.push(stall(100, 20, 0));
        log.push(stall(200, 5, 0));
        let touches = |from, to| log.touches(Duration::from_millis(from), Duration::from_millis(to));
        assert!(touches(110, 111) && touches(90, 101) && touches(119, 150) && touches(0, 1000));
        assert!(!touches(0, 99) && !touches(121, 199) && !touches(206, 900));
    }

    #[test]
    fn a_stall_of_two_cpus_at_once_counts_once() {
        let log = |stalls: &[Stall]| {
            let mut log = StallLog::default();
            stalls.iter().for_each(|stall| log.push(*stall));
            log
        };
        let one = log(&[stall(100, 20, 0), stall(300, 5, 5)]);
        let other = log(&[stall(50, 3, 0), stall(110, 30, 30), stall(139, 2, 0)]);
        let merged = StallLog::merged(vec![one.clone(), other]);
        assert_eq!(merged.stalls, [stall(50, 3, 0), stall(100, 41, 30), stall(300, 5, 5)]);
        assert_eq!(
            merged.summary(),
            StallSummary {
                count: 3,
                machine_count: 1,
                longest: Duration::from_millis(41),
                total: Duration::from_millis(49),
            }
        );
        assert_eq!(StallLog::merged(vec![one.clone()]), one);
    }

    #[test]
    fn the_thread_logs_nothing_before_the_epoch_and_stops_on_request() {
        let epoch = Instant::now();
        let watch = StallWatch::start(epoch).unwrap();
        thread::sleep(Duration::from_millis(5));
        let log = watch.stop();
        assert!(log.stalls.iter().all(|stall| stall.start <= epoch.elapsed() && stall.length >= STALL_MIN));
        assert_eq!(log.summary().count as usize, log.stalls.len());
    }
}
