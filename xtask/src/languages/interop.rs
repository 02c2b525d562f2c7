//! All languages play together: a server in each installed language, with clients in all of them, on a lossy path.
//! `interop/README.md` describes the game, `interop/play.py` starts the programs.

use crate::languages::{c, csharp, python};
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::verdict::{Verdict, counted};
use crate::machine::{process, system};

/// The step `interop`. The languages' own steps have built their programs before; a missing program is left out.
pub(crate) fn step(tree: &Tree) -> Verdict {
    let Some(python) = system::python(tree) else {
        return Verdict::Skipped("no Python 3, which starts the programs: install it".into());
    };
    // The example is built with all the others: built separately it would have other features, and be compiled again.
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

/// Builds the programs in C and C++. Without a compiler they are left out.
fn c_programs(tree: &Tree) -> Result<(), String> {
    process::build_native(tree)?;
    let target = process::target_dir(tree).join("debug");
    let folder = target.join("interop");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for name in ["c", "cpp"] {
        c::linked(&format!("interop/c/interop.{name}"), &folder.join(name), &target, tree)?;
    }
    Ok(())
}

/// Builds the program in C#, client and all in one file. Without its compilers it is left out.
fn csharp_program(tree: &Tree) -> Result<(), String> {
    match csharp::in_one_file("interop/csharp/Interop.cs", tree)? {
        Ok(built) => {
            let program = process::target_dir(tree).join("debug/interop/csharp.exe");
            std::fs::copy(&built, &program).map(drop).map_err(|error| format!("{}: {error}", program.display()))
        }
        Err(why) => {
            println!("interop/csharp is left out: {why}");
            Ok(())
        }
    }
}
