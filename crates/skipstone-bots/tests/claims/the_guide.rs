//! Games in Python that are no Skipstone: the guide's, played as its page says, and one over Mirror's transport.

use crate::runs::{example, number, result_of};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server and its port. A machine without Python has no game to play.
fn python(words: &[&str]) -> Option<(Server, String)> {
    let script = example(words[0]);
    let started = Command::new("python3").arg(script).args(&words[1..]).stdout(Stdio::piped()).spawn();
    let mut child = started.ok()?;
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    let server = Server(child);
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    Some((server, line.trim().rsplit(' ').next().expect("a port").to_owned()))
}

#[test]
fn the_players_of_the_guide_play_the_game_of_the_guide() {
    let Some((_server, port)) = python(&["dots.py", "0"]) else { return };
    let url = format!("udp://127.0.0.1:{port}");
    let result = result_of(&[&example("dots.luau"), &url, "-c", "5", "-d", "2s", "--ramp", "100ms"]);
    assert_eq!(number(&result, "/bots/faulted"), 0.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/join_ms/count"), 5.0, "{result:#}");
    assert!(number(&result, "/metrics/move_ms/count") > 50.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/world_is_whole/failed"), 0.0, "{result:#}");
}

#[test]
fn players_with_the_framing_of_mirror_are_spawned_and_move() {
    let Some((mut server, port)) = python(&["mirror.py", "0"]) else { return };
    let url = format!("kcp2k://127.0.0.1:{port}");
    let result = result_of(&[&example("mirror.luau"), &url, "-c", "5", "-d", "2s", "--ramp", "100ms"]);
    // It ends at the first message that it cannot read.
    assert_eq!(server.0.try_wait().expect("asked"), None, "the server has ended");
    assert_eq!(number(&result, "/bots/faulted"), 0.0, "{result:#}");
    assert_eq!(number(&result, "/bots/dropped"), 0.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/spawn_ms/count"), 5.0, "{result:#}");
    assert!(number(&result, "/metrics/move_ms/count") > 20.0, "{result:#}");
    assert!(number(&result, "/metrics/ping_ms/count") > 20.0, "{result:#}");
    assert_eq!(number(&result, "/wire/invalid"), 0.0, "{result:#}");
}

#[test]
fn players_with_the_framing_of_fishnet_are_authenticated_and_answered() {
    let Some((mut server, port)) = python(&["fishnet.py", "0"]) else { return };
    let url = format!("litenetlib://127.0.0.1:{port}?version=1");
    let result = result_of(&[&example("fishnet.luau"), &url, "-c", "5", "-d", "2500ms", "--ramp", "100ms"]);
    assert_eq!(server.0.try_wait().expect("asked"), None, "the server has ended");
    assert_eq!(number(&result, "/bots/faulted"), 0.0, "{result:#}");
    assert_eq!(number(&result, "/bots/dropped"), 0.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/authenticated_ms/count"), 5.0, "{result:#}");
    assert!(number(&result, "/metrics/move_ms/count") > 20.0, "{result:#}");
    assert!(number(&result, "/metrics/ping_ms/count") > 0.0, "{result:#}");
    assert_eq!(number(&result, "/wire/invalid"), 0.0, "{result:#}");
}

#[test]
fn players_over_the_transport_of_mirror_play_its_game() {
    let Some((_server, port)) = python(&["crowded.py", "kcp2k"]) else { return };
    let url = format!("kcp2k://127.0.0.1:{port}");
    let result = result_of(&[&example("kcp2k.luau"), &url, "-c", "5", "-d", "2s", "--ramp", "100ms"]);
    assert_eq!(number(&result, "/bots/faulted"), 0.0, "{result:#}");
    assert_eq!(number(&result, "/bots/dropped"), 0.0, "{result:#}");
    assert!(number(&result, "/metrics/move_ms/count") > 50.0, "{result:#}");
    assert_eq!(number(&result, "/wire/invalid"), 0.0, "{result:#}");
}
