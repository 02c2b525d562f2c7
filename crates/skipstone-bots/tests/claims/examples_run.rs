//! Every example runs against the server that it is written for.

use crate::runs::{example, exit_of, number, result_of};
use crate::servers::{echo, udp};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;

fn run(name: &str, url: &str) -> Value {
    let result = result_of(&[&example(name), url, "-c", "4", "-d", "1500ms", "--ramp", "100ms", "--seed", "7"]);
    assert_eq!(result["faults"], Value::Array(Vec::new()), "{name}");
    assert_eq!(number(&result, "/bots/connected"), 4.0, "{name}");
    assert!(number(&result, "/messages/received") > 0.0, "{name}: {result:#}");
    result
}

#[test]
fn the_shooter_gets_snapshots() {
    let answer = |sequence: &mut u32, datagram: &[u8]| {
        if let Ok(bytes) = datagram[1..5].try_into() {
            *sequence = u32::from_le_bytes(bytes);
        }
        Vec::new()
    };
    let tick = |clients: &mut BTreeMap<SocketAddr, u32>| {
        let snapshot = |(to, sequence): (&SocketAddr, &u32)| {
            let mut datagram = vec![2];
            datagram.extend(sequence.to_le_bytes());
            datagram.extend([0; 2]);
            (*to, datagram)
        };
        clients.iter().map(snapshot).collect()
    };
    let server = udp(answer, tick);
    let result = run("shooter.luau", &server.url("udp"));
    assert!(number(&result, "/metrics/input_ms/count") > 0.0);
    assert_eq!(number(&result, "/metrics/is_snapshot/failed"), 0.0);
    let heard = server.stop();
    assert!(heard.len() == 4 && heard.values().all(|sequence| *sequence > 10), "{heard:?}");
}

#[test]
fn the_chat_logs_in_and_hears_its_lines() {
    #[derive(Default)]
    struct Chatter(Vec<Vec<u8>>);
    let answer = |chatter: &mut Chatter, datagram: &[u8]| {
        let line: Value = serde_json::from_slice(datagram).expect("JSON");
        if line.get("login").is_some() {
            return vec![br#"{"welcome":true}"#.to_vec()];
        }
        chatter.0.push(datagram.to_vec());
        Vec::new()
    };
    let tick = |clients: &mut BTreeMap<SocketAddr, Chatter>| {
        let said: Vec<Vec<u8>> = clients.values_mut().flat_map(|chatter| std::mem::take(&mut chatter.0)).collect();
        clients.keys().flat_map(|to| said.iter().map(|line| (*to, line.clone()))).collect()
    };
    let server = udp(answer, tick);
    let result = run("chat.luau", &server.url("udp"));
    assert_eq!(number(&result, "/metrics/logged_in/passed"), 4.0);
    assert!(number(&result, "/metrics/lines_ms/count") > 0.0);
    server.stop();
}

#[test]
fn the_storm_comes_back_again_and_again() {
    let server = echo();
    let result = run("reconnect_storm.luau", &server.url("udp"));
    assert!(number(&result, "/bots/connects") > 8.0);
    assert_eq!(number(&result, "/bots/dropped"), 0.0);
    server.stop();
}

#[test]
fn the_cheater_sends_garbage() {
    let server = echo();
    let result = run("cheater.luau", &server.url("udp"));
    assert!(number(&result, "/metrics/echo_ms/count") > 0.0);
    server.stop();
}

#[test]
fn the_arena_gets_a_snapshot_for_each_third_input() {
    let answer = |(): &mut (), datagram: &[u8]| {
        let sequence = datagram.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        if sequence % 3 == 0 { vec![vec![7; 240]] } else { Vec::new() }
    };
    let server = udp(answer, |_| Vec::new());
    let result = run("arena.luau", &server.url("udp"));
    assert!(number(&result, "/messages/sent") > 100.0);
    server.stop();
}

#[test]
fn the_report_has_the_curves_of_the_script() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    let server = echo();
    let path = file.to_string_lossy().into_owned();
    result_of(&[&example("cheater.luau"), &server.url("udp"), "-c", "2", "-d", "1200ms", "--report", &path]);
    server.stop();
    let page = std::fs::read_to_string(&file).expect("a report");
    assert!(page.contains("\"curves\":[{\"name\":\"echo_ms\",\"latencies\":\""), "a curve of the trend");
    assert!(page.contains("\"seconds\":[{\"at\":1."), "a figure of the first second");
}

#[test]
fn every_example_is_in_order() {
    let examples = std::fs::read_dir(example("")).expect("a folder").flatten();
    let scripts: Vec<String> = examples
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".luau"))
        .collect();
    assert!(scripts.len() >= 4);
    for name in scripts {
        assert_eq!(exit_of(&[&example(&name), "--check"]), 0, "{name}");
    }
}
