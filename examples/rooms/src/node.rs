//! A node: a server of the game. Nothing in its loop waits for NATS.

use crate::failure::Failure;
use crate::question::{ENTER, words};
use skipstone::{ChannelRule, DeliveryMode, Event, PeerId, Security, Server, ServerConfig, Settings, code};
use skipstone_fleet::bus::{Bus, BusEvent, BusMessage, BusSettings, SubscriptionId};
use skipstone_fleet::directory::{
    DirectoryDriver, DirectoryEvent, DirectorySettings, Epoch, EpochGate, GateVerdict, NodeName, NodeStatus, Placement,
    RoomName, RoomPolicy,
};
use skipstone_fleet::groups::{Delivery, GroupEvent, GroupName, GroupSettings, GroupsDriver};
use skipstone_fleet::moves::{MoveNotice, MoveOrigin, MoveSettings, MovesDriver, NodeEvent};
use skipstone_fleet::tickets::{FleetKeys, Ticket, TicketDesk, TicketSigner, UnixTime};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Lines of players, and of the chat.
pub const LINES: u16 = 0;
/// Where the players of a room are.
pub const POSITIONS: u16 = 1;
/// Skipstone's, for players that move.
const MOVES: u16 = 2;
/// Rooms that a player may watch.
const WATCHES_MAX: usize = 8;
/// The names of groups are longer than those of rooms, and have the same bound.
const ROOM_BYTES_MAX: usize = 32;
/// 20 Hz.
const TICK: Duration = Duration::from_millis(50);

/// What all nodes of a fleet have in common.
#[derive(Debug)]
pub struct Fleet {
    /// The URL of NATS.
    pub nats: String,
    /// How long a node's rooms are its own without a renewal.
    pub lease: Duration,
    /// Signs and admits tickets.
    keys: String,
    security: Security,
}

impl Fleet {
    /// A fleet at this NATS, with new keys.
    pub fn new(nats: &str, lease: Duration) -> Result<Fleet, Failure> {
        let (keys, security) = (FleetKeys::generate()?, Security::self_signed()?);
        Ok(Fleet { nats: nats.into(), lease, keys, security })
    }
}

/// A node, and all that it has in memory.
#[derive(Debug)]
pub struct Node {
    name: NodeName,
    server: Server,
    bus: Bus,
    directory: DirectoryDriver,
    groups: GroupsDriver,
    moves: MovesDriver,
    desk: TicketDesk,
    signer: TicketSigner,
    enter: SubscriptionId,
    /// Drops positions that a former owner of a room sends.
    gate: EpochGate,
    /// Of players that were admitted and are not connected yet.
    expected: BTreeMap<PeerId, Avatar>,
    players: BTreeMap<PeerId, Avatar>,
    /// Those that were handed over, until it is certain where they are.
    leaving: BTreeMap<PeerId, Avatar>,
}

/// A player in the game.
#[derive(Clone, Debug)]
struct Avatar {
    name: String,
    room: RoomName,
    place: i32,
    watches: BTreeSet<RoomName>,
    /// The room that it wants to change to.
    wish: Option<RoomName>,
}

impl Node {
    /// Begins to join the fleet.
    pub fn start(fleet: &Fleet, name: &str) -> Result<Node, Failure> {
        let name = NodeName::new(name)?;
        let channels = vec![
            ChannelRule::new(LINES..=LINES, DeliveryMode::ReliableOrdered),
            ChannelRule::new(POSITIONS..=POSITIONS, DeliveryMode::UnreliableSequenced),
            ChannelRule::new(MOVES..=MOVES, DeliveryMode::ReliableOrdered),
        ];
        let settings = Settings { channels, moves_channel: MOVES.into(), ..Settings::default() };
        let security = Some(fleet.security.clone());
        let server = Server::start(ServerConfig { security, settings, ..ServerConfig::new("127.0.0.1:0".parse()?) })?;
        let bus = Bus::connect(BusSettings::new(fleet.nats.parse()?))?;

        let mut settings = DirectorySettings::of_this_process(name.clone())?;
        settings.address = server.url();
        (settings.lease, settings.renew_every, settings.stop_before) = (fleet.lease, fleet.lease / 5, fleet.lease / 15);
        let process = settings.process;
        let mut directory = DirectoryDriver::start(&bus, "rooms", settings)?;
        directory.set_status(NodeStatus { load: 0, capacity: 100, is_draining: false });
        let mut groups = GroupsDriver::start(&bus, GroupSettings::new(name.clone(), process));
        groups.join(&chat(), Delivery::Reliable)?;
        let moves = MovesDriver::start(&bus, "rooms", MoveSettings::new(name.clone(), process))?;
        let keys = || FleetKeys::parse(&fleet.keys);
        Ok(Node {
            desk: TicketDesk::new(keys()?, name.clone()),
            signer: keys()?.signer()?,
            enter: bus.subscribe(ENTER)?,
            gate: EpochGate::new(1_024),
            expected: BTreeMap::new(),
            players: BTreeMap::new(),
            leaving: BTreeMap::new(),
            name,
            server,
            bus,
            directory,
            groups,
            moves,
        })
    }

    /// The game loop. It ends without farewell, as if the machine were lost.
    pub fn serve(mut self, stop: &AtomicBool) -> Result<(), Failure> {
        let mut next = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            self.poll()?;
            if Instant::now() >= next {
                next += TICK;
                self.tick()?;
            }
            self.server.wait(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Takes what NATS and the players have brought. Each part takes the events that are its own.
    fn poll(&mut self) -> Result<(), Failure> {
        while let Some(event) = self.bus.poll() {
            let event = self.directory.handle(event).and_then(|event| self.groups.handle(event));
            match event.and_then(|event| self.moves.handle(event)) {
                Some(BusEvent::Message(message)) if message.subscription == self.enter => self.on_enter(&message)?,
                _ => {}
            }
        }
        while let Some(event) = self.directory.poll(&self.bus) {
            self.on_directory(event)?;
        }
        while let Some(event) = self.groups.poll(&self.bus) {
            self.on_group(event)?;
        }
        while let Some(event) = self.moves.poll(&self.bus, &mut self.server) {
            match event {
                NodeEvent::Server(event) => self.on_server(event)?,
                NodeEvent::Move(notice) => self.on_move(notice)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The rooms' positions, players' wishes, and the end of the groups' batches.
    fn tick(&mut self) -> Result<(), Failure> {
        let load = self.players.len() as u32;
        self.directory.set_status(NodeStatus { load, capacity: 100, is_draining: false });
        let rooms: BTreeSet<RoomName> = self.players.values().map(|player| player.room.clone()).collect();
        for room in rooms {
            // Without an epoch the room is not this node's now, and nothing is said in its name.
            let Some(epoch) = self.directory.epoch(&room) else { continue };
            let of_room = self.players.values().filter(|player| player.room == room);
            let mut places: Vec<String> = of_room.map(|player| format!("{} {}", player.name, player.place)).collect();
            places.sort();
            let mut positions = epoch.0.to_be_bytes().to_vec();
            positions.extend_from_slice(format!("{room}: {}", places.join(", ")).as_bytes());
            let _ = self.groups.send(&group(&room), positions);
        }
        let wishes = self.players.iter().filter_map(|(peer, player)| Some((*peer, player.wish.clone()?)));
        for (peer, wish) in wishes.collect::<Vec<_>>() {
            self.change_room(peer, &wish)?;
        }
        self.groups.flush(&self.bus);
        self.server.flush()?;
        Ok(())
    }

    /// The entrance asks. The room's owner answers; if there is none, the node where it would be best makes it.
    fn on_enter(&mut self, question: &BusMessage) -> Result<(), Failure> {
        let text = String::from_utf8_lossy(&question.payload);
        let Some([player, room]) = words(&text) else { return Ok(()) };
        let (Some(room), Some(reply)) = (room_name(room), &question.reply) else { return Ok(()) };
        let Some(epoch) = self.directory.epoch(&room) else {
            if matches!(self.directory.place(&room), Placement::New { node, .. } if node == self.name) {
                // An error says that another node was faster, or that this one has no lease yet.
                let _ = self.directory.claim(&room, RoomPolicy::Unique);
            }
            return Ok(());
        };
        let ticket = Ticket { player: player.into(), room, node: self.name.clone(), epoch };
        let ticket = self.signer.issue(&ticket, UnixTime::now())?;
        self.bus.respond(reply, format!("{} {} {ticket}", self.name, self.server.url()))?;
        Ok(())
    }

    fn on_directory(&mut self, event: DirectoryEvent) -> Result<(), Failure> {
        match event {
            DirectoryEvent::RoomOwned { room, epoch } => {
                println!("{} runs {room} with epoch {}", self.name, epoch.0);
                self.groups.join(&group(&room), Delivery::Unreliable)?;
            }
            DirectoryEvent::RoomStopped { room, .. } => {
                self.groups.leave(&group(&room));
                for peer in self.players.iter().filter(|(_, player)| player.room == room).map(|(peer, _)| *peer) {
                    let _ =
                        self.server.close(peer, code::NONE, "the room is elsewhere now: enter again", Duration::ZERO);
                }
            }
            other => println!("{}: {other:?}", self.name),
        }
        Ok(())
    }

    /// A message of a group goes to the players whom it concerns, from whichever node it came.
    fn on_group(&mut self, event: GroupEvent) -> Result<(), Failure> {
        let GroupEvent::Message { group: of, payload, .. } = event else { return Ok(()) };
        if of == chat() {
            for peer in self.players.keys() {
                // One whose queue is full is about to be closed.
                let _ = self.server.send(*peer, LINES, payload.clone());
            }
            return Ok(());
        }
        let Some((epoch, positions)) = payload.split_first_chunk() else { return Ok(()) };
        let epoch = Epoch(u64::from_be_bytes(*epoch));
        for (peer, player) in &self.players {
            let watched = player.watches.iter().chain([&player.room]).find(|room| group(room) == of);
            if watched.is_some_and(|room| self.gate.see(room, epoch) == GateVerdict::Take) {
                // Newer positions follow: those that find no room are not missed.
                let _ = self.server.send(*peer, POSITIONS, positions.to_vec());
            }
        }
        Ok(())
    }

    fn on_server(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Requested { peer, token, .. } => {
                match self.desk.admit(&token, UnixTime::now(), |room| self.directory.epoch(room)) {
                    Ok(Ticket { player, room, .. }) => {
                        self.expected.insert(peer, Avatar::new(player, room));
                        self.server.accept(peer)?;
                    }
                    Err(why) => self.server.refuse(peer, code::REFUSED, &why.to_string())?,
                }
            }
            Event::Connected { peer, .. } => {
                self.players.extend(self.expected.remove(&peer).map(|player| (peer, player)));
            }
            Event::Message { peer, payload, .. } => self.on_line(peer, &String::from_utf8_lossy(&payload)),
            Event::Closed { peer, .. } => {
                self.expected.remove(&peer);
                if let Some(player) = self.players.remove(&peer) {
                    self.stop_watching(&player);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Whatever a player sends, the loop goes on.
    fn on_line(&mut self, peer: PeerId, line: &str) {
        let Some(player) = self.players.get_mut(&peer) else { return };
        match line.split_once(' ') {
            // An error says that the line is too long, or that too many are said at once: it is not said.
            Some(("say", text)) => drop(self.groups.send(&chat(), format!("{}: {text}", player.name))),
            Some(("step", by)) => player.place += by.parse::<i32>().unwrap_or(0).clamp(-9, 9),
            Some(("enter", room)) => player.wish = room_name(room),
            Some(("watch", room)) => {
                let Some(room) = room_name(room).filter(|_| player.watches.len() < WATCHES_MAX) else { return };
                if !player.watches.contains(&room) && self.groups.join(&group(&room), Delivery::Unreliable).is_ok() {
                    player.watches.insert(room);
                }
            }
            _ => drop(self.server.send(peer, LINES, "say TEXT, step NUMBER, watch ROOM or enter ROOM".to_owned())),
        }
    }

    /// Within this node at once; to another node the player moves while it plays.
    fn change_room(&mut self, peer: PeerId, wish: &RoomName) -> Result<(), Failure> {
        match self.directory.place(wish) {
            Placement::Room { node, .. } if node == self.name => {
                let player = self.players.get_mut(&peer).expect("it wishes");
                (player.room, player.wish) = (wish.clone(), None);
            }
            // An error says that it is on its way, or cannot move now: the next tick tries again.
            Placement::Room { node, .. } => drop(self.moves.begin(peer, node, wish.as_str().to_owned())),
            Placement::New { node, .. } if node == self.name => {
                let _ = self.directory.claim(wish, RoomPolicy::Unique);
            }
            // Another node is to make it. Asking as the entrance does, without waiting for the answer, is enough.
            Placement::New { .. } => self.bus.publish_with_reply(ENTER, "game.nobody", format!("somebody {wish}"))?,
            Placement::Orphaned | Placement::Nowhere => {}
        }
        Ok(())
    }

    fn on_move(&mut self, notice: MoveNotice) -> Result<(), Failure> {
        match notice {
            MoveNotice::Asked { origin, player: room } => self.answer_move(&origin, &room),
            MoveNotice::Ready { peer } => {
                if let Some(player) = self.players.remove(&peer) {
                    // An error says that the move has ended: `Stayed` follows.
                    let _ = self.moves.hand_over(peer, player.encode());
                    self.leaving.insert(peer, player);
                }
            }
            MoveNotice::Stayed { peer, .. } => {
                self.players.extend(self.leaving.remove(&peer).map(|player| (peer, player)));
            }
            MoveNotice::Left { peer } => {
                if let Some(player) = self.leaving.remove(&peer) {
                    self.stop_watching(&player);
                }
            }
            MoveNotice::Arrived { peer, player: room, state } => {
                let room = RoomName::new(&String::from_utf8_lossy(&room))?;
                self.players.extend(Avatar::decode(&state, room).map(|player| (peer, player)));
            }
            _ => {}
        }
        Ok(())
    }

    fn answer_move(&mut self, origin: &MoveOrigin, room: &[u8]) {
        let room = RoomName::new(&String::from_utf8_lossy(room)).ok();
        match room.and_then(|room| self.directory.epoch(&room)) {
            // An error says that the move has ended.
            Some(_) => drop(self.moves.admit(origin, &self.server.local_addr().to_string())),
            None => self.moves.refuse(origin, "the room is not here"),
        }
    }

    fn stop_watching(&mut self, player: &Avatar) {
        player.watches.iter().for_each(|room| self.groups.leave(&group(room)));
    }
}

impl Avatar {
    fn new(name: String, room: RoomName) -> Avatar {
        Avatar { name, room, place: 0, watches: BTreeSet::new(), wish: None }
    }

    /// What goes with a player to another node. A player that arrives watches nothing yet.
    fn encode(&self) -> Vec<u8> {
        format!("{} {}", self.place, self.name).into_bytes()
    }

    fn decode(state: &[u8], room: RoomName) -> Option<Avatar> {
        let text = std::str::from_utf8(state).ok()?;
        let (place, name) = text.split_once(' ')?;
        Some(Avatar { place: place.parse().ok()?, ..Avatar::new(name.into(), room) })
    }
}

fn room_name(text: &str) -> Option<RoomName> {
    RoomName::new(text).ok().filter(|room| room.as_str().len() <= ROOM_BYTES_MAX)
}

/// Of all players of all nodes.
fn chat() -> GroupName {
    GroupName::new("chat").expect("it is a name")
}

/// Of those that see a room.
fn group(room: &RoomName) -> GroupName {
    GroupName::new(&format!("at-{room}")).expect("a name of at most 35 letters")
}
