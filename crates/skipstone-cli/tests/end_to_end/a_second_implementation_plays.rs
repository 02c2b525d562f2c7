//! A client in Python that was written from WIRE.md alone (`interop/python`) plays against the server: each line comes back
//! once, in order and unchanged, on bad paths too.

use crate::common::{Ended, Running, Served};
use std::process::Command;

const PLAYER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../interop/python/player.py");

fn served() -> Served {
    Served::start(&["--allow-plain", "--workload", "echo"])
}

/// Plays with these arguments; `None` if there is no Python.
fn play(arguments: &[&str]) -> Option<Ended> {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("python3 is not installed: the second implementation does not play");
        return None;
    }
    let mut python = Command::new("python3");
    python.args(["-B", PLAYER]).args(arguments);
    Some(Running::start(python).wait())
}

#[test]
fn over_udp_with_losses_in_both_directions() {
    let served = served();
    let url = format!("skip+plain://{}", served.address);
    for (seed, size) in [("1", "200"), ("2", "200"), ("3", "4000")] {
        let path = ["--loss", "10%", "--delay", "10", "--jitter", "5"];
        let Some(ended) = play(&[&[&url[..], "--count", "100", "--size", size, "--seed", seed], &path[..]].concat())
        else {
            break;
        };
        ended.expect(&[0]);
        assert!(ended.out.contains("sent 100, back 100"), "{}", ended.out);
    }
    served.stop();
}

#[test]
fn while_its_address_changes() {
    let served = served();
    let url = format!("skip+plain://{}", served.address);
    let path = ["--loss", "10%", "--delay", "20", "--rebind", "0.5", "--rate", "100"];
    if let Some(ended) = play(&[&[&url[..], "--count", "200", "--seed", "4"], &path[..]].concat()) {
        ended.expect(&[0]);
    }
    served.stop();
}

#[test]
fn over_websocket() {
    let served = served();
    if let Some(ended) = play(&[&format!("ws://{}", served.address), "--count", "200", "--size", "4000"]) {
        ended.expect(&[0]);
        assert!(ended.out.contains("sent 200, back 200"), "{}", ended.out);
    }
    served.stop();
}
