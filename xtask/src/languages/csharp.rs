//! The C# client: its sources are in the Unity package, its tests in `clients/csharp`. One DLL is compiled and tested
//! on Mono, which is of the family that Unity uses, and on .NET 8.

mod client;
mod examples;
mod nuget;
mod originals;
mod packets;
mod toolchain;
mod unity;

use std::path::{Path, PathBuf};

use self::client::{SOURCES, client, sources};
use self::toolchain::{Assembly, Framework, Toolchain};
use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

pub(crate) use self::toolchain::Runtime;

/// The header of the functions that the client calls.
const HEADER: &str = "crates/skipstone-ffi/include/skipstone.h";
const TESTS: &str = "clients/csharp/tests";

/// The step `csharp`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    match Toolchain::obtain(tree) {
        Ok(toolchain) => check(&toolchain, tree).map_or_else(Verdict::Failed, Verdict::Tests),
        Err(why) => Verdict::Skipped(why),
    }
}

/// `cargo xtask csharp test|nuget|unity|original`: only the step's tests, chosen by name; the packages that are shipped;
/// or a server by another library.
pub(crate) fn command(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let what = arguments.next_word().unwrap_or_default();
    let names = arguments.rest();
    let out = process::target_dir(tree).join("csharp");
    match what.as_str() {
        "test" => {
            let toolchain = Toolchain::obtain(tree)?;
            let native = native_library(Profile::Debug, tree)?;
            let tests = build(&toolchain, tree)?;
            let tally = run_tests(&toolchain, &tests, &native, &names, tree);
            println!("{tally}");
            Ok(tally.failed == 0)
        }
        "nuget" => {
            let toolchain = Toolchain::obtain(tree)?;
            let native = native_library(Profile::Release, tree)?;
            println!("{}", nuget::package(&toolchain, &[nuget::own(&native)?], &out.join("nuget"), tree)?.display());
            Ok(true)
        }
        "unity" => {
            let native = native_library(Profile::Release, tree)?;
            println!("{}", unity::package(&native, &out.join("package"), tree)?.display());
            Ok(true)
        }
        "original" => {
            let library =
                names.first().ok_or("`csharp original` is followed by the path of kcp2k.dll or LiteNetLib.dll")?;
            println!("{}", originals::server(&Toolchain::obtain(tree)?, Path::new(library), tree)?);
            Ok(true)
        }
        other => Err(format!("`csharp` is followed by test, nuget, unity or original, not by `{other}`")),
    }
}

/// Compiles the server for `bench`. Returns the command that starts it on each runtime, without the folder of the
/// native library. The inner `Err` names the missing tool.
pub(crate) fn bench_servers(tree: &Tree) -> Result<Result<Vec<(Runtime, String)>, String>, String> {
    let toolchain = match Toolchain::obtain(tree) {
        Ok(toolchain) => toolchain,
        Err(why) => return Ok(Err(why)),
    };
    let client = client(&toolchain, "bench", tree)?;
    let program = Assembly {
        folder: "bench".into(),
        file_name: "BenchServer.exe",
        sources: sources(tree, examples::BENCH_SERVER)?,
        references: vec![client],
        ..Assembly::default()
    };
    let program = toolchain.compile(&program, tree)?;
    let started = |runtime| (runtime, toolchain.shell_words(runtime, &program));
    Ok(Ok([Runtime::DotNet, Runtime::Mono].map(started).into()))
}

/// Makes the NuGet package in `out`, with native libraries by runtime id.
pub(crate) fn nuget_package(natives: &[(&str, PathBuf)], out: &Path, tree: &Tree) -> Result<PathBuf, String> {
    nuget::package(&Toolchain::obtain(tree)?, natives, out, tree)
}

/// Makes the Unity package in `out`, with the native libraries that are laid out below `natives` as in the package.
pub(crate) fn unity_package(natives: &Path, out: &Path, tree: &Tree) -> Result<PathBuf, String> {
    unity::package(natives, out, tree)
}

/// Compiles a program against a client that somebody else has built, beside it, and returns the program.
pub(crate) fn program_of(source: &Path, client: &Path, folder: &Path, tree: &Tree) -> Result<PathBuf, String> {
    let program = Assembly {
        // An absolute folder is taken as it is.
        folder: folder.display().to_string(),
        file_name: "Hello.exe",
        sources: vec![source.into()],
        references: vec![client.into()],
        ..Assembly::default()
    };
    Toolchain::obtain(tree)?.compile(&program, tree)
}

/// The command that runs a program on a runtime.
pub(crate) fn running(runtime: Runtime, program: &Path, tree: &Tree) -> Result<std::process::Command, String> {
    Ok(Toolchain::obtain(tree)?.run(runtime, program, tree))
}

/// The first program of the guide.
pub(crate) fn first_program(tree: &Tree) -> Result<String, String> {
    examples::programs(tree).map(|(first, _)| first)
}

/// Compiles a program with the client in it, so that it needs no DLL next to it. The inner `Err` names the missing
/// tool.
pub(crate) fn in_one_file(source: &str, tree: &Tree) -> Result<Result<PathBuf, String>, String> {
    let toolchain = match Toolchain::obtain(tree) {
        Ok(toolchain) => toolchain,
        Err(why) => return Ok(Err(why)),
    };
    let program = Assembly {
        folder: "in-one-file".into(),
        file_name: "Program.exe",
        sources: [sources(tree, SOURCES)?, sources(tree, source)?].concat(),
        ..Assembly::default()
    };
    toolchain.compile(&program, tree).map(Ok)
}

fn check(toolchain: &Toolchain, tree: &Tree) -> Result<Tally, String> {
    let native = native_library(Profile::Debug, tree)?;
    let tests = build(toolchain, tree)?;
    let mut all = run_tests(toolchain, &tests, &native, &[], tree);
    compile_with_spans(toolchain, tree)?;
    all += Tally::ONE_PASSED;
    let (tests, assemblies) = unity::build(toolchain, tree)?;
    all += assemblies;
    all += run_tests(toolchain, &tests, &native, &[], tree);
    all += unity::check_files(tree)?;
    all += examples::check(toolchain, &native, tree)?;
    all += packets::check(toolchain, tree)?;
    nuget::package(toolchain, &[nuget::own(&native)?], &toolchain.folder().join("nuget"), tree)?;
    all += Tally::ONE_PASSED;
    Ok(all)
}

/// The overloads that take spans, which the framework that Mono and .NET share does not have.
fn compile_with_spans(toolchain: &Toolchain, tree: &Tree) -> Result<PathBuf, String> {
    const PARTS: [&str; 8] = [
        "System.Private.CoreLib",
        "System.Runtime",
        "System.Collections",
        "System.Memory",
        "System.Threading",
        "System.Runtime.InteropServices",
        "System.Linq",
        "System.Runtime.Extensions",
    ];
    let folder = toolchain.dotnet_framework()?;
    let spans = Assembly {
        folder: "spans".into(),
        file_name: "Skipstone.dll",
        sources: sources(tree, SOURCES)?,
        references: PARTS.iter().map(|part| folder.join(format!("{part}.dll"))).collect(),
        options: vec!["-define:NETCOREAPP2_1_OR_GREATER".into()],
        framework: Framework::Own,
    };
    toolchain.compile(&spans, tree)
}

/// How the native library is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profile {
    Debug,
    Release,
}

/// Builds the C ABI; returns the folder with its library.
fn native_library(profile: Profile, tree: &Tree) -> Result<PathBuf, String> {
    match profile {
        Profile::Debug => process::build_native(tree)?,
        Profile::Release => {
            let mut cargo = process::cargo(tree);
            cargo.args(["build", "--release", "--package", "skipstone-ffi"]);
            process::run(cargo)?;
        }
    }
    Ok(process::target_dir(tree).join(if profile == Profile::Release { "release" } else { "debug" }))
}

/// Compiles client and tests; returns the tests' program.
fn build(toolchain: &Toolchain, tree: &Tree) -> Result<PathBuf, String> {
    let nunit = toolchain.copy_nunit(&toolchain.folder().join("tests"))?;
    let client = client(toolchain, "tests", tree)?;
    let tests = Assembly {
        folder: "tests".into(),
        file_name: "Skipstone.Tests.exe",
        sources: sources(tree, TESTS)?,
        references: vec![client, nunit],
        options: vec![Toolchain::framework("Facades/netstandard")],
        ..Assembly::default()
    };
    toolchain.compile(&tests, tree)
}

/// One assembly on both; the tests whose names hold one of `names`, or all.
fn run_tests(toolchain: &Toolchain, tests: &Path, native: &Path, names: &[String], tree: &Tree) -> Tally {
    let mut all = Tally::default();
    for runtime in [Runtime::Mono, Runtime::DotNet] {
        let mut tally = Tally::default();
        let mut command = toolchain.run(runtime, tests, tree);
        // Small enough that little garbage starts a collection, which is the only sign of garbage that Mono reports.
        command.env("MONO_GC_PARAMS", "nursery-size=256k");
        command.args(names).env("LD_LIBRARY_PATH", native).env("SKIPSTONE_HEADER", tree.root().join(HEADER));
        let outcome = process::run_reading(command, |line| {
            tally += Tally::from_result_line(line).unwrap_or_default();
        });
        if let Err(why) = outcome {
            println!("{why}");
            tally.failed = tally.failed.max(1);
        }
        all += tally;
    }
    all
}
