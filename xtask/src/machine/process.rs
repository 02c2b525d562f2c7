//! Child processes: how they are started (no standard input, at the root of the project), and how their output is
//! forwarded while it is being read.

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::machine::failures::Said;
use crate::machine::tree::Tree;

/// The `cargo` that runs this program. It keeps no data for incremental builds unless asked to: for a hundred test
/// binaries that takes gigabytes.
pub(crate) fn cargo(tree: &Tree) -> Command {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut cargo = command(&program, tree);
    if std::env::var_os("CARGO_INCREMENTAL").is_none() {
        cargo.env("CARGO_INCREMENTAL", "0");
    }
    cargo
}

/// Builds the tool and the examples as the tests of the workspace do: built separately they and all their dependencies
/// have other features, and would be compiled a second time.
pub(crate) fn build_programs(tree: &Tree) -> Result<(), String> {
    if is_built("programs") {
        return Ok(());
    }
    let mut cargo = cargo(tree);
    cargo.args(["test", "--workspace", "--no-run", "--quiet"]);
    run(cargo)
}

/// Builds the C library as it is shipped: with its own features, and not with the whole workspace's.
pub(crate) fn build_native(tree: &Tree) -> Result<(), String> {
    if is_built("native") {
        return Ok(());
    }
    let mut cargo = cargo(tree);
    cargo.args(["build", "--package", "skipstone-ffi"]);
    run(cargo)
}

/// The variable by which a step learns which steps have passed before it in the same run, separated by commas.
pub(crate) const BUILT: &str = "SKIPSTONE_XTASK_PASSED";

/// Whether that step has passed in the run that this process is part of. Asking cargo instead would wait for its
/// compilations for other steps.
pub(crate) fn is_built(step: &str) -> bool {
    std::env::var(BUILT).is_ok_and(|passed| passed.split(',').any(|name| name == step))
}

/// The folder where cargo builds.
pub(crate) fn target_dir(tree: &Tree) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| tree.root().join("target"), |dir| tree.root().join(dir))
}

/// Any program, at the root, without standard input and without the variables that `cargo run` set for us: build
/// scripts that watch those variables would run again whenever calls with and without xtask alternate.
pub(crate) fn command(program: &str, tree: &Tree) -> Command {
    let mut command = Command::new(program);
    command.current_dir(tree.root()).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if OURS.iter().any(|prefix| name_text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// The same, ended after this many seconds: what should end by itself may hang.
pub(crate) fn bounded(seconds: u32, program: &str, tree: &Tree) -> Command {
    let mut command = command("timeout", tree);
    command.arg(seconds.to_string()).arg(program);
    command
}

/// Runs it with our own output. `Err` gives the error in one line.
pub(crate) fn run(mut command: Command) -> Result<(), String> {
    // At a terminal it may draw. Elsewhere its output is read, to be repeated if it fails.
    if !std::io::stdout().is_terminal() {
        return run_reading(command, |_| ());
    }
    announce(&command);
    let status = command.status().map_err(|error| not_started(&command, &error))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` ended with {status}", describe(&command)))
}

/// Like [`run`]; an error is printed.
pub(crate) fn passes(command: Command) -> bool {
    run(command).inspect_err(|why| println!("{why}")).is_ok()
}

/// As [`run`], for a command line that is too long to be shown: `what` is shown instead.
pub(crate) fn run_quietly(mut command: Command, what: &str) -> Result<(), String> {
    println!("$ {what}");
    let _ = std::io::stdout().flush();
    let status = command.status().map_err(|error| not_started(&command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("{what}: ended with {status}")) }
}

/// Like [`run`], but its output goes only to `on_line`.
pub(crate) fn run_filtering(mut command: Command, on_line: impl FnMut(&str)) -> Result<(), String> {
    announce(&command);
    let ran = command.stderr(Stdio::inherit()).output().map_err(|error| not_started(&command, &error))?;
    String::from_utf8_lossy(&ran.stdout).lines().for_each(on_line);
    if ran.status.success() { Ok(()) } else { Err(format!("`{}` ended with {}", describe(&command), ran.status)) }
}

/// Like [`run`], and calls `on_line` with each line of its standard output or standard error, without the line's end.
pub(crate) fn run_reading(mut command: Command, mut on_line: impl FnMut(&str)) -> Result<(), String> {
    announce(&command);
    let no_pipe = |error: std::io::Error| format!("no pipe to read from: {error}");
    let (reader, writer) = std::io::pipe().map_err(no_pipe)?;
    command.stdout(writer.try_clone().map_err(no_pipe)?).stderr(writer);
    let started = command.spawn();
    // The pipe ends when the last process that can write to it ends: this one must not be among them.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = started.map_err(|error| not_started(&command, &error))?;
    let mut said = Said::default();
    let mut lines = Lines::default();
    let chunks = chunks(reader);
    let mut ended: Option<Instant> = None;
    loop {
        match chunks.recv_timeout(AFTERWARDS) {
            Ok(chunk) => lines.forward(&chunk, &mut std::io::stdout(), &mut |line: &str| {
                said.add(line);
                on_line(line);
            }),
            Err(RecvTimeoutError::Disconnected) => break,
            // A child that it left running, such as a database server, may hold the pipe open forever,
            Err(RecvTimeoutError::Timeout) if ended.is_some() => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        match ended {
            // or even go on writing to it.
            Some(at) if at.elapsed() >= AFTERWARDS_MAX => break,
            Some(_) => {}
            None => ended = child.try_wait().ok().flatten().map(|_| Instant::now()),
        }
    }
    lines.end(&mut |line: &str| {
        said.add(line);
        on_line(line);
    });
    let status = child.wait().map_err(|error| not_started(&command, &error))?;
    if status.success() {
        return Ok(());
    }
    said.keep(describe(&command));
    Err(format!("`{}` ended with {status}", describe(&command)))
}

/// As [`run_reading`], but shows its output in one piece when it has ended; until then the output is in `log`.
pub(crate) fn run_collecting(mut command: Command, log: &Path, on_line: impl FnMut(&str)) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", log.display());
    let file = std::fs::File::create(log).map_err(failed)?;
    command.stderr(file.try_clone().map_err(failed)?).stdout(file);
    let started = Instant::now();
    let status = command.status().map_err(|error| not_started(&command, &error))?;
    let text = String::from_utf8_lossy(&std::fs::read(log).map_err(failed)?).into_owned();
    let seconds = started.elapsed().as_secs_f64();
    // Written in one piece, even if another thread prints at the same time.
    let shown = format!("$ {}\n{text}after {seconds:.1} s\n", describe(&command));
    let _ = std::io::stdout().lock().write_all(shown.as_bytes());
    text.lines().for_each(on_line);
    if status.success() {
        return Ok(());
    }
    let mut said = Said::default();
    text.lines().for_each(|line| said.add(line));
    said.keep(describe(&command));
    Err(format!("`{}` ended with {status}", describe(&command)))
}

/// Its standard output, if it ran and succeeded. Its error output is dropped.
pub(crate) fn output(mut command: Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(text)
}

/// Whether it can be run and succeeds, without showing its output.
pub(crate) fn succeeds(command: Command) -> bool {
    output(command).is_some()
}

/// The path of a program on the search path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let file_name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(&file_name)).find(|candidate| candidate.is_file())
}

/// The command as one would type it.
pub(crate) fn describe(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_stem().unwrap_or_default().to_string_lossy();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy());
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// A path as one word for a shell.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn announce(command: &Command) {
    println!("$ {}", describe(command));
    // The child writes to the same place, so earlier output must be flushed first.
    let _ = std::io::stdout().flush();
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    format!("`{}` could not run: {error}", describe(command))
}

/// The chunks that a thread of its own reads from the pipe; the thread ends with the pipe.
fn chunks(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut chunk = [0; 8192];
        loop {
            match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(length) if sender.send(chunk[..length].to_vec()).is_err() => break,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    });
    receiver
}

/// Cuts bytes into lines.
#[derive(Default)]
struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Passes bytes on as they arrive, so that a partial line (`test slow_one ... `) shows while its test runs.
    fn forward(&mut self, chunk: &[u8], to: &mut impl Write, on_line: &mut impl FnMut(&str)) {
        // Our own output may be closed. The lines still count.
        let _ = to.write_all(chunk);
        let _ = to.flush();
        for &byte in chunk {
            if byte == b'\n' {
                on_line(String::from_utf8_lossy(&self.begun).trim_end_matches('\r'));
                self.begun.clear();
            } else {
                self.begun.push(byte);
            }
        }
    }

    /// The last line may lack its end.
    fn end(self, on_line: &mut impl FnMut(&str)) {
        if !self.begun.is_empty() {
            on_line(&String::from_utf8_lossy(&self.begun));
        }
    }
}

/// How long a program that has ended may print nothing before the output of its remaining children is ignored.
const AFTERWARDS: Duration = Duration::from_millis(300);
/// How long that output is read at most.
const AFTERWARDS_MAX: Duration = Duration::from_secs(2);

/// Beginnings of the variables by which `cargo run` describes the package that it runs.
const OURS: &[&str] = &["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_NAME", "CARGO_CRATE_NAME"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_any_path_as_one_word() {
        assert_eq!(quoted(Path::new("/a b/c'd")), r"'/a b/c'\''d'");
    }

    #[test]
    fn lines_are_cut_at_their_ends_and_the_last_needs_none() {
        let (mut lines, mut copy) = (Vec::new(), Vec::new());
        let text = &b"one\r\n\ntwo"[..];
        let mut cut = Lines::default();
        cut.forward(text, &mut copy, &mut |line: &str| lines.push(line.to_owned()));
        cut.end(&mut |line: &str| lines.push(line.to_owned()));
        assert_eq!(copy, text);
        assert_eq!(lines, ["one", "", "two"]);
    }

    #[cfg(unix)]
    #[test]
    fn processes_left_running_are_not_waited_for() {
        let mut lines = Vec::new();
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo said; echo complained >&2; sleep 30 & exit 3"]);
        let started = Instant::now();
        let outcome = run_reading(shell, |line| lines.push(line.to_owned()));
        assert!(outcome.is_err_and(|why| why.contains("3")));
        assert_eq!(lines, ["said", "complained"]);
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[cfg(unix)]
    #[test]
    fn processes_that_it_leaves_running_are_not_waited_for_even_if_they_keep_printing() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "for at in $(seq 200); do echo $at; sleep 0.1; done & exit 0"]);
        let started = Instant::now();
        assert_eq!(run_reading(shell, |_| ()), Ok(()));
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_command_is_described_as_one_would_type_it() {
        let mut command = Command::new("some/where/cargo");
        command.args(["fmt", "--all"]);
        assert_eq!(describe(&command), "cargo fmt --all");
    }
}
