//! The tests of the message bus and of runs on several machines, against real servers of NATS, which the tests
//! themselves start and end: Debian's, which is old, and a current one. And the simulation of a fleet's directory over
//! any number of seeds.

use std::path::{Path, PathBuf};

use crate::machine::arguments::Arguments;
use crate::machine::tally::Tally;
use crate::machine::test_programs::{END_TO_END, NATS};
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::machine::{process, system, test_programs};

pub(crate) fn step(tree: &Tree) -> Verdict {
    let programs = (|| Ok((test_programs::one(NATS, tree)?, test_programs::one(END_TO_END, tree)?)))();
    let (bus, tool) = match programs {
        Ok(programs) => programs,
        Err(why) => return Verdict::Failed(why),
    };
    let mut tally = Tally::default();
    for server in [of_debian(tree), current(tree)] {
        let server = match server {
            Ok(server) => server,
            Err(why) => {
                println!("{why}");
                tally += Tally::ONE_SKIPPED;
                continue;
            }
        };
        println!("with {}", server.display());
        let mut runs = [bus.command(tree), tool.command(tree)];
        runs[1].args(OVER_NATS.map(|module| format!("{module}::"))).args(["--test-threads", "3"]);
        for mut tests in runs {
            tests.env("SKIPSTONE_NATS_SERVER", &server);
            if let Verdict::Tests(of_this) = Verdict::of_tests(tests) {
                tally += of_this;
            }
        }
    }
    Verdict::Tests(tally)
}

/// `cargo xtask fleet-simulation --seeds N`: leases, epochs, takeovers and moves of players with the seeds from 0 up to
/// N, optimised.
pub(crate) fn simulation(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let seeds =
        arguments.take_value("--seeds")?.ok_or("say how many seeds: `cargo xtask fleet-simulation --seeds 1000`")?;
    arguments.expect_end()?;
    let count: u64 = seeds.parse().map_err(|_| format!("`{seeds}` is no number of seeds"))?;
    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--release", "-p", "skipstone-fleet", "--test", "swarm_*", "--", "--nocapture"]);
    cargo.env(test_programs::SEEDS_VARIABLE, format!("0..{count}"));
    Ok(process::passes(cargo))
}

/// Why there is none, else.
fn of_debian(tree: &Tree) -> Result<PathBuf, String> {
    let folders = || ["/usr/sbin", "/usr/bin"].map(|folder| Path::new(folder).join(SERVER));
    let found = || process::find(SERVER).into_iter().chain(folders()).find(|program| program.is_file());
    if let Some(program) = found() {
        return Ok(program);
    }
    match system::program(SERVER, SERVER, WITHOUT, tree) {
        Some(why) => Err(why),
        None => found().ok_or_else(|| format!("{SERVER} was installed, and is not where it is looked for")),
    }
}

/// Built by Go, once.
fn current(tree: &Tree) -> Result<PathBuf, String> {
    let folder = process::target_dir(tree).join(format!("nats-server-{CURRENT}"));
    let program = folder.join(SERVER);
    if program.is_file() {
        return Ok(program);
    }
    if let Some(why) = system::program("go", "golang-go", WITHOUT, tree) {
        return Err(why);
    }
    let mut install = process::command("go", tree);
    install.args(["install", &format!("github.com/nats-io/nats-server/v2@{CURRENT}")]);
    install.env("GOBIN", &folder).env("CGO_ENABLED", "0");
    process::run(install).map_err(|why| format!("nats-server {CURRENT} cannot be built, and is not tried: {why}"))?;
    Ok(program)
}

/// The modules of the tool's tests that need a server of NATS.
pub(crate) const OVER_NATS: [&str; 3] =
    ["bots_on_several_machines", "servers_are_one_fleet", "stress_on_several_machines"];
const SERVER: &str = "nats-server";
const CURRENT: &str = "v2.15.2";
const WITHOUT: &str = "the message bus is not tried against it";
