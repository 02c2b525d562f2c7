//! A game is recorded, and `compare` plays the same messages: as many, of as many bytes.

use crate::common::comparison::{figure, rows};
use crate::common::{fresh_file, run};
use serde_json::Value;
use skipstone::TrafficRecorder;
use skipstone_examples::dots;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PLAYERS: u32 = 3;
const LENGTH: Duration = Duration::from_secs(3);

/// Three players of the game of moving dots.
fn recording() -> PathBuf {
    let file = fresh_file("dots.rec");
    let mut server = dots::start("127.0.0.1:0").expect("a port is free");
    server.record_traffic(TrafficRecorder::create(&file, 1 << 20).expect("a file"));
    let (url, stop) = (server.url(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| dots::serve(server, &stop));
        for number in 0..PLAYERS {
            let (url, stop) = (&url, &stop);
            scope.spawn(move || dots::walk(url, number, stop).expect("it plays"));
        }
        std::thread::sleep(LENGTH);
        stop.store(true, Ordering::Relaxed);
        serving.join().expect("no panic").expect("it serves");
    });
    file
}

fn plan(file: &Path, direction: &str) -> PathBuf {
    let plan = file.with_extension(format!("{direction}.toml"));
    let name = file.file_name().and_then(|name| name.to_str()).expect("a plain name");
    let player = if direction == "each" { "\"each\"" } else { "0" };
    let direction = if direction == "each" { "both" } else { direction };
    let text = format!(
        "name = \"dots\"\n[recording]\nfile = \"{name}\"\ndirection = \"{direction}\"\nplayer = {player}\n[link]\nrtt \
         = \"20ms\"\n"
    );
    std::fs::write(&plan, text).expect("a file");
    plan
}

/// Messages of player 0 and their bytes, by the recording itself.
fn recorded(file: &Path, direction: &str) -> (f64, f64) {
    use skipstone::RecordedEvent::{Broadcast, Closed, Connected, Received, Sent};
    let (mut is_here, mut messages, mut bytes) = (false, 0, 0);
    for event in skipstone::RecordingReader::open(file).expect("it is one") {
        let of_it = match event.expect("it is whole").1 {
            Connected { peer: 0 } => {
                is_here = true;
                None
            }
            Closed { peer: 0 } => {
                is_here = false;
                None
            }
            Sent(message) if direction == "down" && message.peer == 0 => Some(message.bytes),
            Broadcast { bytes, .. } if direction == "down" && is_here => Some(bytes),
            Received(message) if direction == "up" && message.peer == 0 => Some(message.bytes),
            _ => None,
        };
        messages += u64::from(of_it.is_some());
        bytes += of_it.unwrap_or(0);
    }
    (messages as f64, bytes as f64)
}

#[track_caller]
fn within_2_percent(played: f64, recorded: f64, what: &str) {
    assert!((played / recorded - 1.0).abs() <= 0.02, "{what}: {played} were played of {recorded}");
}

#[track_caller]
fn played(plan: &Path, flags: &[&str]) -> (f64, f64) {
    let plan = plan.to_str().expect("a plain name");
    let one = ["--transports", "skipstone", "--modes", "lean", "--seeds", "1"];
    let ended = run(&[&["compare", plan, "--quiet", "--json", "-"], &one[..], flags].concat());
    let result: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.text()));
    let row = &rows(&result)[0];
    assert_eq!(figure(row, "sent"), figure(row, "delivered"), "{row:#}");
    // Counted there and back, unless each end sends its own.
    let ways = if result["plan"]["link"]["latency"].is_null() { 2.0 } else { 1.0 };
    // No latency is below the path's.
    assert!(figure(row, "p50") >= 10.0 * ways, "{row:#}");
    (figure(row, "sent"), figure(row, "payload_bytes") / ways)
}

#[test]
fn a_recorded_game_is_replayed_with_the_same_messages_and_bytes() {
    let file = recording();
    for direction in ["down", "up"] {
        let plan = plan(&file, direction);
        let (messages, bytes) = recorded(&file, direction);
        assert!(messages > 30.0, "{direction}: {messages} in {LENGTH:?}");
        for flags in [&["--simulated"][..], &[]] {
            let played = played(&plan, flags);
            within_2_percent(played.0, messages, direction);
            within_2_percent(played.1, bytes, direction);
        }
        std::fs::remove_file(plan).expect("it is ours");
    }
    let (plan, [down, up]) = (plan(&file, "both"), ["down", "up"].map(|direction| recorded(&file, direction)));
    for flags in [&["--simulated"][..], &[]] {
        let played = played(&plan, flags);
        within_2_percent(played.0, down.0 + up.0, "both ways");
        within_2_percent(played.1, down.1 + up.1, "both ways");
    }
    std::fs::remove_file(plan).expect("it is ours");
    each_player_has_its_own_condition(&file);
    let shown = run(&["record", "show", file.to_str().expect("a plain name")]);
    shown.expect(&[0]);
    assert!(shown.out.contains("3 connections (at most 3 at once)"), "{}", shown.out);
    std::fs::remove_file(file).expect("it is ours");
}

fn each_player_has_its_own_condition(file: &Path) {
    let plan = plan(file, "each");
    let flags = ["--simulated", "--transports", "skipstone", "--modes", "lean", "--seeds", "1", "--json", "-"];
    let ended = run(&[&["compare", plan.to_str().expect("a plain name"), "--quiet"], &flags[..]].concat());
    let result: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.text()));
    let mut names: Vec<&str> = rows(&result).iter().filter_map(|row| row["condition"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["player 0", "player 1", "player 2"]);
    assert!(rows(&result).iter().all(|row| figure(row, "sent") == figure(row, "delivered")), "{}", ended.out);
    std::fs::remove_file(plan).expect("it is ours");
}

#[test]
fn an_unreadable_recording_is_reported_with_its_position() {
    let file = fresh_file("cut.rec");
    // An entry without its peer, channel and size.
    std::fs::write(&file, b"SKIPREC\x01\x00\x04\x00").expect("a file");
    let path = file.to_str().expect("a plain name");
    let said = format!("cannot read the recording {path}: it is cut off: the entry at byte 9 is not whole");
    let shown = run(&["record", "show", path]);
    shown.expect(&[104]);
    assert!(shown.err.contains(&said), "{}", shown.err);
    let plan = plan(&file, "down");
    let refused = run(&["compare", plan.to_str().expect("a plain name"), "--simulated"]);
    refused.expect(&[104]);
    assert!(refused.err.contains(&said) && refused.err.contains(".toml:2:"), "{}", refused.err);
    let refused = run(&["compare", plan.to_str().expect("a plain name"), "--simulated", "--entities", "3"]);
    refused.expect(&[104]);
    assert!(refused.err.contains("a recording brings its own messages: leave out entities"), "{}", refused.err);
    std::fs::remove_file(plan).expect("it is ours");
    std::fs::remove_file(file).expect("it is ours");
}
