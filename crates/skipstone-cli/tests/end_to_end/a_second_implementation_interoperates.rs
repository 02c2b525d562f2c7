//! A client in Python that was written from WIRE.md alone (`interop/python`) plays against the server: each line comes
//! back once, in order and unchanged, on bad paths too.

use crate::common::result::{number, read};
use crate::common::{Ended, Running, Served, fresh_file};
use std::process::Command;

const PLAYER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../interop/python/player.py");
const HOSTILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../interop/python/hostile.py");
/// Connections of [`HOSTILE`], and what a server lets each make it hold, in bytes.
const HOSTILE_CONNECTIONS: u64 = 20;
const CONNECTION_BUDGET: u64 = 16 << 20;

fn served() -> Served {
    Served::start(&["--allow-plain", "--workload", "echo"])
}

/// Starts a program of the second implementation; `None` if there is no Python.
fn python(program: &str, arguments: &[&str]) -> Option<Running> {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("python3 is not installed: the second implementation does not play");
        return None;
    }
    let mut python = Command::new("python3");
    python.args(["-B", program]).args(arguments);
    Some(Running::start(python))
}

/// Plays with these arguments; `None` if there is no Python.
fn play(arguments: &[&str]) -> Option<Ended> {
    python(PLAYER, arguments).map(Running::wait)
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

/// The result of well-behaved clients, each of which says a line a second: none of them is lost or dropped.
fn played(served: &Served, clients: u64, seconds: u64, mix: &str) -> serde_json::Value {
    let file = fresh_file("beside-hostile.json");
    let (count, span) = (clients.to_string(), format!("{seconds}s"));
    let flags = ["-c", &count, "-d", &span, "--mix", mix, "--json", file.to_str().expect("text")];
    let play = [&["stress", "-q", "-r", "1/s", &served.url][..], &flags[..]].concat();
    Running::tool(&play).wait().expect(&[0, 98]);
    let result = read(&file);
    let figures = ["messages.delivered", "messages.lost", "clients.dropped"].map(|path| number(&result, path));
    assert_eq!(figures, [clients * seconds * clients, 0, 0], "{result:#}");
    result
}

#[test]
fn peers_that_send_too_early_use_only_their_own_budget() {
    let served = Served::start(&["--allow-plain"]);
    for scheme in ["skip+plain", "ws"] {
        let url = format!("{scheme}://{}", served.address);
        let Some(hostile) = python(HOSTILE, &[&url, "--seconds", "4"]) else { break };
        played(&served, 20, 3, "udp=20");
        let ended = hostile.wait();
        ended.expect(&[0]);
        assert!(!ended.out.starts_with("early messages 0,"), "{}", ended.out);
        let held = served.rss_bytes().unwrap_or_default();
        assert!(held < HOSTILE_CONNECTIONS * CONNECTION_BUDGET + (64 << 20), "{scheme}: {held} bytes");
    }
    served.stop();
}

/// Figures, run by hand (a minute):
/// `cargo test -p skipstone-cli --test end_to_end too_early_leave -- --ignored --nocapture`.
#[test]
#[ignore = "a minute, and figures that need a machine of their own"]
fn peers_that_send_too_early_do_not_slow_others() {
    const ROUNDS: usize = 3;
    let p99 =
        |served: &Served| played(served, 200, 8, "udp=150,ws=50")["latency_ms"]["p99"].as_f64().expect("lines came");
    let mut ratios: Vec<(&str, Vec<f64>)> = vec![("skip+plain", Vec::new()), ("ws", Vec::new())];
    for _ in 0..ROUNDS {
        let served = Served::start(&["--allow-plain"]);
        let calm = p99(&served);
        for (scheme, ratios) in &mut ratios {
            let url = format!("{scheme}://{}", served.address);
            let Some(hostile) = python(HOSTILE, &[&url, "--seconds", "11"]) else {
                served.stop();
                return;
            };
            let beside = p99(&served);
            let ended = hostile.wait();
            ended.expect(&[0]);
            println!("{scheme}: p99 {beside:.1} ms, {calm:.1} ms without them; {}", ended.out.trim());
            ratios.push(beside / calm);
        }
        served.stop();
    }
    for (scheme, mut ratios) in ratios {
        ratios.sort_by(f64::total_cmp);
        println!("{scheme}: {:.2} times (median of {ROUNDS})", ratios[ROUNDS / 2]);
        assert!(ratios[ROUNDS / 2] <= 1.2, "{scheme}: {ratios:.2?}");
    }
}
