//! A hundred hostile clients on each carrier in turn, together with two hundred good ones: the good ones lose nothing
//! and are served as before, the server's memory stays within its budget, and each hostile one is closed, with its
//! reason counted. Figures and claims, run by hand (four minutes): `cargo test -p skipstone-cli --test end_to_end
//! a_hundred_hostile -- --ignored --nocapture`.

use crate::common::console::Session;
use crate::common::result::{number, read};
use crate::common::{Running, Served, fresh_file};
use crate::hostile::{HostileCarrier, Hostiles};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The number of clients of each of four kinds.
const EACH: usize = 25;
/// Those hostile ones that begin a session of DTLS and leave it come from the same network as these, which has 64
/// places for handshakes.
const GOOD: &str = "udp=50,dtls=30,tcp=40,ws=40,wss=40";
/// Beyond what the server has with the good clients alone: what waits for those that do not read, and handshakes.
const MEMORY_MAX: u64 = 32 << 20;
const P99_RATIO_MAX: f64 = 1.2;
/// Below this a ratio says more about the machine's scheduler than about the server.
const P99_NOISE_MS: f64 = 2.0;

/// The good clients, until their last line has come. Returns their p99, and the most memory that the server had
/// meanwhile.
fn good_ones(served: &Served, mut meanwhile: impl FnMut()) -> (f64, u64) {
    let file = fresh_file("stress.json");
    let json = file.to_str().expect("text").to_owned();
    let flags = ["stress", &served.url, "--json", &json, "--mix", GOOD, "-c", "200", "-r", "1/s", "--size", "200B"];
    let mut run = Running::tool(&[&flags[..], &["-d", "12s"]].concat());
    run.until(" running");
    let mut most = 0;
    while run.is_alive() {
        meanwhile();
        most = most.max(served.rss_bytes().unwrap_or(0));
    }
    let ended = run.wait_for(Duration::from_secs(60));
    let result = read(&file);
    for (path, wanted) in [
        ("clients.connected", 200),
        ("clients.dropped", 0),
        ("messages.lost", 0),
        ("messages.corrupted", 0),
        ("messages.delivered", 200 * 12 * 200),
    ] {
        assert_eq!(number(&result, path), wanted, "{path}: {}\n{}", result["reasons"], ended.text());
    }
    (result["latency_ms"]["p99"].as_f64().expect("lines came"), most)
}

/// The counts of the server's `stats`, by line and name: `TCP streams: timed out`.
fn counts(served: &Served) -> BTreeMap<String, u64> {
    let stats = Session::open(served.console).stats();
    let mut all = BTreeMap::new();
    for line in stats.lines() {
        let (of, list) = match line.split_once(": ") {
            Some((of @ ("DTLS sessions" | "WebTransport" | "TCP streams"), list)) => (of, list),
            _ => match line.strip_prefix("drops ") {
                Some(list) => ("drops", list),
                None => continue,
            },
        };
        for item in list.split(", ") {
            let Some((name, count)) = item.rsplit_once(' ') else { continue };
            let digits: String = count.chars().filter(char::is_ascii_digit).collect();
            all.insert(format!("{of}: {name}"), digits.parse().unwrap_or(0));
        }
    }
    all
}

/// The counts between two reads, without gauges.
fn counted(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let grown =
        after.iter().map(|(name, count)| (name.clone(), count - before.get(name).copied().unwrap_or(0).min(*count)));
    grown.filter(|(name, count)| *count > 0 && !name.ends_with(": open")).collect()
}

#[test]
#[ignore = "four minutes, and figures that need a machine of their own"]
fn a_hundred_hostile_clients_on_each_carrier_harm_no_client() {
    let served = Served::start(&["--queue", "128KiB"]);
    let mut log = Session::open(served.console);
    log.ask("log", "log is on");
    let (mut calm_p99, mut calm_rss) = good_ones(&served, || std::thread::sleep(Duration::from_millis(100)));
    let mut missed = Vec::new();
    for carrier in HostileCarrier::ALL {
        let before = counts(&served);
        let mut hostiles = Hostiles::new(carrier, EACH, &served);
        let (p99, rss) = good_ones(&served, || hostiles.step(Duration::from_millis(100)));
        let mute = hostiles.mute_names();
        let reasons = ends_of(&mut log, &mute);
        // Handshakes have 10 s at most, goodbyes 1 s.
        let end = Instant::now() + Duration::from_secs(15);
        while hostiles.open() > 0 && Instant::now() < end {
            hostiles.step(Duration::from_millis(100));
        }
        let (open, comings) = (hostiles.open(), hostiles.comings());
        drop(hostiles);
        // The ends of those that came again and again are published a moment later.
        std::thread::sleep(Duration::from_secs(1));
        let after = counts(&served);
        let sessions: u64 = after.iter().filter(|(name, _)| name.ends_with(": open")).map(|(_, count)| *count).sum();
        let counted = counted(&before, &after);
        let (after_p99, after_rss) = good_ones(&served, || std::thread::sleep(Duration::from_millis(100)));
        let calm = f64::midpoint(calm_p99, after_p99);
        let ratio = p99 / calm;
        let memory = rss.saturating_sub(calm_rss.min(after_rss));
        println!(
            "{carrier:?}: p99 {p99:.1} ms against {calm:.1} ms without them ({ratio:.2} times), {:.1} MB more",
            memory as f64 / 1e6
        );
        println!("  {comings} came, {open} of them are open; those that read nothing: {reasons:?}");
        println!("  counted: {counted:?}");
        if ratio > P99_RATIO_MAX && p99 > calm + P99_NOISE_MS {
            missed.push(format!("{carrier:?}: p99 {ratio:.2} times"));
        }
        if memory > MEMORY_MAX {
            missed.push(format!("{carrier:?}: {memory} bytes of memory"));
        }
        if open > 0 || reasons.values().sum::<usize>() != mute.len() {
            missed.push(format!("{carrier:?}: {open} are open, and {reasons:?}"));
        }
        if sessions > 0 {
            missed.push(format!("{carrier:?}: {sessions} sessions are open after all clients have left"));
        }
        missed.extend(carrier.uncounted(EACH as u64, &counted).map(|what| format!("{carrier:?}: {what}")));
        (calm_p99, calm_rss) = (after_p99, after_rss);
    }
    assert!(missed.is_empty(), "{missed:#?}");
    served.stop();
}

/// Why the connections of these names ended, and how many for each reason.
fn ends_of(log: &mut Session, names: &[String]) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    let text = log.ask("log maybe", "log takes on or off");
    for line in text.lines() {
        if let Some((_, reason)) = line.split_once(" closed: ")
            && names.iter().any(|name| line.contains(&format!("{name} closed: ")))
        {
            *reasons.entry(reason.trim().to_owned()).or_default() += 1;
        }
    }
    reasons
}
