//! Scratch: the echo experiment over the model link.
use bytes::Bytes;
use skipstone_netsim::{Duplex, LinkConfig, Loss};
use skipstone_proto::channel::{MessageId, Submission};
use skipstone_proto::endpoint::{Config, Endpoint, Event};
use skipstone_proto::path::{Carrier, Path};
use skipstone_proto::time::{Duration, Time};
use skipstone_proto::wire::redundancy::{Redundancy, RedundancyMode};
use skipstone_proto::wire::settings::Settings;
use std::net::SocketAddr;

struct Args {
    entities: u16,
    ticks: u64,
    payload: usize,
    rtt_ms: f64,
    loss: f64,
    burst: f64,
    jitter_ms: f64,
    seconds: u64,
    seeds: u64,
    first: u64,
    mode: RedundancyMode,
    extra: usize,
    budget: u16,
}

fn main() {
    let mut a = Args {
        entities: 25,
        ticks: 60,
        payload: 50,
        rtt_ms: 20.0,
        loss: 0.005,
        burst: 1.0,
        jitter_ms: 0.0,
        seconds: 300,
        seeds: 3,
        first: 1,
        mode: RedundancyMode::Adaptive,
        extra: 19,
        budget: 100,
    };
    let args: Vec<String> = std::env::args().skip(1).collect();
    for kv in &args {
        let (k, v) = kv.split_once('=').expect("key=value");
        match k {
            "entities" => a.entities = v.parse().unwrap(),
            "ticks" => a.ticks = v.parse().unwrap(),
            "payload" => a.payload = v.parse().unwrap(),
            "rtt" => a.rtt_ms = v.parse().unwrap(),
            "loss" => a.loss = v.parse().unwrap(),
            "burst" => a.burst = v.parse().unwrap(),
            "jitter" => a.jitter_ms = v.parse().unwrap(),
            "seconds" => a.seconds = v.parse().unwrap(),
            "seeds" => a.seeds = v.parse().unwrap(),
            "first" => a.first = v.parse().unwrap(),
            "extra" => a.extra = v.parse().unwrap(),
            "budget" => a.budget = v.parse().unwrap(),
            "mode" => {
                a.mode = match v {
                    "off" => RedundancyMode::Off,
                    "lean" => RedundancyMode::Lean,
                    "adaptive" => RedundancyMode::Adaptive,
                    _ => RedundancyMode::Fixed { sources: 10, repairs: 3 },
                }
            }
            _ => panic!("{k}"),
        }
    }
    println!("# {}", args.join(" "));
    let mut all: Vec<Vec<f64>> = Vec::new();
    for seed in a.first..a.first + a.seeds {
        let r = run(&a, seed);
        println!(
            "seed {seed:2}: p50 {:.2} p99 {:.2} p99.8 {:.2} p99.99 {:.2} max {:.2} lost {} bytes {:.3} | sent {} pkts lost {} spur {} resent {} probes {} repairs {} copies {} saved {} repd {}",
            r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]
        );
        all.push(r);
    }
    let worst = |i: usize| all.iter().map(|r| r[i]).fold(0.0, f64::max);
    let median = |i: usize| {
        let mut v: Vec<f64> = all.iter().map(|r| r[i]).collect();
        v.sort_by(|a, b| a.total_cmp(b));
        v[v.len() / 2]
    };
    println!(
        "== worst p99.8 {:.2} worst p99.99 {:.2} median max {:.2} worst max {:.2} lost {} worst bytes {:.3}",
        worst(2),
        worst(3),
        median(4),
        worst(4),
        worst(5),
        worst(6)
    );
}

use std::cell::RefCell;
use std::collections::BTreeMap;
thread_local! { static NOTES: RefCell<BTreeMap<(u8, &'static str), (u64, u64)>> = RefCell::default(); }
fn note(dir: u8, now: Time, d: &[u8]) {
    use skipstone_proto::wire::frame::{Frame, Frames};
    let kind = if d[0] == 0x80 {
        let (mut ack, mut msg, mut rep, mut late, mut repd) = (false, false, false, false, false);
        for f in Frames::new(&d[6..d.len() - 3]) {
            match f {
                Ok(Frame::Ack(_)) => ack = true,
                Ok(Frame::Message(_)) => msg = true,
                Ok(Frame::Repair(_)) => rep = true,
                Ok(Frame::Late { .. }) => late = true,
                Ok(Frame::Repaired(_)) => repd = true,
                _ => {}
            }
        }
        let _ = repd;
        if late {
            "late"
        } else if rep {
            if ack { "repair+ack" } else { "repair" }
        } else if msg {
            if ack { "msg+ack" } else { "msg" }
        } else if ack {
            "ack"
        } else {
            "other"
        }
    } else {
        "handshake"
    };
    NOTES.with(|n| {
        let mut n = n.borrow_mut();
        let e = n.entry((dir, kind)).or_default();
        e.0 += 1;
        e.1 += d.len() as u64;
    });
    if let Ok(at) = std::env::var("TRACE") {
        let (f, t) = at.split_once('-').unwrap();
        let (f, t): (u64, u64) = (f.parse().unwrap(), t.parse().unwrap());
        let us = now.as_micros();
        if us >= f && us <= t {
            println!(
                "{us} {} {kind} {}B {:?}",
                if dir == 1 { "UP  " } else { "DOWN" },
                d.len(),
                Frames::new(&d[6..d.len() - 3])
                    .flatten()
                    .map(|f| match f {
                        Frame::Message(m) => format!("m{}:{:?}", m.channel, m.sequence),
                        Frame::Ack(a) => format!("ack {}", a.largest.value),
                        other => format!("{other:?}").chars().take(30).collect::<String>(),
                    })
                    .take(4)
                    .collect::<Vec<_>>()
            );
        }
    }
}
fn path(host: u8, port: u16) -> Path {
    Path { socket: 0, remote: SocketAddr::from(([192, 0, 2, host], port)), carrier: Carrier::UDP }
}

fn run(a: &Args, seed: u64) -> Vec<f64> {
    let loss = if a.loss == 0.0 {
        Loss::None
    } else if a.burst > 1.0 {
        Loss::Burst { rate: a.loss, mean_length: a.burst }
    } else {
        Loss::Random(a.loss)
    };
    let link = LinkConfig {
        delay: Duration::from_micros((a.rtt_ms * 500.0) as u64),
        jitter: Duration::from_micros((a.jitter_ms * 1000.0) as u64),
        loss,
        datagram_bytes_max: Some(1472),
        ..LinkConfig::default()
    };
    let mut duplex = Duplex::symmetric(link, seed).unwrap();
    let settings = Settings {
        datagram_bytes_max: (1472 - a.extra) as u16,
        redundancy: Redundancy { mode: a.mode, budget_percent: a.budget },
        ..Settings::default()
    };
    let key = |n: u64| {
        let mut k = [0; 32];
        k[..8].copy_from_slice(&(seed * 7 + n).to_be_bytes());
        k[20..28].copy_from_slice(&(seed * 131 + n).to_be_bytes());
        k
    };
    let mut server = Endpoint::new(Config::server(settings), key(1)).unwrap();
    let mut client = Endpoint::new(Config::client(), key(2)).unwrap();
    let mut now = Time::from_micros(1_000_000);
    let me = client.connect(now, path(1, 7777), b"x").unwrap();
    let mut start = None;
    let tick = |n: u64| Duration::from_nanos(1_000_000_000 * n / a.ticks);
    let total = a.seconds * a.ticks;
    let mut sent_ticks = 0u64;
    let mut buffer = vec![0u8; 1 << 16];
    let mut got = vec![];
    let mut samples: Vec<u32> = Vec::with_capacity((total * u64::from(a.entities)) as usize);
    let (mut bytes, mut datagrams) = (0u64, 0u64);
    let mut expected = vec![0u32; usize::from(a.entities)];
    let mut end = Time::NEVER;
    let mut id = 0;
    loop {
        let net = Duration::from_micros(now.as_micros());
        loop {
            let mut moved = false;
            while duplex.up.receive(net, &mut got).is_some() {
                moved = true;
                server.handle_datagram(now, path(2, 1000), &mut got);
            }
            while duplex.down.receive(net, &mut got).is_some() {
                moved = true;
                client.handle_datagram(now, path(1, 7777), &mut got);
            }
            server.handle_timeout(now);
            client.handle_timeout(now);
            while let Some(event) = server.poll_event(now) {
                match event {
                    Event::Requested { peer, .. } => drop(server.accept(now, peer)),
                    Event::Message { peer, channel, payload, age } => {
                        id += 1;
                        server.submit(now, peer, channel, Submission { payload, id: MessageId(id), age }).unwrap()
                    }
                    _ => {}
                }
            }
            while let Some(event) = client.poll_event(now) {
                match event {
                    Event::Connected { .. } => {
                        start = Some(now);
                        end = now + tick(total) + Duration::from_secs(5);
                    }
                    Event::Message { channel, payload, .. } => {
                        let n = u32::from_be_bytes(payload[..4].try_into().unwrap());
                        assert_eq!(n, expected[usize::from(channel)]);
                        expected[usize::from(channel)] += 1;
                        let took = now.since(start.unwrap() + tick(n.into())).as_micros() as u32;
                        samples.push(took);
                        if let Ok(m) = std::env::var("SLOW")
                            && took >= m.parse::<u32>().unwrap()
                        {
                            println!(
                                "slow {took} channel {channel} tick {n} sent at {:?} arrived {now:?}",
                                start.unwrap() + tick(n.into())
                            );
                        }
                    }
                    _ => {}
                }
            }
            if let Some(s) = start
                && sent_ticks < total
                && s + tick(sent_ticks) <= now
            {
                for e in 0..a.entities {
                    let mut p = vec![e as u8; a.payload];
                    p[..4].copy_from_slice(&(sent_ticks as u32).to_be_bytes());
                    client.send(now, me, e, Bytes::from(p), MessageId(0)).unwrap();
                }
                sent_ticks += 1;
            }
            while let Some(t) = server.poll_transmit(now, &mut buffer) {
                moved = true;
                for d in buffer[..t.bytes].chunks(t.segment_bytes) {
                    note(0, now, d);
                    bytes += (d.len() + 28 + a.extra) as u64;
                    datagrams += 1;
                    duplex.down.send(net, d, 0);
                }
            }
            while let Some(t) = client.poll_transmit(now, &mut buffer) {
                moved = true;
                for d in buffer[..t.bytes].chunks(t.segment_bytes) {
                    note(1, now, d);
                    bytes += (d.len() + 28 + a.extra) as u64;
                    datagrams += 1;
                    duplex.up.send(net, d, 0);
                }
            }
            if !moved {
                break;
            }
        }
        let from_net =
            duplex.next_arrival().map_or(Time::NEVER, |t| Time::from_micros(t.as_nanos().div_ceil(1000) as u64));
        let next_tick = match start {
            Some(s) if sent_ticks < total => s + tick(sent_ticks),
            _ => Time::NEVER,
        };
        let next = from_net.min(server.poll_timeout()).min(client.poll_timeout()).min(next_tick);
        if next > end || now > end {
            break;
        }
        now = next.max(now + Duration::from_micros(1));
    }
    if std::env::var("NOTES").is_ok() {
        NOTES.with(|n| {
            for (k, v) in n.borrow().iter() {
                println!(
                    "  {k:?} {} x {} = {:.3}",
                    v.0,
                    v.1 / v.0,
                    (v.1 + v.0 * (28 + a.extra as u64)) as f64 / (samples.len() * a.payload * 2) as f64
                );
            }
        });
    }
    samples.sort_unstable();
    let n = samples.len();
    let pct = |p: f64| f64::from(samples[((n as f64 * p).ceil() as usize).clamp(1, n) - 1]) / 1000.0;
    let s = server.totals();
    let c = client.totals();
    let payload = (n * a.payload * 2) as f64;
    vec![
        pct(0.5),
        pct(0.99),
        pct(0.998),
        pct(0.9999),
        pct(1.0),
        (total * u64::from(a.entities)) as f64 - n as f64,
        bytes as f64 / payload,
        datagrams as f64,
        (s.packets_lost + c.packets_lost) as f64,
        (s.packets_spurious + c.packets_spurious) as f64,
        (s.resent + c.resent) as f64,
        (s.probes + c.probes) as f64,
        (s.redundancy.repairs_sent + c.redundancy.repairs_sent) as f64,
        (s.redundancy.copies_sent + c.redundancy.copies_sent) as f64,
        (s.redundancy.packets_saved + c.redundancy.packets_saved) as f64,
        (s.redundancy.packets_repaired + c.redundancy.packets_repaired) as f64,
    ]
}
