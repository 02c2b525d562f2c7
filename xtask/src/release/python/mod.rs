//! The Python package: a wheel for each system, which every Python from 3.11 on loads, and the sources as an archive
//! that pip builds.

mod check;
mod names;
mod wheel;

use std::path::PathBuf;
use std::process::Command;

use super::archive;
use super::bill::write_bill;
use super::build;
use super::contents::{Built, Dependency, dependencies};
use super::library::small;
use super::plan::{Part, Release, copy};
use super::systems::{GLIBC_AARCH64, GLIBC_X86_64, Kind, MACOS_AARCH64, MACOS_X86_64, System, WINDOWS_X86_64};
use super::third_party::write_licences;
use super::zig;
use crate::machine::process;
use crate::machine::tree::Tree;
use names::{name, sources_name};

/// One for each system, and one for the sources.
pub(super) const PARTS: &[Part] = &[
    Part {
        name: "python-linux-x86_64",
        about: "the wheel for Linux on x86-64, manylinux2014",
        make: |release, tree| make(&GLIBC_X86_64, release, tree),
        check: |release, tree| check::wheel(&GLIBC_X86_64, release, tree),
    },
    Part {
        name: "python-linux-aarch64",
        about: "the wheel for Linux on AArch64, manylinux2014",
        make: |release, tree| make(&GLIBC_AARCH64, release, tree),
        check: |release, tree| check::wheel(&GLIBC_AARCH64, release, tree),
    },
    Part {
        name: "python-windows-x86_64",
        about: "the wheel for Windows on x86-64",
        make: |release, tree| make(&WINDOWS_X86_64, release, tree),
        check: |release, tree| check::wheel(&WINDOWS_X86_64, release, tree),
    },
    Part {
        name: "python-macos-aarch64",
        about: "the wheel for macOS on Apple silicon",
        make: |release, tree| make(&MACOS_AARCH64, release, tree),
        check: |release, tree| check::wheel(&MACOS_AARCH64, release, tree),
    },
    Part {
        name: "python-macos-x86_64",
        about: "the wheel for macOS on Intel",
        make: |release, tree| make(&MACOS_X86_64, release, tree),
        check: |release, tree| check::wheel(&MACOS_X86_64, release, tree),
    },
    Part {
        name: "python-sdist",
        about: "the Python package's sources, which pip builds",
        make: sources,
        check: check::sources,
    },
];

fn make(system: &System, release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    zig::prepare(system, tree)?;
    let stage = release.stage(&format!("python/{}", system.target))?;
    let contents = dependencies(contents(system), tree)?;
    let _licences = Licences::put(&contents, tree)?;
    let mut maturin = maturin(tree);
    maturin.args(["build", "--release", "--locked", "--zig", "--strip", "--compatibility"]);
    maturin.args([if system.kind == Kind::Linux { "manylinux2014" } else { "pypi" }, "--target", system.target]);
    maturin.arg("--interpreter").arg(zig::python(tree)).arg("--out").arg(&stage);
    maturin.env("CARGO_TARGET_DIR", build::target(release)).env("CARGO_INCREMENTAL", "0");
    small(&mut maturin);
    build::steady(&mut maturin, system, release, tree);
    process::run(maturin)?;
    let name = name(system, release);
    if !stage.join(&name).is_file() {
        return Err(format!("maturin has not made {name} in {}: look at its last line", stage.display()));
    }
    let wheel = release.artifact(&name);
    copy(&stage.join(&name), &wheel)?;
    let bill = write_bill(&wheel, &contents, release)?;
    Ok(vec![wheel, bill])
}

fn sources(release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    zig::prepare_compiler(tree)?;
    let stage = release.stage("python/sdist")?;
    let contents = dependencies(contents(&GLIBC_X86_64), tree)?;
    let _licences = Licences::put(&contents, tree)?;
    let mut maturin = maturin(tree);
    maturin.args(["sdist", "--out"]).arg(&stage);
    release.steady(&mut maturin);
    process::run(maturin)?;
    // Packed anew: one time for all files, and the crates' list of fixed versions for cargo.
    let name = sources_name(release);
    let packed = stage.join(format!("{name}.tar.gz"));
    archive::unpack(&packed, &stage, tree)?;
    let sources = archive::pack(&stage, &name, "tar.gz", release, tree)?;
    let bill = write_bill(&sources, &contents, release)?;
    Ok(vec![sources, bill])
}

/// The texts, for as long as maturin looks for them.
struct Licences(PathBuf);

impl Licences {
    fn put(contents: &[Dependency], tree: &Tree) -> Result<Licences, String> {
        let licences = Licences(folder(tree));
        for own in OWN {
            copy(&tree.root().join(own), &licences.0.join(own))?;
        }
        write_licences(&licences.0.join(THIRD_PARTY), contents)?;
        Ok(licences)
    }
}

impl Drop for Licences {
    fn drop(&mut self) {
        for name in OWN.into_iter().chain([THIRD_PARTY]) {
            let _ = std::fs::remove_file(self.0.join(name));
        }
    }
}

const OWN: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];
const THIRD_PARTY: &str = "THIRD-PARTY-LICENSES.txt";

fn maturin(tree: &Tree) -> Command {
    let mut maturin = process::command(&zig::python(tree).to_string_lossy(), tree);
    maturin.args(["-m", "maturin"]).current_dir(folder(tree)).env("PATH", zig::search_path(tree));
    maturin
}

fn folder(tree: &Tree) -> PathBuf {
    tree.root().join("clients/python")
}

fn contents(system: &System) -> Built<'static> {
    Built { package: "skipstone-python", features: &[], target: system.target, manifest: "clients/python/Cargo.toml" }
}
