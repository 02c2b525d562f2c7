//! The examples of C#: each compiles, and runs for as long as its check takes.

use std::path::Path;

use super::client::{SOURCES, client, sources};
use super::toolchain::{Assembly, Runtime, Toolchain};
use crate::machine::process;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;

/// Each with the arguments of a run that ends by itself, with exit code 0 on success.
const EXAMPLES: [(&str, &str, &[&str]); 3] = [
    ("clients/csharp/examples/Echo.cs", "Echo.exe", &["check"]),
    ("clients/csharp/examples/Dots.cs", "Dots.exe", &["check"]),
    (BENCH_SERVER, "BenchServer.exe", &["check"]),
];

/// The server for `bench`.
pub(super) const BENCH_SERVER: &str = "clients/csharp/examples/BenchServer.cs";

pub(super) fn check(toolchain: &Toolchain, native: &Path, tree: &Tree) -> Result<Tally, String> {
    let client = client(toolchain, "examples", tree)?;
    let mut tally = Tally::default();
    for (source, file_name, words) in EXAMPLES {
        let program = Assembly {
            folder: "examples".into(),
            file_name,
            sources: sources(tree, source)?,
            references: vec![client.clone()],
            ..Assembly::default()
        };
        let program = toolchain.compile(&program, tree)?;
        for runtime in [Runtime::Mono, Runtime::DotNet] {
            let mut run = toolchain.run(runtime, &program, tree);
            run.args(words).env("LD_LIBRARY_PATH", native);
            process::run(run)?;
            tally += Tally::ONE_PASSED;
        }
    }
    check_guide(toolchain, native, tree)?;
    tally += Tally::ONE_PASSED;
    check_wrong_libraries(toolchain, tree)?;
    tally += Tally::ONE_PASSED;
    Ok(tally)
}

/// The guide's programs, by the guide's own commands: mcs builds the client and the programs, Mono runs the first.
fn check_guide(toolchain: &Toolchain, native: &Path, tree: &Tree) -> Result<(), String> {
    let (hello, game) = programs(tree)?;
    let folder = toolchain.folder().join("guide");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = |name: &str| folder.join(name);
    for (name, program) in [("Hello.cs", hello), ("Game.cs", game)] {
        std::fs::write(file(name), program).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut library = process::command("mcs", tree);
    library.args(["-langversion:latest", "-unsafe", "-target:library", &output(&file("Skipstone.dll"))]);
    library.arg(format!("-recurse:{}/*.cs", SOURCES));
    process::run(library)?;
    for (name, source) in [("Hello.exe", "Hello.cs"), ("Game.exe", "Game.cs")] {
        let mut compiler = process::command("mcs", tree);
        compiler.arg(format!("-r:{}", file("Skipstone.dll").display())).arg(output(&file(name))).arg(file(source));
        process::run(compiler)?;
    }
    let mut run = toolchain.run(Runtime::Mono, &file("Hello.exe"), tree);
    run.env("LD_LIBRARY_PATH", native);
    process::run(run)
}

/// A library of another ABI version, none at all, a file that is not a library, half of one, and one for another CPU: both
/// runtimes end with a text that says which of these it is, and not with a crash.
fn check_wrong_libraries(toolchain: &Toolchain, tree: &Tree) -> Result<(), String> {
    let folder = toolchain.folder().join("wrong");
    std::fs::create_dir_all(folder.join("none")).map_err(|error| format!("{}: {error}", folder.display()))?;
    let source = folder.join("other.c");
    let text = "unsigned skipstone_abi_version(void) { return 2u << 16; }\n\
                unsigned skipstone_struct_size(unsigned which) { return which; }\n";
    std::fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
    let mut compiler = process::command("cc", tree);
    compiler.args(["-shared", "-fPIC", "-o"]).arg(folder.join("libskipstone.so")).arg(source);
    process::run(compiler)?;
    let built =
        std::fs::read(folder.join("libskipstone.so")).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut for_arm = built.clone();
    for_arm[18..20].copy_from_slice(&ELF_ARM64.to_le_bytes());
    for (name, bytes) in [("text", &b"no library"[..]), ("short", &built[..built.len() / 2]), ("arm", &for_arm[..])] {
        std::fs::create_dir_all(folder.join(name))
            .and_then(|()| std::fs::write(folder.join(name).join("libskipstone.so"), bytes))
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let (echo, short) = (toolchain.folder().join("examples/Echo.exe"), folder.join("short"));
    for (library, remedy) in [
        (&folder, "library and client of the same release"),
        (&folder.join("none"), "was not found"),
        (&folder.join("text"), "text/libskipstone.so is damaged: it is no library at all (10 bytes)"),
        (&short, "short/libskipstone.so is damaged: its end is missing"),
        (&folder.join("arm"), "arm/libskipstone.so is for Linux on ARM64, and this program runs on Linux on x86-64"),
    ] {
        for runtime in [Runtime::Mono, Runtime::DotNet] {
            if runtime == Runtime::Mono && library == &short {
                // It loads the library before our code runs, which ends the process.
                continue;
            }
            let mut run = toolchain.run(runtime, &echo, tree);
            run.arg("check").env("LD_LIBRARY_PATH", library);
            let ran = run.output().map_err(|error| format!("{runtime:?}: {error}"))?;
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            if ran.status.success() || !said.contains("SkipstoneException") || !said.contains(remedy) {
                return Err(format!("{runtime:?} with the library in {} said: {said}", library.display()));
            }
        }
    }
    Ok(())
}

/// The two programs in the guide.
pub(super) fn programs(tree: &Tree) -> Result<(String, String), String> {
    let guide = std::fs::read_to_string(tree.root().join(GUIDE)).map_err(|error| format!("{GUIDE}: {error}"))?;
    let programs = guide.split("```csharp\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0));
    let programs: Vec<&str> = programs.collect();
    let [hello, game] = programs[..] else { return Err(format!("{GUIDE} has {} programs", programs.len())) };
    Ok((hello.into(), game.into()))
}

fn output(path: &Path) -> String {
    format!("-out:{}", path.display())
}

/// The number of ARM64 in the header of an ELF file.
const ELF_ARM64: u16 = 183;
const GUIDE: &str = "docs/guide/csharp.md";
