//! `cargo xtask bench-languages`: the cost of a server in C, C# and Go next to the one in Rust, in one run, all
//! optimised. Each server does the same work for `skipstone bench`, whose clients check every line.

use std::path::PathBuf;
use std::process::Command;

use crate::languages::{c, csharp, go};
use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;

/// A server: its name in the tables, the command that starts it, and its maximum cost relative to the Rust server.
struct Server {
    name: &'static str,
    command: String,
    ratio_max: &'static str,
}

/// Builds each server for which this machine has a compiler, and measures it with each preset. Words that are not flags
/// of this command are passed on to `bench`.
pub(crate) fn bench_languages(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let rounds = arguments.take_value("--rounds")?.unwrap_or_else(|| "3".into());
    let json = arguments.take_value("--json")?.map(PathBuf::from);
    let flags = arguments.rest();
    if let Some(folder) = &json {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut cargo = process::cargo(tree);
    cargo.args(["build", "--release", "--package", "skipstone-cli", "--package", "skipstone-ffi"]);
    // Neither databases nor a dashboard nor peers are measured, and they take long to build.
    cargo.args(["--no-default-features", "--features", "skipstone-cli/experiments,skipstone-ffi/default"]);
    process::run(cargo)?;
    let servers = servers(tree)?;
    let mut all_passed = true;
    for (preset, clients) in PRESETS {
        let mut bench = bench(preset, clients, &servers, tree);
        bench.args(["--rounds", &rounds]).args(&flags);
        if let Some(folder) = &json {
            bench.arg("--json").arg(folder.join(format!("{preset}.json")));
        }
        if let Err(why) = process::run_quietly(bench, &format!("skipstone bench {preset} --clients {clients}")) {
            println!("{why}");
            all_passed = false;
        }
    }
    Ok(all_passed)
}

fn bench(preset: &str, clients: &str, servers: &[Server], tree: &Tree) -> Command {
    let tool = release(tree).join("skipstone");
    let mut bench = process::command(&tool.display().to_string(), tree);
    bench.args(["bench", preset, "--clients", clients]);
    for server in servers {
        bench.arg("--server").arg(format!("{}={}", server.name, server.command));
        bench.arg("--threshold").arg(format!("{}.ratio<={}", server.name, server.ratio_max));
    }
    bench
}

/// The presets, each with its numbers of clients.
const PRESETS: [(&str, &str); 2] = [("fanout", "200,600"), ("echo", "1000")];

/// The servers whose tools are on this machine. A compile error is an error.
fn servers(tree: &Tree) -> Result<Vec<Server>, String> {
    let release = release(tree);
    let folder = release.join("bench-languages");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut servers = Vec::new();
    let program = folder.join("c");
    if c::linked("clients/c/examples/bench_server.c", &program, &release, tree)? {
        servers.push(Server { name: "c", command: process::quoted(&program), ratio_max: "1.02" });
    }
    match csharp::bench_servers(tree)? {
        Ok(runtimes) => {
            for (runtime, program) in runtimes {
                let (name, ratio_max) = match runtime {
                    csharp::Runtime::DotNet => ("dotnet", "1.15"),
                    csharp::Runtime::Mono => ("mono", "1.4"),
                };
                let command = format!("env LD_LIBRARY_PATH={} {program}", process::quoted(&release));
                servers.push(Server { name, command, ratio_max });
            }
        }
        Err(why) => println!("left out: C#, because {why}"),
    }
    let program = folder.join("go");
    match go::build_optimised("./examples/bench_server", &program, tree)? {
        Ok(()) => servers.push(Server { name: "go", command: process::quoted(&program), ratio_max: "1.3" }),
        Err(why) => println!("left out: Go, because {why}"),
    }
    Ok(servers)
}

fn release(tree: &Tree) -> PathBuf {
    process::target_dir(tree).join("release")
}
