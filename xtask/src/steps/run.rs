//! Runs steps, each in its own process, so that two may run at once and a crash ends only that step. One of the running
//! steps, the one in front, prints as it goes; the output of others is shown in one piece when they have ended.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::outcome::Outcome;
use super::schedule::Schedule;
use super::step::{Extent, Lane, NAME_WIDTH, Step};
use super::times::Times;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::{failures, process};

/// Runs all of them, whatever their outcomes, and prints the account.
pub(super) fn run_all(steps: &[&Step], extent: Extent, tree: &Tree) -> Result<Tally, String> {
    let folder = process::target_dir(tree).join("xtask");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let started = Instant::now();
    let mut run = Run { steps, extent, tree, folder, times: Times::read(tree), ended: Vec::new(), built: Vec::new() };
    run.all();
    run.ended.sort_by_key(|ended| ended.at);
    let told: Vec<_> = run.ended.iter_mut().flat_map(|ended| std::mem::take(&mut ended.outcome.failures)).collect();
    failures::tell_again(&told);
    println!("\n=== summary, {} in all", seconds(started.elapsed()));
    let mut total = Tally::default();
    for ended in &run.ended {
        println!("{}", ended.line(steps[ended.at].name).trim_end());
        total += ended.outcome.tally;
    }
    println!("\n{total}");
    Ok(total)
}

struct Run<'a> {
    steps: &'a [&'a Step],
    extent: Extent,
    tree: &'a Tree,
    /// The folder of the files that steps write.
    folder: PathBuf,
    times: Times,
    ended: Vec<Ended>,
    /// The steps that have passed and that others come after.
    built: Vec<&'static str>,
}

/// A step that has ended.
struct Ended {
    at: usize,
    took: Duration,
    /// How long it took last time.
    before: Option<Duration>,
    outcome: Outcome,
}

/// The destination of a step's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// To our own output, as it is produced.
    Front,
    /// To a file.
    Behind,
}

impl Run<'_> {
    fn all(&mut self) {
        let mut schedule = Schedule::new(self.steps);
        let (sender, endings) = mpsc::channel();
        let (mut front, mut behind) = (None, 0);
        // Steps that ended while another step printed.
        let mut unseen = Vec::new();
        loop {
            while let Some(at) = schedule.start_next() {
                let place = if front.is_none() && self.leads(at) { Place::Front } else { Place::Behind };
                match place {
                    Place::Front => {
                        front = Some(at);
                        self.print_header(at);
                    }
                    Place::Behind => behind += 1,
                }
                let (command, sender) = (self.command(at, place), sender.clone());
                std::thread::spawn(move || {
                    let started = Instant::now();
                    let failed = run(command).err();
                    // The receiver outlives every step.
                    let _ = sender.send((at, started.elapsed(), failed));
                });
            }
            if front.is_none() && behind == 0 {
                return;
            }
            let Ok((at, took, failed)) = endings.recv() else { return };
            schedule.end(at);
            let place = if front == Some(at) { Place::Front } else { Place::Behind };
            self.note(at, took, failed);
            match place {
                Place::Front => {
                    front = None;
                    self.print_end(at);
                }
                Place::Behind => {
                    behind -= 1;
                    unseen.push(at);
                }
            }
            if front.is_none() {
                for at in unseen.drain(..) {
                    self.print_header(at);
                    self.print_output(at);
                    self.print_end(at);
                }
            }
        }
    }

    /// Whether it may be the one in front: a step that compiles, while there are any.
    fn leads(&self, at: usize) -> bool {
        let has_ended = |at: usize| self.ended.iter().any(|ended| ended.at == at);
        let compiles = |at: usize| self.steps[at].lane == Lane::Compiles;
        compiles(at) || (0..self.steps.len()).all(|other| !compiles(other) || has_ended(other))
    }

    fn command(&self, at: usize, place: Place) -> Result<Command, String> {
        let step = self.steps[at];
        let own = std::env::current_exe().map_err(|error| format!("where this program lies is not known: {error}"))?;
        let _ = std::fs::remove_file(self.file(at, "outcome"));
        let mut command = process::command(&own.to_string_lossy(), self.tree);
        command.args(["step", step.name]).arg(self.file(at, "outcome"));
        command.args((self.extent == Extent::Fast).then_some("--fast"));
        command.env(process::BUILT, self.built.join(","));
        if place == Place::Behind {
            let log = self.file(at, "log");
            let failed = |error: std::io::Error| format!("{}: {error}", log.display());
            let file = std::fs::File::create(&log).map_err(failed)?;
            command.stderr(file.try_clone().map_err(failed)?).stdout(file);
        }
        Ok(command)
    }

    fn note(&mut self, at: usize, took: Duration, failed: Option<String>) {
        let name = self.steps[at].name;
        let broken = || Outcome::broken(failed.unwrap_or_else(|| "it left no account".into()));
        let outcome = Outcome::read(&self.file(at, "outcome")).unwrap_or_else(broken);
        if outcome.word == "passed" {
            self.built.push(name);
        }
        let before = self.times.note(name, took);
        self.ended.push(Ended { at, took, before, outcome });
    }

    fn file(&self, at: usize, extension: &str) -> PathBuf {
        self.folder.join(self.steps[at].name).with_extension(extension)
    }

    fn print_header(&self, at: usize) {
        let step = self.steps[at];
        println!("\n=== {}/{} {}: {}", at + 1, self.steps.len(), step.name, step.about);
    }

    fn print_output(&self, at: usize) {
        // A log that cannot be read is only missing in the output.
        let text = std::fs::read(self.file(at, "log")).unwrap_or_default();
        print!("{}", String::from_utf8_lossy(&text));
    }

    fn print_end(&self, at: usize) {
        let Some(ended) = self.ended.iter().find(|ended| ended.at == at) else { return };
        let Outcome { word, note, .. } = &ended.outcome;
        let separator = if note.is_empty() { "" } else { ": " };
        println!("=== {} {word} after {}{separator}{note}", self.steps[at].name, seconds(ended.took));
    }
}

impl Ended {
    /// Its line in the account.
    fn line(&self, name: &str) -> String {
        let Outcome { word, note, cpu_seconds, .. } = &self.outcome;
        let took = seconds(self.took);
        let before = self.before.map(|before| format!("(was {})", seconds(before))).unwrap_or_default();
        let cpu = cpu_seconds.map(|cpu| format!("{cpu:.1} s of CPU")).unwrap_or_default();
        format!("{name:NAME_WIDTH$}  {word:7}  {took:>8} {before:14}  {cpu:>15}  {note}")
    }
}

/// Runs a step's process. A process whose exit code says that the step failed has left an outcome.
fn run(command: Result<Command, String>) -> Result<(), String> {
    let status = command?.stdin(Stdio::null()).status().map_err(|error| format!("it could not run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("its process ended with {status}")) }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
