//! Servers that send garbage, pieces and floods, over every protocol with a socket: each run has a verdict, and nothing
//! grows.
//!
//! A longer run: `SKIPSTONE_FUZZ_SECONDS=600 cargo test --release -p skipstone-bots --test claims hostile_protocols --
//! --ignored --nocapture`.

use crate::runs::{result_of, script};
use crate::servers::{tcp, udp};
use skipstone_lab::measure::process::Probe;
use skipstone_lab::measure::splitmix::splitmix;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// They come back at once, and say things of all lengths.
const SCRIPT: &str = "
    local bot = skipstone.bot{ api = 1, tick = 50 }
    function bot:tick(now)
        self:send(0, string.rep('x', math.random(1, 200)))
    end
    function bot:message(channel, data) check('is_data', buffer.len(data) >= 0) end
    function bot:closed()
        self:sleep(0.01)
        self:connect()
    end
";

/// What a hostile server makes of what it heard.
fn answers(heard: &[u8], random: &mut u64) -> Vec<Vec<u8>> {
    let mut below = |count: usize| (splitmix(random) % count.max(1) as u64) as usize;
    let mut changed = heard.to_vec();
    match below(6) {
        // Garbage.
        0 => vec![(0..below(1400)).map(|_| below(256) as u8).collect()],
        // A piece.
        1 => vec![heard[..below(heard.len())].to_vec()],
        // A flood.
        2 => vec![changed; 40],
        // Some bits.
        3 => {
            for _ in 0..=below(4) {
                let at = below(changed.len());
                if let Some(byte) = changed.get_mut(at) {
                    *byte ^= 1 << below(8);
                }
            }
            vec![changed]
        }
        // More than there was.
        4 => {
            changed.extend((0..below(600)).map(|_| below(256) as u8));
            vec![changed]
        }
        _ => vec![changed],
    }
}

fn run(scheme: &str, seed: u64) {
    let (_folder, path) = script(SCRIPT);
    let words = |url: &str| {
        result_of(&[&path, url, "-c", "4", "-d", "300ms", "--ramp", "0s", "--seed", &seed.to_string()]);
    };
    if matches!(scheme, "tcp" | "ws" | "tcp-length" | "tcp-lines") {
        let random = Arc::new(AtomicU64::new(seed));
        let server = tcp(move |stream| {
            let mut buffer = [0; 2048];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                let mut own = random.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                for answer in answers(&buffer[..count], &mut own) {
                    if stream.write_all(&answer).is_err() || own % 16 == 0 {
                        return;
                    }
                }
            }
        });
        match scheme {
            "tcp-length" => words(&(server.url("tcp") + "?frame=length")),
            "tcp-lines" => words(&(server.url("tcp") + "?frame=lines")),
            scheme => words(&server.url(scheme)),
        }
        server.stop();
    } else {
        let mut random = seed;
        let server = udp(move |(), datagram| answers(datagram, &mut random), |_| Vec::new());
        words(&server.url(scheme));
        server.stop();
    }
}

const SCHEMES: &[&str] =
    &["udp", "tcp", "tcp-length", "tcp-lines", "ws", "enet", "kcp", "kcp2k", "litenetlib", "renet", "skip"];

#[test]
fn hostile_servers_of_every_protocol_crash_nothing() {
    for (seed, scheme) in (1..).zip(SCHEMES) {
        run(scheme, seed);
    }
}

#[test]
#[ignore = "as long as SKIPSTONE_FUZZ_SECONDS says"]
fn hostile_servers_for_long() {
    let seconds = std::env::var("SKIPSTONE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let (began, probe) = (Instant::now(), Probe::of_self());
    let memory = || probe.sample().map_or(0, |sample| sample.rss_bytes) >> 20;
    let (mut rounds, mut early) = (0, None);
    while began.elapsed() < Duration::from_secs(seconds) {
        SCHEMES.iter().for_each(|scheme| run(scheme, 1000 + rounds));
        rounds += 1;
        if early.is_none() && began.elapsed() > Duration::from_secs(seconds / 5) {
            early = Some(memory());
        }
    }
    let (early, late) = (early.unwrap_or_default(), memory());
    println!("{rounds} rounds of {} servers; {early} MiB after a fifth, {late} MiB at the end", SCHEMES.len());
    assert!(late < early + 32, "{early} MiB became {late} MiB");
}
