//! The NuGet package: the assembly and its documentation, the native libraries by runtime id, and the manifest. A
//! package is a ZIP archive, which Python makes.

use std::path::{Path, PathBuf};

use super::client::client;
use super::toolchain::Toolchain;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

const MANIFEST: &str = "clients/csharp/Skipstone.nuspec";
/// Copies the native library beside programs for .NET Framework and Mono. Projects for .NET find it by themselves.
const TARGETS: &str = "clients/csharp/Skipstone.targets";

/// Lays the package out under `out` and makes the archive; returns its path.
/// `natives` are the native libraries by runtime id.
pub(super) fn package(
    toolchain: &Toolchain,
    natives: &[(&str, PathBuf)],
    out: &Path,
    tree: &Tree,
) -> Result<PathBuf, String> {
    let layout = out.join("layout");
    // Files of an earlier run must not get into this package.
    let _ = std::fs::remove_dir_all(&layout);
    let client = client(toolchain, "nuget/assembly", tree)?;
    for framework in ["net48", "netstandard2.0"] {
        for end in ["dll", "xml", "pdb"] {
            copy(&client.with_extension(end), &layout.join("lib").join(framework).join(format!("Skipstone.{end}")))?;
        }
    }
    copy(&tree.root().join(TARGETS), &layout.join("build/net48/Skipstone.targets"))?;
    for file in [MANIFEST, "clients/csharp/README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        let from = tree.root().join(file);
        let name = from.file_name().expect("it is a file").to_owned();
        copy(&from, &layout.join(name))?;
    }
    for (id, library) in natives {
        let name = library.file_name().unwrap_or_default();
        copy(library, &layout.join("runtimes").join(id).join("native").join(name))?;
    }
    let version = manifest_version(tree)?;
    let archive = out.join(format!("Skipstone.{version}.nupkg"));
    let mut python = process::command(system::python(tree).ok_or("Python 3 is missing: it makes the archive")?, tree);
    python.args(["-B", "clients/csharp/pack.py"]).arg(&layout).arg(&archive);
    process::run(python)?;
    Ok(archive)
}

/// This machine's runtime id and its library in a folder.
pub(super) fn own(native: &Path) -> Result<(&'static str, PathBuf), String> {
    let (id, file) = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => ("linux-x64", "libskipstone.so"),
        ("linux", "aarch64") => ("linux-arm64", "libskipstone.so"),
        ("windows", "x86_64") => ("win-x64", "skipstone.dll"),
        ("macos", "x86_64") => ("osx-x64", "libskipstone.dylib"),
        ("macos", "aarch64") => ("osx-arm64", "libskipstone.dylib"),
        (os, cpu) => return Err(format!("no runtime id of NuGet's is known for {os} on {cpu}")),
    };
    Ok((id, native.join(file)))
}

fn manifest_version(tree: &Tree) -> Result<String, String> {
    let text = std::fs::read_to_string(tree.root().join(MANIFEST)).map_err(|error| format!("{MANIFEST}: {error}"))?;
    let version = text.split_once("<version>").and_then(|(_, rest)| rest.split_once("</version>"));
    version.map(|(version, _)| version.to_owned()).ok_or_else(|| format!("{MANIFEST} has no version"))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let folder = to.parent().expect("it lies in a folder");
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    std::fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", from.display()))
}
