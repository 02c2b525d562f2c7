//! The other end of the measurements in clients/web/tests/experiments: a server that echoes, pours and drains, and the
//! native client that a page is compared with.
//!
//! `floor` has the same datagrams without the protocol.
//!
//! `pages serve ADDRESS` prints its port, its fingerprint and then nothing; `pages echo URL SECONDS` prints its round
//! trips in ns as JSON.

mod floor;

use bytes::Bytes;
use skipstone::{
    ChannelRule, Client, ClientConfig, DeliveryMode, Event, Overflow, PeerId, Security, SendRefusal, Server,
    ServerConfig, Settings, code,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["serve", address] => serve(address),
        ["echo", url, seconds] => echo(url, seconds),
        _ => Err("pages serve ADDRESS, or pages echo URL SECONDS".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pages: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The number of entities in `plans/spatialos-25.toml`.
const ENTITIES: u16 = 25;
const TICKS_PER_SECOND: u32 = 60;
const UPDATE_BYTES: usize = 50;
/// Where entities' updates come back; others are poured and drained.
const ECHO: u16 = 63;
const STREAM: u16 = 100;
const DATAGRAMS: u16 = 101;
/// How often a client that is drained is told what arrived.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// The purpose of a client, by its token.
enum Visit {
    /// A connection whose messages are echoed.
    Echo,
    /// It gets numbered messages of this size as fast as it takes them.
    Pour { channel: u16, bytes: usize, number: u64 },
    /// It sends numbered messages, and is told how many bytes of valid ones arrived, and how many invalid ones.
    Drain { next: u64, missing: BTreeSet<u64>, bytes: u64, bad: u64, told: Instant },
}

impl Visit {
    fn of_token(token: &[u8]) -> Option<Self> {
        let words: Vec<&str> = std::str::from_utf8(token).ok()?.split(' ').collect();
        match words[..] {
            ["echo"] => Some(Visit::Echo),
            ["pour", channel, bytes] => {
                Some(Visit::Pour { channel: channel.parse().ok()?, bytes: bytes.parse().ok()?, number: 0 })
            }
            ["drain"] => {
                Some(Visit::Drain { next: 0, missing: BTreeSet::new(), bytes: 0, bad: 0, told: Instant::now() })
            }
            _ => None,
        }
    }
}

/// Serves until the standard input ends.
fn serve(address: &str) -> Result<(), Failure> {
    let refusing = |channels, mode| ChannelRule { overflow: Overflow::Refuse, ..ChannelRule::new(channels, mode) };
    let channels = vec![
        refusing(0..=ECHO, DeliveryMode::ReliableOrdered),
        refusing(STREAM..=STREAM, DeliveryMode::ReliableOrdered),
        refusing(DATAGRAMS..=DATAGRAMS, DeliveryMode::Unreliable),
    ];
    let security = Some(Security::self_signed()?.allowing_plain());
    let settings = Settings { channels, ..Settings::default() };
    let mut server = Server::start(ServerConfig { security, settings, ..ServerConfig::new(address.parse()?) })?;
    let hash = server.web_fingerprints().first().map(ToString::to_string).unwrap_or_default();
    let over = Arc::new(AtomicBool::new(false));
    let floor = floor::start(server.local_addr(), Arc::clone(&over))?;
    println!(
        "{}",
        serde_json::json!({ "port": server.local_addr().port(), "hash": hash, "url": server.url(),
            "floor": { "port": floor.port, "hash": floor.hash } })
    );
    let flag = Arc::clone(&over);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        flag.store(true, Ordering::Relaxed);
    });
    let mut visits: BTreeMap<PeerId, Visit> = BTreeMap::new();
    while !over.load(Ordering::Relaxed) {
        server.wait(Duration::from_millis(1));
        while let Some(event) = server.poll_event() {
            on_event(&mut server, &mut visits, event)?;
        }
        for (peer, visit) in &mut visits {
            on_round(&mut server, *peer, visit);
        }
        server.flush()?;
    }
    server.shutdown(code::SHUTDOWN, "the measurement is over", Duration::from_millis(200));
    Ok(())
}

fn on_event(server: &mut Server, visits: &mut BTreeMap<PeerId, Visit>, event: Event) -> Result<(), Failure> {
    match event {
        Event::Requested { peer, token, .. } => match Visit::of_token(&token) {
            Some(visit) => {
                server.accept(peer)?;
                visits.insert(peer, visit);
            }
            None => server.refuse(peer, code::REFUSED, "the token is echo, pour CHANNEL BYTES, or drain")?,
        },
        Event::Message { peer, channel, payload, age } => match visits.get_mut(&peer) {
            Some(Visit::Drain { next, missing, bytes, bad, .. }) => match number_of(&payload) {
                Some(number) if number == *next || channel == DATAGRAMS && number > *next => {
                    // Unreliable ones may be missing, or come later, each once.
                    missing.extend(*next..number);
                    (*next, *bytes) = (number + 1, *bytes + payload.len() as u64);
                }
                Some(number) if missing.remove(&number) => *bytes += payload.len() as u64,
                _ => *bad += 1,
            },
            Some(Visit::Echo) => drop(server.send_aged(peer, channel, payload, age)),
            _ => {}
        },
        Event::Closed { peer, .. } => drop(visits.remove(&peer)),
        _ => {}
    }
    Ok(())
}

fn on_round(server: &mut Server, peer: PeerId, visit: &mut Visit) {
    match visit {
        Visit::Echo => {}
        Visit::Pour { channel, bytes, number } => {
            // A full queue ends the turn, and so does a connection that is not open yet.
            while server.send(peer, *channel, message(*number, *bytes)).is_ok() {
                *number += 1;
            }
        }
        Visit::Drain { bytes, bad, told, .. } => {
            if told.elapsed() >= TOLD_EVERY {
                let words = format!("{bytes} {bad}");
                *told = Instant::now();
                let _ = server.send(peer, 0, words);
            }
        }
    }
}

/// A message of which each byte is known: its number, then bytes that count up from it.
fn message(number: u64, bytes: usize) -> Bytes {
    let fill = (8..bytes.max(8)).map(|at| (number as usize).wrapping_add(at) as u8);
    number.to_le_bytes().into_iter().chain(fill).collect()
}

/// The number of a message that came as it was sent.
fn number_of(payload: &[u8]) -> Option<u64> {
    let number = u64::from_le_bytes(*payload.first_chunk()?);
    let is_good = (8..).zip(&payload[8..]).all(|(at, byte)| *byte == (number as usize).wrapping_add(at) as u8);
    is_good.then_some(number)
}

/// The native client of the experiment: all entities' updates at each tick, each on its own channel, and how long each
/// took from its tick to the server and back.
fn echo(url: &str, seconds: &str) -> Result<(), Failure> {
    let ticks = seconds.parse::<u32>()? * TICKS_PER_SECOND;
    let mut client = Client::connect(url, b"echo", ClientConfig::default())?;
    await_connection(&mut client)?;
    let began = Instant::now() + Duration::from_millis(200);
    let (mut tick, mut round_trips, mut bad) = (0, Vec::new(), 0_u64);
    let mut next = vec![0; usize::from(ENTITIES)];
    let due = |tick: u32| began + Duration::from_secs(1) * tick / TICKS_PER_SECOND;
    while Instant::now() < due(ticks) + Duration::from_secs(2) && round_trips.len() < expected(ticks) {
        while tick < ticks && Instant::now() >= due(tick) {
            for entity in 0..ENTITIES {
                send_update(&mut client, entity, tick)?;
            }
            client.flush()?;
            tick += 1;
        }
        let until = if tick < ticks { due(tick) } else { Instant::now() + Duration::from_millis(10) };
        client.wait(until.saturating_duration_since(Instant::now()));
        while let Some(event) = client.poll_event() {
            match event {
                Event::Message { channel, payload, .. } => {
                    let of = u32::from_le_bytes(*payload.first_chunk().ok_or("an update without its tick")?);
                    let next = next.get_mut(usize::from(channel)).ok_or("no entity of ours")?;
                    bad += u64::from(of != *next);
                    *next = of + 1;
                    round_trips.push(Instant::now().saturating_duration_since(due(of)).as_nanos() as u64);
                }
                Event::Closed { close, .. } => return Err(close.reason_text().into()),
                _ => {}
            }
        }
    }
    let lost = expected(ticks) - round_trips.len();
    println!("{}", serde_json::json!({ "roundTrips": round_trips, "lost": lost, "bad": bad }));
    client.close(code::NONE, "done", Duration::from_millis(200));
    Ok(())
}

fn expected(ticks: u32) -> usize {
    ticks as usize * usize::from(ENTITIES)
}

fn await_connection(client: &mut Client) -> Result<(), Failure> {
    loop {
        client.wait(Duration::from_millis(100));
        match client.poll_event() {
            Some(Event::Connected { .. }) => return Ok(()),
            Some(Event::Closed { close, .. }) => return Err(close.reason_text().into()),
            _ => {}
        }
    }
}

fn send_update(client: &mut Client, entity: u16, tick: u32) -> Result<(), Failure> {
    let mut update = vec![entity as u8; UPDATE_BYTES];
    update[..4].copy_from_slice(&tick.to_le_bytes());
    match client.send(entity, update) {
        Err(error) if error.reason != SendRefusal::QueueFull => Err(error.into()),
        _ => Ok(()),
    }
}
