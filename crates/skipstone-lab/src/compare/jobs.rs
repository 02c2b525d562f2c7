//! All runs of a comparison, on all cores; results are in the requested order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use skipstone::Qlog;

use super::condition::Condition;
use super::contender::Contender;
use super::packet_logs::{PacketLogs, logs_of};
use super::row::CompareRow;
use super::simulation::simulate_logged;

/// One run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) contender: Contender,
    pub(crate) seed: u64,
}

impl Job {
    /// A name for the run's files.
    pub(crate) fn file_name(&self, condition: &Condition) -> String {
        let under = condition.name.as_ref().map_or(String::new(), |name| format!("-{name}"));
        let name = format!("{}-{}{under}", self.contender, self.seed);
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
        name.chars().map(plain).collect()
    }
}

/// Runs under all conditions together: each has a row of some kilobytes until the end.
const RUNS_MAX: usize = 32_768;

/// A run of each contender with each seed under each condition.
///
/// # Errors
/// A sentence: there would be too many.
pub(crate) fn all(contenders: &[Contender], seeds: &[u64], conditions: usize) -> Result<Vec<Job>, String> {
    let runs = contenders.len().saturating_mul(seeds.len()).saturating_mul(conditions);
    if runs > RUNS_MAX {
        let (rows, seeds) = (contenders.len(), seeds.len());
        return Err(format!(
            "{rows} transports and modes with {seeds} seeds under {conditions} conditions are {runs} runs, and \
             {RUNS_MAX} is the most: take fewer of them, by --transports, --modes and --seeds"
        ));
    }
    let each = contenders.iter().flat_map(|contender| seeds.iter().map(move |seed| (*contender, *seed)));
    Ok(each.map(|(contender, seed)| Job { contender, seed }).collect())
}

/// The results of all runs.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// One row for each run that succeeded.
    pub(crate) rows: Vec<CompareRow>,
    /// Whether all were run.
    pub(crate) is_whole: bool,
    /// A sentence for each run that failed.
    pub(crate) failures: Vec<String>,
    /// A description of a real comparison's network, for people, and why it is not the best kind, if so.
    pub(crate) over: Option<String>,
}

impl Played {
    pub(crate) fn add(&mut self, more: Self) {
        self.rows.extend(more.rows);
        self.is_whole &= more.is_whole;
        self.failures.extend(more.failures);
        self.over = more.over;
    }
}

/// Runs all jobs. `None` stands for a stopped job. `on_done` is called for each job that ends, from any thread.
pub(crate) fn run_all(
    jobs: &[Job],
    condition: &Condition,
    threads: usize,
    qlog: Option<&Qlog>,
    stop: &AtomicBool,
    on_done: impl Fn(&Job) + Sync,
) -> Vec<Option<CompareRow>> {
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(vec![None; jobs.len()]);
    let work = || {
        while let Some((at, job)) = claim(&next, jobs) {
            let has_log = qlog.filter(|_| job.contender.transport.is_ours());
            let logs = has_log.map_or_else(PacketLogs::default, |qlog| logs_of(qlog, &job.file_name(condition)));
            let Ok(measured) = simulate_logged(job.contender, condition, job.seed, &logs, stop) else { return };
            let row = CompareRow::new(job.contender, condition, job.seed, &measured);
            rows.lock().expect("no run panics while it holds the rows")[at] = Some(row);
            on_done(job);
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(work);
        }
    });
    rows.into_inner().expect("no run panics while it holds the rows")
}

fn claim<'a>(next: &AtomicUsize, jobs: &'a [Job]) -> Option<(usize, &'a Job)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(at).map(|job| (at, job))
}

#[cfg(test)]
mod tests {
    use super::super::transport::Transport;
    use super::*;
    use crate::units::Named;

    #[test]
    fn no_more_runs_are_planned_than_memory_has_rows_for() {
        let contenders = Contender::all(&Transport::built_in(), None);
        let seeds = Vec::from_iter(0..1_000);
        let few = all(&contenders[..8], &seeds, 4).expect("the most that may be");
        assert_eq!(few.len(), 8_000);
        let sentence = all(&contenders[..8], &seeds, 5).expect_err("too many");
        assert!(sentence.contains("40000 runs") && sentence.contains("32768"), "{sentence}");
    }
}
