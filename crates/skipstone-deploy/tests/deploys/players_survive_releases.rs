//! Three releases, one that does not start, and a rollback, while 200 players send and others connect: no connection is
//! lost, and no line is lost that its sender got back.

use crate::yard::{Yard, free_port, next_second};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// All players are back within this time.
const AWAY_MAX_MS: f64 = 3_000.0;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn clients_reconnect_and_new_clients_connect() {
    let Some(yard) = Yard::new() else { return };
    let _alone = crate::TIMELY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let slim = yard.slim_tool();
    let (port, console) = (free_port(), free_port());
    let build = format!(
        "[build.server]\ncommand = \"if [ -e skipstone ]; then :; else cp {} skipstone; fi\"\nartifacts = \
         [\"skipstone\", \"version\"]\n",
        slim.display()
    );
    let site = yard.site();
    let at = site.display();
    let target = format!(
        "keep = 5\npid_file = \"{at}/pid\"\nrestart = \"\"\"if [ -f pid ]; then kill -USR2 $(cat pid); else\n\
         {at}/current/skipstone serve --listen 127.0.0.1:{port} --console 127.0.0.1:{console} --identity \
         {at}/identity.pem \
         < /dev/null > serve.log 2>&1 & echo $! > pid; fi\"\"\"\n\
         health = {{ url = \"http://127.0.0.1:{port}/healthz\", console = \"127.0.0.1:{console}\", timeout = \"15s\", \
         settle = \"300ms\" }}"
    );
    yard.plan(&build, &target);
    yard.commit(&[("version", "1")]);
    yard.deploy_well(&[]);
    let pid = fs::read_to_string(site.join("pid")).expect("it runs");
    let log = fs::read_to_string(site.join("serve.log")).expect("it says");
    let url = log.split_whitespace().find(|word| word.starts_with("skip://")).expect("its URL").to_owned();

    let (clients, seconds) = (number("SKIPSTONE_TEST_CLIENTS", 200), number("SKIPSTONE_TEST_SECONDS", 45));
    let result = yard.path("result.json");
    let (span, clients_word) = (format!("{seconds}s"), clients.to_string());
    let begun = |flags: &[&str], result: &Path| {
        let mut stress = yard.tool();
        stress.args(["stress", &url, "-q", "-d", &span, "--json"]).arg(result).args(flags);
        stress.stdout(Stdio::null()).spawn().expect("it starts")
    };
    let mut stress = begun(&["--reconnect", "-r", "1/2s", "-c", &clients_word], &result);
    let newcomers_result = yard.path("newcomers.json");
    let rate = format!("{}/s", number("SKIPSTONE_TEST_CONNECTS", 100));
    let mut newcomers = begun(&["--connects", &rate], &newcomers_result);

    for version in ["2", "3"] {
        next_second();
        yard.commit(&[("version", version)]);
        yard.deploy_well(&[]);
    }
    let third = yard.current();
    next_second();
    // A program that does not start never gets the players.
    yard.edit("timeout = \"15s\"", "timeout = \"2s\"");
    yard.commit(&[("skipstone", "#!/bin/sh\nexit 1\n"), ("version", "4")]);
    yard.deploy_badly(99, "the server does not run from this release");
    assert_eq!(yard.current(), third);
    yard.edit("timeout = \"2s\"", "timeout = \"15s\"");
    yard.deploy_well(&["rollback"]);
    assert_eq!(fs::read_to_string(site.join("current/version")).expect("it is there"), "2");
    let (ended, all_in) = (stress.wait().expect("it ends"), newcomers.wait().expect("it ends"));
    // A slow machine makes a run invalid (98), not the server wrong: the counts decide.
    assert!(matches!(ended.code(), Some(0 | 98)), "{ended}");
    assert_eq!(fs::read_to_string(site.join("pid")).expect("it runs"), pid, "one process, four programs");
    let (result, newcomers) = (json(&result), json(&newcomers_result));
    let (returns, messages) = (&result["returns"], &result["messages"]);
    println!("{returns} {messages}\n{}", newcomers["all"]);
    assert!(all_in.success(), "{}: {}", newcomers["all"], newcomers["failures"]);
    assert_eq!(result["clients"]["dropped"], 0, "{result}");
    // On a slow machine the run may be over before the last of the three.
    let restarts = returns["restarts"].as_u64().expect("a number");
    assert!(restarts >= clients && restarts.is_multiple_of(clients), "{returns}");
    assert_eq!(returns["returned"], returns["restarts"], "{returns}");
    assert!(returns["longest_away_ms"].as_f64().expect("a number") <= AWAY_MAX_MS, "{returns}");
    assert_eq!(messages["lost"], 0, "{messages}");
    assert!(messages["expected"].as_u64() > Some(1_000), "{messages}");
}

fn json(file: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(file).expect("written")).expect("JSON")
}
