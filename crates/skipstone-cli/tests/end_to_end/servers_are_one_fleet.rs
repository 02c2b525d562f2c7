//! Servers that are nodes of a fleet, over a real NATS server: what the directory shows, tickets, and NATS that is away.

use crate::common::console::Session;
use crate::common::guest::Guest;
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

/// Nodes with one identity, so that their clients can move.
fn nodes(nats: &LocalNats, folder: &std::path::Path, names: &[&str], flags: &[&str]) -> Vec<Served> {
    let identity = folder.join("identity.pem").display().to_string();
    let flags = [&["--identity", &identity], flags].concat();
    let nodes = names.iter().map(|name| node(nats, name, &flags)).collect();
    status_until(nats, |status| status["nodes"].as_array().is_some_and(|nodes| nodes.len() == names.len()));
    nodes
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

/// Of the server's shutdown, and of a restart in its place.
#[test]
fn a_drain_moves_all_players_none_is_closed_and_every_line_is_proven() {
    let nats = nats();
    let folder = tempfile::tempdir().unwrap();
    let mut all = nodes(&nats, folder.path(), &["n1", "n2", "n3"], &["--dashboard", "127.0.0.1:0"]);
    let (three, two, mut one) = (all.pop().unwrap(), all.pop().unwrap(), all.pop().unwrap());
    let json = folder.path().join("stress.json");
    let mut command = Command::new(SKIPSTONE);
    command.args(["stress", &one.url, "-c", "24", "-r", "10/s", "-d", "12s", "--json"]).arg(&json);
    let mut stress = Running::start(command);
    stress.until("running");
    Session::open(one.console).ask("move stress-7 n3", "on the way to n3");
    Session::open(three.console).stats_until("moves: 0 went, 1 came");

    // A restart: the node gives its players away, and is back with its sockets, empty.
    one.running.signal("USR2");
    one.running.until_complaint("drain: 23 players moved; none is left");
    one.running.until("the server restarts after");
    status_until(&nats, |status| {
        let nodes = status["nodes"].as_array().unwrap();
        nodes.iter().map(|node| node["load"].as_u64().unwrap()).sum::<u64>() == 24 && nodes[0]["draining"] == false
    });
    let metrics = http(two.dashboard.unwrap(), "/metrics");
    let came = metrics.split("skipstone_moves_total{direction=\"in\"} ").nth(1).expect("it is counted");
    assert!(!came.starts_with('0'), "{metrics}");

    // The end of a server: those of n2 go to n1 and n3.
    let ended = two.stop();
    assert!(ended.err.contains("none is left") && ended.out.contains("told 0 clients why"), "{}", ended.text());
    assert!(!ended.err.contains("drain: 0 players"), "it had players: {}", ended.err);

    let ended = stress.wait();
    ended.expect(&[0, 98]);
    let result = read(&json);
    let faults = ["clients.dropped", "messages.lost", "messages.duplicated", "messages.reordered", "messages.apart"];
    assert_eq!(faults.map(|path| number(&result, path)), [0; 5], "{result:#}");
    assert_eq!(number(&result, "messages.delivered"), 24 * 24 * 120);
    assert_eq!(ask(&nats, &["status", "--json"])["nodes"].as_array().unwrap().len(), 2);
    for node in [one, three] {
        let stats = Session::open(node.console).stats();
        assert!(
            stats.contains("batches of other nodes 0, lines of this one 0; in doubtful order 0, ignored 0"),
            "{stats}"
        );
    }
}

#[test]
fn a_player_keeps_its_name_over_a_move_and_hears_the_chat_of_all_nodes() {
    let nats = nats();
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = &nodes(&nats, folder.path(), &["n1", "n2"], &[])[..] else { panic!("two nodes") };
    let (mut zoe, mut bob) = (Guest::following(&one.url, "zoe"), Guest::following(&two.url, "bob"));
    let hears =
        |line: &'static str| move |guest: &Guest| guest.lines.last().is_some_and(|last| last == line.as_bytes());
    bob.say("hello");
    bob.listen_until("his own line comes", hears("bob: hello"));
    zoe.listen_until("a line of another node comes", hears("bob: hello"));
    let mut console = Session::open(one.console);
    console.stats_until("clients 1,");
    for (words, wanted) in [
        ("move nobody n2", "no client 'nobody'"),
        ("move zoe n9", "no node n9 lives in the fleet"),
        ("move zoe n1", "this is the node n1"),
        ("move zoe n*", "is no name of a node"),
        ("move zoe", "say `move NAME NODE`"),
    ] {
        console.ask(words, wanted);
    }
    console.ask("move zoe n2", "on the way to n2");
    zoe.say("on my way");
    zoe.listen_until("her own line comes", hears("zoe: on my way"));
    bob.listen_until("her line comes", hears("zoe: on my way"));
    let end = Instant::now() + PATIENCE;
    while !Session::open(two.console).stats().contains("moves: 0 went, 1 came") {
        assert!(Instant::now() < end, "she does not arrive");
        zoe.words.clear();
        zoe.ask_who();
        zoe.listen_until("she is there", |zoe| !zoe.words.is_empty());
    }
    zoe.words.clear();
    zoe.ask_who();
    zoe.listen_until("she is listed", |zoe| {
        zoe.words.iter().any(|words| words == "who zoe, bob" || words == "who bob, zoe")
    });
    zoe.say("here");
    zoe.listen_until("her own line comes", hears("zoe: here"));
    bob.listen_until("her line comes", hears("zoe: here"));
    let texts = |guest: &Guest| -> Vec<String> {
        guest.lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    };
    assert_eq!(texts(&zoe), ["bob: hello", "zoe: on my way", "zoe: here"]);
    assert_eq!((texts(&bob), zoe.close.is_none()), (texts(&zoe), true));
}

#[test]
fn clients_that_do_not_follow_are_told_to_reconnect_elsewhere_and_a_last_node_just_ends() {
    let nats = nats();
    let folder = tempfile::tempdir().unwrap();
    let mut all = nodes(&nats, folder.path(), &["n1", "n2"], &[]);
    let (two, one) = (all.pop().unwrap(), all.pop().unwrap());
    let mut zoe = Guest::connect(&one.url, "zoe");
    one.running.signal("TERM");
    zoe.listen_until("she is told", |zoe| zoe.close.is_some());
    let close = zoe.close.as_ref().unwrap();
    let reason = String::from_utf8_lossy(&close.reason).into_owned();
    assert!(close.code == 1013 && reason.contains(&format!("at={}", two.address)), "{close:?}");
    let ended = one.running.wait();
    ended.expect(&[0]);
    assert!(ended.err.contains("1 told to reconnect elsewhere"), "{}", ended.err);
    let mut bob = Guest::connect(&two.url, "bob");
    two.running.signal("TERM");
    bob.listen_until("he is told", |bob| bob.close.is_some());
    assert_eq!(bob.close.as_ref().unwrap().code, 1000);
    // Where nodes have other certificates, their clients could not follow.
    let (three, _four) = (node(&nats, "n3", &[]), node(&nats, "n4", &[]));
    let mut eve = Guest::following(&three.url, "eve");
    let mut console = Session::open(three.console);
    console.stats_until("clients 1,");
    console.ask("move eve n4", "give all nodes the same --identity FILE");
    three.running.signal("TERM");
    eve.listen_until("she is told", |eve| eve.close.is_some());
    assert_eq!(eve.close.as_ref().unwrap().code, 1000);
    assert!(three.running.wait().err.contains("has another certificate"));
}
