//! The NuGet package: the assembly and its documentation, the native libraries by runtime id, and the manifest. A
//! package is a ZIP archive, which Python makes.

use std::path::{Path, PathBuf};

use super::client::client;
use super::toolchain::Toolchain;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

/// Runtime id and file of each library. Libraries of other systems are taken from a folder of this id next to this
/// machine's folder.
const LIBRARIES: [(&str, &str); 6] = [
    ("linux-x64", "libskipstone.so"),
    ("linux-arm64", "libskipstone.so"),
    ("win-x64", "skipstone.dll"),
    ("win-arm64", "skipstone.dll"),
    ("osx-x64", "libskipstone.dylib"),
    ("osx-arm64", "libskipstone.dylib"),
];
const MANIFEST: &str = "clients/csharp/Skipstone.nuspec";

/// Lays the package out under `out` and makes the archive; returns its path.
pub(super) fn package(toolchain: &Toolchain, native: &Path, out: &Path, tree: &Tree) -> Result<PathBuf, String> {
    let layout = out.join("layout");
    // Files of an earlier run must not get into this package.
    let _ = std::fs::remove_dir_all(&layout);
    let client = client(toolchain, "nuget/assembly", tree)?;
    copy(&client, &layout.join("lib/net48/Skipstone.dll"))?;
    copy(&client.with_extension("xml"), &layout.join("lib/net48/Skipstone.xml"))?;
    copy(&client, &layout.join("lib/netstandard2.0/Skipstone.dll"))?;
    copy(&client.with_extension("xml"), &layout.join("lib/netstandard2.0/Skipstone.xml"))?;
    for file in [MANIFEST, "clients/csharp/README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        let from = tree.root().join(file);
        let name = from.file_name().expect("it is a file").to_owned();
        copy(&from, &layout.join(name))?;
    }
    for (id, file) in LIBRARIES {
        let from = if Some(id) == own_id() { native.join(file) } else { native.join(id).join(file) };
        if from.is_file() {
            copy(&from, &layout.join("runtimes").join(id).join("native").join(file))?;
        } else if Some(id) == own_id() {
            return Err(format!("{} is missing: it should have been built", from.display()));
        } else {
            println!("without {id}: there is no {}", from.display());
        }
    }
    let version = manifest_version(tree)?;
    let archive = out.join(format!("Skipstone.{version}.nupkg"));
    let mut python = process::command(system::python(tree).ok_or("Python 3 is missing: it makes the archive")?, tree);
    python.args(["-B", "clients/csharp/pack.py"]).arg(&layout).arg(&archive);
    process::run(python)?;
    Ok(archive)
}

/// This machine's runtime id, if it is in the list.
fn own_id() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("linux-x64"),
        ("linux", "aarch64") => Some("linux-arm64"),
        ("windows", "x86_64") => Some("win-x64"),
        ("windows", "aarch64") => Some("win-arm64"),
        ("macos", "x86_64") => Some("osx-x64"),
        ("macos", "aarch64") => Some("osx-arm64"),
        _ => None,
    }
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
