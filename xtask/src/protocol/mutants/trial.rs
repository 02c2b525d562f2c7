//! Trying one mutant: cargo-mutants changes a copy of the tree, builds, and runs the tests by cargo-nextest, which
//! stops at the first test that fails twice. The copy has its own build folder, so that each mutant recompiles only its
//! change.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::account::MutantOutcome;
use super::order::{self, Mutant};
use super::subject::Subject;
use crate::machine::tree::Tree;
use crate::machine::{files, process};

/// The copy that is changed, and its parts.
pub(super) struct Trials {
    copy: Tree,
    /// Holds the copy, the tools, the build and cargo-mutants' output.
    folder: PathBuf,
}

impl Trials {
    /// Copies the tree and installs missing tools.
    pub(super) fn prepare(tree: &Tree) -> Result<Trials, String> {
        let folder = process::target_dir(tree).join("mutants");
        let copy = folder.join("tree");
        files::copy(tree, &copy)?;
        let trials = Trials { copy: Tree::at(copy), folder };
        for (tool, version) in TOOLS {
            trials.require(tool, version)?;
        }
        Ok(trials)
    }

    fn require(&self, tool: &str, version: &str) -> Result<(), String> {
        let is_there =
            |output: &str| output.lines().next().is_some_and(|line| line.split(' ').any(|word| word == version));
        let mut asked = self.cargo();
        asked.args([tool, "--version"]);
        if process::output(asked).is_some_and(|output| is_there(&output)) {
            return Ok(());
        }
        println!("cargo-{tool} {version} is missing; installing it");
        let mut install = self.cargo();
        install
            .args(["install", &format!("cargo-{tool}"), "--version", version, "--locked"])
            .arg("--root")
            .arg(self.tools());
        process::run(install)
    }

    /// The names of all mutants of a part.
    pub(super) fn list(&self, subject: &Subject) -> Result<Vec<String>, String> {
        let mut list = self.cargo();
        list.args(["mutants", "--list", "--colors", "never", "--package", subject.package]);
        list.args(subject.files.iter().flat_map(|pattern| ["--file", pattern]));
        let text = process::output(list).ok_or_else(|| format!("cargo-mutants lists nothing of {}", subject.name))?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Builds and runs the tests without a mutant, and returns the time limit for runs with one.
    pub(super) fn baseline(&self, subject: &Subject) -> Result<Duration, String> {
        if subject.needs_tool && std::env::var_os(TOOL_VARIABLE).is_none() {
            let mut build = self.cargo();
            build.args(["build", "--profile", PROFILE, "--package", "skipstone-cli"]);
            process::run(build)?;
        }
        let tests = |more: &[&str]| {
            let mut tests = self.cargo();
            tests.args(["nextest", "run", "--cargo-profile", PROFILE, "--package", subject.package]);
            tests.args(test_arguments(subject)).args(more);
            self.set_variables(&mut tests, subject);
            process::run(tests)
        };
        tests(&["--no-run"])?;
        let started = Instant::now();
        tests(&["--status-level", "fail"])
            .map_err(|why| format!("{why}: mutants are tried where the tests pass without one"))?;
        Ok(TIMEOUT_MIN + 2 * started.elapsed())
    }

    /// Tries a mutant that [`Trials::list`] named.
    ///
    /// WHY: a mutant is selected by its place, as its own shard: cargo-mutants 27.1 does not filter all kinds of
    /// mutants by a regular expression, and a name may be in its list twice.
    pub(super) fn run(&self, subject: &Subject, mutant: &Mutant, timeout: Duration) -> Result<MutantOutcome, String> {
        let (name, (place, count)) = (&mutant.name, mutant.place);
        let mut mutants = self.cargo();
        mutants.args(["mutants", "--in-place", "--baseline", "skip", "--test-tool", "nextest", "--profile", PROFILE]);
        mutants.args(["--timeout", &timeout.as_secs().to_string(), "--build-timeout", BUILD_TIMEOUT_S]);
        mutants.args(["--package", subject.package, "--file", order::file(name)]);
        mutants.args(["--sharding", "round-robin", "--shard", &format!("{place}/{count}")]);
        mutants.arg("--output").arg(&self.folder);
        mutants.args(test_arguments(subject).iter().map(|argument| format!("--cargo-arg={argument}")));
        self.set_variables(&mut mutants, subject);
        let ran = mutants.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        let ran = ran.map_err(|error| format!("cargo-mutants does not run: {error}"))?;
        self.outcome(name).ok_or_else(|| {
            let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
            format!("cargo-mutants says nothing of {name}: {said}")
        })
    }

    /// The result that cargo-mutants wrote for the only mutant that it tried.
    fn outcome(&self, name: &str) -> Option<MutantOutcome> {
        let has = |file: &str| {
            let text = std::fs::read_to_string(self.folder.join("mutants.out").join(file)).unwrap_or_default();
            text.lines().any(|line| line == name)
        };
        let files = [
            ("caught.txt", MutantOutcome::Caught),
            ("missed.txt", MutantOutcome::Missed),
            ("timeout.txt", MutantOutcome::Timeout),
            ("unviable.txt", MutantOutcome::Unviable),
        ];
        files.into_iter().find(|(file, _)| has(file)).map(|(_, outcome)| outcome)
    }

    /// cargo, in the copy, with the tools on its search path.
    fn cargo(&self) -> Command {
        let mut cargo = process::cargo(&self.copy);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(self.tools().join("bin")).chain(std::env::split_paths(&path));
        if let Ok(path) = std::env::join_paths(paths) {
            cargo.env("PATH", path);
        }
        cargo.env("CARGO_TARGET_DIR", self.built()).env("CARGO_INCREMENTAL", "1");
        cargo
    }

    fn set_variables(&self, cargo: &mut Command, subject: &Subject) {
        cargo.env("NEXTEST_TEST_THREADS", subject.threads).env("NEXTEST_PROFILE", PROFILE);
        if subject.needs_tool {
            let built = || self.built().join(PROFILE).join("skipstone").into();
            cargo.env(TOOL_VARIABLE, std::env::var_os(TOOL_VARIABLE).unwrap_or_else(built));
        }
    }

    fn tools(&self) -> PathBuf {
        self.folder.join("tools")
    }

    fn built(&self) -> PathBuf {
        self.folder.join("build")
    }
}

/// The tests of the part, the unit tests first.
fn test_arguments(subject: &Subject) -> Vec<String> {
    let mut arguments = vec!["--lib".to_owned()];
    arguments.extend(subject.programs.iter().map(|program| format!("--test={program}")));
    arguments.extend(subject.left_out.map(|name| format!("--filterset=not test({name})")));
    if !subject.features.is_empty() {
        arguments.push(format!("--features={}", subject.features));
    }
    arguments
}

/// The profile in `Cargo.toml` and in `.config/nextest.toml`.
const PROFILE: &str = "mutants";
/// The program that tries the mutants, and the one that runs tests until the first that fails.
const TOOLS: [(&str, &str); 2] = [("mutants", "27.1.0"), ("nextest", "0.9.151")];
/// The path of the tool for tests; by default it is built.
const TOOL_VARIABLE: &str = "SKIPSTONE_TEST_TOOL";
/// Added to twice the time without a mutant.
const TIMEOUT_MIN: Duration = Duration::from_secs(20);
const BUILD_TIMEOUT_S: &str = "600";
