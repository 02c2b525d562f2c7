//! The archive is unpacked in an empty folder, and the sample in it is built and run there, as a user would.

use std::path::Path;
use std::process::Command;

use super::format::check_format;
use super::unpacked::unpacked;
use crate::languages::windows;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::release::plan::{Checked, Release};
use crate::release::systems::System;
use crate::release::zig;

/// By CMake, shared and static, and by pkg-config. For another CPU by zig and QEMU.
pub(super) fn on_linux(system: &System, release: &Release, tree: &Tree) -> Result<Checked, String> {
    let prefix = unpacked(system, release, tree)?;
    let format = check_format(system, &prefix.join("lib/libskipstone.so"), release, tree)?;
    if !system.is_here() {
        return by_emulator(system, &prefix, tree).map(|ran| Checked::Passed(format!("{format}; {ran}")));
    }
    let mut tried = vec![format];
    if process::find("cmake").is_some() {
        for option in ["-DSKIPSTONE_STATIC=OFF", "-DSKIPSTONE_STATIC=ON"] {
            by_cmake(&prefix, option, tree)?;
        }
        tried.push("sample by CMake, shared and static".into());
    }
    by_pkg_config(&prefix, tree)?;
    tried.push("sample by pkg-config".into());
    Ok(Checked::Passed(tried.join("; ")))
}

/// By mingw-w64, under Wine.
pub(super) fn on_windows(system: &System, release: &Release, tree: &Tree) -> Result<Checked, String> {
    let prefix = unpacked(system, release, tree)?;
    let format = check_format(system, &prefix.join("bin/skipstone.dll"), release, tree)?;
    if let Some(why) = system::wine(tree) {
        return Ok(Checked::Skipped(format!("{format}; {why}")));
    }
    let wine = process::target_dir(tree).join("wine");
    windows::stand_in(&wine, tree)?;
    for (kind, libraries) in [("shared", &["-l:libskipstone.dll.a"][..]), ("static", STATIC_ON_WINDOWS)] {
        let program = prefix.join("bin").join(format!("{kind}.exe"));
        let mut compiler = here(windows::COMPILER, &prefix, tree);
        compiler.args(["-Iinclude", "sample/main.c", "-Llib"]).args(libraries).arg("-o").arg(&program);
        process::run(compiler)?;
        let mut run = here("wine", &prefix, tree);
        windows::environment(&mut run, &wine);
        run.arg(&program);
        ran(run)?;
    }
    Ok(Checked::Passed(format!("{format}; sample by mingw-w64, shared and static, under Wine")))
}

/// Its format alone: there is no macOS here. A program is linked with it, and not run.
pub(super) fn for_macos(system: &System, release: &Release, tree: &Tree) -> Result<Checked, String> {
    let prefix = unpacked(system, release, tree)?;
    let format = check_format(system, &prefix.join("lib/libskipstone.dylib"), release, tree)?;
    let cpu = system.target.split('-').next().unwrap_or_default();
    let mut zig = cross_compiler(&format!("{cpu}-macos.11.0"), &prefix, tree)?;
    zig.args(["-Iinclude", "sample/main.c", "-Llib", "-lskipstone", "-o", "sample-for-macos"]);
    process::run(zig)?;
    Ok(Checked::Passed(format!("{format}; sample linked by zig; not run: there is no macOS here")))
}

fn by_cmake(prefix: &Path, option: &str, tree: &Tree) -> Result<(), String> {
    let build = prefix.join(format!("build{option}"));
    let mut configure = here("cmake", prefix, tree);
    configure.args(["-S", "sample", option, "-B"]).arg(&build).arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    process::run(configure)?;
    let mut make = here("cmake", prefix, tree);
    make.arg("--build").arg(&build);
    process::run(make)?;
    ran(here(&build.join("sample").to_string_lossy(), prefix, tree))
}

fn by_pkg_config(prefix: &Path, tree: &Tree) -> Result<(), String> {
    let mut pkg_config = here("pkg-config", prefix, tree);
    pkg_config.args(["--cflags", "--libs", "skipstone"]).env("PKG_CONFIG_LIBDIR", prefix.join("lib/pkgconfig"));
    let flags = process::output(pkg_config).ok_or("pkg-config does not find skipstone")?;
    let mut compiler = here("gcc", prefix, tree);
    compiler.arg("sample/main.c").args(flags.split_whitespace()).args([
        "-o",
        "by-pkg-config",
        "-Wl,-rpath,$ORIGIN/lib",
    ]);
    process::run(compiler)?;
    ran(here(&prefix.join("by-pkg-config").to_string_lossy(), prefix, tree))
}

fn by_emulator(system: &System, prefix: &Path, tree: &Tree) -> Result<String, String> {
    let cpu = system.target.split('-').next().unwrap_or_default();
    let mut zig = cross_compiler(&format!("{cpu}-linux-gnu.2.17"), prefix, tree)?;
    zig.args(["-Iinclude", "sample/main.c", "-Llib", "-lskipstone", "-Wl,-rpath,$ORIGIN/lib", "-o", "sample-here"]);
    process::run(zig)?;
    let emulator = format!("qemu-{cpu}");
    let root = format!("/usr/{cpu}-linux-gnu");
    if process::find(&emulator).is_none() || !Path::new(&root).is_dir() {
        return Ok(format!("sample linked, not run: apt-get install qemu-user libc6-{}-cross", debian(cpu)));
    }
    let mut run = here(&emulator, prefix, tree);
    run.args(["-L", &root]).arg(prefix.join("sample-here"));
    ran(run).map(|()| "sample by zig, under QEMU".into())
}

/// Debian's name of a CPU.
fn debian(cpu: &str) -> &str {
    if cpu == "aarch64" { "arm64" } else { cpu }
}

/// zig as a C compiler for that target.
fn cross_compiler(target: &str, prefix: &Path, tree: &Tree) -> Result<Command, String> {
    zig::prepare_compiler(tree)?;
    let mut zig = here(&zig::python(tree).to_string_lossy(), prefix, tree);
    zig.args(["-m", "ziglang", "cc", "-target", target]);
    Ok(zig)
}

/// A program in the unpacked folder, which is what a user has.
fn here(program: &str, prefix: &Path, tree: &Tree) -> Command {
    let mut command = process::command(program, tree);
    command.current_dir(prefix);
    command
}

/// The sample prints `ok` and a name for what it has done.
fn ran(command: Command) -> Result<(), String> {
    let mut passed = 0;
    process::run_reading(command, |line| passed += u32::from(line.starts_with("ok ")))?;
    if passed > 0 { Ok(()) } else { Err("the sample has not said what it has done".into()) }
}

const STATIC_ON_WINDOWS: &[&str] =
    &["-l:libskipstone.a", "-lws2_32", "-luserenv", "-lbcrypt", "-lntdll", "-lcrypt32", "-lsecur32", "-lncrypt"];
