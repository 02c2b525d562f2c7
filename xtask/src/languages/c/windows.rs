//! The C library on Windows: skipstone.dll and the tests cross-compiled by mingw-w64, run under Wine; and a client
//! there against a server here.

use std::path::Path;
use std::process::{Child, Stdio};

use super::programs::{INCLUDE, count_ok};
use crate::languages::windows;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;

const TESTS: &[&str] = &["echo.c", "play.c", "bad_input.c", "threads.c", "version_1.c"];

pub(super) fn check(tree: &Tree) -> Result<Tally, String> {
    if !system::has_target(windows::TARGET, tree) || system::wine(tree).is_some() {
        println!(
            "Wine, mingw-w64 or the standard library for {} is missing: nothing is tried on Windows",
            windows::TARGET
        );
        return Ok(Tally::ONE_SKIPPED);
    }
    let wine = process::target_dir(tree).join("wine");
    windows::stand_in(&wine, tree)?;
    let mut cargo = process::cargo(tree);
    cargo.args(["build", "--package", "skipstone-ffi", "--target", windows::TARGET]);
    process::run(cargo)?;
    let built = process::target_dir(tree).join(windows::TARGET).join("debug");
    // Wine looks for libraries next to the program, including the one that is missing there.
    let folder = process::target_dir(tree).join("c/windows");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let copied = std::fs::copy(built.join("skipstone.dll"), folder.join("skipstone.dll"));
    copied.map_err(|error| format!("skipstone.dll: {error}"))?;
    let mut tally = Tally::default();
    for name in TESTS {
        let made = compile(&Path::new("clients/c/tests").join(name), &built, &folder, tree)?;
        tally += count_ok(run(&made, &wine, tree));
    }
    let client = compile(Path::new("clients/c/examples/echo.c"), &built, &folder, tree)?;
    tally += against_a_server_here(&client, &wine, tree)?;
    Ok(tally)
}

fn compile(source: &Path, built: &Path, folder: &Path, tree: &Tree) -> Result<std::path::PathBuf, String> {
    let made = folder.join(source.file_name().unwrap_or_default()).with_extension("exe");
    let mut compiler = process::command(windows::COMPILER, tree);
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-D__USE_MINGW_ANSI_STDIO=1", "-I", INCLUDE]).arg(source);
    compiler.arg("-L").arg(built).args(["-l:libskipstone.dll.a", "-static", "-lpthread", "-o"]).arg(&made);
    process::run(compiler).map(|()| made)
}

fn run(program: &Path, wine: &Path, tree: &Tree) -> std::process::Command {
    let mut command = process::command("timeout", tree);
    command.args(["120", "wine"]).arg(program);
    windows::environment(&mut command, wine);
    command
}

/// The example's server, compiled for this system by the examples' own check, and its client under Wine.
fn against_a_server_here(client: &Path, wine: &Path, tree: &Tree) -> Result<Tally, String> {
    let server = process::target_dir(tree).join("c/gcc/echo");
    let mut command = process::command(&server.display().to_string(), tree);
    command.args(["--serve", "127.0.0.1:0"]).stdout(Stdio::piped());
    let mut server = Server(command.spawn().map_err(|error| format!("{}: {error}", server.display()))?);
    let url = server.url()?;
    let mut command = run(client, wine, tree);
    command.args(["--connect", &url]);
    Ok(count_ok(command))
}

/// Ends with this.
struct Server(Child);

impl Server {
    /// The first line that it prints.
    fn url(&mut self) -> Result<String, String> {
        use std::io::{BufRead, BufReader};
        let stdout = self.0.stdout.take().ok_or("the server has no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).map_err(|error| format!("the server's output: {error}"))?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
