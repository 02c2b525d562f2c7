//! The guide's game in Python, played as its page says.

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

#[test]
fn the_players_of_the_guide_play_the_game_of_the_guide() {
    let started = Command::new("python3").args([&example("dots.py"), "0"]).stdout(Stdio::piped()).spawn();
    // A machine without Python has no game to play.
    let Ok(mut child) = started else { return };
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    let _server = Server(child);
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let port = line.trim().rsplit(' ').next().expect("a port").to_owned();
    let url = format!("udp://127.0.0.1:{port}");
    let result = result_of(&[&example("dots.luau"), &url, "-c", "5", "-d", "2s", "--ramp", "100ms"]);
    assert_eq!(number(&result, "/bots/faulted"), 0.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/join_ms/count"), 5.0, "{result:#}");
    assert!(number(&result, "/metrics/move_ms/count") > 50.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/world_is_whole/failed"), 0.0, "{result:#}");
}
