//! Servers that are nodes of a fleet, over a real NATS server: what the directory shows, tickets, and NATS that is away.

use crate::common::console::Session;
use crate::common::result::{number, read};
use crate::common::{Ended, PATIENCE, Running, SKIPSTONE, Served, run};
use serde_json::Value;
use skipstone_fleet::local::{LocalJetStream, LocalNats, LocalSettings};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

fn nats() -> LocalNats {
    nats_with(LocalSettings::default())
}

fn nats_with(settings: LocalSettings) -> LocalNats {
    LocalNats::start(settings).expect("a nats-server is installed")
}

fn node(nats: &LocalNats, name: &str, flags: &[&str]) -> Served {
    Served::start(&[&["--fleet", &nats.url(), "--node", name], flags].concat())
}

/// The answer of `skipstone fleet COMMAND` in JSON.
fn ask(nats: &LocalNats, words: &[&str]) -> Value {
    let ended = run(&[&["fleet"], words, &["--fleet", &nats.url()]].concat());
    ended.expect(&[0]);
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out))
}

/// The status, once it is so.
fn status_until(nats: &LocalNats, is_so: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let status = ask(nats, &["status", "--json"]);
        if is_so(&status) {
            return status;
        }
        assert!(Instant::now() < end, "{status:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn http(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn nodes_show_themselves_in_the_directory_and_to_prometheus_and_leave_it() {
    let nats = nats();
    let one = node(&nats, "n1", &["--room", "lobby", "--dashboard", "127.0.0.1:0", "--clients-max", "50"]);
    let two = node(&nats, "n2", &["--room", "lobby", "--advertise", "game.example:7777"]);
    let status = status_until(&nats, |status| status["rooms"][0]["node"] == "n1");
    let [first, second] = &status["nodes"].as_array().unwrap()[..] else { panic!("{status:#}") };
    assert_eq!((&first["name"], &first["address"]), (&"n1".into(), &one.url.as_str().into()));
    assert_eq!((&first["load"], &first["capacity"], &first["draining"]), (&0.into(), &50.into(), &false.into()));
    assert_eq!(first["version"], env!("CARGO_PKG_VERSION"));
    assert!(first["lease_age_ms"].as_u64().unwrap() < 10_000, "{first}");
    assert!(second["address"].as_str().unwrap().starts_with("skip://game.example:7777#sha256="), "{second}");
    assert_eq!((&status["rooms"][0]["name"], &status["rooms"][0]["policy"]), (&"lobby".into(), &"casual".into()));
    let table = run(&["fleet", "status", "--fleet", &nats.url()]);
    assert!(table.out.contains("2 nodes, 1 room") && table.out.contains("0/50"), "{}", table.out);

    let metrics = one.dashboard.unwrap();
    let targets = ask(&nats, &["discovery"]);
    assert_eq!(targets.as_array().unwrap().len(), 1, "{targets}");
    assert_eq!(
        (&targets[0]["targets"][0], &targets[0]["labels"]["instance"]),
        (&metrics.to_string().into(), &"n1".into())
    );
    assert!(http(metrics, "/metrics").contains("skipstone_node_info{node=\"n1\""));
    let mut served = Running::tool(&["fleet", "discovery", "--fleet", &nats.url(), "--listen", "127.0.0.1:0"]);
    let line = served.until("stop with Ctrl-C");
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
    let answer = http(address, "/");
    assert!(answer.contains("Content-Type: application/json") && answer.contains(&metrics.to_string()), "{answer}");

    // The room goes to the other node as soon as its owner has left.
    one.stop();
    status_until(&nats, |status| status["rooms"][0]["node"] == "n2");
    assert_eq!(ask(&nats, &["status", "--json"])["nodes"].as_array().unwrap().len(), 1);
    two.stop();
    assert_eq!(ask(&nats, &["status", "--json"])["nodes"], serde_json::json!([]));
}

#[test]
fn a_ticket_admits_one_player_once_and_refusals_name_cause_and_remedy() {
    let nats = nats();
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("fleet.key").display().to_string();
    run(&["fleet", "key", &key]).expect(&[0]);
    let server = node(&nats, "n1", &["--room", "lobby", "--fleet-key", &key]);
    status_until(&nats, |status| status["rooms"][0]["node"] == "n1");
    let ticket = ["ticket", "--json", "--fleet-key", &key, "--player", "zoe", "--room", "lobby"];
    let issued = ask(&nats, &ticket);
    assert_eq!(issued["address"], server.url);
    let chat = |ticket: &str| -> Ended { run(&["chat", &server.url, "--ticket", ticket]) };
    let first = chat(issued["ticket"].as_str().unwrap());
    first.expect(&[0]);
    let again = chat(issued["ticket"].as_str().unwrap());
    assert!(again.text().contains("the ticket was used already; ask for another"), "{}", again.text());
    let without = run(&["chat", &server.url, "--name", "eve"]);
    assert!(without.text().contains("the token is no ticket") && !without.status.success(), "{}", without.text());
    let stats = Session::open(server.console).stats();
    assert!(stats.contains("tickets: admitted 1, refused: malformed 1, reused 1"), "{stats}");
    let elsewhere =
        run(&["fleet", "ticket", "--fleet", &nats.url(), "--fleet-key", &key, "--player", "a", "--room", "b"]);
    elsewhere.expect(&[97]);
    assert!(elsewhere.err.contains("no node runs the room b"), "{}", elsewhere.err);
}

#[test]
fn nats_that_is_away_disconnects_no_player_and_the_node_comes_back_with_it() {
    let mut nats = nats();
    let server = node(&nats, "n1", &["--room", "lobby"]);
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("stress.json");
    let mut command = Command::new(SKIPSTONE);
    command.args(["stress", &server.url, "-c", "20", "-r", "4/s", "-d", "24s", "--json"]).arg(&json);
    let mut stress = Running::start(command);
    stress.until("running");
    nats.kill();
    // Longer than a lease, so that it ends.
    std::thread::sleep(Duration::from_secs(18));
    let stats = Session::open(server.console).stats_until("NATS away");
    assert!(stats.contains("rooms lobby"), "a casual room goes on: {stats}");
    nats.restart().unwrap();
    let ended = stress.wait();
    ended.expect(&[0, 98]);
    let result = read(&json);
    let counts = ["clients.dropped", "messages.lost", "messages.delivered"].map(|path| number(&result, path));
    assert_eq!(counts, [0, 0, 20 * 20 * 96]);
    let status = status_until(&nats, |status| status["nodes"][0]["name"] == "n1");
    assert!(status["nodes"][0]["lease_age_ms"].as_u64().unwrap() < 10_000, "{status}");
    server.stop();
}

#[test]
fn a_node_starts_without_nats_and_joins_when_it_is_there() {
    let mut nats = nats();
    nats.kill();
    let server = node(&nats, "n1", &[]);
    nats.restart().unwrap();
    status_until(&nats, |status| status["nodes"][0]["name"] == "n1");
    let ended = server.stop();
    assert!(ended.err.contains("no server listens there") && ended.err.contains("joins its fleet"), "{}", ended.err);
}

#[test]
fn mistakes_about_a_fleet_are_refused_with_a_remedy() {
    let nats = nats();
    let secret = nats_with(LocalSettings {
        extra: "authorization { user: game, password: right }".into(),
        ..LocalSettings::default()
    });
    let plain = nats_with(LocalSettings { jetstream: LocalJetStream::Off, ..LocalSettings::default() });
    let first = node(&nats, "n1", &[]);
    let wrong_login = secret.url().replace("nats://", "nats://game:wrong@");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--console", "off", "--identity", "new"];
    for (flags, code, wanted) in [
        (vec!["--fleet", &wrong_login, "--node", "n"], 104, "the server refused this login"),
        (vec!["--fleet", &plain.url(), "--node", "n"], 104, "has no JetStream"),
        (vec!["--fleet", &nats.url(), "--node", "n1"], 104, "a node of that name lives at"),
        (vec!["--fleet", &nats.url(), "--node", "n.1"], 104, "is no name of a node"),
        (vec!["--fleet", &nats.url()], 104, "--node <NAME>"),
        (vec!["--fleet", &nats.url(), "--node", "n2", "--advertise", "host"], 104, "give HOST:PORT"),
        (vec!["--fleet", &nats.url(), "--node", "n2", "--fleet-key", "/no/such/key"], 104, "--fleet-key: /no/such/key"),
    ] {
        let ended = run(&[&serve[..], &flags].concat());
        ended.expect(&[code]);
        assert!(ended.err.contains(wanted), "{flags:?}: {}", ended.err);
    }
    for (url, wanted) in [
        ("nats://127.0.0.1:1", "no server listens there"),
        (wrong_login.as_str(), "the server refused this login"),
        (plain.url().as_str(), "has no JetStream"),
    ] {
        let ended = run(&["fleet", "status", "--fleet", url]);
        ended.expect(&[97]);
        assert!(ended.err.contains(wanted), "{url}: {}", ended.err);
    }
    first.stop();
}
