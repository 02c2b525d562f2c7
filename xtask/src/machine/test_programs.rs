//! The workspace's test programs, as cargo builds them all at once, and how several are run at once.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use cargo_metadata::Message;

use crate::machine::process;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;

/// Tests of databases, which need servers: the step `databases` runs them.
pub(crate) const ENGINES: &str = "engines";
/// Tests of deployments, which need an sshd: the step `deploy` runs them.
pub(crate) const DEPLOYS: &str = "deploys";
/// Tests of the message bus, which need NATS servers: the step `fleet` runs them.
pub(crate) const NATS: &str = "nats";

/// Tests that start the tool.
pub(crate) const END_TO_END: &str = "end_to_end";

/// The programs of simulated runs read from it which seeds to run: `0..1000`.
pub(crate) const SEEDS_VARIABLE: &str = "SKIPSTONE_SWARM_SEEDS";

/// A program that cargo has built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Executable {
    /// The folder of its package, where cargo would run it.
    pub(crate) folder: PathBuf,
    /// The name of its target: `claims` for `tests/claims`.
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    /// Whether it was built to test.
    pub(crate) is_test: bool,
}

/// Builds all of them, with one set of features, and the programs that they start. Returns the test programs, and
/// records them for [`all`].
pub(crate) fn build(tree: &Tree) -> Result<Vec<Executable>, String> {
    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--workspace", "--no-run"]);
    let mut programs = executables(cargo)?;
    programs.retain(|program| program.is_test);
    let list: Vec<String> = programs.iter().map(Executable::to_line).collect();
    let file = list_file(tree);
    let written =
        file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&file, list.concat()));
    written.map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(programs)
}

/// The test programs; built first, unless the step `programs` has built them.
pub(crate) fn all(tree: &Tree) -> Result<Vec<Executable>, String> {
    if !process::is_built("programs") {
        return build(tree);
    }
    let file = list_file(tree);
    let list = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(list.lines().filter_map(Executable::of_line).collect())
}

/// The only one whose target has that name.
pub(crate) fn one(name: &str, tree: &Tree) -> Result<Executable, String> {
    all(tree)?.into_iter().find(|program| program.name == name).ok_or_else(|| format!("cargo built no `{name}`"))
}

fn list_file(tree: &Tree) -> PathBuf {
    process::target_dir(tree).join("xtask/programs.txt")
}

/// Runs cargo, and returns the programs that it names.
pub(crate) fn executables(mut cargo: Command) -> Result<Vec<Executable>, String> {
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let mut found = Vec::new();
    process::run_filtering(cargo, |line| found.extend(executable(line)))?;
    Ok(found)
}

impl Executable {
    /// The command that runs it as cargo does, with more threads than there are cores: many tests wait for sockets and
    /// clocks.
    pub(crate) fn command(&self, tree: &Tree) -> Command {
        let mut command = process::command(&self.file.to_string_lossy(), tree);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        command.env("RUST_TEST_THREADS", (2 * cores).max(4).to_string());
        command
    }

    fn to_line(&self) -> String {
        format!("{}\t{}\t{}\n", self.folder.display(), self.name, self.file.display())
    }

    fn of_line(line: &str) -> Option<Self> {
        let mut parts = line.split('\t');
        let [folder, name, file] = [parts.next()?, parts.next()?, parts.next()?];
        Some(Self { folder: folder.into(), name: name.to_owned(), file: file.into(), is_test: true })
    }
}

/// Runs test programs, `at_once` at a time, and shows the output of each in one piece, when it has ended. A program
/// that fails without a failed test counts as a failed test.
pub(crate) fn run(programs: Vec<Command>, at_once: usize, tree: &Tree) -> Tally {
    let pending = Mutex::new(programs.into_iter().enumerate());
    let total = Mutex::new(Tally::default());
    let take = || pending.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some((number, program)) = take() {
            let log = process::target_dir(tree).join(format!("xtask/program-{number}.log"));
            let mut tally = Tally::default();
            let outcome = process::run_collecting(program, &log, |line| {
                tally += Tally::from_result_line(line).unwrap_or_default();
            });
            if let Err(why) = outcome {
                println!("{why}");
                tally.failed = tally.failed.max(1);
            }
            *total.lock().unwrap_or_else(PoisonError::into_inner) += tally;
        }
    };
    std::thread::scope(|scope| (0..at_once).for_each(|_| drop(scope.spawn(work))));
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The program of one of cargo's messages, which are objects of JSON, a line each.
fn executable(message: &str) -> Option<Executable> {
    let Some(Ok(Message::CompilerArtifact(built))) = Message::parse_stream(message.as_bytes()).next() else {
        return None;
    };
    let folder = built.manifest_path.parent()?.into();
    Some(Executable { folder, name: built.target.name, file: built.executable?.into(), is_test: built.profile.test })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn programs_are_read_from_cargos_messages() {
        let message = json!({
            "reason": "compiler-artifact", "package_id": "path+file:///p/a#0.1.0", "manifest_path": "/p/a/Cargo.toml",
            "target": { "kind": ["test"], "crate_types": ["bin"], "name": "claims",
                "src_path": "/p/a/tests/claims/main.rs", "test": true },
            "profile": { "opt_level": "1", "debuginfo": 1, "debug_assertions": true, "overflow_checks": true,
                "test": true },
            "features": [], "filenames": ["/t/claims-1"], "executable": "/t/claims-1", "fresh": true,
        });
        let program = executable(&message.to_string()).expect("one program");
        assert_eq!((program.folder.as_path(), program.name.as_str()), (Path::new("/p/a"), "claims"));
        assert_eq!((&program.file, program.is_test), (&PathBuf::from("/t/claims-1"), true));
        assert_eq!(Executable::of_line(program.to_line().trim_end()), Some(program));
        let with = |key: &str, value: Value| {
            let mut message = message.clone();
            *message.pointer_mut(key).expect("it is there") = value;
            executable(&message.to_string())
        };
        assert!(with("/profile/test", false.into()).is_some_and(|program| !program.is_test));
        assert_eq!(with("/executable", Value::Null), None, "a library");
        assert_eq!(with("/reason", "build-finished".into()), None);
    }
}
