//! Closed pipes, full disks, terminals without colours, dumb or narrow ones: the tool writes what it can, and
//! continues.

use crate::common::terminal::{on_terminal, screen};
use crate::common::{Ended, Running, SKIPSTONE};
use std::process::Command;

fn shell(line: &str) -> Ended {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("SKIPSTONE", SKIPSTONE).env_remove("NO_COLOR");
    Running::start(command).wait()
}

#[test]
fn a_closed_standard_output_does_not_end_the_run() {
    // `head` prints one line and goes; the exit code after it is the tool's.
    let ended = shell("{ $SKIPSTONE stress -c 2 -d 2s; echo code $? >&2; } | head -1");
    ended.expect(&[0]);
    assert!(ended.err.contains("code 0") || ended.err.contains("code 98"), "{}", ended.err);
    assert_eq!(ended.out.lines().count(), 1, "{}", ended.out);
    let ended = shell("{ $SKIPSTONE serve --listen 127.0.0.1:0 --console off -d 1s; echo code $? >&2; } | head -1");
    ended.expect(&[0]);
    assert!(ended.err.contains("code 0"), "{}", ended.err);
    let ended = shell("{ $SKIPSTONE serve --listen here 2>&1; echo code $? >&2; } | true");
    assert!(ended.expect(&[0]).err.contains("code 104"), "{}", ended.err);
}

#[test]
fn standard_output_contains_only_the_json_result() {
    for run in ["-c 2 -d 1s", "-c 2 -d 1s -q", "--connects 5/s -d 1s"] {
        let ended = shell(&format!("$SKIPSTONE stress {run} --json -"));
        let json = serde_json::from_str::<serde_json::Value>(&ended.expect(&[0]).out);
        assert!(json.is_ok_and(|result| result["verdict"] == "pass"), "{run}: {}", ended.out);
    }
    assert!(!std::path::Path::new("-").exists(), "a file of that name");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_does_not_end_the_run() {
    let ended = shell("$SKIPSTONE stress -c 2 -d 1s > /dev/full");
    ended.expect(&[98]);
    shell("$SKIPSTONE serve --listen 127.0.0.1:0 --console off -d 500ms > /dev/full 2>&1").expect(&[0]);
    shell("$SKIPSTONE stress -c 0 2> /dev/full").expect(&[104]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_could_not_be_written_is_not_a_success() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("t.db").display().to_string();
    let database = format!("sqlite:{database}");
    shell(&format!("$SKIPSTONE db {database} create")).expect(&[0]);
    let plan = "../../plans/spatialos-25.toml --simulated --seeds 1 --minutes 0.1 --transports skipstone --modes lean";
    for command in [
        "--help",
        "--version",
        "help stress",
        "deploy --example",
        "sweep --seeds 0..1 --print",
        &format!("compare {plan}"),
        &format!("compare {plan} --json -"),
        &format!("db {database} stats"),
        &format!("db {database} stats --json -"),
        "serve --listen 127.0.0.1:0 --console off --stress 2 -d 1s",
    ] {
        let ended = shell(&format!("$SKIPSTONE {command} > /dev/full"));
        ended.expect(&[98]);
        assert!(ended.err.contains("cannot write to standard output: No space left"), "{command}: {}", ended.err);
        shell(&format!("{{ $SKIPSTONE {command}; echo $? >&2; }} | true")).expect(&[0]);
    }
}

#[test]
fn output_to_a_pipe_has_no_colours() {
    let ended = shell("$SKIPSTONE stress -c 2 -d 1s");
    ended.expect(&[0, 98]);
    assert!(!ended.out.contains('\x1b'), "{}", ended.out);
}

/// A run on a terminal, with this in its environment.
fn on_a_terminal(columns: u32, environment: &str) -> Option<Ended> {
    let line = format!("env {environment} $0 stress -c 2 -d 2s");
    let ended = on_terminal(columns, "expect Machine", &["sh", "-c", &line, SKIPSTONE])?;
    ended.expect(&[0, 98]);
    Some(ended)
}

#[test]
fn a_terminal_has_colours_unless_disabled() {
    let Some(coloured) = on_a_terminal(80, "-u NO_COLOR TERM=xterm") else { return };
    assert!(coloured.out.contains("\x1b[1") || coloured.out.contains("\x1b[2m"), "{:?}", coloured.out);
    let Some(plain) = on_a_terminal(80, "NO_COLOR=1 TERM=xterm") else { return };
    assert!(!plain.out.contains('m') || !plain.out.contains("\x1b[1m"), "{:?}", plain.out);
    assert!(plain.out.contains("\x1b[9A"), "it is still redrawn in place: {:?}", plain.out);
    let Some(dumb) = on_a_terminal(80, "TERM=dumb NO_COLOR=1") else { return };
    assert!(!dumb.out.contains('\x1b'), "a dumb terminal gets lines only: {:?}", dumb.out);
}

#[test]
fn a_narrow_terminal_is_redrawn_without_leftovers() {
    for columns in [20, 40, 120] {
        let Some(ended) = on_a_terminal(columns, "NO_COLOR=1 TERM=xterm") else { return };
        let rows = screen(&ended.out);
        // Redrawn rows never wrap: a wrapped row would displace the others.
        let start = rows.iter().position(|row| row.starts_with("closing") || row.starts_with("draining"));
        let start = start.or_else(|| rows.iter().position(|row| row.starts_with("running"))).expect("it was drawn");
        for row in &rows[start..start + 7] {
            assert!(row.chars().count() <= columns as usize, "{columns}: '{row}'");
        }
        let drawn = rows.iter().filter(|row| row.starts_with("generator")).count();
        assert_eq!(drawn, 1, "{columns}: {rows:#?}");
    }
}
