//! `cargo xtask fuzz TARGET --seconds N`: runs one fuzz target for N seconds, with cargo-fuzz on the nightly toolchain.

use std::process::Command;

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;

/// Fuzzes a target. Without one, lists the targets.
pub(crate) fn fuzz(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let seconds = match arguments.take_value("--seconds")? {
        Some(text) => parse_seconds(&text)?,
        None => SECONDS_DEFAULT,
    };
    let target = arguments.next_word();
    arguments.expect_end()?;
    let targets = targets(tree);
    let Some(target) = target else {
        println!("fuzz targets: {}", names(&targets));
        return Ok(true);
    };
    if !targets.contains(&target) {
        return Err(format!("there is no fuzz target `{target}`; the targets are: {}", names(&targets)));
    }
    require_nightly(tree)?;
    require_cargo_fuzz(tree)?;

    let mut run = nightly_cargo(tree);
    run.args(["fuzz", "run", "--fuzz-dir", FUZZ_DIR, &target]);
    run.args(["--", &format!("-max_total_time={seconds}")]);
    Ok(process::passes(run))
}

fn parse_seconds(text: &str) -> Result<u64, String> {
    match text.parse() {
        // libFuzzer takes zero for "without end".
        Ok(0) | Err(_) => Err(format!("`{text}` is not a number of seconds; give 1 or more")),
        Ok(seconds) => Ok(seconds),
    }
}

/// The names of `fuzz/fuzz_targets/*.rs`, sorted.
fn targets(tree: &Tree) -> Vec<String> {
    let dir = tree.root().join(FUZZ_DIR).join("fuzz_targets");
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".rs")?.to_owned())).collect();
    names.sort();
    names
}

fn names(targets: &[String]) -> String {
    if targets.is_empty() {
        return format!("none in {FUZZ_DIR}/fuzz_targets/");
    }
    targets.join(", ")
}

fn require_nightly(tree: &Tree) -> Result<(), String> {
    let mut version = nightly_cargo(tree);
    version.arg("--version");
    if process::succeeds(version) {
        return Ok(());
    }
    Err("fuzzing needs the nightly toolchain: `rustup toolchain install nightly --profile minimal`".into())
}

fn require_cargo_fuzz(tree: &Tree) -> Result<(), String> {
    let mut version = nightly_cargo(tree);
    version.args(["fuzz", "--version"]);
    if process::succeeds(version) {
        return Ok(());
    }
    println!("cargo-fuzz is missing; installing it");
    let mut install = nightly_cargo(tree);
    install.args(["install", "cargo-fuzz", "--locked"]);
    process::run(install)
}

/// Through rustup, because `cargo +nightly` works only where the first `cargo` of the search path is rustup's.
fn nightly_cargo(tree: &Tree) -> Command {
    let mut rustup = process::command("rustup", tree);
    rustup.args(["run", "nightly", "cargo"]);
    rustup
}

const FUZZ_DIR: &str = "fuzz";
const SECONDS_DEFAULT: u64 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_end_is_not_asked_for_by_mistake() {
        assert_eq!(parse_seconds("60"), Ok(60));
        for text in ["0", "", "-1", "1m", "1.5"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }
}
