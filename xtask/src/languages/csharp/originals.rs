//! Echo servers by original libraries of C#, for the proof of the bots' protocols: `interop/originals`. The library's
//! assembly comes from the caller, because no registry that the tests use has it.

use std::path::{Path, PathBuf};

use super::client::sources;
use super::toolchain::{Assembly, Framework, Runtime, Toolchain};
use crate::machine::tree::Tree;

/// Compiles the server of that library against it. Returns the command that starts the server.
pub(super) fn server(toolchain: &Toolchain, library: &Path, tree: &Tree) -> Result<String, String> {
    let name = library.file_stem().unwrap_or_default().to_string_lossy();
    let (source, file_name) = match &*name {
        "kcp2k" => ("interop/originals/Kcp2kServer.cs", "Kcp2kServer.exe"),
        "LiteNetLib" => ("interop/originals/LiteNetLibServer.cs", "LiteNetLibServer.exe"),
        _ => return Err(format!("{}: kcp2k.dll or LiteNetLib.dll is needed", library.display())),
    };
    let folder = toolchain.folder().join("originals");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let copy = folder.join(library.file_name().unwrap_or_default());
    std::fs::copy(library, &copy).map_err(|error| format!("{}: {error}", library.display()))?;
    let program = Assembly {
        folder: "originals".into(),
        file_name,
        sources: sources(tree, source)?,
        references: [framework(toolchain)?, vec![copy]].concat(),
        framework: Framework::Own,
        ..Assembly::default()
    };
    let program = toolchain.compile(&program, tree)?;
    Ok(toolchain.shell_words(Runtime::DotNet, &program))
}

/// The assemblies of .NET 8 that a library for it may refer to.
fn framework(toolchain: &Toolchain) -> Result<Vec<PathBuf>, String> {
    let folder = toolchain.dotnet_framework()?;
    let parts = [
        "System.Private.CoreLib",
        "System.Runtime",
        "System.Console",
        "System.Collections",
        "System.Net.Primitives",
        "System.Net.Sockets",
        "System.Threading",
        "System.Threading.Thread",
        "netstandard",
        "mscorlib",
        "System",
        "System.Core",
    ];
    Ok(parts.iter().map(|part| folder.join(format!("{part}.dll"))).collect())
}
