//! The archive of the tool: unpacked in an empty root and run there; for another processor by QEMU, for Windows by
//! Wine, for macOS by its format alone.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::super::archived::name;
use super::served::Served;
use super::{emptiness, mach_o, timed};
use crate::languages::windows;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::release::archive::unpack;
use crate::release::plan::{Checked, Release};
use crate::release::systems::{Kind, System};

/// Checks it.
pub(in super::super) fn archive(system: &System, release: &Release, tree: &Tree) -> Result<Checked, String> {
    let name = name(system, release);
    let root = release.stage(&format!("check/{name}"))?;
    let started = Instant::now();
    unpack(&release.artifact(&format!("{name}.{}", system.archive())), &root, tree)?;
    let unpacked = started.elapsed().as_secs_f64();
    let folder = root.join(&name);
    if let Some(missing) = EXPECTED.iter().find(|file| !folder.join(file).exists()) {
        return Err(format!("the archive has no {missing}"));
    }
    match system.kind {
        Kind::Linux => on_linux(system, &root, &format!("/{name}/skipstone"), unpacked, tree),
        Kind::Windows => on_windows(&folder, tree),
        Kind::MacOs => mach_o::check(&folder.join("skipstone"), system, tree),
    }
}

fn on_linux(system: &System, root: &Path, program: &str, unpacked: f64, tree: &Tree) -> Result<Checked, String> {
    if let Some(why) = emptiness::unavailable(tree) {
        return Ok(Checked::Skipped(why));
    }
    let emulator = emulator(system);
    if let Some(emulator) = &emulator {
        // A static program, which finds everything in itself as the tool does.
        let without = "programs of another processor are not run";
        let Some(found) = system::program("qemu-aarch64-static", "qemu-user-static", without, tree)
            .map_or_else(|| process::find(emulator), |_| None)
        else {
            return Ok(Checked::Skipped(format!("{emulator} is missing: apt-get install qemu-user-static")));
        };
        std::fs::copy(&found, root.join(emulator)).map_err(|error| format!("{}: {error}", found.display()))?;
        // It is what the kernel is to run for this processor: the tool starts itself for its clients.
        return by_emulator(emulator, root, program, tree);
    }
    let mut stress = emptiness::inside(root, program, tree)?;
    stress.args(STRESS);
    let seconds = timed(stress)? + unpacked;
    if seconds > DEMONSTRATION_SECONDS_MAX {
        return Err(format!("unpacked and run in {seconds:.1} s, and {DEMONSTRATION_SECONDS_MAX} s are the limit"));
    }
    Ok(Checked::Passed(format!(
        "an empty root: 100 clients on UDP and WebSocket pass {seconds:.1} s after unpacking began"
    )))
}

/// A server and its load as two programs.
fn by_emulator(emulator: &str, root: &Path, program: &str, tree: &Tree) -> Result<Checked, String> {
    let emulated = || emptiness::inside(root, &format!("/{emulator}"), tree);
    let mut version = emulated()?;
    version.args([program, "--version"]);
    process::run(version)?;
    let mut serve = emulated()?;
    serve.args([program, "serve", "--listen", "127.0.0.1:0", "--console", "off", "--identity", "new", "-d", "60s"]);
    let server = Served::start(serve)?;
    let mut stress = emulated()?;
    stress.args([program, "stress", server.url()]).args(["-c", "10", "--mix", "udp=5,ws=5", "-r", "2/s", "-d", "3s"]);
    let seconds = timed(stress)?;
    Ok(Checked::Passed(format!("an empty root, under {emulator}: a server and 10 clients pass, {seconds:.1} s")))
}

/// The emulator of its processor, if this machine has another.
fn emulator(system: &System) -> Option<String> {
    let processor = system.target.split('-').next().unwrap_or_default();
    (processor != std::env::consts::ARCH).then(|| format!("qemu-{processor}-static"))
}

fn on_windows(folder: &Path, tree: &Tree) -> Result<Checked, String> {
    if let Some(why) = system::wine(tree) {
        return Ok(Checked::Skipped(why));
    }
    let wine = process::target_dir(tree).join("wine");
    windows::stand_in(&wine, tree)?;
    let program = |arguments: &[&str]| {
        let mut command: Command = process::command("timeout", tree);
        command.args(["120", "wine"]).arg(folder.join("skipstone.exe")).args(arguments);
        windows::environment(&mut command, &wine);
        command
    };
    process::run(program(&["--version"]))?;
    let seconds = timed(program(&["stress", "-c", "20", "--mix", "udp=10,ws=10", "-r", "2/s", "-d", "3s"]))?;
    Ok(Checked::Passed(format!("under Wine: its server and 20 clients pass, {seconds:.1} s")))
}

const STRESS: [&str; 9] = ["stress", "-c", "100", "--mix", "udp=50,ws=50", "-r", "1/s", "-d", "4s"];
/// From an archive to a verdict.
const DEMONSTRATION_SECONDS_MAX: f64 = 10.0;
/// What people look for, besides the program.
const EXPECTED: &[&str] = &[
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "THIRD-PARTY-LICENSES.txt",
    "completions/_skipstone",
    "completions/_skipstone.ps1",
    "completions/skipstone.bash",
    "completions/skipstone.fish",
    "man/man1/skipstone-serve.1",
    "man/man1/skipstone.1",
    "plans/spatialos-25.toml",
];
