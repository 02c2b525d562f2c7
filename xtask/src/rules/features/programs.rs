//! The programs that people build from a clone: each has one library of cryptography, and no more crates than it
//! states. The demonstration, which `cargo run` builds, answers a request for a part of the tool that it lacks.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use super::listing::{crates, listed};
use super::quick::quickly_built;
use crate::machine::process;
use crate::machine::tree::Tree;

/// A program, and the crates that may be in its build.
struct Program {
    package: &'static str,
    /// Crates, this one with them, build dependencies too.
    crates_max: usize,
}

/// The whole tool. Its QUIC peers could bring aws-lc, whose C code takes longer to compile than anything else. NATS'
/// client brings 19 crates, half of them for logins by nkeys; tickets (PASETO, with Ed25519) and HTTP for Agones bring
/// 7; bots (Luau, renet) bring 13, and their messages by `.proto` files (protox) 14.
const TOOL: Program = Program { package: "skipstone-cli", crates_max: 434 };

/// The first thing that a newcomer compiles.
const DEMONSTRATION: Program = Program { package: "skipstone-demo", crates_max: 140 };

/// Command lines for which the demonstration lacks something.
const LACKING: &[&str] = &[
    "bots chat.luau udp://127.0.0.1:9000",
    "stress --script chat.luau",
    "compare plans/spatialos-25.toml --simulated",
    "report a.json b.json",
    "record game.skiprec",
    "sweep --seeds 0..20",
    "bench fanout --clients 200",
    "netem relay --to 127.0.0.1:7777 --profile wifi",
    "chat ws://127.0.0.1:7777",
    "db sqlite:t.db bench",
    "deploy --example",
    "help chat",
    "fleet status",
    "serve --fleet local --node n1",
    "serve --db sqlite:t.db",
    "serve --dashboard",
    "serve --open",
    "serve --agones",
    "stress --dtls 1.3",
    "stress --mix dtls=1",
    "stress --mix wt=1",
    "stress skip+dtls://127.0.0.1:7777",
];

/// Command lines that it executes.
const PRESENT: &[&str] = &["--help", "serve --identity new --check", "stress -c 2 --mix udp=1,ws=1 -d 1s --quiet"];

/// The exit code of bad configuration.
const BAD_CONFIGURATION: i32 = 104;

/// Checks the two programs.
pub(super) fn check(tree: &Tree) -> Result<(), String> {
    TOOL.check(tree)?;
    DEMONSTRATION.check(tree)?;
    // Built as `cargo run` builds it. A test of its package would have the features of the whole workspace.
    for arguments in [
        &["--package", "skipstone-lab", "--no-default-features"][..],
        &["--package", "skipstone-lab", "--no-default-features", "--features", "experiments"],
        &["--package", "skipstone-cli", "--no-default-features"],
        &["--package", DEMONSTRATION.package],
    ] {
        let mut clippy = process::cargo(tree);
        clippy.args(["clippy", "--quiet"]).args(arguments).args(["--", "--deny", "warnings"]);
        process::run(clippy)?;
    }
    let mut build = process::cargo(tree);
    build.args(["build", "--quiet", "--package", DEMONSTRATION.package]).args(quickly_built());
    process::run(build)?;
    let program = process::target_dir(tree).join("debug").join(DEMONSTRATION.package);
    LACKING.iter().try_for_each(|line| answers(&program, line, tree))?;
    PRESENT.iter().try_for_each(|line| match run(&program, line, tree)? {
        (Some(0), _) => Ok(()),
        (code, errors) => Err(format!("the demonstration's `{line}` ended with {code:?}: {errors}")),
    })
}

impl Program {
    fn check(&self, tree: &Tree) -> Result<(), String> {
        let text = listed("normal,build", &["--package", self.package], tree);
        self.judge(&crates(&text.map_err(|why| format!("{}: {why}", self.package))?))
    }

    fn judge(&self, crates: &BTreeSet<&str>) -> Result<(), String> {
        let package = self.package;
        if crates.len() > self.crates_max {
            return Err(format!("{package}: {} crates, and {} at most", crates.len(), self.crates_max));
        }
        let has = |name| crates.iter().any(|own| own.split(' ').next() == Some(name));
        match (has("ring"), has("aws-lc-sys")) {
            (true, false) => Ok(()),
            (true, true) => Err(format!("{package}: aws-lc-sys is in the build, beside ring")),
            (false, _) => Err(format!("{package}: ring is not in the build")),
        }
    }
}

/// Whether it explains in one line how to get the missing part.
fn answers(program: &Path, line: &str, tree: &Tree) -> Result<(), String> {
    let (code, errors) = run(program, line, tree)?;
    let command = format!("cargo run --release -p skipstone-cli -- {line},");
    // The first words of a sentence: a command line that needs no quotes is repeated as it is.
    let is_answer = errors.lines().count() == 1 && errors.contains(&command);
    if code == Some(BAD_CONFIGURATION) && is_answer {
        return Ok(());
    }
    Err(format!("the demonstration's `{line}` ended with {code:?}, and does not say how to get it: {errors}"))
}

/// The exit code, and the text on standard error.
fn run(program: &Path, line: &str, tree: &Tree) -> Result<(Option<i32>, String), String> {
    let mut command = process::command(&program.to_string_lossy(), tree);
    command.args(line.split(' ')).stdout(Stdio::null());
    let output = command.output().map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    Ok((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_one_library_of_cryptography() {
        let ring = BTreeSet::from(["skipstone v0.1.0", "ring v0.17.14"]);
        let both = BTreeSet::from(["skipstone v0.1.0", "ring v0.17.14", "aws-lc-sys v0.47.0"]);
        let tool = |crates_max| Program { package: "tool", crates_max };
        assert!(tool(2).judge(&ring).is_ok());
        assert!(tool(1).judge(&ring).is_err_and(|why| why.contains("2 crates")));
        assert!(tool(3).judge(&both).is_err_and(|why| why.contains("aws-lc-sys")));
        assert!(tool(3).judge(&BTreeSet::from(["skipstone v0.1.0"])).is_err_and(|why| why.contains("ring")));
    }
}
