//! Packet types in C#: protoc generates them from the examples' `.proto`, and a test exchanges each with packets
//! written by Rust. Google.Protobuf is built from Debian's sources, only against .NET 8: it needs spans, which the
//! framework that Mono shares does not have.

use std::path::{Path, PathBuf};

use super::client::sources;
use super::toolchain::{Assembly, Framework, Runtime, Toolchain};
use crate::machine::process;
use crate::machine::system;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;

/// The folder of the `.proto` and of the packets that Rust writes.
const FOLDER: &str = "examples/proto";
/// The parts of .NET 8 that Google.Protobuf and the test call.
const PARTS: [&str; 13] = [
    "System.Private.CoreLib",
    "System.Runtime",
    "System.Collections",
    "System.Collections.Concurrent",
    "System.Console",
    "System.Linq",
    "System.Linq.Expressions",
    "System.Memory",
    "System.ObjectModel",
    "System.Runtime.Extensions",
    "System.Runtime.InteropServices",
    "System.Text.RegularExpressions",
    "System.Threading",
];

pub(super) fn check(toolchain: &Toolchain, tree: &Tree) -> Result<Tally, String> {
    let without = "packet types in C# are not tried";
    if let Some(why) = system::program("protoc", "protobuf-compiler", without, tree) {
        println!("{why}");
        return Ok(Tally { skipped: 1, ..Tally::default() });
    }
    let library = match library(toolchain, tree) {
        Ok(library) => library,
        Err(why) => {
            println!("{without}: {why}");
            return Ok(Tally { skipped: 1, ..Tally::default() });
        }
    };
    let folder = toolchain.folder().join("packets");
    let mut generate = process::command("protoc", tree);
    generate.arg(format!("--csharp_out={}", folder.display())).args(["-I", FOLDER, "game.proto"]);
    process::run(generate)?;
    let program = Assembly {
        folder: "packets".into(),
        file_name: "Packets.exe",
        sources: [sources(tree, "clients/csharp/packets")?, vec![folder.join("Game.cs")]].concat(),
        references: [parts(toolchain)?, vec![library]].concat(),
        framework: Framework::Own,
        ..Assembly::default()
    };
    let mut run = toolchain.run(Runtime::DotNet, &toolchain.compile(&program, tree)?, tree);
    run.arg(format!("{FOLDER}/packets.txt"));
    let mut tally = Tally::default();
    process::run_reading(run, |line| tally.passed += u64::from(line.starts_with("ok ")))?;
    Ok(tally)
}

fn parts(toolchain: &Toolchain) -> Result<Vec<PathBuf>, String> {
    let folder = toolchain.dotnet_framework()?;
    Ok(PARTS.iter().map(|part| folder.join(format!("{part}.dll"))).collect())
}

/// Google.Protobuf, of the version of the protoc that Debian has.
fn library(toolchain: &Toolchain, tree: &Tree) -> Result<PathBuf, String> {
    let built = toolchain.folder().join("packets/Google.Protobuf.dll");
    if built.is_file() {
        return Ok(built);
    }
    let folder = toolchain.folder().join("protobuf");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let archive = system::debian_source("protobuf", &folder, tree)?;
    let mut unpack = process::command(system::python(tree).unwrap_or("python3"), tree);
    unpack.args(["-m", "tarfile", "-e"]).arg(archive).arg(&folder);
    process::run(unpack)?;
    let library = Assembly {
        folder: "packets".into(),
        file_name: "Google.Protobuf.dll",
        sources: of_library(&folder, tree)?,
        references: parts(toolchain)?,
        // It defines attributes that .NET 8 has too; the other warnings are its authors'.
        options: ["-define:GOOGLE_PROTOBUF_SUPPORT_FAST_STRING", "-nowarn:436,618,1574,1591", "-warn:0"]
            .map(str::to_owned)
            .into(),
        framework: Framework::Own,
    };
    toolchain.compile(&library, tree)
}

fn of_library(folder: &Path, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut folders = entries.flatten().map(|entry| entry.path().join("csharp/src/Google.Protobuf"));
    let source = folders.find(|path| path.is_dir()).ok_or("the sources of protobuf have no C#")?;
    sources(tree, &source.display().to_string())
}
