//! The views of a run, as text.

use super::*;

fn snapshot() -> Snapshot {
    Snapshot {
        phase: Phase::Running,
        elapsed: Duration::from_millis(5_020),
        duration: Duration::from_secs(10),
        clients_asked: 300,
        clients_connected: 300,
        clients_dropped: 0,
        offered_per_second: 300.0,
        sent_per_second: 299.6,
        delivered_per_second: 89_700.2,
        delivered: 448_500,
        missing: 0,
        latency: Some(RecentLatency { p50_ms: 1.2, p99_ms: 4.56, max_ms: 12.34 }),
        server: Some(RecentServer {
            cpu_percent: Some(35.2),
            ticks_per_second: Some(60.0),
            slowest_tick_ms: Some(2.1),
        }),
        redundancy: Balance { repairs: 1_200, copies: 34, bytes: 600_000, packets_recovered: 310 },
        drops: vec![("duplicate_message".into(), 1_034), ("replay".into(), 2)],
        paths_changed: 0,
        generator_cpu_percent: Some(50.0),
        latest_send_ms: 0.42,
        late_sends: 0,
    }
}

const BLOCK: &str = "\
running     [####################--------------------] 5.0 of 10.0 s
clients     300 of 300 connected, 0 dropped
lines       300/s due, 300/s sent, 89,700/s delivered
delivered   448,500, 0 missing
latency     p50 1.20 ms  p99 4.56 ms  max 12.3 ms, last second
redundancy  1,200 repairs, 34 copies (586 KiB); 310 lost packets recovered
drops       duplicate_message 1,034, replay 2
server      35.2% of one core, 60.0 ticks/s, slowest 2.10 ms
generator   50.0% of one core, latest send 0.42 ms, 0 late sends
";

fn bare(block: &str) -> String {
    block.replace("\r\x1b[2K", "")
}

#[test]
fn a_block_shows_the_run() {
    assert_eq!(bare(&block(&snapshot(), Style::Plain, Draw::First, 80)), BLOCK);
}

#[test]
fn a_block_is_drawn_over_the_previous_one() {
    let again = block(&snapshot(), Style::Plain, Draw::Again, 80);
    let rest = again.strip_prefix("\x1b[9A").expect("it goes up as many lines as a block has");
    assert_eq!(rest, block(&snapshot(), Style::Plain, Draw::First, 80));
    assert_eq!(rest.matches("\r\x1b[2K").count(), BLOCK_LINES);
    assert_eq!(rest.matches('\n').count(), BLOCK_LINES);
}

#[test]
fn no_line_of_a_block_is_wider_than_the_terminal() {
    for columns in [0, 1, 11, 12, 13, 40, 80] {
        for line in bare(&block(&snapshot(), Style::Plain, Draw::First, columns)).lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line:?}");
        }
    }
}

#[test]
fn problems_are_printed_in_red() {
    let calm = block(&snapshot(), Style::Coloured, Draw::First, 80);
    assert!(!calm.contains("\x1b[1;31m"));
    let wrong = Snapshot { missing: 3, ..snapshot() };
    let alarmed = block(&wrong, Style::Coloured, Draw::First, 80);
    assert!(alarmed.contains("\x1b[1;31m448,500, 3 missing\x1b[0m"), "{alarmed:?}");
}

#[test]
fn a_remote_run_without_messages_shows_no_invented_figures() {
    let silent = Snapshot { latency: None, server: None, generator_cpu_percent: None, ..snapshot() };
    let text = bare(&block(&silent, Style::Plain, Draw::First, 80));
    assert!(text.contains("server      remote\ngenerator   latest send"), "{text}");
    assert!(text.contains("latency     -\nredundancy"), "{text}");
    assert!(!progress_line(&silent).contains("p50"));
}

#[test]
fn an_empty_or_overdue_phase_has_a_full_bar() {
    for (elapsed, duration) in [(0, 0), (20, 10)] {
        let (elapsed, duration) = (Duration::from_secs(elapsed), Duration::from_secs(duration));
        assert!(time_bar(&Snapshot { elapsed, duration, ..snapshot() }).starts_with(&format!("[{}]", "#".repeat(40))));
    }
}

#[test]
fn a_progress_line_names_problems_only_when_there_are_any() {
    assert_eq!(
        progress_line(&snapshot()),
        "   5.0 s running  clients 300/300  sent 300/s of 300/s  delivered 89,700/s  missing 0  \
         p50 1.20 ms  p99 4.56 ms  max 12.3 ms  server 35.2%"
    );
    let troubled = Snapshot { clients_dropped: 2, late_sends: 1, missing: 9, ..snapshot() };
    let line = progress_line(&troubled);
    assert!(line.contains("  dropped 2  ") && line.contains("  missing 9  ") && line.ends_with("  1 late send"));
}
