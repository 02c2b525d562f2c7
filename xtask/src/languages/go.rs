//! The Go package, `clients/go`, on the C library: vetted, and tested with the race detector.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::verdict::{Verdict, counted, once};
use crate::machine::{process, system};

/// The step `go`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    run(tree).map_or_else(|verdict| verdict, Verdict::Tests)
}

/// The first version of Go that can declare that a C function keeps no pointers.
const OLDEST: (u32, u32) = (1, 24);

/// Builds a program of the package with the optimised library. The inner `Err` names the missing tool.
pub(crate) fn build_optimised(package: &str, program: &Path, tree: &Tree) -> Result<Result<(), String>, String> {
    if let Some(why) = missing(tree) {
        return Ok(Err(why));
    }
    if let Err(why) = process::run(go(tree, &["mod", "download"])) {
        return Ok(Err(format!("its modules are out of reach: {why}")));
    }
    let mut build = go(tree, &["build", "-o"]);
    build.arg(program).arg(package);
    build.env("CGO_LDFLAGS", format!("-L{}", process::target_dir(tree).join("release").display()));
    process::run(build).map(Ok)
}

/// Why Go, or a suitable version of it, is missing.
pub(crate) fn missing(tree: &Tree) -> Option<String> {
    if let Some(why) = system::program("go", "golang-go", "the Go package cannot be tried", tree) {
        return Some(why);
    }
    let (major, minor) = OLDEST;
    version(tree).is_none_or(|version| version < OLDEST).then(|| {
        format!("the Go package needs Go {major}.{minor} or later, and this system has an older version: see go.dev/dl")
    })
}

fn run(tree: &Tree) -> Result<Tally, Verdict> {
    if let Some(why) = missing(tree) {
        return Err(Verdict::Skipped(why));
    }
    process::build_native(tree)?;
    let mut tally = formatted(tree)?;
    tally += once(go(tree, &["vet", "./..."]))?;
    tally += counted(go(tree, &["test", "-race", "-count=1", "-v", "./..."]), Tally::from_go_line)?;
    let mut built = go(tree, &["build", "-o"]);
    built.arg(programs(tree).join("interop/go")).arg("./examples/interop");
    tally += once(built)?;
    Ok(tally)
}

fn version(tree: &Tree) -> Option<(u32, u32)> {
    let answer = process::output(go(tree, &["env", "GOVERSION"]))?;
    let mut numbers = answer.trim().strip_prefix("go")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The folder into which cargo puts the programs that it builds for tests.
fn programs(tree: &Tree) -> PathBuf {
    process::target_dir(tree).join("debug")
}

fn go(tree: &Tree, arguments: &[&str]) -> Command {
    let mut go = process::command("go", tree);
    go.current_dir(package(tree)).args(arguments);
    go.env("CGO_ENABLED", "1").env("CGO_LDFLAGS", format!("-L{}", programs(tree).display()));
    go
}

fn package(tree: &Tree) -> PathBuf {
    Path::new(tree.root()).join("clients/go")
}

/// gofmt lists unformatted files, and succeeds.
fn formatted(tree: &Tree) -> Result<Tally, Verdict> {
    let mut gofmt = process::command("gofmt", tree);
    gofmt.current_dir(package(tree)).args(["-l", "."]);
    let mut files = Vec::new();
    process::run_filtering(gofmt, |line| files.push(line.to_owned()))?;
    match files.is_empty() {
        true => Ok(Tally::ONE_PASSED),
        false => Err(Verdict::Failed(format!("not formatted: {}; run `gofmt -w clients/go`", files.join(", ")))),
    }
}
