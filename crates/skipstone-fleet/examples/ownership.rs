//! One owner of each room, measured against real servers of NATS, which this program starts:
//!
//! ```text
//! cargo run --release -p skipstone-fleet --example ownership -- create 1000   # nodes that claim one room at once
//! cargo run --release -p skipstone-fleet --example ownership -- freeze 60     # seconds for which the owner is frozen
//! cargo run --release -p skipstone-fleet --example ownership -- leader 100    # joins a second, the store's leader killed
//! ```
//! Each fails if there are two owners, a stale message, a takeover after 20 s, or a p99 of joins of 100 ms or more.

use bytes::Bytes;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use skipstone::{Client, ClientConfig, Event, Security, Server, ServerConfig, Threading};
use skipstone_fleet::bus::{Bus, BusEvent, BusSettings, KvOutcome, KvSettings};
use skipstone_fleet::directory::{
    DirectoryDriver, DirectoryEvent, DirectorySettings, Epoch, EpochGate, GateVerdict, NodeName, NodeStatus, Placement,
    RoomName, RoomPolicy,
};
use skipstone_fleet::local::{LocalNats, LocalSettings};
use skipstone_fleet::tickets::{FleetKeys, Ticket, TicketDesk, UnixTime};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["create", nodes] => create(nodes.parse()?),
        ["freeze", seconds] => freeze(Duration::from_secs(seconds.parse()?)),
        ["leader", joins] => leader(joins.parse()?),
        ["owner", url] => own(url),
        _ => Err("say create NODES, freeze SECONDS or leader JOINS_PER_SECOND".into()),
    }
}

/// All nodes claim one room at once; and as many calls create one entry at once.
fn create(count: usize) -> Result<(), Failure> {
    let nats = LocalNats::start(LocalSettings::default())?;
    let url = nats.url();
    let buses = (0..BUSES).map(|_| bus(&url)).collect::<Result<Vec<Bus>, Failure>>()?;
    one_entry(&buses, count)?;

    let mut nodes = Vec::new();
    for index in 0..count {
        // Their leases last long, so that renewals of so many nodes in one process leave time for the claims.
        let mut settings = settings(&format!("n{index}"));
        (settings.lease, settings.renew_every) = (Duration::from_secs(300), Duration::from_secs(100));
        nodes.push(DirectoryDriver::start(&buses[index % BUSES], "fleet", settings)?);
    }
    let (mut joined, mut failed, mut owners) = (0, 0, Vec::new());
    let mut turn = |nodes: &mut [DirectoryDriver]| {
        for (at, bus) in buses.iter().enumerate() {
            while let Some(mut event) = bus.poll() {
                for node in nodes.iter_mut().skip(at).step_by(BUSES) {
                    match node.handle(event) {
                        Some(others) => event = others,
                        None => break,
                    }
                }
            }
        }
        for (index, node) in nodes.iter_mut().enumerate() {
            while let Some(event) = node.poll(&buses[index % BUSES]) {
                match event {
                    DirectoryEvent::Joined => joined += 1,
                    DirectoryEvent::ClaimFailed { .. } => failed += 1,
                    DirectoryEvent::RoomOwned { epoch, .. } => owners.push((index, epoch)),
                    other => panic!("{other:?}"),
                }
            }
        }
        (joined, failed, owners.clone())
    };
    let began = Instant::now();
    while turn(&mut nodes).0 < count {
        if began.elapsed() > LONGEST {
            return Err("not all nodes joined".into());
        }
    }
    println!("{count} nodes joined in {:?}", began.elapsed());
    let (lobby, began) = (RoomName::new("lobby")?, Instant::now());
    for node in &mut nodes {
        node.claim(&lobby, RoomPolicy::Unique)?;
    }
    let ended = |(_, failed, owners): &(usize, usize, Vec<_>)| failed + owners.len() >= count;
    let mut state = turn(&mut nodes);
    while !ended(&state) && began.elapsed() < LONGEST {
        state = turn(&mut nodes);
    }
    let (_, failed, owners) = state;
    println!("{count} claims of one room at once: owners {owners:?}, {failed} refused, in {:?}", began.elapsed());
    match owners.len() == 1 && failed == count - 1 {
        true => Ok(()),
        false => Err("there is not exactly one owner".into()),
    }
}

fn one_entry(buses: &[Bus], count: usize) -> Result<(), Failure> {
    let stores = buses.iter().map(|bus| bus.kv("entries", KvSettings::default()));
    let stores = stores.collect::<Result<Vec<_>, _>>()?;
    let began = Instant::now();
    for index in 0..count {
        stores[index % BUSES].create(&buses[index % BUSES], "room.lobby", index.to_string())?;
    }
    let (mut made, mut found) = (Vec::new(), BTreeMap::<(Bytes, u64), usize>::new());
    while made.len() + found.values().sum::<usize>() < count {
        for bus in buses {
            match bus.wait(Duration::from_millis(1)) {
                Some(BusEvent::KvAnswer(answer)) => match answer.outcome {
                    KvOutcome::Stored { revision } => made.push(revision),
                    KvOutcome::Exists { value, revision } => *found.entry((value, revision)).or_default() += 1,
                    other => return Err(format!("{other:?}").into()),
                },
                Some(_) => {}
                None if began.elapsed() > LONGEST => return Err("not all calls were answered".into()),
                None => {}
            }
        }
    }
    println!(
        "{count} creates of one entry at once: made {} time, in {:?}; the others found",
        made.len(),
        began.elapsed()
    );
    println!("  {found:?}");
    match made.len() == 1 && found.len() == 1 && found.keys().all(|(_, revision)| *revision == made[0]) {
        true => Ok(()),
        false => Err("there is not exactly one entry".into()),
    }
}

/// A process that owns a room is frozen; another node takes the room over; the first goes on.
fn freeze(time: Duration) -> Result<(), Failure> {
    let nats = LocalNats::start(LocalSettings::default())?;
    let bus = bus(&nats.url())?;
    let room = RoomName::new("lobby")?;
    let messages = bus.subscribe(SUBJECT)?;
    let mut directory = DirectoryDriver::start(&bus, "fleet", settings("second"))?;
    let mut owner = Command::new(std::env::current_exe()?).args(["owner", &nats.url()]).stdin(Stdio::null()).spawn()?;
    let pid = Pid::from_raw(i32::try_from(owner.id())?);
    let mut gate = EpochGate::new(16);
    let (mut taken, mut stale) = (BTreeMap::<Epoch, u64>::new(), 0);
    let (mut frozen_at, mut own): (Option<Instant>, Option<(Epoch, Duration)>) = (None, None);
    let (mut thawed_at, mut stale_taken) = (None, 0);
    let began = Instant::now();
    loop {
        while let Some(event) = bus.wait(Duration::from_millis(1)) {
            let Some(BusEvent::Message(message)) = directory.handle(event) else { continue };
            if message.subscription != messages {
                continue;
            }
            let epoch = Epoch(u64::from_be_bytes(message.payload[..8].try_into()?));
            match gate.see(&room, epoch) {
                GateVerdict::Take => {
                    *taken.entry(epoch).or_default() += 1;
                    stale_taken += u64::from(own.is_some_and(|(own, _)| epoch < own));
                }
                _ => stale += 1,
            }
        }
        while let Some(event) = directory.poll(&bus) {
            match (event, frozen_at) {
                (DirectoryEvent::RoomOwned { epoch, .. }, Some(frozen)) => {
                    gate.see(&room, epoch);
                    own = Some((epoch, frozen.elapsed()));
                    println!("taken over after {:?} with epoch {}", frozen.elapsed(), epoch.0);
                }
                (other, _) => println!("second: {other:?}"),
            }
        }
        let elapsed = began.elapsed();
        match (frozen_at, thawed_at) {
            (None, _) if taken.values().sum::<u64>() > 100 => {
                kill(pid, Signal::SIGSTOP)?;
                frozen_at = Some(Instant::now());
                println!("the owner is frozen after {} messages, for {time:?}", taken.values().sum::<u64>());
            }
            (Some(frozen), None) if frozen.elapsed() >= time => {
                kill(pid, Signal::SIGCONT)?;
                thawed_at = Some(Instant::now());
            }
            (_, Some(thawed)) if thawed.elapsed() > Duration::from_secs(10) => break,
            _ if elapsed > time + LONGEST => break,
            _ => {}
        }
    }
    owner.kill()?;
    owner.wait()?;
    let Some((epoch, after)) = own else { return Err("nobody took the room over".into()) };
    println!("taken by epoch {taken:?}; after the takeover {stale_taken} of the old epoch were taken, {stale} dropped");
    match stale_taken == 0 && after < Duration::from_secs(20) && taken.keys().all(|taken| *taken <= epoch) {
        true => Ok(()),
        false => Err("a stale message was taken, or the takeover was late".into()),
    }
}

/// The owner that is frozen: it sends as often as it can, each message with the epoch that it believes in.
fn own(url: &str) -> Result<(), Failure> {
    let bus = bus(url)?;
    let room = RoomName::new("lobby")?;
    let mut directory = DirectoryDriver::start(&bus, "fleet", settings("first"))?;
    loop {
        let epoch = directory.epoch(&room);
        // WHY: it is most probably frozen here, with an epoch that it has asked for and not used.
        std::thread::sleep(Duration::from_millis(2));
        if let Some(epoch) = epoch {
            bus.publish(SUBJECT, epoch.0.to_be_bytes().to_vec())?;
        }
        while let Some(event) = bus.poll() {
            directory.handle(event);
        }
        while let Some(event) = directory.poll(&bus) {
            println!("first: {event:?}");
            if event == DirectoryEvent::Joined {
                let _ = directory.claim(&room, RoomPolicy::Unique);
            }
        }
    }
}

/// Players join rooms that exist, and the store's leader is killed.
fn leader(per_second: u32) -> Result<(), Failure> {
    let mut servers = LocalNats::cluster(3)?;
    let urls: Vec<String> = servers.iter().map(LocalNats::url).collect();
    let bus = bus(&urls.join(","))?;
    let security = Security::self_signed()?;
    let mut server =
        Server::start(ServerConfig { security: Some(security), ..ServerConfig::new("127.0.0.1:0".parse()?) })?;
    let mut settings = settings("n1");
    settings.address = server.url();
    let mut directory = DirectoryDriver::start(&bus, "fleet", settings)?;
    directory.set_status(NodeStatus { load: 0, capacity: 1_000_000, is_draining: false });
    let rooms = (0..ROOMS).map(|index| RoomName::new(&format!("room-{index}"))).collect::<Result<Vec<_>, _>>()?;
    let key = FleetKeys::generate()?;
    let keys = || FleetKeys::parse(&key);
    let (signer, mut desk) = (keys()?.signer()?, TicketDesk::new(keys()?, NodeName::new("n1")?));
    let (mut owned, mut times, mut joining) = (0, Vec::new(), Vec::<Joining>::new());
    let (mut killed, mut asked, mut wanted) = (None, None, 0);
    let mut began = None;
    let start = Instant::now();
    loop {
        while let Some(event) = bus.poll() {
            match directory.handle(event) {
                Some(BusEvent::Answer { request, result }) if asked == Some(request) => {
                    let name = leader_of(&result?)?;
                    let index: usize = name.trim_start_matches("local-").parse()?;
                    servers[index].kill();
                    println!("after {:?}: {name} led the store, and is killed", start.elapsed());
                    killed = Some(Instant::now());
                }
                Some(BusEvent::Disconnected { .. }) => {
                    println!("after {:?}: that was the node's server", start.elapsed())
                }
                _ => {}
            }
        }
        while let Some(event) = directory.poll(&bus) {
            match event {
                DirectoryEvent::Joined => {
                    rooms.iter().try_for_each(|room| directory.claim(room, RoomPolicy::Unique))?
                }
                DirectoryEvent::RoomOwned { .. } => owned += 1,
                other => return Err(format!("{other:?}").into()),
            }
        }
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, token, .. } = event {
                desk.admit(&token, UnixTime::now(), |room| directory.epoch(room))?;
                server.accept(peer)?;
            }
        }
        server.flush()?;
        let now = Instant::now();
        let began = match began {
            // The watch tells of them a moment after the answers.
            None if owned == ROOMS && rooms.iter().all(|room| is_placed(&directory.place(room))) => *began.insert(now),
            None if start.elapsed() > LONGEST => return Err(format!("{owned} rooms").into()),
            None => continue,
            Some(began) => began,
        };
        let passed = now - began;
        if passed > Duration::from_secs(5) && asked.is_none() {
            asked = Some(bus.request("$JS.API.STREAM.INFO.KV_fleet", "", Duration::from_secs(2))?);
        }
        if passed < JOIN_TIME && passed.as_secs_f64() * f64::from(per_second) > f64::from(wanted) {
            wanted += 1;
            joining.push(Joining::new(&mut directory, &rooms[wanted as usize % ROOMS], &signer, now)?);
        }
        joining.retain_mut(|player| match player.is_in() {
            Some(true) => {
                times.push((player.began, player.began.elapsed()));
                false
            }
            Some(false) => true,
            None => panic!("a player was refused"),
        });
        if passed > JOIN_TIME && joining.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    let killed = killed.ok_or("the leader is not known")?;
    let after = times.iter().filter(|(at, _)| *at >= killed && *at < killed + Duration::from_secs(10));
    let (after, all) = (sorted(after), sorted(times.iter()));
    println!("joins to rooms that exist: {}", shown(&all));
    println!("  in the 10 s after the leader was killed: {}", shown(&after));
    match at(&after, 0.99) < Duration::from_millis(100) {
        true => Ok(()),
        false => Err("p99 is not below 100 ms".into()),
    }
}

/// A player on the way into a room: placed, with a ticket, connecting.
struct Joining {
    began: Instant,
    client: Client,
}

impl Joining {
    fn new(
        directory: &mut DirectoryDriver,
        room: &RoomName,
        signer: &skipstone_fleet::tickets::TicketSigner,
        began: Instant,
    ) -> Result<Joining, Failure> {
        let placed = directory.place(room);
        let Placement::Room { node, address, epoch } = placed else { return Err(format!("{room}: {placed:?}").into()) };
        let ticket = Ticket { player: "zoe".into(), room: room.clone(), node, epoch };
        let token = signer.issue(&ticket, UnixTime::now())?;
        let config = ClientConfig { threading: Threading::Stepped, ..ClientConfig::default() };
        Ok(Joining { began, client: Client::connect(&address, token.as_bytes(), config)? })
    }

    /// Nothing if it was refused.
    fn is_in(&mut self) -> Option<bool> {
        self.client.drive(Duration::ZERO).ok()?;
        match self.client.poll_event() {
            Some(Event::Connected { .. }) => Some(true),
            Some(Event::Closed { .. }) => None,
            _ => Some(false),
        }
    }
}

fn is_placed(placement: &Placement) -> bool {
    matches!(placement, Placement::Room { .. })
}

fn leader_of(answer: &[u8]) -> Result<String, Failure> {
    let info: serde_json::Value = serde_json::from_slice(answer)?;
    Ok(info["cluster"]["leader"].as_str().ok_or("the store has no leader")?.into())
}

fn bus(url: &str) -> Result<Bus, Failure> {
    let settings = BusSettings { events_max: 1 << 20, event_bytes_max: 1 << 30, ..BusSettings::new(url.parse()?) };
    Ok(Bus::connect(settings)?)
}

fn settings(name: &str) -> DirectorySettings {
    DirectorySettings::of_this_process(NodeName::new(name).expect("a name")).expect("random numbers")
}

fn sorted<'a>(times: impl Iterator<Item = &'a (Instant, Duration)>) -> Vec<Duration> {
    let mut times: Vec<Duration> = times.map(|(_, took)| *took).collect();
    times.sort();
    times
}

fn shown(sorted: &[Duration]) -> String {
    let [p50, p99, longest] = [0.5, 0.99, 1.0].map(|share| at(sorted, share));
    format!("p50 {p50:?}, p99 {p99:?}, longest {longest:?} of {}", sorted.len())
}

fn at(sorted: &[Duration], share: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

const BUSES: usize = 20;
const ROOMS: usize = 100;
const SUBJECT: &str = "rooms.lobby";
const JOIN_TIME: Duration = Duration::from_secs(20);
const LONGEST: Duration = Duration::from_secs(120);
