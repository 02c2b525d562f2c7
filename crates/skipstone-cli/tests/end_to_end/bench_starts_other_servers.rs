//! `bench --server NAME=COMMAND`: a program that is not a server is reported with its behaviour; names and flags are
//! checked before anything runs.

use crate::common::benching::bench;
use crate::common::run;

#[track_caller]
fn refused(preset: &str, flags: &[&str], said: &str) {
    let ended = run(&[&["bench", preset], flags].concat());
    ended.expect(&[104]);
    assert!(ended.err.contains(said) && ended.out.is_empty(), "no '{said}' in: {}", ended.text());
}

#[test]
fn servers_and_flags_that_do_not_go_together() {
    refused("fanout", &["--server", "c"], "a name of letters, digits and dashes, and a command");
    refused("fanout", &["--server", "tcp=true"], "tcp is the name of a transport");
    refused("fanout", &["--server", "c=true", "--server", "c=false"], "two servers have that name");
    refused("fanout", &["--server", "c=true", "--transports", "tcp"], "it speaks Skipstone");
    refused("fanout", &["--server", "c=true", "--drive", "background"], "it has its own settings");
    refused("fanout", &["--server", "c=true", "--find-limit"], "only the built-in server");
    refused("fanout", &["--server", "c=true", "--threshold", "go.ratio<2"], "\"go\" does not take part");
    refused("pingpong", &["--server", "c=true"], "fanout, echo and idle");
}

#[test]
fn programs_that_are_not_servers_are_named_and_the_others_measured() {
    // The last one prints a URL without a listener, and ends at the first command.
    let programs = ["gone=false", "strange=echo hello #", "deaf=sh -c 'echo skip://127.0.0.1:9; read order' #"];
    let flags = programs.iter().flat_map(|program| ["--server", *program]);
    let (ended, result) = bench("fanout", &[&["--clients", "2"], flags.collect::<Vec<_>>().as_slice()].concat());
    ended.expect(&[99]);
    let rows = result["results"].as_array().expect("a list");
    assert_eq!(rows.len(), 1 + programs.len());
    assert_eq!((&rows[0]["server"], &rows[0]["lost"]), (&serde_json::Value::Null, &0.into()));
    let wanted = [("gone", "is gone: it ended by exit status: 1"), ("strange", "hello"), ("deaf", "is gone")];
    for (row, (name, said)) in rows[1..].iter().zip(wanted) {
        assert_eq!((&row["server"], &row["passed"]), (&name.into(), &false.into()));
        let reason = row["reasons"][0].as_str().unwrap_or_default();
        assert!(reason.contains(name) && reason.contains(said), "{name}: {reason}");
    }
}
