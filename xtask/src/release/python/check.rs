//! The wheel is installed by pip into an empty environment, and the guide's first program runs there; wheels for other
//! systems are read. The sources are built by pip.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::names::{name, sources_name};
use super::wheel::judge;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::release::archive;
use crate::release::place::Place;
use crate::release::plan::{Checked, Release, copy};
use crate::release::systems::System;

pub(super) fn wheel(system: &System, release: &Release, tree: &Tree) -> Result<Checked, String> {
    let wheel = release.artifact(&name(system, release));
    let place = Place::empty(&format!("python-{}", system.target))?;
    let unpacked = place.path().join("unpacked");
    archive::unpack(&wheel, &unpacked, tree)?;
    let format = judge(&unpacked, system, release, tree)?;
    if !system.is_here() {
        return Ok(Checked::Passed(format!("{format}; not loaded: this is another system")));
    }
    let python = environment(place.path(), tree)?;
    // It has no dependencies: nothing is asked of a registry.
    process::run(pip(&python, &["--no-index"], &wheel, tree))?;
    first_program(&python, place.path(), tree)?;
    Ok(Checked::Passed(format!("{format}; by pip in an empty environment, a program exchanges a message")))
}

/// Takes a Rust compiler, and minutes.
pub(super) fn sources(release: &Release, tree: &Tree) -> Result<Checked, String> {
    let place = Place::empty("python-sources")?;
    let python = environment(place.path(), tree)?;
    let sources = release.artifact(&format!("{}.tar.gz", sources_name(release)));
    let mut pip = pip(&python, &[], &sources, tree);
    pip.current_dir(place.path()).env("CARGO_TARGET_DIR", place.path().join("target"));
    process::run(pip)?;
    first_program(&python, place.path(), tree)?;
    Ok(Checked::Passed("built by pip in an empty environment, a program exchanges a message".into()))
}

/// The Python of an empty environment in that folder.
fn environment(place: &Path, tree: &Tree) -> Result<PathBuf, String> {
    let mut made = process::command(system::python(tree).ok_or("no Python 3: install python3")?, tree);
    made.args(["-m", "venv"]).arg(place.join("environment"));
    process::run(made)?;
    Ok(place.join("environment/bin/python"))
}

fn pip(python: &Path, options: &[&str], package: &Path, tree: &Tree) -> Command {
    let mut pip = process::command(&python.to_string_lossy(), tree);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(options).arg(package);
    pip
}

/// The guide's echo: a server and a client.
fn first_program(python: &Path, place: &Path, tree: &Tree) -> Result<(), String> {
    let program = place.join("echo.py");
    copy(&tree.root().join("clients/python/examples/echo.py"), &program)?;
    let mut run = process::bounded(60, &python.to_string_lossy(), tree);
    run.current_dir(place).arg("-I").arg(&program);
    process::run(run)
}
