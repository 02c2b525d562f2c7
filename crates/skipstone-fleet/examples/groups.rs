//! What a message of a group costs across nodes, over a `nats-server` that this program starts: its latency beside that
//! inside one node, its rate beside that of NATS' own client with batches of the same size, and that a node without
//! members receives nothing.
//!
//! ```text
//! cargo run --release -p skipstone-fleet --example groups -- 20
//! ```
//! The number: seconds of each measurement of latency. The rates take about a minute.

use bytes::Bytes;
use futures_util::StreamExt;
use skipstone_fleet::bus::{Bus, BusSettings};
use skipstone_fleet::directory::NodeName;
use skipstone_fleet::groups::{Delivery, GroupEvent, GroupName, GroupSettings, GroupsDriver};
use skipstone_fleet::local::{LocalNats, LocalSettings};
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let seconds: u64 = std::env::args().nth(1).map_or(Ok(20), |text| text.parse())?;
    let nats = LocalNats::start(LocalSettings::default())?;
    let url = nats.url();

    for (pause, name) in [(Pause::Sleep, "polls each millisecond"), (Pause::Bus, "waits for the bus")] {
        let latency = latency(&url, Duration::from_secs(seconds), pause)?;
        println!("one group, {TICK_HZ} Hz, {PER_TICK} messages a tick, a game loop that {name}:");
        println!("  inside the node: {}", shown(&latency.inside));
        println!("  across nodes:    {}", shown(&latency.across));
        let more = at(&latency.across, 0.99).saturating_sub(at(&latency.inside, 0.99));
        println!("  more at p99: {more:?} (at most 2 ms wanted)");
        println!("  at the bus of a node without members: {} messages", latency.elsewhere);
    }

    println!("messages of {MESSAGE_BYTES} bytes, as many as go, {} s each:", RATE_TIME.as_secs());
    println!("  per batch   groups, reliable   groups, unreliable   NATS' client, the same batches");
    for per_batch in [200, 50, 10, 1] {
        let reliable = rate(&url, Delivery::Reliable, per_batch)?;
        let unreliable = rate(&url, Delivery::Unreliable, per_batch)?;
        let client = client_rate(&url, per_batch)?;
        println!("  {per_batch:>9} {reliable:>16.0}/s {unreliable:>18.0}/s {client:>18.0}/s");
    }
    Ok(())
}

struct Latency {
    inside: Vec<Duration>,
    across: Vec<Duration>,
    elsewhere: u64,
}

/// What the receiver's game loop does between its turns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    Sleep,
    Bus,
}

/// Node a sends; its own members and those of node b receive; node c has none.
fn latency(url: &str, time: Duration, pause: Pause) -> Result<Latency, Box<dyn Error>> {
    let (mut a, mut b, c) = (Node::start(url, "a")?, Node::start(url, "b")?, Node::start(url, "c")?);
    let group = GroupName::new("bench")?;
    for node in [&mut a, &mut b] {
        node.groups.join(&group, Delivery::Reliable)?;
        node.settle()?;
    }
    let before = c.bus.stats().received;
    let (began, is_over) = (Instant::now(), AtomicBool::new(false));
    let receive = |node: &mut Node, times: &mut Vec<Duration>| {
        node.poll(|payload| {
            let sent = Duration::from_nanos(u64::from_be_bytes(payload[..8].try_into().expect("a time")));
            times.push(began.elapsed() - sent);
        });
    };
    let (mut inside, mut across) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                receive(&mut b, &mut across);
                match pause {
                    Pause::Sleep => std::thread::sleep(LOOP),
                    Pause::Bus => b.wait(),
                }
            }
        });
        let mut next = began;
        while began.elapsed() < time {
            if Instant::now() >= next {
                next += Duration::from_secs(1) / TICK_HZ;
                for _ in 0..PER_TICK {
                    let mut message = vec![7; MESSAGE_BYTES];
                    message[..8].copy_from_slice(&(began.elapsed().as_nanos() as u64).to_be_bytes());
                    a.groups.send(&group, message).expect("it is polled");
                }
            }
            receive(&mut a, &mut inside);
            std::thread::sleep(LOOP);
        }
        std::thread::sleep(LOOP * 100);
        is_over.store(true, Ordering::Relaxed);
    });
    if across.len() != inside.len() {
        return Err(format!("{} messages inside, and {} across nodes", inside.len(), across.len()).into());
    }
    inside.sort();
    across.sort();
    Ok(Latency { inside, across, elsewhere: c.bus.stats().received - before })
}

/// Messages in a second from node to node, in batches of so many.
fn rate(url: &str, delivery: Delivery, per_batch: usize) -> Result<f64, Box<dyn Error>> {
    let (mut a, mut b) = (Node::start(url, "a")?, Node::start(url, "b")?);
    let group = GroupName::new("bench")?;
    for node in [&mut a, &mut b] {
        node.groups.join(&group, delivery)?;
        node.settle()?;
    }
    let (received, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let payload = Bytes::from(vec![7; MESSAGE_BYTES]);
    let began = Instant::now();
    let (sent, took) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let mut count = 0;
                b.poll(|_| count += 1);
                received.fetch_add(count, Ordering::Relaxed);
                std::thread::sleep(LOOP);
            }
        });
        let mut sent = 0;
        while began.elapsed() < RATE_TIME {
            let is_behind = sent - received.load(Ordering::Relaxed) > AHEAD_MAX;
            match is_behind || a.bus.stats().waiting_bytes > WAITING_MAX {
                true => std::thread::sleep(LOOP / 5),
                false => {
                    for _ in 0..per_batch {
                        a.groups.send(&group, payload.clone()).expect("it is polled");
                    }
                    sent += per_batch as u64;
                }
            }
            a.poll(|_| {});
        }
        let until = Instant::now() + PATIENCE;
        while received.load(Ordering::Relaxed) < sent && Instant::now() < until {
            a.poll(|_| {});
            std::thread::sleep(LOOP / 5);
        }
        let took = began.elapsed();
        is_over.store(true, Ordering::Relaxed);
        (sent, took)
    });
    match received.into_inner() {
        all if all == sent => Ok(sent as f64 / took.as_secs_f64()),
        some => Err(format!("{some} of {sent} messages arrived").into()),
    }
}

/// The same batches by NATS' own client.
fn client_rate(url: &str, per_batch: usize) -> Result<f64, Box<dyn Error>> {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (received, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let batch = Bytes::from(vec![7; per_batch * (MESSAGE_BYTES + 4) + 64]);
    let (ready, is_ready) = std::sync::mpsc::channel();
    let (receiving, sending) = (runtime()?, runtime()?);
    let rate = std::thread::scope(|scope| {
        scope.spawn(|| {
            receiving.block_on(async {
                let options = async_nats::ConnectOptions::new().subscription_capacity(1 << 20);
                let client = options.connect(url).await.expect("it runs");
                let mut messages = client.subscribe("floor").await.expect("it is allowed");
                client.flush().await.expect("it is there");
                let _ = ready.send(());
                while !is_over.load(Ordering::Relaxed) {
                    if let Ok(Some(_)) = tokio::time::timeout(LOOP * 10, messages.next()).await {
                        received.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        });
        is_ready.recv().expect("it subscribes");
        let rate = sending.block_on(async {
            let client = async_nats::connect(url).await.expect("it runs");
            let (began, mut sent) = (Instant::now(), 0);
            while began.elapsed() < RATE_TIME {
                match (sent - received.load(Ordering::Relaxed)) * per_batch as u64 > AHEAD_MAX {
                    true => tokio::time::sleep(LOOP / 5).await,
                    false => {
                        client.publish("floor", batch.clone()).await.expect("it is there");
                        sent += 1;
                    }
                }
            }
            client.flush().await.expect("it is there");
            while received.load(Ordering::Relaxed) < sent && began.elapsed() < RATE_TIME + PATIENCE {
                tokio::time::sleep(LOOP / 5).await;
            }
            sent as f64 * per_batch as f64 / began.elapsed().as_secs_f64()
        });
        is_over.store(true, Ordering::Relaxed);
        rate
    });
    Ok(rate)
}

struct Node {
    bus: Bus,
    groups: GroupsDriver,
}

impl Node {
    fn start(url: &str, name: &str) -> Result<Node, Box<dyn Error>> {
        let bus = Bus::connect(BusSettings { events_max: 1 << 20, ..BusSettings::new(url.parse()?) })?;
        let process = std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_nanos() as u64;
        let groups = GroupsDriver::start(&bus, GroupSettings::new(NodeName::new(name)?, process));
        Ok(Node { bus, groups })
    }

    /// The subscriptions are with the server.
    fn settle(&mut self) -> Result<(), Box<dyn Error>> {
        self.groups.flush(&self.bus);
        Ok(self.bus.flush(PATIENCE)?)
    }

    /// Waits for something to poll.
    fn wait(&mut self) {
        if let Some(event) = self.bus.wait(LOOP) {
            self.groups.handle(event);
        }
    }

    /// One turn of a game loop, as far as groups have a part in it.
    fn poll(&mut self, mut receive: impl FnMut(&Bytes)) {
        while let Some(event) = self.bus.poll() {
            self.groups.handle(event);
        }
        self.groups.flush(&self.bus);
        while let Some(event) = self.groups.poll(&self.bus) {
            match event {
                GroupEvent::Message { payload, .. } => receive(&payload),
                other => panic!("{other:?}"),
            }
        }
    }
}

fn shown(sorted: &[Duration]) -> String {
    let [p50, p99, p998] = [0.5, 0.99, 0.998].map(|share| at(sorted, share));
    format!("p50 {p50:?}, p99 {p99:?}, p99.8 {p998:?} of {} messages", sorted.len())
}

fn at(sorted: &[Duration], share: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

const TICK_HZ: u32 = 60;
const PER_TICK: usize = 50;
const MESSAGE_BYTES: usize = 100;
/// How often the game loops of servers poll.
const LOOP: Duration = Duration::from_millis(1);
const RATE_TIME: Duration = Duration::from_secs(4);
/// Messages that were sent and not received, so that no queue overflows.
const AHEAD_MAX: u64 = 50_000;
const WAITING_MAX: u64 = 4 << 20;
const PATIENCE: Duration = Duration::from_secs(10);
