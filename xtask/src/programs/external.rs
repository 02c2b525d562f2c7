//! The examples of external transport programs, `examples/external`, take part in a short real comparison: every update
//! comes back once and in order. The bots of ENet and KCP are proven against the same servers.

use std::path::PathBuf;
use std::process::Command;

use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::machine::{process, system};

/// The step `external`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Err(why) = process::build_programs(tree).and_then(|()| folder(tree).map(drop)) {
        return Verdict::Failed(why);
    }
    let (mut tally, mut left_out) = (Tally::default(), Vec::new());
    for (name, program) in [("enet-c", c_program(tree)), ("kcp-go", go_program(tree))] {
        match program {
            Err(Verdict::Skipped(why)) => left_out.push(why),
            Err(verdict) => return verdict,
            Ok(program) => {
                let (scheme, flags) = if name == "enet-c" { ("enet", "") } else { ("kcp", "--messages") };
                for run in [comparison(name, &program, tree), echoes(scheme, &program, flags, tree)] {
                    match process::run(run) {
                        Ok(()) => tally += Tally::ONE_PASSED,
                        Err(why) => return Verdict::Failed(why),
                    }
                }
            }
        }
    }
    left_out.iter().for_each(|why| println!("left out: {why}"));
    if tally == Tally::default() { Verdict::Skipped(left_out.join("; ")) } else { Verdict::Tests(tally) }
}

fn folder(tree: &Tree) -> Result<PathBuf, String> {
    let folder = process::target_dir(tree).join("debug/external");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Compiler warnings are errors. Without the tools this is left out; with them it must compile.
fn c_program(tree: &Tree) -> Result<PathBuf, Verdict> {
    let without = "ENet in C is not tried";
    if let Some(why) = system::program("gcc", "gcc", without, tree) {
        return Err(Verdict::Skipped(why));
    }
    let program = folder(tree)?.join("enet-echo");
    if !process::succeeds(includes_enet(tree))
        && let Some(why) = system::package("libenet-dev", without, tree)
    {
        return Err(Verdict::Skipped(why));
    }
    let mut compile = process::command("gcc", tree);
    compile.args(["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]);
    compile.args(["examples/external/enet-c/enet_echo.c", "-lenet", "-o"]).arg(&program);
    process::run(compile)?;
    Ok(program)
}

fn includes_enet(tree: &Tree) -> Command {
    let mut gcc = process::command("gcc", tree);
    gcc.args(["-E", "-include", "enet/enet.h", "-x", "c", "/dev/null", "-o", "/dev/null"]);
    gcc
}

/// Without Go or access to its modules it is left out; with them it must compile.
fn go_program(tree: &Tree) -> Result<PathBuf, Verdict> {
    let without = "KCP in Go is not tried";
    if process::find("go").is_none() {
        return Err(Verdict::Skipped(format!("no go: {without}; install Go, see go.dev/dl")));
    }
    let program = folder(tree)?.join("kcp-echo");
    process::run(go(&["mod", "download"], tree)).map_err(|why| {
        Verdict::Skipped(format!(
            "{why}: its modules are out of reach, and {without}: connect to the network, or name a proxy by GOPROXY"
        ))
    })?;
    let mut build = go(&["build", "-o"], tree);
    build.arg(&program).arg(".");
    process::run(build)?;
    Ok(program)
}

fn go(arguments: &[&str], tree: &Tree) -> Command {
    let mut go = process::command("go", tree);
    go.current_dir(tree.root().join("examples/external/kcp-go")).args(arguments);
    go
}

fn comparison(name: &str, program: &std::path::Path, tree: &Tree) -> Command {
    let tool = process::target_dir(tree).join("debug/skipstone");
    let mut compare = process::command(&tool.to_string_lossy(), tree);
    compare.args([
        "compare",
        "plans/spatialos-25.toml",
        "--seconds",
        "2",
        "--loss",
        "2%",
        "--transports",
        "kcp",
        "--quiet",
    ]);
    compare.arg("--external").arg(format!("{name}={}", program.display()));
    for figure in ["lost", "duplicated", "reordered", "corrupted", "refused"] {
        compare.args(["--threshold", &format!("{name}.{figure}==0")]);
    }
    compare
}

/// 200 bots and a server by another implementation, on a path that loses datagrams: each message comes back once and in
/// order.
fn echoes(scheme: &str, program: &std::path::Path, server_flags: &str, tree: &Tree) -> Command {
    let built = process::target_dir(tree).join("debug");
    let mut echoes = process::command(&built.join("examples/echoes").to_string_lossy(), tree);
    echoes.args([scheme, "--bots", "200", "--seconds", "3", "--loss", "2%", "--patience", "30"]);
    echoes.arg("--server").arg(program).args(["--server-flags", server_flags]);
    echoes.arg("--relay").arg(built.join("skipstone"));
    echoes
}
