//! `cargo xtask soak`: hours of one server with clients of every carrier, that roam, come back and leave, while it
//! restarts, its clock jumps, and a console and a dashboard stay open. No message may be lost, and the server's
//! resources may not grow.

mod parties;
mod sample;
mod server;
mod watchers;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;
use parties::Parties;
use sample::Sample;
use server::Server;
use watchers::Watchers;

/// Spans in seconds.
struct Plan {
    total: u64,
    restart: u64,
    sample: u64,
}

/// Plays the hours; `Ok(false)` if a client lost a message, or a process's resources have grown.
pub(crate) fn soak(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let mut minutes = |name: &str, default: u64| -> Result<u64, String> {
        let Some(text) = arguments.take_value(name)? else { return Ok(default * 60) };
        let minutes = text.parse::<u64>().ok().filter(|minutes| (1..=MINUTES_MAX).contains(minutes));
        minutes.map(|minutes| minutes * 60).ok_or(format!("`{name} {text}`: minutes, 1 to {MINUTES_MAX}"))
    };
    let total = minutes("--minutes", 120)?;
    let plan = Plan { total, restart: minutes("--restart", 30)?, sample: minutes("--sample", 15)? };
    arguments.expect_end()?;
    if !cfg!(target_os = "linux") {
        return Err("what a process holds is read from /proc, which is Linux's".into());
    }
    let mut cargo = process::cargo(tree);
    cargo.args(["build", "--release", "--package", "skipstone-cli"]);
    process::run(cargo)?;
    let tool = process::target_dir(tree).join("release/skipstone");
    let folder = Folder::new()?;
    play(&plan, &tool, &folder.0, tree)
}

fn play(plan: &Plan, tool: &std::path::Path, folder: &std::path::Path, tree: &Tree) -> Result<bool, String> {
    let server = Server::start(tool, folder, tree)?;
    let watchers = Watchers::start(&server);
    let mut parties = Parties::new(tool, tree);
    parties.all_the_time(&server, plan.total)?;
    parties.until_a_restart(&server, plan.restart.min(plan.total))?;
    let start = Instant::now();
    let mut jumps = JUMPS.into_iter().map(|(share, clock)| (plan.total * share / 100, clock)).peekable();
    let (mut restart, mut sample) = (plan.restart, WARM);
    let mut growth = Growth::default();
    while parties.are_running() {
        let now = start.elapsed().as_secs();
        if now > plan.total + GRACE {
            println!("the clients do not end");
            break;
        }
        if let Some((_, clock)) = jumps.next_if(|(at, _)| *at <= now)
            && server.set_clock(clock)?
        {
            say(start, &format!("the server's clock: {clock} s"));
        }
        if now >= sample {
            sample += plan.sample;
            let it = Sample::of(server.pid())?;
            say(start, &format!("server {it}; clients {}; {watchers}", parties.memory()));
            growth.look(it);
        }
        if now >= restart && now + WARM < plan.total {
            restart += plan.restart;
            server.restart()?;
            say(start, "the server restarts");
            std::thread::sleep(Duration::from_secs(WARM));
            parties.until_a_restart(&server, plan.restart.min(plan.total - now))?;
            std::thread::sleep(Duration::from_secs(WARM));
            growth.begin_anew();
            sample = sample.min(now);
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    let is_well = parties.end();
    let last = Sample::of(server.pid())?;
    say(start, &format!("server {last}"));
    growth.look(last);
    println!("{}", growth.verdict());
    Ok(is_well && growth.is_none())
}

/// The server's resources since it was last restarted.
#[derive(Default)]
struct Growth {
    first: Option<Sample>,
    compared: u32,
    has_grown: bool,
}

impl Growth {
    fn begin_anew(&mut self) {
        self.first = None;
    }

    fn look(&mut self, sample: Sample) {
        let Some(first) = &self.first else {
            self.first = Some(sample);
            return;
        };
        self.compared += 1;
        self.has_grown |= !first.is_kept_by(&sample);
    }

    /// Nothing that was compared has grown, and something was.
    fn is_none(&self) -> bool {
        self.compared > 0 && !self.has_grown
    }

    fn verdict(&self) -> String {
        match (self.has_grown, self.compared) {
            (true, _) => "what the server holds has GROWN".into(),
            (false, 0) => "NOTHING was compared: two samples between restarts are needed, see --sample".into(),
            (false, count) => format!("what the server holds did not grow ({count} comparisons)"),
        }
    }
}

fn say(start: Instant, what: &str) {
    println!("{:6.1} min  {what}", start.elapsed().as_secs_f64() / 60.0);
}

/// A folder of this run, deleted with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let folder = std::env::temp_dir().join(format!("skipstone-soak-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A day.
const MINUTES_MAX: u64 = 1_440;
/// The seconds until all clients are connected, and are connected again after a restart.
const WARM: u64 = 20;
/// How long clients have to end, in seconds.
const GRACE: u64 = 120;
/// At which percent of the time the server's clock is set, and by how many seconds.
const JUMPS: [(u64, &str); 4] = [(20, "+3600"), (45, "+0"), (55, "-3600"), (80, "+0")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soak_that_compared_nothing_proves_nothing() {
        let sample = |memory| Sample { memory, ..Sample::default() };
        let mut growth = Growth::default();
        growth.look(sample(20_000));
        growth.begin_anew();
        growth.look(sample(90_000));
        assert!(!growth.is_none(), "{}", growth.verdict());
        growth.look(sample(90_100));
        assert!(growth.is_none(), "{}", growth.verdict());
        growth.look(sample(190_000));
        growth.begin_anew();
        growth.look(sample(20_000));
        growth.look(sample(20_000));
        assert!(!growth.is_none(), "{}", growth.verdict());
    }
}
