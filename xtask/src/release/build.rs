//! Builds that two machines make equal: no path, time or identifier of the machine gets into a program.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::process;
use crate::machine::tree::Tree;

use super::mach_o;
use super::plan::Release;
use super::systems::{Kind, System};
use super::zig;

/// `cargo zigbuild` for a system, with the release's profile; the caller adds `--package`, features and flags. What it
/// builds is in [`folder`].
pub(crate) fn cargo(system: &System, release: &Release, tree: &Tree) -> Result<Command, String> {
    zig::prepare(system, tree)?;
    let mut cargo = process::cargo(tree);
    cargo.args(["zigbuild", "--release", "--locked", "--target", system.zigbuild]);
    cargo.env("PATH", zig::search_path(tree)).env("CARGO_TARGET_DIR", target(release)).env("CARGO_INCREMENTAL", "0");
    cargo.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    steady(&mut cargo, system, release, tree);
    Ok(cargo)
}

/// Makes what cargo builds for that system independent of the machine: for a cargo command that another program, such
/// as maturin, starts.
pub(crate) fn steady(command: &mut Command, system: &System, release: &Release, tree: &Tree) {
    release.steady(command);
    let places = places(release, tree);
    let mut flags = remapped(&places);
    if system.kind == Kind::Linux {
        flags.push("-Clink-arg=-Wl,--build-id=none".into());
    }
    if system.kind == Kind::MacOs {
        // The names of what the system's frameworks have, in place of Apple's SDK.
        flags.push(format!("-Clink-arg=-F{}", tree.root().join("xtask/macos/frameworks").display()));
        command.env("MACOSX_DEPLOYMENT_TARGET", mach_o::OLDEST);
    }
    // Separated so that a path may contain spaces.
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")).env_remove("RUSTFLAGS");
    let flags: Vec<String> =
        places.iter().map(|(from, to)| format!("-ffile-prefix-map={}={to}", from.display())).collect();
    let target = system.target.replace('-', "_");
    for language in ["CFLAGS", "CXXFLAGS"] {
        command.env(format!("{language}_{target}"), flags.join(" "));
    }
}

/// The same for WebAssembly, which has neither a linker nor a C compiler of its own, in a command that adds flags to
/// these.
pub(crate) fn steady_for_web(command: &mut Command, release: &Release, tree: &Tree) {
    release.steady(command);
    command.env("CARGO_TARGET_DIR", target(release)).env("CARGO_INCREMENTAL", "0");
    command.env("CARGO_ENCODED_RUSTFLAGS", remapped(&places(release, tree)).join("\u{1f}")).env_remove("RUSTFLAGS");
}

fn remapped(places: &[(PathBuf, &'static str)]) -> Vec<String> {
    places.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())).collect()
}

/// Where the artifacts of a build for that system are.
pub(crate) fn folder(system: &System, release: &Release) -> PathBuf {
    target(release).join(system.target).join("release")
}

/// Refuses a file that contains a path of this machine: two machines would make different bytes, and it tells who built
/// it.
pub(crate) fn check_places(file: &Path, release: &Release, tree: &Tree) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let homes = std::env::home_dir().filter(|home| home.as_os_str().len() > 1);
    let places = places(release, tree).into_iter().map(|(from, _)| from).chain(homes);
    let found = places.into_iter().find(|place| contains(&bytes, &format!("{}/", place.display())));
    found.map_or(Ok(()), |place| {
        let file = file.display();
        Err(format!("{file} contains the path {}/ of this machine: look for it with `strings`", place.display()))
    })
}

fn contains(bytes: &[u8], text: &str) -> bool {
    let text = text.as_bytes();
    bytes.windows(text.len()).any(|window| window[0] == text[0] && window == text)
}

/// Folders of this machine, and what they are called in what is built. A later entry wins.
fn places(release: &Release, tree: &Tree) -> Vec<(PathBuf, &'static str)> {
    let home = |variable: &str, name: &str| {
        let home = std::env::var_os(variable).map(PathBuf::from);
        home.or_else(|| std::env::home_dir().map(|home| home.join(name))).unwrap_or_default()
    };
    let cargo = home("CARGO_HOME", ".cargo");
    let mut places = vec![(tree.root().to_owned(), "/skipstone"), (home("RUSTUP_HOME", ".rustup"), "/rustup")];
    places.push((cargo.clone(), "/cargo"));
    // A registry's folder has the name of its host, which may be a mirror.
    let registries = std::fs::read_dir(cargo.join("registry/src")).into_iter().flatten().flatten();
    // One without a host is a folder, such as `cargo package` makes: none of what is released is from there, and one
    // more or less of them would change the flags, and build everything again.
    let registries = registries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('-'));
    let mut registries: Vec<PathBuf> = registries.map(|entry| entry.path()).collect();
    registries.sort();
    places.extend(registries.into_iter().map(|registry| (registry, "/registry")));
    places.push((target(release), "/target"));
    places
}

/// Apart from the folder of development: its flags differ.
pub(crate) fn target(release: &Release) -> PathBuf {
    release.work.join("target")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_a_path_of_the_machine_is_refused() {
        let folder = std::env::temp_dir().join(format!("skipstone-release-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (tree, file) = (Tree::at(folder.join("tree")), folder.join("program"));
        let release = Release::for_tests(folder.join("work"));
        std::fs::write(&file, b"\x7fELF /skipstone/crates/a.rs").expect("written");
        assert_eq!(check_places(&file, &release, &tree), Ok(()));
        std::fs::write(&file, format!("\x7fELF {}/crates/a.rs", tree.root().display())).expect("written");
        assert!(check_places(&file, &release, &tree).is_err_and(|why| why.contains("strings")));
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
