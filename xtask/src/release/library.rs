//! The C library for each system as it is shipped: small, with its debug data beside it. The packages of all languages
//! that call it take it from here.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::build;
use super::plan::{Release, copy};
use super::systems::{Kind, System};
use super::uuid;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

/// The files of one system.
pub(crate) struct Library {
    /// Where all of them are, and nothing else.
    pub(crate) folder: PathBuf,
    /// What a program loads: `libskipstone.so`, `libskipstone.dylib`, `skipstone.dll`.
    pub(crate) shared: PathBuf,
    /// Where a debugger finds the lines of `shared`: a file, or on macOS a folder (`.dSYM`).
    pub(crate) debug: PathBuf,
}

/// Builds it. A second call finds what the first has built.
pub(crate) fn library(system: &System, release: &Release, tree: &Tree) -> Result<Library, String> {
    let mut cargo = build::cargo(system, release, tree)?;
    cargo.args(["--package", "skipstone-ffi"]);
    small(&mut cargo);
    if system.kind == Kind::MacOs {
        // Debug data stay in object files there, until this program collects them.
        system::program("dsymutil", "llvm", "the library for macOS has no debug data", tree).map_or(Ok(()), Err)?;
        cargo.env("CARGO_PROFILE_RELEASE_SPLIT_DEBUGINFO", "packed");
    }
    process::run(cargo)?;
    let library = split(system, release, &release.stage(&format!("library/{}", system.target))?, tree)?;
    build::check_places(&library.shared, release, tree)?;
    build::check_places(&library.folder.join(STATIC), release, tree)?;
    Ok(library)
}

/// How libraries are built: in one piece. With another profile, cargo would compile all crates again.
pub(crate) fn small(cargo: &mut Command) {
    cargo.env("CARGO_PROFILE_RELEASE_LTO", "fat").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only").env("CARGO_PROFILE_RELEASE_STRIP", "none");
}

/// Separates what programs load from what debuggers read.
fn split(system: &System, release: &Release, to: &Path, tree: &Tree) -> Result<Library, String> {
    let built = build::folder(system, release);
    let name = system.shared("skipstone");
    for file in [&name, STATIC] {
        copy(&built.join(file), &to.join(file))?;
    }
    let identified = format!("{} {name}", system.target);
    if system.kind != Kind::Linux {
        uuid::replace(&to.join(&name), &identified, release)?;
    }
    process::run(objcopy(to, &["--strip-debug", STATIC], tree)?)?;
    let debug = match system.kind {
        Kind::MacOs => {
            let debug = to.join(format!("{name}.dSYM"));
            copy_folder(&built.join(format!("{name}.dSYM")), &debug)?;
            uuid::replace(&debug.join("Contents/Resources/DWARF").join(&name), &identified, release)?;
            // Names of functions that it exports stay; its signature is made anew.
            process::run(objcopy(to, &["--strip-debug", "--discard-all", &name], tree)?)?;
            debug
        }
        Kind::Linux | Kind::Windows => {
            let debug = format!("{name}.debug");
            process::run(objcopy(to, &["--only-keep-debug", &name, &debug], tree)?)?;
            process::run(objcopy(to, &["--strip-all", &format!("--add-gnu-debuglink={debug}"), &name], tree)?)?;
            to.join(debug)
        }
    };
    if system.kind == Kind::Windows {
        // Programs are linked with it, to load the library.
        copy(&built.join("libskipstone.dll.a"), &to.join("libskipstone.dll.a"))?;
    }
    Ok(Library { folder: to.to_owned(), shared: to.join(name), debug })
}

const STATIC: &str = "libskipstone.a";

/// LLVM's objcopy, which knows the formats of all systems. It comes with Rust's compiler.
pub(crate) fn objcopy(folder: &Path, arguments: &[&str], tree: &Tree) -> Result<Command, String> {
    let mut rustc = process::command("rustc", tree);
    rustc.args(["--print", "sysroot"]);
    let sysroot = PathBuf::from(process::output(rustc).ok_or("rustc does not say where it is")?.trim());
    let mut rustc = process::command("rustc", tree);
    rustc.args(["--print", "host-tuple"]);
    let host = process::output(rustc).ok_or("rustc does not name its host")?;
    let program = sysroot.join("lib/rustlib").join(host.trim()).join("bin/rust-objcopy");
    if !program.is_file() {
        return Err(format!("{} is missing: install Rust by rustup, see rustup.rs", program.display()));
    }
    let mut objcopy = process::command(&program.to_string_lossy(), tree);
    objcopy.current_dir(folder).env("LD_LIBRARY_PATH", sysroot.join("lib")).args(arguments);
    Ok(objcopy)
}

/// Copies a folder of files and folders.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let place = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() { copy_folder(&path, &place)? } else { copy(&path, &place)? }
    }
    Ok(())
}
