//! A server that is a node of a fleet: its lease and rooms in the directory, the tickets of its players, their moves
//! from node to node, and the chat of all. The loop polls it each tick and never waits for NATS; while NATS is away,
//! players stay.

mod baggage;
mod chat;
mod flags;
mod travel;

use super::input::LoopEvent;
use crate::fleet_flags::{DIRECTORY, Nats};
pub(super) use baggage::Baggage;
use chat::FleetChat;
pub(crate) use flags::NodeFlags;
use skipstone::Server;
use skipstone_fleet::bus::{Bus, BusEvent, BusState};
use skipstone_fleet::directory::{
    ClaimError, DirectoryDriver, DirectoryEvent, DirectorySettings, NodeName, NodeStatus, RoomName, RoomPolicy,
    deployed_release,
};
use skipstone_fleet::moves::{DrainSettings, MoveNotice, MoveSettings, MovesDriver, NodeEvent};
use skipstone_fleet::tickets::{FleetKeys, TicketDesk, TicketError, UnixTime};
use skipstone_lab::report::format::{bytes, thousands};
use skipstone_lab::report::output;
use skipstone_lab::workload::{Guest, Workload};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use travel::pin_of;
pub(super) use travel::{DrainRun, Handed, Travel, host_and_port};

/// A node at work.
pub(crate) struct FleetNode {
    nats: Nats,
    driver: DirectoryDriver,
    name: NodeName,
    rooms: Vec<RoomName>,
    desk: Option<TicketDesk>,
    status: NodeStatus,
    standing: Standing,
    /// Why NATS was away last, so that each reason is told once.
    trouble: Option<String>,
    pub(super) travel: Travel,
    /// Of a server whose lines go to all clients.
    pub(super) chat: Option<FleetChat>,
}

/// What a node tells its fleet about itself.
pub(crate) struct NodeFacts {
    pub(crate) dashboard: Option<SocketAddr>,
    /// Clients that it takes.
    pub(crate) places: u32,
    pub(crate) workload: Workload,
    /// Whether it generated its certificate, so that clients know it by its fingerprint alone.
    pub(crate) is_pinned: bool,
}

/// What became of the node's name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    Joining,
    Joined,
    Refused(String),
    Left,
}

impl NodeFlags {
    /// Joins the fleet, if there is one: waits for NATS and for the lease, no longer than some seconds. The error is a
    /// sentence about what no waiting mends.
    pub(crate) fn join(&self, server: &Server, facts: &NodeFacts) -> Result<Option<FleetNode>, String> {
        let (Some(fleet), Some(name)) = (&self.fleet, &self.node) else { return Ok(None) };
        let desk = self.keys()?.map(|keys| TicketDesk::new(keys, name.clone()));
        let connected = self.nats.connect_or_wait(fleet, &format!("node {name}"));
        let (nats, away) = connected.map_err(|(_, sentence)| sentence)?;
        let mut settings = DirectorySettings::of_this_process(name.clone()).map_err(|error| error.to_string())?;
        let (url, process) = (self.player_address(&server.url()), settings.process);
        settings.address = url.clone();
        settings.version = version(deployed_release().as_deref());
        settings.metrics = facts.dashboard.map(|dashboard| self.metrics_address(dashboard));
        let chat = (facts.workload == Workload::Broadcast).then(|| FleetChat::start(&nats.bus, name, process));
        let moves = MovesDriver::start(&nats.bus, "serve", MoveSettings::new(name.clone(), process));
        let moves = moves.map_err(|error| error.to_string())?;
        let drain =
            DrainSettings { per_second: self.drain_rate, limit: self.drain_limit.0, ..DrainSettings::default() };
        let address = host_and_port(&url).ok_or_else(|| format!("players cannot be sent to {url}"))?;
        let travel = Travel::new(moves, drain, address, pin_of(&url).filter(|_| facts.is_pinned));
        let driver = DirectoryDriver::start(&nats.bus, DIRECTORY, settings).map_err(|error| error.to_string())?;
        let mut node = FleetNode {
            nats,
            driver,
            name: name.clone(),
            rooms: self.room.clone(),
            desk,
            status: NodeStatus { load: 0, capacity: facts.places, is_draining: false },
            standing: Standing::Joining,
            trouble: None,
            travel,
            chat: chat.transpose()?,
        };
        node.driver.set_status(node.status);
        match away {
            Some(why) => output::complain(format_args!(
                "skipstone serve: {why}; this node joins its fleet as soon as NATS is there"
            )),
            None => node.until(JOIN_MAX, |node| node.standing != Standing::Joining),
        }
        match node.standing {
            Standing::Refused(why) => Err(why),
            _ => Ok(Some(node)),
        }
    }

    /// Checks the file of keys, if there is one.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.keys().map(drop)
    }

    fn keys(&self) -> Result<Option<FleetKeys>, String> {
        let keys = self.fleet_key.as_deref().map(FleetKeys::read).transpose();
        keys.map_err(|error| format!("--fleet-key: {error}"))
    }
}

impl FleetNode {
    /// One tick: tells the load, takes what NATS has brought, and gives lines for the log.
    pub(super) fn tick(&mut self, load: usize, is_draining: bool) -> Vec<String> {
        let status = NodeStatus { load: load as u32, is_draining, ..self.status };
        if status != self.status {
            self.status = status;
            self.driver.set_status(status);
        }
        self.poll()
    }

    /// The next event of the server, or of a player that moves. Another node's question for a place is answered here.
    pub(super) fn poll_input(&mut self, server: &mut Server) -> Option<LoopEvent> {
        loop {
            match self.travel.moves.poll(&self.nats.bus, server)? {
                NodeEvent::Server(event) => return Some(LoopEvent::Server(event)),
                NodeEvent::Move(MoveNotice::Asked { origin, .. }) => {
                    let (load, arriving) = (self.status.load as usize, self.travel.moves.under_way().1);
                    if self.status.is_draining {
                        self.travel.moves.refuse(&origin, &format!("{} gives its own players away", self.name));
                    } else if load + arriving > self.status.capacity as usize {
                        self.travel.moves.refuse(&origin, &format!("{} is full", self.name));
                    } else {
                        // A move that has ended meanwhile needs no place.
                        let _ = self.travel.moves.admit(&origin, &self.travel.address);
                    }
                }
                NodeEvent::Move(notice) => return Some(LoopEvent::Move(notice)),
                _ => {}
            }
        }
    }

    /// The least loaded of the other nodes to which clients of this server can move, and the `HOST:PORT` of clients.
    pub(super) fn place_player(&mut self) -> Option<(NodeName, String)> {
        let travel = &self.travel;
        let (name, url) = self.driver.place_player(|_, record| travel.suits(&record.address))?;
        Some((name, host_and_port(&url)?))
    }

    /// Checks that a player can be moved to this node.
    pub(super) fn destination(&self, name: &str) -> Result<NodeName, String> {
        let name = NodeName::new(name).map_err(|error| error.to_string())?;
        if name == self.name {
            return Err(format!("this is the node {name}"));
        }
        let record = self.driver.living(&name);
        let record =
            record.ok_or_else(|| format!("no node {name} lives in the fleet; `skipstone fleet status` lists them"))?;
        if record.status.is_draining {
            return Err(format!("the node {name} gives its players away"));
        }
        match self.travel.suits(&record.address) {
            true => Ok(name),
            false => Err(format!("the node {name} has another certificate: {SAME_IDENTITY}")),
        }
    }

    /// Whether another node takes players of this one.
    pub(super) fn has_place(&self) -> bool {
        self.driver.has_place(|_, record| self.travel.suits(&record.address)).is_some()
    }

    /// Why no node takes the players of this one, if there are others.
    pub(super) fn why_nowhere(&self) -> Option<String> {
        let (name, _) = self.driver.has_place(|_, _| true).filter(|_| !self.has_place())?;
        Some(format!("players cannot move to the node {name}, which has another certificate: {SAME_IDENTITY}"))
    }

    pub(super) fn bus(&self) -> &Bus {
        &self.nats.bus
    }

    /// Judges the token of a player, where tickets are required.
    pub(super) fn admit(&mut self, token: &[u8]) -> Option<Result<Guest, TicketError>> {
        let driver = &self.driver;
        let admitted = self.desk.as_mut()?.admit(token, UnixTime::now(), |room| driver.epoch(room));
        Some(admitted.map(|ticket| Guest::Chat(ticket.player)))
    }

    /// Leaves the fleet, so that others take over at once. Waits for NATS for a second at most.
    pub(super) fn leave(mut self) {
        self.driver.leave();
        self.until(LEAVE_MAX, |node| node.standing == Standing::Left || node.nats.bus.state() != BusState::Connected);
    }

    /// For `stats`.
    pub(super) fn lines(&self) -> Vec<String> {
        let (bus, directory) = (self.nats.bus.stats(), self.driver.stats());
        let state = match self.nats.bus.state() {
            BusState::Connected => "connected",
            BusState::Disconnected => "away",
            BusState::Ended => "ended",
        };
        let rooms: Vec<&str> =
            self.rooms.iter().filter(|room| self.driver.epoch(room).is_some()).map(RoomName::as_str).collect();
        let rooms = if rooms.is_empty() { "none".to_owned() } else { rooms.join(", ") };
        let mut lines = vec![format!(
            "node {}: NATS {state}, rooms {rooms}, nodes and rooms known {} ({}), waiting for NATS {}, reconnects {}",
            self.name,
            thousands(directory.entries as u64),
            bytes(directory.bytes as u64),
            bytes(bus.waiting_bytes),
            bus.reconnects
        )];
        if let Some(desk) = &self.desk {
            let stats = desk.stats();
            let refused: Vec<String> =
                stats.refused.iter().map(|(why, count)| format!("{why} {}", thousands(*count))).collect();
            let refused = if refused.is_empty() { "none".to_owned() } else { refused.join(", ") };
            lines.push(format!("tickets: admitted {}, refused: {refused}", thousands(stats.admitted)));
        }
        lines.push(self.travel.line());
        lines.extend(self.chat.as_ref().map(FleetChat::line));
        lines
    }

    /// Polls until it is so, for this long at most.
    fn until(&mut self, patience: Duration, is_so: impl Fn(&FleetNode) -> bool) {
        let end = Instant::now() + patience;
        loop {
            self.poll().iter().for_each(|line| output::complain(format_args!("skipstone serve: {line}")));
            if is_so(self) || Instant::now() > end {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn poll(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for _ in 0..EVENTS_MAX {
            let Some(event) = self.nats.bus.poll() else { break };
            let other = self.driver.handle(event).and_then(|event| self.travel.moves.handle(event));
            let other = match &mut self.chat {
                Some(chat) => other.and_then(|event| chat.handle(event)),
                None => other,
            };
            lines.extend(other.and_then(|event| self.on_bus(event)));
        }
        while let Some(event) = self.driver.poll(&self.nats.bus) {
            lines.extend(self.on_directory(event));
        }
        lines
    }

    fn on_bus(&mut self, event: BusEvent) -> Option<String> {
        match event {
            BusEvent::Connected | BusEvent::Reconnected => {
                self.trouble = None;
                Some("NATS is there".into())
            }
            BusEvent::Disconnected { .. } => Some("NATS is away; players stay".into()),
            BusEvent::ConnectFailed { why } | BusEvent::Refused { why } if self.trouble.as_ref() != Some(&why) => {
                self.trouble = Some(why.clone());
                Some(format!("NATS at {}: {why}", self.nats.shown))
            }
            _ => None,
        }
    }

    fn on_directory(&mut self, event: DirectoryEvent) -> Option<String> {
        let name = &self.name;
        match event {
            DirectoryEvent::Joined => {
                self.standing = Standing::Joined;
                let mut lines = vec![format!("node {name} has its lease")];
                lines.extend(self.claim());
                Some(lines.join("; "))
            }
            DirectoryEvent::LeaseEnded => Some(format!("the lease of node {name} has ended; players stay")),
            DirectoryEvent::NameTaken { address } => {
                let why = format!(
                    "--node {name}: a node of that name lives at {address}; choose another name, or end the other"
                );
                self.standing = Standing::Refused(why.clone());
                Some(why)
            }
            DirectoryEvent::Left => {
                self.standing = Standing::Left;
                None
            }
            DirectoryEvent::RoomOwned { room, epoch } => {
                if !self.rooms.contains(&room) && self.rooms.len() < ROOMS_SHOWN_MAX {
                    self.rooms.push(room.clone());
                }
                Some(format!("this node runs the room {room} with epoch {}", epoch.0))
            }
            DirectoryEvent::RoomStopped { room, reason, .. } => {
                Some(format!("this node runs the room {room} no more: {reason:?}"))
            }
            DirectoryEvent::ClaimFailed { room, owner } => Some(format!("the room {room} belongs to the node {owner}")),
            DirectoryEvent::StoreRefused { why } => {
                if self.standing == Standing::Joining {
                    self.standing = Standing::Refused(why.clone());
                }
                Some(format!("the fleet's directory: {why}"))
            }
            _ => None,
        }
    }

    /// Claims the rooms of the flags that are not this node's yet.
    fn claim(&mut self) -> Vec<String> {
        let claims = self.rooms.iter().map(|room| self.driver.claim(room, RoomPolicy::Casual));
        claims
            .filter_map(Result::err)
            .filter(|error| *error != ClaimError::Known)
            .map(|error| error.to_string())
            .collect()
    }
}

/// The program's version, and the release as `skipstone deploy` named it.
fn version(release: Option<&str>) -> String {
    let own = env!("CARGO_PKG_VERSION");
    release.map_or_else(|| own.to_owned(), |release| format!("{own} {release}"))
}

const SAME_IDENTITY: &str =
    "give all nodes the same --identity FILE, or certificates that clients trust by name (--cert)";
/// Events of NATS of one tick: the rest waits in its queue, which is bounded.
const EVENTS_MAX: usize = 4_096;
/// Rooms that were taken over and are listed.
const ROOMS_SHOWN_MAX: usize = 64;
/// Longer than a node of the same name needs to show that it lives.
const JOIN_MAX: Duration = Duration::from_secs(5);
const LEAVE_MAX: Duration = Duration::from_secs(1);
