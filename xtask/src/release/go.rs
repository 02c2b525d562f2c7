//! The Go module: an archive of its sources with the static library for each system, which a program's `go.mod` takes
//! by one line.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::archive;
use super::bill::write_bill;
use super::c::{contents, static_library};
use super::contents::dependencies;
use super::place::Place;
use super::plan::{Checked, Part, Release, copy, write};
use super::systems::{GLIBC_X86_64, LIBRARY_SYSTEMS};
use super::third_party::write_licences;
use crate::languages::go;
use crate::machine::process;
use crate::machine::tree::Tree;

pub(super) const PARTS: &[Part] =
    &[Part { name: "go", about: "the Go module, with static libraries of five systems", make, check }];

fn make(release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let (stage, name) = (release.stage("go")?, name(release));
    let inside = stage.join(&name);
    let package = tree.root().join("clients/go");
    for file in sources(&package)? {
        copy(&package.join(&file), &inside.join(&file))?;
    }
    // Here it is the way to link, not one of several.
    let link = std::fs::read_to_string(package.join(LINK)).map_err(|error| format!("{LINK}: {error}"))?;
    let untagged = link.replace("//go:build skipstone_release", "//go:build !skipstone_shared");
    if untagged == link {
        return Err(format!("clients/go/{LINK} has no tag skipstone_release"));
    }
    write(&inside.join(LINK), untagged)?;
    for (from, to) in [
        ("clients/go/README.md", "README.md"),
        ("clients/go/go.mod", "go.mod"),
        ("clients/go/examples/echo/main.go", "examples/echo/main.go"),
        ("crates/skipstone-ffi/include/skipstone.h", "include/skipstone.h"),
        ("CHANGELOG.md", "CHANGELOG.md"),
        ("LICENSE-MIT", "LICENSE-MIT"),
        ("LICENSE-APACHE", "LICENSE-APACHE"),
    ] {
        copy(&tree.root().join(from), &inside.join(to))?;
    }
    for system in &LIBRARY_SYSTEMS {
        copy(&static_library(system, release, tree)?, &inside.join("lib").join(system.go).join("libskipstone.a"))?;
    }
    let contents = dependencies(contents(&GLIBC_X86_64), tree)?;
    write_licences(&inside.join("THIRD-PARTY-LICENSES.txt"), &contents)?;
    let archive = archive::pack(&stage, &name, "tar.gz", release, tree)?;
    let bill = write_bill(&archive, &contents, release)?;
    Ok(vec![archive, bill])
}

/// The package's own files, without tests and without the way to link in a clone.
fn sources(package: &Path) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(package).map_err(|error| format!("{}: {error}", package.display()))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name.ends_with(".go") && !name.ends_with("_test.go") && name != "link_static.go").collect())
}

/// A fresh module in an empty folder, with the line that the install page names; the guide's first program exchanges
/// messages. Nothing is fetched.
fn check(release: &Release, tree: &Tree) -> Result<Checked, String> {
    if let Some(why) = go::missing(tree) {
        return Ok(Checked::Skipped(why));
    }
    let (place, name) = (Place::empty("go")?, name(release));
    archive::unpack(&release.artifact(&format!("{name}.tar.gz")), place.path(), tree)?;
    for system in &LIBRARY_SYSTEMS {
        let library = place.path().join(&name).join("lib").join(system.go).join("libskipstone.a");
        if !library.is_file() {
            return Err(format!("{} is missing in the archive", library.display()));
        }
    }
    copy(&place.path().join(&name).join("examples/echo/main.go"), &place.path().join("game/main.go"))?;
    let game = place.path().join("game");
    process::run(in_module(&["mod", "init", "game"], &game, tree))?;
    let require = format!("-require={MODULE}@v{}", release.version);
    let replace = format!("-replace={MODULE}=../{name}");
    process::run(in_module(&["mod", "edit", &require, &replace], &game, tree))?;
    process::run(in_module(BUILD, &game, tree))?;
    process::run(process::bounded(60, &game.join("game").to_string_lossy(), tree))?;
    refuses("needs_cgo__install_a_C_compiler", in_module(BUILD, &game, tree).env("CGO_ENABLED", "0"))?;
    // In another folder, as Go keeps what it has built for the first.
    let (module, without) = (place.path().join(&name), place.path().join("without"));
    std::fs::rename(&module, &without).map_err(|error| format!("{}: {error}", module.display()))?;
    std::fs::remove_dir_all(without.join("lib")).map_err(|error| format!("{}: {error}", without.display()))?;
    process::run(in_module(&["mod", "edit", &format!("-replace={MODULE}=../without")], &game, tree))?;
    refuses("#error \"skipstone: lib/ lacks libskipstone.a", &mut in_module(BUILD, &game, tree))?;
    Ok(Checked::Passed(
        "a program of a fresh module exchanges messages; without the library, or without cgo, its build says why"
            .into(),
    ))
}

/// A build that fails, and says this.
fn refuses(why: &str, build: &mut Command) -> Result<(), String> {
    let output = build.output().map_err(|error| format!("go: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains(why) {
        return Err(format!("a build that has to fail with `{why}` ends with: {said}"));
    }
    Ok(())
}

fn in_module(words: &[&str], folder: &Path, tree: &Tree) -> Command {
    let mut go = process::command("go", tree);
    go.current_dir(folder).args(words);
    go.env("CGO_ENABLED", "1").env("GOPROXY", "off").env("GOFLAGS", "").env("GOWORK", "off");
    go.env_remove("CGO_LDFLAGS").env_remove("CGO_CFLAGS");
    go
}

fn name(release: &Release) -> String {
    format!("skipstone-go-{}", release.version)
}

const MODULE: &str = "github.com/skipstone/skipstone/clients/go";
const BUILD: &[&str] = &["build", "-o", "game", "."];
const LINK: &str = "link_release.go";
