//! What cannot work is refused before anything runs: exit code 104, and a line that names the cause and what to do.

use crate::common::{Ended, Running, SKIPSTONE, Served, run};
use std::process::Command;

/// The tool refuses these arguments, and says all of this.
#[track_caller]
fn refused(arguments: &[&str], said: &[&str]) {
    check(&run(arguments), arguments, said);
}

#[track_caller]
fn check(ended: &Ended, arguments: &[&str], said: &[&str]) {
    ended.expect(&[104]);
    assert!(ended.out.is_empty(), "{arguments:?} ran: {}", ended.out);
    for words in said {
        assert!(ended.err.contains(words), "{arguments:?}: no '{words}' in: {}", ended.err);
    }
}

#[test]
fn invalid_flags() {
    refused(&["stress", "-r", "often"], &["--rate", "for example 1/s"]);
    refused(&["stress", "-d", "forever"], &["--duration"]);
    refused(&["stress", "-c", "0"], &["a run has 1 to"]);
    refused(&["stress", "-c", "many"], &["--clients"]);
    refused(&["stress", "--mix", "quic=1"], &["there are udp, dtls, ws, wss, tcp, and from browsers browser and wt"]);
    refused(&["stress", "--mix", "udp=5", "-c", "7"], &["7"]);
    refused(&["stress", "--size", "5"], &["the smallest size is 20"]);
    refused(&["stress", "--size", "2MiB"], &["the largest size is"]);
    refused(&["stress", "--loss", "200%"], &["more than 100%"]);
    refused(&["stress", "--loss", "1%", "--burst", "1%:2"], &["cannot be used with"]);
    refused(&["stress", "--up", "rain=5%"], &["--up rain=5%", "the names are loss, burst"]);
    refused(&["stress", "--mix", "udp=1,ws=1", "--loss", "1%"], &["use --mix udp"]);
    refused(&["stress", "--shards", "0"], &["1 to 256, or `auto`"]);
    refused(&["stress", "skip://127.0.0.1:7777", "--shards", "2"], &["--shards", "give it to `serve`"]);
    refused(&["stress", "--wait"], &["<URL>"]);
    refused(&["stress", "--frobnicate"], &["--frobnicate"]);
    refused(&["stress", "-r", "100000/s", "-d", "1000s"], &["at most"]);
    refused(&["frobnicate"], &["frobnicate"]);
    refused(&["serve", "--tick", "1000000"], &["10000"]);
    refused(&["serve", "--listen", "here"], &["--listen"]);
    refused(&["serve", "--queue", "sentence", "--listen", "127.0.0.1:0"], &["such as 4MiB"]);
    refused(&["serve", "--rate", "1/s"], &["--stress"]);
    refused(&["serve", "--workload", "echo", "--stress", "2"], &["leave out --workload echo"]);
}

#[test]
fn thresholds_on_unknown_figures() {
    refused(&["stress", "--threshold", "latency.p98<5ms"], &["no \"latency.p98\"", "did you mean latency.p9"]);
    refused(&["stress", "--threshold", "latency.p99<soon"], &["for example latency.p99<50ms"]);
}

#[test]
fn urls_that_lead_nowhere() {
    for url in ["127.0.0.1:7777", "http://127.0.0.1:1", "skip+plain://", "ws://127.0.0.1:x"] {
        refused(&["stress", url], &[url, "example: skip://127.0.0.1:7777"]);
    }
    refused(&["stress", "skip://127.0.0.1:1#sha256=ab"], &["64 hexadecimal digits"]);
    refused(&["stress", "skip://127.0.0.1:1", "--plain"], &["--plain contradicts", "skip+plain://"]);
    refused(&["stress", "skip+dtls://127.0.0.1:1", "--plain"], &["--plain contradicts", "skip+plain://"]);
    refused(&["stress", "skip+plain://127.0.0.1:1", "--dtls", "1.3"], &["--dtls contradicts", "skip+dtls://"]);
    refused(&["stress", "--dtls", "1.2", "--roam", "1s"], &["--roam", "leave out --dtls", "skip://"]);
    refused(&["stress", "--roam", "10s", "-d", "10s"], &["--roam 10s", "before any client changes its port"]);
    refused(&["stress", "skip://127.0.0.1:1", "--ca", "/nonexistent.pem"], &["cannot read --ca /nonexistent.pem"]);
    refused(&["stress", "skip://127.0.0.1:1", "--ca", "/dev/null"], &["no certificate of an authority"]);
    // Longer than a name may be, so that no name server is asked. A server without an address is away.
    let name = "x".repeat(64);
    let ended = run(&["stress", &format!("ws://{name}:1")]);
    ended.expect(&[97]);
    assert!(ended.err.contains(&format!("'{name}' has no address")), "{}", ended.err);
}

#[test]
fn a_port_that_is_in_use() {
    let served = Served::start(&[]);
    let listen = served.address.to_string();
    refused(&["serve", "--listen", &listen, "--console", "off"], &[&listen, "in use", "choose another port"]);
    let console = served.console.to_string();
    let said = [&*console, "in use", "choose another", "--console off goes without"];
    refused(&["serve", "--listen", "127.0.0.1:0", "--console", &console], &said);
    served.stop();
}

#[test]
fn an_address_that_is_not_local() {
    refused(&["serve", "--listen", "192.0.2.1:0", "--console", "off"], &["cannot listen on 192.0.2.1:0"]);
}

#[test]
fn a_public_console_without_a_token() {
    let everywhere = ["serve", "--listen", "127.0.0.1:0", "--console", "0.0.0.0:0"];
    refused(&everywhere, &["other machines", "set --console-token"]);
    refused(&[&everywhere[..], &["--console-token", "short"]].concat(), &["has 5 bytes and needs 16", "openssl rand"]);
    refused(&["serve", "--check", "--console-token", "short"], &["has 5 bytes and needs 16"]);
    let mut open = Running::tool(&[&everywhere[..], &["--console-token", "open sesame, open"]].concat());
    open.until("stop with Ctrl-C");
    refused(&["serve", "--listen", "127.0.0.1:0", "--console", "7778"], &["example: 127.0.0.1:7778, or off"]);
}

#[test]
fn results_that_cannot_be_written() {
    refused(&["stress", "--json", "/nonexistent/result.json"], &["cannot write --json /nonexistent/result.json"]);
    if cfg!(target_os = "linux") {
        let ended = run(&["stress", "-c", "2", "-d", "1s", "--json", "/dev/full"]);
        ended.expect(&[98]);
        assert!(ended.err.contains("cannot write --json /dev/full"), "{}", ended.err);
        assert!(ended.out.contains("Lines sent"), "the table is shown all the same: {}", ended.out);
    }
}

/// Runs the tool with a limit of open files.
fn with_files(files: u32, arguments: &str) -> Ended {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {files}; exec {SKIPSTONE} {arguments}")]);
    Running::start(command).wait()
}

#[test]
fn too_few_open_files() {
    let said = ["100 clients need 132 open files", "allows 64", "`ulimit -n 132`", "at most 32 clients"];
    check(&with_files(64, "stress -c 100 -d 1s"), &["-c 100"], &said);
    let few = with_files(20, "stress -c 1 -d 1s");
    check(&few, &["-c 1"], &["`ulimit -n 33`"]);
    assert!(!few.err.contains("at most 0"), "{}", few.err);
    let serve = with_files(6, "serve --listen 127.0.0.1:0 --console 127.0.0.1:0");
    check(&serve, &["serve"], &["too many open files", "`ulimit -n`"]);
    with_files(64, "stress -q -c 32 --mix ws=32 -d 1s").expect(&[0, 98]);
}
