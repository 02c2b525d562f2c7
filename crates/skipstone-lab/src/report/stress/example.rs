//! Results for the tests of this folder.

use std::collections::BTreeMap;

use crate::report::stress::result::protocol::Redundancy;
use crate::report::stress::result::*;
use crate::units::Carrier;

/// A run in which all went well, every section filled.
pub(crate) fn passing() -> StressResult {
    let messages = |sent, expected| Messages {
        sent,
        expected,
        delivered: expected,
        per_second: expected as f64 / 10.0,
        ..Messages::default()
    };
    let latency = LatencyMs {
        p50: Some(1.204),
        p90: Some(2.01),
        p99: Some(4.512),
        p999: Some(9.9),
        p9999: Some(14.08),
        max: Some(21.337),
    };
    let wire = Wire {
        datagrams_sent: 12_345,
        datagrams_received: 180_210,
        bytes_sent: 700_000,
        bytes_received: 80_000_000,
        bytes_payload: 70_000_000,
        ..Wire::default()
    }
    .with_overhead();
    let connect = Some(SpreadMs { p50: 2.5, p99: 7.25, max: 8.0 });
    let carrier = |carrier, count, sent, expected| CarrierResult {
        carrier,
        clients: clients(count),
        messages: messages(sent, expected),
        latency_ms: Some(latency),
        wire,
        connect_ms: connect,
    };
    StressResult {
        schema_version: SCHEMA_VERSION,
        verdict: Verdict::Pass,
        reasons: Vec::new(),
        seed: 42,
        transport: StressTransport::Mixed,
        command: ["skipstone", "stress", "-c", "300"].map(String::from).into(),
        started: "2026-01-31T12:00:00Z".into(),
        duration_s: 10.0,
        plan: StressPlan {
            url: None,
            rate: "1/s".into(),
            size: "sentence".into(),
            mix: "udp=200,ws=100".into(),
            duration_s: 10.0,
            ramp_s: 2.0,
            merge: Some("tick".into()),
            redundancy: Some("adaptive".into()),
            redundancy_budget: Some("40%".into()),
            congestion: Some("aggressive".into()),
        },
        machine: Machine { cpu: "AMD EPYC 7B13".into(), cores: 2, kernel: "linux 6.1.0".into() },
        clients: clients(300),
        messages: messages(3_000, 900_000),
        latency_ms: Some(latency),
        wire,
        server: Some(ServerResult {
            cpu_percent: Some(35.25),
            cpu_us_per_delivery: Some(1.306),
            rss_bytes: Some(23 << 20),
            ticks_per_second: Some(60.0),
            slowest_tick_ms: Some(3.21),
            run_queue_wait_ms: Some(4.0),
            shards: vec![
                Shard {
                    clients: 146,
                    datagrams_sent: 88_000,
                    datagrams_received: 5_100,
                    handed_on: 12,
                    hand_over_drops: 0,
                },
                Shard {
                    clients: 154,
                    datagrams_sent: 92_000,
                    datagrams_received: 5_300,
                    handed_on: 0,
                    hand_over_drops: 0,
                },
            ],
        }),
        presence: Presence { lines_from_others: 897_000, ..Presence::default() },
        generator: Generator {
            cpu_percent: Some(52.5),
            late_sends: 0,
            late_sends_in_stalls: 0,
            planned_sends: 3_000,
            latest_send_ms: 1.42,
            cores: 2,
            rss_bytes: Some(40 << 20),
            run_queue_wait_ms: Some(120.0),
        },
        carriers: vec![carrier(Carrier::Udp, 200, 2_000, 600_000), carrier(Carrier::Ws, 100, 1_000, 300_000)],
        timing: Timing { connect_ms: connect, ramp_ms: 2_010.0, close_ms: 12.5 },
        impairment: Some(Impairment {
            settings: BTreeMap::from([("loss".into(), "2%".into()), ("delay".into(), "10ms".into())]),
            to_server: LinkCounts { sent: 12_345, delivered: 12_098, lost_random: 247, ..LinkCounts::default() },
            to_clients: LinkCounts { sent: 180_210, delivered: 176_606, lost_random: 3_604, ..LinkCounts::default() },
        }),
        protocol: Protocol { clients: side(120, 31), server: Some(side(1_800, 212)) },
        roaming: Some(Roaming { every_ms: 2_000.0, moves: 1_000, path_changes: Some(998), reconnects: 0 }),
        returns: None,
        stalls: Some(Stalls { count: 3, machine_count: 2, longest_ms: 12.25, total_ms: 21.0 }),
        fleet: None,
        thresholds: vec![ThresholdResult {
            expression: "latency.p99<50ms".into(),
            of: None,
            passed: true,
            actual: Some(4.512),
            unit: Some("ms".into()),
        }],
    }
}

/// A run against a remote server in which nothing arrived: all optional figures are absent.
pub(crate) fn sparse() -> StressResult {
    let mut result = passing();
    result.transport = StressTransport::UdpTls;
    result.latency_ms = None;
    result.server = None;
    result.impairment = None;
    result.protocol.server = None;
    result.roaming = None;
    result.stalls = None;
    result.thresholds.clear();
    result.timing.connect_ms = None;
    result.carriers.truncate(1);
    result.carriers[0].latency_ms = None;
    result.carriers[0].connect_ms = None;
    result.plan.url = Some("skip://example.org:7777".into());
    result.plan.merge = None;
    result.plan.redundancy = None;
    result.plan.redundancy_budget = None;
    result.plan.congestion = None;
    result.generator.cpu_percent = None;
    result.generator.rss_bytes = None;
    result.generator.run_queue_wait_ms = None;
    result
}

/// A run on three machines, one of which was lost.
pub(crate) fn fleet() -> StressResult {
    let mut result = passing();
    let agent = |name: &str, numbers: &str, lost: Option<&str>| AgentResult {
        name: name.into(),
        numbers: numbers.into(),
        machine: lost.is_none().then(|| result.machine.clone()),
        lost: lost.map(String::from),
        clients: clients(100),
        messages: result.carriers[1].messages,
        latency_ms: result.latency_ms.filter(|_| lost.is_none()),
        generator: Some(result.generator).filter(|_| lost.is_none()),
        clock_error_ms: 0.21,
        stalls: result.stalls,
        qlog: None,
    };
    let fleet = Fleet {
        run: "01f3a8".into(),
        agents: vec![
            agent("frankfurt-machine-1", "udp 0-66, ws 200-232", None),
            agent("oslo", "udp 67-133, ws 233-265", None),
            agent("paris", "udp 134-199, ws 266-299", Some("no sign of life for 3.0 s")),
        ],
        tolerate: 1,
        clock: FleetClock::Server,
        clock_error_ms: 0.42,
        latency_same_agent_ms: result.latency_ms,
        deliveries_excused: 400_000,
    };
    (result.server, result.fleet) = (None, Some(fleet));
    result
}

fn side(repairs_sent: u64, packets_recovered: u64) -> Side {
    Side {
        packets_lost: 300,
        redundancy: Redundancy {
            repairs_sent,
            copies_sent: repairs_sent / 10,
            bytes_sent: repairs_sent * 500,
            packets_recovered_by_peer: 212,
            packets_recovered,
        },
        drops_by_reason: BTreeMap::from([("duplicate_message".into(), repairs_sent / 10), ("replay".into(), 0)]),
        ..Side::default()
    }
}

fn clients(count: u64) -> ClientCounts {
    ClientCounts { asked: count, connected: count, dropped: 0, drops_by_reason: BTreeMap::new() }
}
