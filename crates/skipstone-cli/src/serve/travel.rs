//! Players that move from node to node: what the game does about them, and a drain of this node.

use super::audience::Audience;
use super::game::Game;
use super::input::LoopEvent;
use super::node::{Baggage, DrainRun, Handed};
use super::restart::{DrainPhase, notice};
use super::visit::Visit;
use bytes::Bytes;
use skipstone::{Group, PeerError, PeerId, Server, code};
use skipstone_fleet::feed::Positions;
use skipstone_fleet::moves::{DrainState, MoveFailure, MoveNotice, MoveRefusal};
use skipstone_lab::report::output;
use skipstone_lab::workload::LINES;
use std::time::{Duration, Instant};

/// The audience of the chat of all nodes: clients that get every line of it.
const CHAT: Group = Group(1);
/// A client says that it follows moves as soon as it is connected.
const ABLE_MAX: Duration = Duration::from_secs(3);
/// How long a client that is told to reconnect elsewhere has to get its last lines.
const LAST_LINES_MAX: Duration = Duration::from_secs(5);
/// How long a command waits for room in the driver's queue; a machine does not stall for this long.
const ROOM_MAX: Duration = Duration::from_secs(5);

impl Game {
    /// The next event of the server or of a move.
    pub(super) fn poll_input(&mut self) -> Option<LoopEvent> {
        match &mut self.node {
            Some(node) => node.poll_input(&mut self.server),
            None => self.server.poll_event().map(LoopEvent::Server),
        }
    }

    /// A player has moved, or has not.
    pub(super) fn on_move(&mut self, notice: MoveNotice, audience: &Audience) -> Option<String> {
        match notice {
            MoveNotice::Ready { peer } => self.hand_over(peer),
            MoveNotice::Left { peer } => self.on_left(peer, audience),
            MoveNotice::Stayed { peer, failure, why } => self.on_stayed(peer, failure, &why),
            MoveNotice::Arrived { peer, state, .. } => self.on_arrived(peer, &state, audience),
            _ => None,
        }
    }

    /// The player is not this node's from now on, unless it stays after all.
    fn hand_over(&mut self, peer: PeerId) -> Option<String> {
        let node = self.node.as_mut()?;
        let visit = self.guests.remove(&peer)?;
        let (heard, after) = node.chat.as_mut().map(|chat| chat.leave(peer)).unzip();
        insist(&mut self.server, |server| server.leave(peer, CHAT));
        let baggage = Baggage {
            guest: visit.guest.clone(),
            turn: visit.turn,
            lines: visit.lines,
            age: visit.since.elapsed(),
            after: after.flatten(),
            heard: heard.clone().unwrap_or_default(),
        };
        let handed = node.travel.moves.hand_over(peer, baggage.encode());
        let name = visit.name();
        node.travel.handed.insert(peer, Handed { visit, heard });
        // The move is then cancelled, and the player stays.
        handed.err().map(|error| format!("{peer} {name} is not handed over: {error}"))
    }

    fn on_left(&mut self, peer: PeerId, audience: &Audience) -> Option<String> {
        let travel = &mut self.node.as_mut()?.travel;
        let Handed { visit, .. } = travel.handed.remove(&peer)?;
        let to = travel.destinations.remove(&peer);
        travel.departed.insert(peer);
        travel.figures.left += 1;
        if let Some(run) = &mut travel.drain {
            run.drain.on_gone(peer);
        }
        audience.all().for_each(|watcher| watcher.left(peer, &visit, code::NONE));
        Some(format!("{peer} {} moved to {}", visit.name(), to.as_ref().map_or("another node", |to| to.as_str())))
    }

    fn on_stayed(&mut self, peer: PeerId, failure: MoveFailure, why: &str) -> Option<String> {
        let travel = &mut self.node.as_mut()?.travel;
        let now = travel.now();
        *travel.figures.failed.entry(failure.name()).or_default() += 1;
        travel.destinations.remove(&peer);
        if let Some(run) = &mut travel.drain {
            run.drain.on_failed(peer, now);
        }
        if let Some(Handed { visit, heard }) = travel.handed.remove(&peer) {
            let age = visit.since.elapsed();
            self.guests.insert(peer, visit);
            self.catch_up(peer, heard, age);
        }
        let name = self.guests.get(&peer).map_or_else(|| "?".into(), Visit::name);
        Some(format!("{peer} {name} stays: {why}"))
    }

    fn on_arrived(&mut self, peer: PeerId, state: &[u8], audience: &Audience) -> Option<String> {
        let node = self.node.as_mut()?;
        let Some(Baggage { guest, turn, lines, age, after, heard }) = Baggage::decode(state) else {
            let why = "the node that it came from has another version, whose players this one does not know";
            let _ = self.server.close(peer, code::REFUSED, why, Duration::ZERO);
            return Some(format!("{peer} refused: {why}"));
        };
        node.travel.figures.arrived += 1;
        if let Some(chat) = &mut node.chat {
            chat.follow(peer, after);
        }
        let since = Instant::now().checked_sub(age).unwrap_or_else(Instant::now);
        let visit = Visit { guest, since, lines, turn };
        let carrier = || self.server.overview(peer).map_or("unknown", |seen| seen.path.carrier.name);
        audience.all().for_each(|watcher| watcher.joined(peer, &visit, &carrier));
        let line = format!("{peer} {} moved here", visit.name());
        self.guests.insert(peer, visit);
        self.catch_up(peer, Some(heard), age);
        Some(line)
    }

    /// Sends a player the lines of the chat that it has missed on its way.
    fn catch_up(&mut self, peer: PeerId, heard: Option<Positions>, age: Duration) {
        let Some(chat) = self.node.as_mut().and_then(|node| node.chat.as_mut()) else { return };
        let missed = heard.map_or_else(Vec::new, |heard| chat.arrive(peer, heard, age));
        let settled = chat.settled();
        missed.iter().for_each(|line| self.send_line(peer, line));
        settled.into_iter().for_each(|peer| self.enter_chat(peer));
    }

    /// A client is connected, and gets every line from now on.
    pub(super) fn enter_chat(&mut self, peer: PeerId) {
        if self.node.is_some() {
            insist(&mut self.server, |server| server.join(peer, CHAT));
        }
    }

    /// A client's connection has ended. Its visit, if it was handed over.
    pub(super) fn on_closed_move(&mut self, peer: PeerId) -> Option<Visit> {
        let node = self.node.as_mut()?;
        node.chat.iter_mut().for_each(|chat| chat.on_closed(peer));
        node.travel.on_closed(peer)
    }

    /// A line for all clients, of all nodes.
    pub(super) fn broadcast_line(&mut self, peer: PeerId, line: &Bytes) {
        let Some(node) = &mut self.node else {
            return self.send_blocking(|server| server.broadcast(Group::EVERYONE, LINES, line.clone()).map(drop));
        };
        let Some(mut chat) = node.chat.take() else { return };
        chat.say(node.bus(), peer, line);
        node.chat = Some(chat);
    }

    fn send_line(&mut self, peer: PeerId, line: &Bytes) {
        self.send_blocking(|server| server.send(peer, LINES, line.clone()).map(drop));
    }

    /// Lines of the fleet go to the operator too.
    pub(super) fn tick_node(&mut self, audience: &Audience) {
        let (players, is_draining) = (self.guests.len(), self.is_draining());
        let Some(node) = &mut self.node else { return };
        let mut lines = node.tick(players, is_draining);
        if let Some(mut chat) = node.chat.take() {
            chat.flush(node.bus());
            while let Some((entry, wanting)) = chat.poll() {
                wanting.into_iter().for_each(|peer| self.send_line(peer, &entry.payload));
                let line = entry.payload;
                self.send_blocking(|server| server.broadcast(CHAT, LINES, line.clone()).map(drop));
                chat.settled().into_iter().for_each(|peer| self.enter_chat(peer));
            }
            // A beat of another node may have been what was missing.
            chat.settled().into_iter().for_each(|peer| self.enter_chat(peer));
            if let Some(node) = &mut self.node {
                node.chat = Some(chat);
            }
        }
        lines.extend(self.tick_drain());
        if let Some(node) = &mut self.node {
            node.travel.figures.is_draining = is_draining;
            audience.all().for_each(|watcher| watcher.moves(&node.travel.figures));
        }
        for line in lines {
            output::complain(format_args!("skipstone serve: {line}"));
            audience.all().for_each(|watcher| watcher.log(&line));
        }
    }

    /// Whether other nodes are told to send nobody here.
    fn is_draining(&self) -> bool {
        self.restart.is_under_way() || self.node.as_ref().is_some_and(|node| node.travel.drain.is_some())
    }

    /// What a drain of this node's players can do for its end.
    pub(super) fn drain_phase(&self) -> DrainPhase {
        let here = self.here();
        let Some(node) = &self.node else { return DrainPhase::Nothing };
        match &node.travel.drain {
            Some(run) if run.is_over => DrainPhase::Nothing,
            Some(_) => DrainPhase::UnderWay,
            None if here > 0 && node.has_place() => DrainPhase::Possible,
            None => DrainPhase::Nothing,
        }
    }

    /// Begins to move all players to other nodes.
    pub(super) fn begin_drain(&mut self, audience: &Audience) {
        let here = self.here();
        let Some(node) = &mut self.node else { return };
        node.travel.drain = Some(DrainRun::begin(&node.travel));
        let line = format!("drain: {here} players move to other nodes, {} a second", node.travel.settings.per_second);
        output::complain(format_args!("skipstone serve: {line}"));
        audience.all().for_each(|watcher| watcher.log(&line));
    }

    /// This node has its players back.
    pub(super) fn end_drain(&mut self) {
        self.node.iter_mut().for_each(|node| node.travel.drain = None);
    }

    /// Why players cannot be moved, though there are other nodes.
    pub(super) fn why_no_drain(&self) -> Option<String> {
        if self.here() == 0 { None } else { self.node.as_ref()?.why_nowhere() }
    }

    /// Where players go that a drain has left here.
    pub(super) fn elsewhere(&mut self) -> Option<String> {
        let node = self.node.as_mut()?;
        node.travel.drain.as_ref()?;
        node.place_player().map(|(_, address)| address)
    }

    /// The console's `move`: a client by its name or id, and a node.
    pub(super) fn move_one(&mut self, words: &str) -> Result<String, String> {
        let (who, to) = words.rsplit_once(' ').ok_or("say `move NAME NODE`, with the name or the id of a client")?;
        let peer = self.guest_named(who.trim())?;
        let name = self.guests.get(&peer).map_or_else(String::new, Visit::name);
        let node = self.node.as_mut().ok_or("this server is no node of a fleet: start it with --fleet and --node")?;
        let to = node.destination(to)?;
        node.travel.moves.begin(peer, to.clone(), name.clone()).map_err(|error| format!("{name} stays: {error}"))?;
        node.travel.destinations.insert(peer, to.clone());
        Ok(format!("{peer} {name} is on the way to {to}; `log on` shows whether it arrives"))
    }

    /// Players that are here, or on their way from or to here.
    fn here(&self) -> usize {
        let travel = self.node.as_ref().map(|node| &node.travel);
        let moving =
            travel.map_or(0, |travel| travel.handed.len() + travel.departed.len() + travel.moves.under_way().1);
        self.guests.len() + self.arriving.len() + moving
    }

    fn tick_drain(&mut self) -> Option<String> {
        let here = self.here();
        let travel = &mut self.node.as_mut()?.travel;
        let now = travel.now();
        let run = travel.drain.as_mut()?;
        let due = match run.drain.state(here, now) {
            DrainState::UnderWay => run.drain.due(self.guests.keys().copied(), now),
            _ => Vec::new(),
        };
        due.into_iter().for_each(|peer| self.give_away(peer));
        let here = self.here();
        let travel = &mut self.node.as_mut()?.travel;
        travel.drain.as_mut()?.report(&travel.figures, here, now)
    }

    /// Moves one player to the least loaded node, or tells it to reconnect there if its client does not follow.
    fn give_away(&mut self, peer: PeerId) {
        let (Some(node), Some(visit)) = (&mut self.node, self.guests.get(&peer)) else { return };
        let now = node.travel.now();
        let place = node.place_player();
        let travel = &mut node.travel;
        let Some(run) = &mut travel.drain else { return };
        let Some((to, address)) = place else { return run.drain.on_failed(peer, now) };
        match travel.moves.begin(peer, to.clone(), visit.name()) {
            Ok(()) => {
                run.drain.on_begun(peer);
                travel.destinations.insert(peer, to);
            }
            Err(MoveRefusal::NotAble) if visit.since.elapsed() >= ABLE_MAX => {
                run.drain.on_begun(peer);
                travel.figures.told += 1;
                let reason = notice(1, Some(&address)).to_string();
                let _ = self.server.close(peer, code::RESTART, &reason, LAST_LINES_MAX);
            }
            // It has just come, is on its way already, or too many are.
            Err(_) => {}
        }
    }
}

/// Repeats a command while the driver is behind. A peer that has left needs none.
fn insist(server: &mut Server, mut command: impl FnMut(&mut Server) -> Result<(), PeerError>) {
    let end = Instant::now() + ROOM_MAX;
    while command(server) == Err(PeerError::DriverBusy) && Instant::now() < end {
        let _ = server.flush();
        std::thread::sleep(Duration::from_micros(200));
    }
}
