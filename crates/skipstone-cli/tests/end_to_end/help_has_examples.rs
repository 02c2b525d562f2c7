//! Help has what a new user needs, and the tool without a word demonstrates itself.

use crate::common::{Running, run};
use std::time::{Duration, Instant};

#[track_caller]
fn teaches(arguments: &[&str], phrases: &[&str]) {
    let ended = run(arguments);
    ended.expect(&[0]);
    // Long lines are wrapped.
    let text = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for phrase in phrases {
        assert!(text.contains(phrase), "{arguments:?} does not say '{phrase}':\n{}", ended.out);
    }
}

#[test]
fn the_tool_lists_its_commands_examples_and_exit_codes() {
    let codes = [
        "Exit codes: 0 pass",
        "99 fail: lines were lost, a threshold was missed",
        "98 invalid: the machine",
        "97 unavailable: the server of the URL",
        "104 bad",
        "105",
    ];
    let examples = ["skipstone stress -c 300 --mix udp=200,ws=100", "telnet 127.0.0.1 7778", "skipstone chat"];
    teaches(
        &["--help"],
        &[&["serve", "stress", "compare", "bench", "chat", "Without a command: the demonstration"], &codes[..]]
            .concat(),
    );
    teaches(&["help"], &examples);
}

#[test]
fn serve_explains_its_flags_and_defaults() {
    let listening = ["--listen <ADDRESS>", "default: 0.0.0.0:7777", "[::]:7777 serves IPv6 and IPv4", "port 0 lets"];
    let console =
        ["--console <ADDRESS>", "or `off`", "any other than loopback needs --console-token", "127.0.0.1:7778"];
    let load = ["--queue <BYTES>", "disconnected as too slow", "--tick <N>", "0 runs unthrottled", "--stress <N>"];
    teaches(&["serve", "--help"], &[listening, console].concat());
    teaches(&["serve", "--help"], &load);
    teaches(&["serve", "--help"], &["a server that echoes turns their clients away"]);
    let shards = ["--shards <N|auto>", "sockets of its own on the same port", "`auto` has one for each core"];
    teaches(&["serve", "--help"], &shards);
    teaches(&["stress", "--help"], &shards);
}

#[test]
fn stress_explains_its_flags_with_examples() {
    let load = ["--clients <N>", "1/10s", "udp=200,ws=100", "random, 20 to 115 bytes", "--ramp <TIME>", "5ms"];
    let result = ["latency.p99<50ms", "exit code 99 if missed", "schema/stress.schema.json", "--seed <N>", "--wait"];
    let network =
        ["A bad network around each UDP client", "--loss <PERCENT>", "--burst", "--jitter", "loss=5%,delay=30ms"];
    teaches(&["stress", "--help"], &load);
    teaches(&["stress", "--help"], &result);
    teaches(&["stress", "--help"], &network);
}

#[test]
fn fleet_explains_its_commands_with_examples() {
    teaches(&["fleet", "--help"], &["status", "discovery", "key", "ticket"]);
    teaches(&["fleet", "status", "--help"], &["--fleet <URL>", "SKIPSTONE_FLEET", "nats://127.0.0.1:4222", "--json"]);
    teaches(&["fleet", "discovery", "--help"], &["http_sd_configs", "--listen <ADDRESS>"]);
    teaches(&["fleet", "ticket", "--help"], &["skipstone serve --fleet local --node n1", "within 30 s"]);
    teaches(&["serve", "--help"], &["--node <NAME>", "--advertise <HOST:PORT>", "--fleet-key <FILE>", "--room <NAME>"]);
}

#[test]
fn compare_explains_its_flags_with_examples() {
    let who =
        ["--transports <A,B,…>", "kcp-msg-fec", "--modes", "fixed:10+3", "--seeds <N>", "[default: 3, for real 1]"];
    let values = ["Values in place of the plan's", "--burst <PERCENT:LENGTH>", "--rtt <TIME>", "--entities <N>"];
    let result = ["skipstone.adaptive.p998<24ms", "exit code 99 if missed", "schema/compare.schema.json", "--json"];
    teaches(&["compare", "--help"], &who);
    teaches(&["compare", "--help"], &values);
    teaches(&["compare", "--help"], &result);
    teaches(
        &["compare", "--help"],
        &["plans/spatialos-25.toml --simulated --seeds 1", "from the tick to the delivery"],
    );
}

#[test]
fn sweep_explains_what_it_draws() {
    let who = ["--seeds <A..B>", "--loss-seeds <N>", "--transports <A,B,…>", "--print", "schema/sweep.schema.json"];
    teaches(&["sweep", "--help"], &who);
    teaches(&["sweep", "--help"], &["Each seed draws a link", "17.toml && skipstone compare 17.toml", "Exit code 99"]);
}

#[test]
fn bench_explains_its_presets_and_flags_with_examples() {
    let presets = ["fanout", "echo", "idle", "channels", "pingpong", "each pinned to a core", "within 40 ms"];
    teaches(&["bench", "--help"], &presets);
    teaches(&["bench", "--help"], &["skipstone bench fanout --transports skipstone --find-limit"]);
    let who = ["--transports <A,B,…>", "udp-bare-acked", "--against <TRANSPORT>", "--clients <N,N,…>", "--rounds <N>"];
    let result = ["skipstone.600.ratio<0.4", "exit code 99 if missed", "schema/bench.schema.json", "--find-limit"];
    teaches(&["bench", "fanout", "--help"], &who);
    teaches(&["bench", "fanout", "--help"], &result);
    teaches(&["bench", "pingpong", "--help"], &["NetworkBenchmarkDotNet", "--in-flight", "[default: 1,10]"]);
}

#[test]
fn the_version_matches_the_package() {
    let ended = run(&["--version"]);
    ended.expect(&[0]);
    assert!(ended.out.starts_with("skipstone"), "{}", ended.out);
    assert!(ended.out.trim_end().ends_with(env!("CARGO_PKG_VERSION")), "{}", ended.out);
}

#[test]
fn the_demonstration_takes_ten_seconds_and_suggests_next_commands() {
    let began = Instant::now();
    let mut demonstration = Running::tool(&[]);
    demonstration.until("100 clients (udp=67,ws=33)");
    // One second, and the rest for a busy machine.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    let ended = demonstration.wait();
    let took = began.elapsed().as_secs();
    // Busy machines may be too late for a verdict; lines are never lost.
    ended.expect(&[0, 98]);
    assert!((10..30).contains(&took), "{took} s");
    // By the name under which it was started, so that the line works as it is.
    let program = env!("CARGO_BIN_EXE_skipstone");
    assert!(ended.out.contains(&format!("Try next:\n  {program} stress -c 300")), "{}", ended.out);
    assert!(ended.out.contains(&format!("  {program} chat URL\n")), "{}", ended.out);
    let delivered = ended.out.lines().find(|line| line.starts_with("  delivered")).expect("a table");
    assert!(delivered.contains("200,000"), "{delivered}");
}
