//! Three nodes get a release one after the other while players send: each moves its players to the others first, so
//! that no player is closed and no line is lost. A release that ends at its start goes back, and the other nodes are
//! not begun.

use crate::yard::{Yard, free_port, next_second, text};
use skipstone_fleet::local::{LocalNats, LocalSettings};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const NODES: [&str; 3] = ["n1", "n2", "n3"];

/// The servers of the nodes, which have no parent process here.
struct Servers(Vec<PathBuf>);

impl Drop for Servers {
    fn drop(&mut self) {
        for site in &self.0 {
            if let Ok(pid) = fs::read_to_string(site.join("pid")) {
                let _ = Command::new("kill").args(["-KILL", pid.trim()]).status();
            }
        }
    }
}

impl Servers {
    fn current(&self) -> Vec<String> {
        let of = |site: &PathBuf| fs::read_link(site.join("current")).expect("a link").display().to_string();
        self.0.iter().map(of).collect()
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_player_is_closed_no_line_is_lost_and_a_bad_release_goes_back() {
    let Some(yard) = Yard::new() else { return };
    let _alone = crate::TIMELY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let nats = LocalNats::start(LocalSettings::default()).expect("a nats-server is installed");
    let (slim, identity) = (yard.slim_tool(), yard.path("identity.pem"));
    let servers = Servers(NODES.iter().map(|node| yard.path(&format!("site-{node}"))).collect());
    let mut plan = format!(
        "name = \"game\"\n[fleet]\nnats = \"{}\"\nprogram = \"{}\"\n[build.server]\n\
         command = \"[ -e skipstone ] || cp {} skipstone\"\nartifacts = [\"skipstone\", \"version\"]\n",
        nats.url(),
        yard.tool_path().display(),
        slim.display(),
    );
    for (node, site) in NODES.iter().zip(&servers.0) {
        let (port, at) = (free_port(), site.display());
        plan += &format!(
            "[target.{node}]\n{}node = \"{node}\"\ndirectory = \"{at}\"\nkeep = 5\npid_file = \"{at}/pid\"\n\
             restart = \"\"\"if [ -f pid ] && kill -0 $(cat pid); then kill -USR2 $(cat pid); else\n\
             {at}/current/skipstone serve --listen 127.0.0.1:{port} --console off --identity {} --fleet {} --node {node} \
             < /dev/null > serve.log 2>&1 & echo $! > pid; fi\"\"\"\n\
             health = {{ url = \"http://127.0.0.1:{port}/healthz\", timeout = \"15s\", settle = \"300ms\" }}\n",
            yard.host(),
            identity.display(),
            nats.url(),
        );
    }
    yard.whole_plan(&plan);
    yard.commit(&[("version", "1")]);
    yard.deploy_well(&[]);
    let log = fs::read_to_string(servers.0[0].join("serve.log")).expect("it says");
    let url = log.split_whitespace().find(|word| word.starts_with("skip://")).expect("its URL").to_owned();
    let (clients, seconds) = (number("SKIPSTONE_TEST_CLIENTS", 60), number("SKIPSTONE_TEST_SECONDS", 45));
    let result = yard.path("result.json");
    let mut stress = yard.tool();
    let (clients_word, span) = (clients.to_string(), format!("{seconds}s"));
    stress.args(["stress", &url, "-q", "-c", &clients_word, "-r", "1/s", "-d", &span, "--json"]).arg(&result);
    let mut stress = stress.stdout(Stdio::null()).spawn().expect("it starts");

    let first = servers.current();
    next_second();
    yard.commit(&[("version", "2")]);
    let said = yard.deploy_well(&[]);
    let second = servers.current();
    assert!(first.iter().zip(&second).all(|(first, second)| first != second), "{said}");
    let status = yard.deploy_well(&["status"]);
    assert_eq!(status.matches(", healthy\n").count(), 3, "{status}");
    let is_still_run = stress.try_wait().expect("it is ours").is_none();

    // It passes its check, is given the node, and ends: players are elsewhere by then.
    next_second();
    yard.commit(&[("skipstone", "#!/bin/sh\ncase \"$*\" in *--check*) exit 0;; *) exit 1;; esac\n"), ("version", "3")]);
    let bad = yard.deploy(&[]);
    let said = text(&bad);
    assert_eq!(bad.status.code(), Some(99), "{said}");
    let back = second[0].trim_start_matches("releases/");
    assert!(said.contains(&format!("n1: {back} is current again and healthy")), "{said}");
    assert!(!said.contains("n2: 2"), "the rest is not begun: {said}");
    assert_eq!(servers.current(), second);

    let ended = stress.wait().expect("it ends");
    assert!(
        matches!(ended.code(), Some(0 | 98)),
        "{ended}: a slow machine makes a run invalid (98), not the servers wrong"
    );
    let result: serde_json::Value = serde_json::from_slice(&fs::read(&result).expect("written")).expect("JSON");
    let (messages, players) = (&result["messages"], &result["clients"]);
    println!("during the run: {is_still_run}; {players} {messages} {}", result["latency_ms"]);
    assert_eq!((&players["dropped"], &players["connected"]), (&0.into(), &clients.into()), "{result}");
    for fault in ["lost", "duplicated", "reordered", "apart"] {
        assert_eq!(messages[fault], 0, "{fault}: {messages}");
    }
    assert_eq!(messages["delivered"], clients * clients * seconds, "{messages}");
}
