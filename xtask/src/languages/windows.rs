//! The library on Windows: built and linked with mingw-w64, its tests over loopback run under Wine.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

pub(crate) const TARGET: &str = "x86_64-pc-windows-gnu";
pub(crate) const COMPILER: &str = "x86_64-w64-mingw32-gcc";
/// Everything that works on Windows: DTLS' RustCrypto is left out for the time that it takes to build.
const FEATURES: &str = "ring,websocket,self-signed,native-roots,simulate";
/// Tests that touch sockets, clocks and threads of the system, and so may behave differently on another system.
const TESTS: [&str; 5] = [
    "net::",
    "every_carrier_reaches_the_server",
    "a_server_is_authenticated_by_the_url",
    "servers_answer_queries",
    "handles_are_send_and_sync",
];

pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Some(why) = system::without_target(TARGET, tree) {
        return Verdict::Skipped(why);
    }
    if let Some(why) = system::wine(tree) {
        return Verdict::Skipped(why);
    }
    let folder = process::target_dir(tree).join("wine");
    if let Err(why) = stand_in(&folder, tree) {
        return Verdict::Failed(why);
    }
    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--no-fail-fast", "--package", "skipstone", "--lib", "--test", "claims", "--target", TARGET]);
    cargo.args(["--no-default-features", "--features", FEATURES, "--"]).args(TESTS);
    cargo.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", "wine");
    environment(&mut cargo, &folder);
    Verdict::of_tests(cargo)
}

/// Where Wine keeps its files, and where it finds the library that it lacks.
pub(crate) fn environment(command: &mut Command, folder: &Path) {
    command.env("WINEPREFIX", folder.join("prefix")).env("WINEPATH", folder).env("WINEDEBUG", "-all");
}

/// Builds the library that Wine lacks.
pub(crate) fn stand_in(folder: &Path, tree: &Tree) -> Result<(), String> {
    std::fs::create_dir_all(folder.join("prefix")).map_err(|error| format!("{}: {error}", folder.display()))?;
    let source: PathBuf = tree.root().join("xtask/windows/bcryptprimitives.c");
    let mut compiler = process::command(COMPILER, tree);
    compiler.arg("-shared").arg("-o").arg(folder.join("bcryptprimitives.dll")).arg(source).arg("-ladvapi32");
    process::run(compiler)
}
