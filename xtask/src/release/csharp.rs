//! The NuGet package: one assembly for all runtimes, and the native library for each system.

use std::path::PathBuf;

use super::archive;
use super::bill::write_bill;
use super::c::{contents, shared_library};
use super::contents::dependencies;
use super::place::Place;
use super::plan::{Checked, Part, Release, copy, write};
use super::systems::{GLIBC_X86_64, LIBRARY_SYSTEMS};
use crate::languages::csharp::{Runtime, first_program, nuget_package, program_of, running};
use crate::machine::process;
use crate::machine::tree::Tree;

pub(super) const PARTS: &[Part] = &[Part {
    name: "csharp",
    about: "the NuGet package for .NET, .NET Framework and Mono, with native libraries of five systems",
    make,
    check,
}];

fn make(release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let mut natives = Vec::new();
    for system in &LIBRARY_SYSTEMS {
        natives.push((system.dotnet, shared_library(system, release, tree)?));
    }
    let made = nuget_package(&natives, &release.stage("csharp")?, tree)?;
    let package = release.artifact(&package_name(release));
    copy(&made, &package)?;
    let bill = write_bill(&package, &dependencies(contents(&GLIBC_X86_64), tree)?, release)?;
    Ok(vec![package, bill])
}

/// The guide's first program, compiled in an empty folder against the package's assembly. On .NET it finds the native
/// library as a project's list of packages says; on Mono the library lies beside it.
fn check(release: &Release, tree: &Tree) -> Result<Checked, String> {
    let place = Place::empty("csharp")?;
    let package = place.path().join("package");
    archive::unpack(&release.artifact(&package_name(release)), &package, tree)?;
    for system in &LIBRARY_SYSTEMS {
        let native = package.join("runtimes").join(system.dotnet).join("native").join(system.shared("skipstone"));
        if !native.is_file() {
            return Err(format!("{} is missing in the package", native.display()));
        }
    }
    let source = place.path().join("Hello.cs");
    write(&source, first_program(tree)?)?;
    let mut tried = Vec::new();
    for (runtime, name, framework) in [(Runtime::DotNet, ".NET 8", "netstandard2.0"), (Runtime::Mono, "Mono", "net48")]
    {
        let folder = place.path().join(framework);
        let assembly = folder.join("Skipstone.dll");
        copy(&package.join("lib").join(framework).join("Skipstone.dll"), &assembly)?;
        let program = program_of(&source, &assembly, &folder, tree)?;
        let native = format!("runtimes/{}/native/{}", GLIBC_X86_64.dotnet, GLIBC_X86_64.shared("skipstone"));
        if runtime == Runtime::DotNet {
            copy(&package.join(&native), &folder.join(&native))?;
            write(
                &program.with_extension("deps.json"),
                DEPENDENCIES.replace("VERSION", &release.version).replace("NATIVE", &native),
            )?;
        } else {
            copy(&package.join(&native), &folder.join(GLIBC_X86_64.shared("skipstone")))?;
        }
        let mut run = running(runtime, &program, tree)?;
        run.current_dir(place.path()).env_remove("LD_LIBRARY_PATH");
        process::run(run)?;
        tried.push(name);
    }
    Ok(Checked::Passed(format!("a program in an empty folder, on {}", tried.join(" and "))))
}

fn package_name(release: &Release) -> String {
    format!("Skipstone.{}.nupkg", release.version)
}

/// What an SDK writes next to a program that uses the package.
const DEPENDENCIES: &str = r#"{
  "runtimeTarget": { "name": ".NETCoreApp,Version=v8.0" },
  "targets": { ".NETCoreApp,Version=v8.0": {
    "Hello/1.0.0": { "dependencies": { "Skipstone": "VERSION" }, "runtime": { "Hello.exe": {} } },
    "Skipstone/VERSION": {
      "runtime": { "Skipstone.dll": {} },
      "runtimeTargets": { "NATIVE": { "rid": "linux-x64", "assetType": "native" } }
    }
  } },
  "libraries": {
    "Hello/1.0.0": { "type": "project", "serviceable": false, "sha512": "" },
    "Skipstone/VERSION": { "type": "project", "serviceable": false, "sha512": "" }
  }
}
"#;
