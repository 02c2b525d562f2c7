//! The linker and the C compiler for every system: zig by cargo-zigbuild, in an environment of its own, of fixed
//! versions, so that every machine links the same bytes.

use std::path::PathBuf;

use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

use super::systems::System;

/// From PyPI. maturin makes wheels of what they build.
const PACKAGES: [&str; 3] = ["ziglang==0.14.1", "cargo-zigbuild==0.24.1", "maturin==1.16.0"];

/// Adds what is missing to build for that system. The error has the remedy.
pub(crate) fn prepare(system: &System, tree: &Tree) -> Result<(), String> {
    install(tree)?;
    if system::without_target(system.target, tree).is_none() {
        return Ok(());
    }
    println!("the standard library for {} is missing; adding it", system.target);
    let mut rustup = process::command("rustup", tree);
    rustup.args(["target", "add", system.target]);
    // Whatever happens, what counts is whether it is there now.
    let _ = process::run(rustup).inspect_err(|why| println!("{why}"));
    system::without_target(system.target, tree).map_or(Ok(()), Err)
}

/// Adds what is missing to compile C for other systems.
pub(crate) fn prepare_compiler(tree: &Tree) -> Result<(), String> {
    install(tree)
}

/// The search path on which cargo finds `cargo zigbuild`, and that finds zig.
pub(crate) fn search_path(tree: &Tree) -> std::ffi::OsString {
    let others = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(folder(tree).join("bin")).chain(std::env::split_paths(&others));
    std::env::join_paths(all).unwrap_or(others)
}

/// cargo-zigbuild by itself: only so does it run tests, too.
pub(crate) fn zigbuild(tree: &Tree) -> PathBuf {
    folder(tree).join("bin/cargo-zigbuild")
}

/// The Python of the environment: `python -m ziglang` is zig.
pub(crate) fn python(tree: &Tree) -> PathBuf {
    folder(tree).join("bin/python")
}

fn install(tree: &Tree) -> Result<(), String> {
    let without = "nothing can be linked for other systems";
    for (name, package) in [("python3", "python3"), ("venv", "python3-venv")] {
        if let Some(why) = system::program(name, package, without, tree) {
            return Err(why);
        }
    }
    let (stamp, wanted) = (folder(tree).join("installed.txt"), PACKAGES.join("\n"));
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let mut made = process::command(system::python(tree).unwrap_or("python3"), tree);
    made.args(["-m", "venv"]).arg(folder(tree));
    process::run(made)?;
    let mut pip = process::command(&python(tree).to_string_lossy(), tree);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES);
    process::run(pip).map_err(|why| format!("{why}: connect to the network, or name a registry by PIP_INDEX_URL"))?;
    // If the stamp cannot be written, that costs some seconds.
    let _ = std::fs::write(stamp, wanted);
    Ok(())
}

fn folder(tree: &Tree) -> PathBuf {
    process::target_dir(tree).join("release-tools")
}
