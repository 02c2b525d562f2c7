//! The C# client: its sources lie in the Unity package, its tests in `clients/csharp`. One DLL is compiled and tested on Mono, which
//! is of the family that Unity has, and on .NET 8.

mod toolchain;

use std::path::{Path, PathBuf};

use self::toolchain::{Assembly, Runtime, Toolchain};
use crate::process;
use crate::tally::Tally;
use crate::tree::Tree;
use crate::verdict::Verdict;

/// Where the client's sources are, for Unity and for everybody else.
const SOURCES: &str = "clients/unity/com.skipstone.transport/Runtime/Core";
/// What the client calls.
const HEADER: &str = "crates/skipstone-ffi/include/skipstone.h";
const TESTS: &str = "clients/csharp/tests";

/// The step `csharp`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    let toolchain = match Toolchain::obtain(tree) {
        Ok(toolchain) => toolchain,
        Err(why) => return Verdict::Skipped(why),
    };
    let built = native_library(tree).and_then(|native| Ok((native, build(&toolchain, tree)?)));
    built.map_or_else(Verdict::Failed, |(native, tests)| run_tests(&toolchain, &tests, &native, tree))
}

/// Builds the C ABI; gives the folder with its library.
fn native_library(tree: &Tree) -> Result<PathBuf, String> {
    let mut cargo = process::cargo(tree);
    cargo.args(["build", "--package", "skipstone-ffi"]);
    process::run(cargo)?;
    Ok(process::target_dir(tree).join("debug"))
}

/// Compiles client and tests; gives the tests' program.
fn build(toolchain: &Toolchain, tree: &Tree) -> Result<PathBuf, String> {
    let client = Assembly {
        folder: "tests".into(),
        file_name: "Skipstone.dll",
        sources: sources(tree, SOURCES)?,
        options: vec![format!("-doc:{}", toolchain.folder().join("tests/Skipstone.xml").display())],
        ..Assembly::default()
    };
    std::fs::create_dir_all(toolchain.folder().join("tests")).map_err(|error| error.to_string())?;
    let client = toolchain.compile(&client, tree)?;
    let nunit = toolchain.folder().join("tests/nunit.framework.dll");
    std::fs::copy(toolchain.parts().join("nunit.framework.dll"), &nunit).map_err(|error| error.to_string())?;
    let tests = Assembly {
        folder: "tests".into(),
        file_name: "Skipstone.Tests.exe",
        sources: sources(tree, TESTS)?,
        references: vec![client, nunit],
        options: vec![Toolchain::framework("Facades/netstandard")],
    };
    toolchain.compile(&tests, tree)
}

/// One assembly on both.
fn run_tests(toolchain: &Toolchain, tests: &Path, native: &Path, tree: &Tree) -> Verdict {
    let mut all = Tally::default();
    for runtime in [Runtime::Mono, Runtime::DotNet] {
        println!("on {runtime:?}");
        let mut tally = Tally::default();
        let mut command = toolchain.run(runtime, tests, tree);
        command.env("LD_LIBRARY_PATH", native).env("SKIPSTONE_HEADER", tree.root().join(HEADER));
        let outcome = process::run_reading(command, |line| {
            tally += Tally::from_result_line(line).unwrap_or_default();
        });
        if let Err(why) = outcome {
            println!("{why}");
            tally.failed = tally.failed.max(1);
        }
        all += tally;
    }
    Verdict::Tests(all)
}

/// The C# files of a folder, those of its folders included.
fn sources(tree: &Tree, folder: &str) -> Result<Vec<PathBuf>, String> {
    let mut pending = vec![tree.root().join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = pending.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "cs") {
                found.push(path);
            }
        }
    }
    found.sort();
    if found.is_empty() { Err(format!("{folder} has no C# source")) } else { Ok(found) }
}
