//! Everybody plays together: a server in each language that is there, with clients in all of them, on a lossy path.
//! `interop/README.md` has the game, `interop/play.py` starts the programs.

use crate::tally::Tally;
use crate::tree::Tree;
use crate::verdict::{Verdict, counted};
use crate::{process, python, system};

/// The step `interop`. The steps of the languages have built their programs before it; a program that is not there is left out.
pub(crate) fn step(tree: &Tree) -> Verdict {
    let Some(python) = system::python(tree) else {
        return Verdict::Skipped("no Python 3, which starts the programs: install it".into());
    };
    // The example is built with all the others: alone it would have other features, and be built anew.
    if let Err(why) = process::build_programs(tree) {
        return Verdict::Failed(why);
    }
    if let Err(why) = c_programs(tree).and_then(|()| csharp_program(tree)) {
        return Verdict::Failed(why);
    }
    let mut play = process::command(python, tree);
    play.args(["interop/play.py", "--target"]).arg(process::target_dir(tree).join("debug"));
    if let Some(python) = python::interpreter(tree) {
        play.arg("--python").arg(python);
    }
    counted(play, Tally::from_own_line).map_or_else(Verdict::Failed, Verdict::Tests)
}

/// Builds the programs in C and C++, whatever the compiler warns of being an error. Without a compiler they are left out.
fn c_programs(tree: &Tree) -> Result<(), String> {
    let mut library = process::cargo(tree);
    library.args(["build", "--package", "skipstone-ffi"]);
    process::run(library)?;
    let target = process::target_dir(tree).join("debug");
    let folder = target.join("interop");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (compiler, standard, source, name) in C_PROGRAMS {
        if process::find(compiler).is_none() {
            println!("no {compiler}: {source} is left out");
            continue;
        }
        let mut compile = process::command(compiler, tree);
        compile.args([standard, "-O1", "-Wall", "-Wextra", "-Werror", "-Icrates/skipstone-ffi/include", source, "-o"]);
        compile.arg(folder.join(name)).arg(target.join("libskipstone.a")).args(SYSTEM_LIBRARIES);
        process::run(compile)?;
    }
    Ok(())
}

/// Builds the program in C#, client and all in one file, by Mono's compiler. Without one it is left out.
fn csharp_program(tree: &Tree) -> Result<(), String> {
    if process::find("mcs").is_none() || !tree.root().join(CSHARP_CLIENT).is_dir() {
        println!("no mcs, or no client in C#: interop/csharp is left out");
        return Ok(());
    }
    let program = process::target_dir(tree).join("debug/interop/csharp.exe");
    let mut compile = process::command("mcs", tree);
    compile.args(["-langversion:latest", "-unsafe", "-warnaserror", &format!("-out:{}", program.display())]);
    compile.args(["interop/csharp/Interop.cs", &format!("-recurse:{CSHARP_CLIENT}/*.cs")]);
    process::run(compile)
}

/// Where the sources of the client in C# lie.
const CSHARP_CLIENT: &str = "clients/unity/com.skipstone.transport/Runtime/Core";
/// Compiler, standard, source and the program's name.
const C_PROGRAMS: [(&str, &str, &str, &str); 2] =
    [("cc", "-std=c11", "interop/c/interop.c", "c"), ("c++", "-std=c++17", "interop/c/interop.cpp", "cpp")];
/// What Rust's standard library needs of Linux'.
const SYSTEM_LIBRARIES: [&str; 6] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];
