//! `cargo xtask install-c PREFIX`: headers, libraries and package files where CMake and pkg-config look for them.

use std::path::{Path, PathBuf};

use super::programs::{INCLUDE, count_ok, library_dir, one};
use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;

/// The command. `--debug` installs the build of the tests.
pub(crate) fn install(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let is_debug = arguments.take_flag("--debug");
    let prefix = arguments.next_word().ok_or("say where to: cargo xtask install-c PREFIX")?;
    arguments.expect_end()?;
    let prefix = std::path::absolute(&prefix).map_err(|error| format!("{prefix}: {error}"))?;
    let mut cargo = process::cargo(tree);
    cargo.args(["build", "--package", "skipstone-ffi"]).args((!is_debug).then_some("--release"));
    process::run(cargo)?;
    let profile = if is_debug { "debug" } else { "release" };
    install_to(&prefix, &process::target_dir(tree).join(profile), std::env::consts::OS, tree)?;
    println!("installed to {}: CMake finds it with -DCMAKE_PREFIX_PATH={}", prefix.display(), prefix.display());
    Ok(true)
}

/// The step: installs, and builds and runs the sample project by CMake and by pkg-config.
pub(super) fn check(tree: &Tree) -> Result<Tally, String> {
    let folder = process::target_dir(tree).join("c");
    let prefix = folder.join("prefix");
    install_to(&prefix, &library_dir(tree), std::env::consts::OS, tree)?;
    let mut tally = Tally::default();
    if process::find("cmake").is_some() {
        for (kind, option) in [("shared", "-DSKIPSTONE_STATIC=OFF"), ("static", "-DSKIPSTONE_STATIC=ON")] {
            tally += by_cmake(&folder.join("cmake").join(kind), &prefix, option, tree)?;
        }
    }
    if process::find("pkg-config").is_some() {
        tally += by_pkg_config(&folder, &prefix, tree)?;
    }
    Ok(tally)
}

fn by_cmake(build: &Path, prefix: &Path, option: &str, tree: &Tree) -> Result<Tally, String> {
    // CMake refuses a cache that another checkout made in this target directory.
    if build.exists() {
        std::fs::remove_dir_all(build).map_err(|error| format!("{}: {error}", build.display()))?;
    }
    let mut configure = process::command("cmake", tree);
    configure.args(["-S", "clients/c/sample", option, "-B"]).arg(build);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    process::run(configure)?;
    let mut make = process::command("cmake", tree);
    make.arg("--build").arg(build);
    process::run(make)?;
    Ok(count_ok(process::command(&build.join("sample").display().to_string(), tree)))
}

fn by_pkg_config(folder: &Path, prefix: &Path, tree: &Tree) -> Result<Tally, String> {
    let mut pkg_config = process::command("pkg-config", tree);
    pkg_config.args(["--cflags", "--libs", "skipstone"]).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = process::output(pkg_config).ok_or("pkg-config does not find skipstone")?;
    let made = folder.join("by-pkg-config");
    let mut compiler = process::command("gcc", tree);
    compiler.arg("clients/c/sample/main.c").args(flags.split_whitespace()).arg("-o").arg(&made);
    compiler.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
    let mut tally = one(process::run(compiler));
    tally += count_ok(process::command(&made.display().to_string(), tree));
    Ok(tally)
}

/// Copies the headers, the libraries of `built`, and what CMake and pkg-config read. Nothing in them names the prefix: the
/// folder may be moved. `os` is that of the library, as Rust calls it.
pub(crate) fn install_to(prefix: &Path, built: &Path, os: &str, tree: &Tree) -> Result<(), String> {
    let include = tree.root().join(INCLUDE);
    for header in ["skipstone.h", "skipstone.hpp"] {
        copy(&include.join(header), &prefix.join("include").join(header))?;
    }
    let libraries: Vec<PathBuf> = LIBRARIES.iter().map(|name| built.join(name)).filter(|path| path.is_file()).collect();
    for library in &libraries {
        let name = library.file_name().unwrap_or_default();
        let folder = if library.extension().is_some_and(|extension| extension == "dll") { "bin" } else { "lib" };
        copy(library, &prefix.join(folder).join(name))?;
    }
    if libraries.is_empty() {
        return Err(format!("there is no library in {}", built.display()));
    }
    let version = env!("CARGO_PKG_VERSION");
    for (template, place) in TEMPLATES {
        let path = tree.root().join("clients/c/cmake").join(template);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let text = text.replace("@VERSION@", version).replace("@PRIVATE@", needed_statically(os));
        write(&prefix.join(place), &text)?;
    }
    Ok(())
}

/// The system's libraries that a program needs which is linked with the static library.
fn needed_statically(os: &str) -> &'static str {
    match os {
        "windows" => "-lws2_32 -luserenv -lbcrypt -lntdll -lcrypt32 -lsecur32 -lncrypt",
        "macos" => "-framework Security -framework CoreFoundation -liconv",
        _ => "-lgcc_s -lutil -lrt -lpthread -lm -ldl",
    }
}

/// The library's names on all systems; only the existing ones are used.
const LIBRARIES: &[&str] = &[
    "libskipstone.so",
    "libskipstone.dylib",
    "libskipstone.a",
    "skipstone.dll",
    "libskipstone.dll.a",
    "skipstone.dll.lib",
    "skipstone.lib",
];

/// A file of clients/c/cmake, and its place below the prefix.
const TEMPLATES: &[(&str, &str)] = &[
    ("skipstone.pc.in", "lib/pkgconfig/skipstone.pc"),
    ("skipstone-config.cmake", "lib/cmake/skipstone/skipstone-config.cmake"),
    ("skipstone-config-version.cmake.in", "lib/cmake/skipstone/skipstone-config-version.cmake"),
];

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    make_folder_of(to)?;
    std::fs::copy(from, to).map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

fn write(to: &Path, text: &str) -> Result<(), String> {
    make_folder_of(to)?;
    std::fs::write(to, text).map_err(|error| format!("{}: {error}", to.display()))
}

fn make_folder_of(path: &Path) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}
