//! A server of a fleet while NATS is away: what its ticks cost, what becomes of its players, and how much memory waits.
//!
//! ```text
//! cargo run --release -p skipstone-fleet --example outage -- 60 100
//! ```
//! The numbers: seconds without NATS, and players. Their clients are in this process; the ticks' processor time counts
//! the game loop's thread alone.

use nix::time::{ClockId, clock_gettime};
use skipstone::{Client, ClientConfig, Event, PeerId, Security, Server, ServerConfig, Threading};
use skipstone_fleet::bus::{Bus, BusSettings, BusState};
use skipstone_fleet::directory::{
    DirectoryDriver, DirectoryEvent, DirectorySettings, NodeName, NodeStatus, RoomName, RoomPolicy,
};
use skipstone_fleet::groups::{Delivery, GroupName, GroupSettings, GroupsDriver};
use skipstone_fleet::local::{LocalNats, LocalSettings};
use std::collections::BTreeSet;
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let away: u64 = arguments.next().map_or(Ok(60), |text| text.parse())?;
    let players: usize = arguments.next().map_or(Ok(100), |text| text.parse())?;
    let mut nats = LocalNats::start(LocalSettings::default())?;
    let mut node = Node::start(&nats.url())?;
    let (url, is_over) = (node.server.url(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let playing = scope.spawn(|| play(&url, players, &is_over).map_err(|error| error.to_string()));
        let outcome = (|| {
            while node.players.len() < players || !node.has_room {
                node.tick()?;
                std::thread::sleep(Duration::from_millis(1));
            }
            node.run(Duration::from_secs(5), "before, not counted")?;
            node.run(Duration::from_secs(away), "with NATS")?;
            nats.kill();
            node.run(Duration::from_secs(5), "NATS is killed, not counted")?;
            node.run(Duration::from_secs(away), "without NATS")?;
            nats.restart()?;
            node.run(Duration::from_secs(5), "NATS is back, not counted")?;
            node.run(Duration::from_secs(away), "with NATS again")
        })();
        is_over.store(true, Ordering::Relaxed);
        let heard = playing.join().expect("no client panics")?;
        println!("{heard} messages heard by {players} players, of whom {} lost the connection", node.lost);
        outcome
    })
}

struct Node {
    server: Server,
    bus: Bus,
    directory: DirectoryDriver,
    groups: GroupsDriver,
    chat: GroupName,
    room: RoomName,
    players: BTreeSet<PeerId>,
    has_room: bool,
    lost: usize,
}

impl Node {
    fn start(url: &str) -> Result<Node, Box<dyn Error>> {
        let security = Some(Security::self_signed()?);
        let server = Server::start(ServerConfig { security, ..ServerConfig::new("127.0.0.1:0".parse()?) })?;
        let bus = Bus::connect(BusSettings::new(url.parse()?))?;
        let mut settings = DirectorySettings::of_this_process(NodeName::new("n1")?)?;
        settings.address = server.url();
        let groups = GroupsDriver::start(&bus, GroupSettings::new(NodeName::new("n1")?, settings.process));
        let mut directory = DirectoryDriver::start(&bus, "fleet", settings)?;
        directory.set_status(NodeStatus { load: 0, capacity: 1_000, is_draining: false });
        let (chat, room) = (GroupName::new("chat")?, RoomName::new("lobby")?);
        let mut node =
            Node { server, bus, directory, groups, chat, room, players: BTreeSet::new(), has_room: false, lost: 0 };
        node.groups.join(&node.chat, Delivery::Reliable)?;
        Ok(node)
    }

    /// Ticks for this long, and says what they cost.
    fn run(&mut self, time: Duration, name: &str) -> Result<(), Box<dyn Error>> {
        let (mut walls, mut cpus) = (Vec::new(), Vec::new());
        let (began, before) = (Instant::now(), self.bus.stats());
        let mut next = began;
        while began.elapsed() < time {
            let (at, cpu) = (Instant::now(), cpu_time()?);
            self.tick()?;
            cpus.push(cpu_time()? - cpu);
            walls.push(at.elapsed());
            next += TICK;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        let after = self.bus.stats();
        println!("{name}: {} ticks", walls.len());
        println!("  processor time of a tick: {}", shown(&mut cpus));
        println!("  from its begin to its end: {}", shown(&mut walls));
        println!(
            "  memory {} MiB, {} KiB of it wait for NATS and {} KiB are kept for others; refused {}, {}",
            resident_mib()?,
            after.waiting_bytes >> 10,
            self.groups.stats().kept_bytes >> 10,
            after.refused - before.refused,
            if self.bus.state() == BusState::Connected { "connected" } else { "away" },
        );
        Ok(())
    }

    fn tick(&mut self) -> Result<(), Box<dyn Error>> {
        while let Some(event) = self.bus.poll() {
            let _ = self.directory.handle(event).and_then(|event| self.groups.handle(event));
        }
        while let Some(event) = self.directory.poll(&self.bus) {
            match event {
                DirectoryEvent::Joined => drop(self.directory.claim(&self.room, RoomPolicy::Casual)),
                DirectoryEvent::RoomOwned { .. } => self.has_room = true,
                _ => {}
            }
        }
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Requested { peer, .. } => self.server.accept(peer)?,
                Event::Connected { peer, .. } => drop(self.players.insert(peer)),
                Event::Closed { peer, .. } => self.lost += usize::from(self.players.remove(&peer)),
                _ => {}
            }
        }
        for peer in &self.players {
            let _ = self.server.send(*peer, 0, vec![0; 200]);
        }
        // An unsent message is dropped by the queue of groups, and counted.
        let _ = self.groups.send(&self.chat, vec![0; 400]);
        self.groups.flush(&self.bus);
        while self.groups.poll(&self.bus).is_some() {}
        self.server.flush()?;
        Ok(())
    }
}

/// All players in one thread; the messages that they heard.
fn play(url: &str, players: usize, is_over: &AtomicBool) -> Result<u64, Box<dyn Error>> {
    let config = || ClientConfig { threading: Threading::Stepped, ..ClientConfig::default() };
    let mut clients = (0..players).map(|_| Client::connect(url, b"player", config())).collect::<Result<Vec<_>, _>>()?;
    let mut heard = 0;
    while !is_over.load(Ordering::Relaxed) {
        for client in &mut clients {
            client.drive(Duration::ZERO)?;
            while let Some(event) = client.poll_event() {
                heard += u64::from(matches!(event, Event::Message { .. }));
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(heard)
}

/// Of this thread.
fn cpu_time() -> Result<Duration, Box<dyn Error>> {
    Ok(Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?))
}

fn resident_mib() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split(' ').nth(1).ok_or("no figures")?.parse()?;
    Ok((pages * 4_096) >> 20)
}

fn shown(times: &mut [Duration]) -> String {
    times.sort();
    let [p50, p99, p998] = [0.5, 0.99, 0.998].map(|share| times[((times.len() - 1) as f64 * share).round() as usize]);
    format!("p50 {p50:?}, p99 {p99:?}, p99.8 {p998:?}")
}

/// 60 Hz.
const TICK: Duration = Duration::from_micros(16_667);
