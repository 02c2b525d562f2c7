//! Child processes: how they are started (no standard input, at the root of the project) and how their output
//! goes on to ours while it is being read.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tree::Tree;

/// `cargo`, the one that runs us. It keeps nothing for incremental builds, unless asked to: of a hundred test binaries
/// that takes gigabytes.
pub(crate) fn cargo(tree: &Tree) -> Command {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut cargo = command(&program, tree);
    if std::env::var_os("CARGO_INCREMENTAL").is_none() {
        cargo.env("CARGO_INCREMENTAL", "0");
    }
    cargo
}

/// Builds the tool and the examples as the tests of the workspace do: built alone they have other features, and so have all that
/// they depend on, which would be built a second time.
pub(crate) fn build_programs(tree: &Tree) -> Result<(), String> {
    let mut cargo = cargo(tree);
    cargo.args(["test", "--workspace", "--no-run", "--quiet"]);
    run(cargo)
}

/// Where cargo builds.
pub(crate) fn target_dir(tree: &Tree) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| tree.root().join("target"), |dir| tree.root().join(dir))
}

/// Any program, at the root, without standard input and without what `cargo run` told us about ourselves: build
/// scripts that watch those variables would be built anew each time one calls cargo with and without xtask.
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

/// Runs it with our own output. `Err` says in one line what went wrong.
pub(crate) fn run(mut command: Command) -> Result<(), String> {
    announce(&command);
    let status = command.status().map_err(|error| not_started(&command, &error))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` ended with {status}", describe(&command)))
}

/// As [`run`], for a command line that is too long to be shown: `what` is said instead.
pub(crate) fn run_quietly(mut command: Command, what: &str) -> Result<(), String> {
    println!("$ {what}");
    let _ = std::io::stdout().flush();
    let status = command.status().map_err(|error| not_started(&command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("{what}: ended with {status}")) }
}

/// As [`run`], but what it prints goes to `on_line` alone.
pub(crate) fn run_filtering(mut command: Command, on_line: impl FnMut(&str)) -> Result<(), String> {
    announce(&command);
    let ran = command.stderr(Stdio::inherit()).output().map_err(|error| not_started(&command, &error))?;
    String::from_utf8_lossy(&ran.stdout).lines().for_each(on_line);
    if ran.status.success() { Ok(()) } else { Err(format!("`{}` ended with {}", describe(&command), ran.status)) }
}

/// As [`run`], and calls `on_line` with each line of its standard output, without the line's end.
pub(crate) fn run_reading(mut command: Command, mut on_line: impl FnMut(&str)) -> Result<(), String> {
    announce(&command);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| not_started(&command, &error))?;
    let stdout = child.stdout.take().expect("stdout is piped");
    forward(stdout, &mut std::io::stdout(), &mut on_line);
    let status = child.wait().map_err(|error| not_started(&command, &error))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` ended with {status}", describe(&command)))
}

/// What it printed to standard output, if it ran and succeeded. Its error output is dropped.
pub(crate) fn output(mut command: Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(text)
}

/// Whether it runs at all and succeeds, in silence.
pub(crate) fn succeeds(command: Command) -> bool {
    output(command).is_some()
}

/// Where on the search path a program lies.
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

/// A path as one word of a shell's.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn announce(command: &Command) {
    println!("$ {}", describe(command));
    // The child writes to the same place: what we said must be there first.
    let _ = std::io::stdout().flush();
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    format!("`{}` could not run: {error}", describe(command))
}

/// Passes bytes on as they come, so that a half line (`test slow_one ... `) shows while its test runs.
fn forward(mut from: impl Read, to: &mut impl Write, on_line: &mut impl FnMut(&str)) {
    let mut chunk = [0; 8192];
    let mut line = Vec::new();
    loop {
        let length = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        // Nobody listens any more? The lines still count.
        let _ = to.write_all(&chunk[..length]);
        let _ = to.flush();
        for &byte in &chunk[..length] {
            if byte == b'\n' {
                on_line(String::from_utf8_lossy(&line).trim_end_matches('\r'));
                line.clear();
            } else {
                line.push(byte);
            }
        }
    }
    if !line.is_empty() {
        on_line(&String::from_utf8_lossy(&line));
    }
}

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
        forward(text, &mut copy, &mut |line: &str| lines.push(line.to_owned()));
        assert_eq!(copy, text);
        assert_eq!(lines, ["one", "", "two"]);
    }

    #[test]
    fn a_command_is_described_as_one_would_type_it() {
        let mut command = Command::new("some/where/cargo");
        command.args(["fmt", "--all"]);
        assert_eq!(describe(&command), "cargo fmt --all");
    }
}
