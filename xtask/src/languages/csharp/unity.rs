//! The Unity package: each of its assemblies compiles against stubs of its references, its tests run on them, and its
//! layout keeps Unity's rules.

use std::path::{Path, PathBuf};

use super::client::{SOURCES, sources};
use super::toolchain::{Assembly, Toolchain};
use crate::machine::process;
use crate::machine::system;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;

const PACKAGE: &str = "clients/unity/com.skipstone.transport";

/// One assembly: its name, its sources, its references to earlier ones, and further options of the compiler.
struct Part {
    file_name: &'static str,
    sources: &'static [&'static str],
    references: &'static [&'static str],
    options: &'static [&'static str],
}

const STUBS: [&str; 4] = [
    "clients/unity/stubs/UnityEngine.cs",
    "clients/unity/stubs/Netcode.cs",
    "clients/unity/stubs/Mirror.cs",
    "clients/unity/stubs/FishNet.cs",
];
const UNITY: &str = "clients/unity/com.skipstone.transport/Runtime/Unity";
const NETCODE: &str = "clients/unity/com.skipstone.transport/Runtime/Netcode";
/// A field of a stub is never set.
const UNSET: &str = "-nowarn:CS0649";
/// The symbol that the package's assembly definition sets for Netcode 2.
const NETCODE_2: &str = "-define:SKIPSTONE_NETCODE_2";

/// In this order: parts that later ones need come first.
const PARTS: &[Part] = &[
    Part { file_name: "UnityEngine.dll", sources: &[STUBS[0]], references: &[], options: &[UNSET] },
    Part {
        file_name: "UnityEditor.dll",
        sources: &["clients/unity/stubs/UnityEditor.cs"],
        references: &["UnityEngine.dll"],
        options: &[],
    },
    Part { file_name: "Netcode1.dll", sources: &[STUBS[1]], references: &["UnityEngine.dll"], options: &[] },
    Part { file_name: "Netcode.dll", sources: &[STUBS[1]], references: &["UnityEngine.dll"], options: &[NETCODE_2] },
    Part { file_name: "Mirror.dll", sources: &[STUBS[2]], references: &["UnityEngine.dll"], options: &[UNSET] },
    Part { file_name: "FishNet.dll", sources: &[STUBS[3]], references: &["UnityEngine.dll"], options: &[] },
    Part { file_name: "Skipstone.dll", sources: &[SOURCES], references: &[], options: &[] },
    Part {
        file_name: "Skipstone.Unity.dll",
        sources: &[UNITY],
        references: &["UnityEngine.dll", "Skipstone.dll"],
        options: &[],
    },
    // As a WebGL build compiles it: without the native client.
    Part {
        file_name: "Skipstone.Unity.WebGL.dll",
        sources: &[UNITY],
        references: &["UnityEngine.dll", "Skipstone.dll"],
        options: &["-define:UNITY_WEBGL"],
    },
    Part {
        file_name: "Skipstone.Netcode1.dll",
        sources: &[NETCODE],
        references: &["UnityEngine.dll", "Netcode1.dll", "Skipstone.dll", "Skipstone.Unity.dll"],
        options: &[],
    },
    Part {
        file_name: "Skipstone.Netcode.dll",
        sources: &[NETCODE],
        references: &["UnityEngine.dll", "Netcode.dll", "Skipstone.dll", "Skipstone.Unity.dll"],
        options: &[NETCODE_2],
    },
    Part {
        file_name: "Skipstone.Mirror.dll",
        sources: &["clients/unity/com.skipstone.transport/Runtime/Mirror"],
        references: &["UnityEngine.dll", "Mirror.dll", "Skipstone.dll", "Skipstone.Unity.dll"],
        options: &[],
    },
    Part {
        file_name: "Skipstone.FishNet.dll",
        sources: &["clients/unity/com.skipstone.transport/Runtime/FishNet"],
        references: &["UnityEngine.dll", "FishNet.dll", "Skipstone.dll", "Skipstone.Unity.dll"],
        options: &[],
    },
    Part {
        file_name: "Skipstone.Editor.dll",
        sources: &["clients/unity/com.skipstone.transport/Editor"],
        references: &["UnityEngine.dll", "UnityEditor.dll", "Skipstone.dll", "Skipstone.Unity.dll"],
        options: &[],
    },
    Part {
        file_name: "Skipstone.Samples.NetTest.dll",
        sources: &["clients/unity/com.skipstone.transport/Samples~/NetTest/Scripts"],
        references: &["UnityEngine.dll", "Skipstone.dll", "Skipstone.Unity.dll"],
        options: &[UNSET],
    },
    Part {
        file_name: "Skipstone.Unity.Tests.exe",
        sources: &[
            "clients/csharp/tests/Program.cs",
            "clients/unity/tests",
            "clients/unity/com.skipstone.transport/Tests",
        ],
        references: &[
            "UnityEngine.dll",
            "UnityEditor.dll",
            "Netcode.dll",
            "Mirror.dll",
            "FishNet.dll",
            "Skipstone.dll",
            "Skipstone.Unity.dll",
            "Skipstone.Netcode.dll",
            "Skipstone.Mirror.dll",
            "Skipstone.FishNet.dll",
            "Skipstone.Editor.dll",
            "nunit.framework.dll",
        ],
        options: &[],
    },
];

/// Compiles all of them; returns the tests' program, and one result for each assembly that compiled.
pub(super) fn build(toolchain: &Toolchain, tree: &Tree) -> Result<(PathBuf, Tally), String> {
    let folder = toolchain.folder().join("unity");
    toolchain.copy_nunit(&folder)?;
    let mut tests = PathBuf::new();
    let mut tally = Tally::default();
    for part in PARTS {
        let mut all = Vec::new();
        for source in part.sources {
            all.extend(sources(tree, source)?);
        }
        let mut options: Vec<String> = part.options.iter().map(|&option| option.to_owned()).collect();
        if part.references.contains(&"nunit.framework.dll") {
            options.push(Toolchain::framework("Facades/netstandard"));
        }
        if part.sources[0].starts_with(PACKAGE) && !part.sources[0].contains('~') {
            // This option asks for a comment at every public item.
            options.push(format!("-doc:{}", folder.join(part.file_name).with_extension("xml").display()));
        }
        let assembly = Assembly {
            folder: "unity".into(),
            file_name: part.file_name,
            sources: all,
            references: part.references.iter().map(|name| folder.join(name)).collect(),
            options,
            ..Assembly::default()
        };
        tests = toolchain.compile(&assembly, tree)?;
        tally += Tally::ONE_PASSED;
    }
    Ok((tests, tally))
}

/// The layout of the package as it is committed, the checker's own tests, and the library of WebGL builds.
pub(super) fn check_files(tree: &Tree) -> Result<Tally, String> {
    let python = system::python(tree).ok_or("Python 3 is missing")?;
    let mut tally = Tally::default();
    for arguments in [&["clients/unity/layout.py", "check"][..], &["clients/unity/layout_test.py"]] {
        let mut script = process::command(python, tree);
        script.arg("-B").args(arguments);
        process::run(script)?;
        tally += Tally::ONE_PASSED;
    }
    let mut node = process::command("node", tree);
    node.args(["--test", "clients/unity/tests/"]);
    process::run(node)?;
    tally += Tally::ONE_PASSED;
    Ok(tally)
}

/// Makes the package as Unity installs it: an archive with the native library of this machine.
pub(super) fn package(native: &Path, out: &Path, tree: &Tree) -> Result<PathBuf, String> {
    let python = system::python(tree).ok_or("Python 3 is missing: it makes the archive")?;
    let mut script = process::command(python, tree);
    script.args(["-B", "clients/unity/layout.py", "pack"]).arg(out).arg(native);
    process::run(script)?;
    Ok(out.join("com.skipstone.transport.tgz"))
}
