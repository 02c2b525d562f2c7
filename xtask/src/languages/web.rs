//! The browser client, `clients/web`: its tools for building, linting and testing come from npm; its end-to-end tests
//! drive headless Chromium and Firefox against a real server.

use std::process::Command;

use crate::languages::bots_template;
use crate::languages::node::NodePackage;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::verdict::{Verdict, counted, once};
use crate::machine::{process, system, test_programs};

/// The step `web`: packages, build, lint, unit tests, size, and the digests of simulated runs.
pub(crate) fn check(tree: &Tree) -> Verdict {
    run(tree).map_or_else(|verdict| verdict, Verdict::Tests)
}

fn run(tree: &Tree) -> Result<Tally, Verdict> {
    prepare(tree)?;
    let mut tally = Tally::default();
    for (script, counts) in SCRIPTS {
        tally += run_script(tree, script, *counts)?;
    }
    digests_differ(tree)?;
    tally += Tally::ONE_PASSED;
    bots_template::check(tree)?;
    tally += Tally::ONE_PASSED;
    Ok(tally)
}

/// The step `browsers`.
pub(crate) fn browsers(tree: &Tree) -> Verdict {
    if let Err(verdict) = prepare(tree) {
        return verdict;
    }
    let missing = system::browsers(tree);
    if missing.len() == system::BROWSERS {
        return Verdict::Skipped(missing.join("; "));
    }
    missing.iter().for_each(|why| println!("{why}"));
    let built = process::build_programs(tree).and_then(|()| build(tree));
    if let Err(why) = built.and_then(|()| run_script(tree, "build:examples", Counts::Itself)) {
        return Verdict::Failed(why);
    }
    run_script(tree, "test:browsers", Counts::Tests).map_or_else(Verdict::Failed, Verdict::Tests)
}

/// The measurements in browsers, to be run; `Err` names what they lack.
pub(crate) fn experiment(tree: &Tree) -> Result<Command, String> {
    if let Err(Verdict::Failed(why) | Verdict::Skipped(why)) = prepare(tree) {
        return Err(why);
    }
    let missing = system::browsers(tree);
    if missing.len() == system::BROWSERS {
        return Err(missing.join("; "));
    }
    build(tree)?;
    Ok(script(tree, "experiment"))
}

/// A script of the package for a release, to be run; `Err` names what it lacks.
pub(crate) fn package_script(name: &str, tree: &Tree) -> Result<Command, String> {
    if let Err(Verdict::Failed(why) | Verdict::Skipped(why)) = prepare(tree) {
        return Err(why);
    }
    Ok(script(tree, name))
}

/// The counts that a script of the package prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    Itself,
    Tests,
}

/// In this order: scripts that later ones need come first.
const SCRIPTS: &[(&str, Counts)] = &[
    ("build", Counts::Itself),
    ("typecheck", Counts::Itself),
    ("lint", Counts::Itself),
    ("simulated", Counts::Itself),
    ("test", Counts::Tests),
    ("size", Counts::Itself),
];

/// The seeds whose runs are played both natively and as WebAssembly.
const SEEDS: (u64, u64) = (0, 300);

const PACKAGE: NodePackage = NodePackage { folder: "clients/web" };

/// Node, npm, the wasm target and the packages that the lock file names; or why they are not available.
fn prepare(tree: &Tree) -> Result<(), Verdict> {
    if let Some(why) = system::without_target(system::WASM, tree) {
        return Err(Verdict::Skipped(why));
    }
    PACKAGE.install(tree)
}

/// A script of the package, to be run.
fn script(tree: &Tree, name: &str) -> Command {
    let mut npm = PACKAGE.script(name, &[], tree);
    // The program and the pictures are in cargo's build folder.
    let target = process::target_dir(tree);
    npm.env("SKIPSTONE_BIN", target.join("debug/skipstone")).env("SKIPSTONE_ARTIFACTS", target.join("browsers"));
    npm
}

fn run_script(tree: &Tree, script: &str, counts: Counts) -> Result<Tally, String> {
    let npm = self::script(tree, script);
    match counts {
        Counts::Itself => once(npm),
        Counts::Tests => counted(npm, Tally::from_vitest_line),
    }
}

/// Each time, because an earlier run may have built other sources. Cargo and vite rebuild only what has changed.
fn build(tree: &Tree) -> Result<(), String> {
    run_script(tree, "build", Counts::Itself).map(drop)
}

/// Plays seeds of the swarm natively and as WebAssembly: every datagram of each has to be the same, at the same time.
fn digests_differ(tree: &Tree) -> Result<(), String> {
    let (from, end) = SEEDS;
    let mut swarm = test_programs::one("swarm", tree)?.command(tree);
    swarm.arg("--nocapture");
    swarm.env("SKIPSTONE_SWARM_SEEDS", format!("{from}..{end}")).env("SKIPSTONE_SWARM_DIGESTS", "1");
    let native = digests(swarm)?;
    let mut node = process::command("node", tree);
    node.args(["clients/web/scripts/digests.mjs", "clients/web/src/generated/simulated.wasm"]);
    node.args([from.to_string(), end.to_string()]);
    let wasm = digests(node)?;
    let count = usize::try_from(end - from).unwrap_or(0);
    if native.len() != count || wasm.len() != count {
        return Err(format!("{} digests natively and {} as WebAssembly, of {count} seeds", native.len(), wasm.len()));
    }
    match native.iter().zip(&wasm).find(|(native, wasm)| native != wasm) {
        Some((native, wasm)) => Err(format!("natively `{native}`, as WebAssembly `{wasm}`")),
        None => {
            println!("{count} seeds have the same digests natively and as WebAssembly");
            Ok(())
        }
    }
}

fn digests(command: Command) -> Result<Vec<String>, String> {
    let mut digests = Vec::new();
    process::run_filtering(command, |line| {
        if let Some(at) = line.find("digest ") {
            digests.push(line[at..].to_owned());
        }
    })?;
    Ok(digests)
}
