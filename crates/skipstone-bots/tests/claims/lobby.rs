//! The example of a lobby, against its server in Python: logins over HTTP, then a game over TCP in protobuf.

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
fn bots_log_in_join_a_room_and_play() {
    let started = Command::new("python3").args([&example("lobby.py"), "0"]).stdout(Stdio::piped()).spawn();
    // A machine without Python has no lobby.
    let Ok(mut child) = started else { return };
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    let _server = Server(child);
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let port = line.trim().rsplit(' ').next().expect("a port");
    // The same script, with the address of this lobby.
    let folder = tempfile::tempdir().expect("a folder");
    let source = std::fs::read_to_string(example("lobby.luau")).expect("an example");
    assert!(source.contains("http://127.0.0.1:9000"), "its lobby is named once");
    let path = folder.path().join("lobby.luau");
    let source = source.replace("http://127.0.0.1:9000", &format!("http://127.0.0.1:{port}"));
    std::fs::write(&path, source).expect("written");
    std::fs::copy(example("lobby.proto"), folder.path().join("lobby.proto")).expect("copied");
    let result = result_of(&[&path.to_string_lossy(), "-c", "4", "-d", "2s", "--ramp", "100ms", "--seed", "7"]);
    assert_eq!(result["faults"], serde_json::json!([]), "{result:#}");
    assert_eq!(number(&result, "/bots/connected"), 4.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/http_ms/count"), 8.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/http_failed/share"), 0.0, "{result:#}");
    assert!(number(&result, "/metrics/moves_ms/count") > 20.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/room_has_players/failed"), 0.0, "{result:#}");
}
