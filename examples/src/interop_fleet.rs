//! The game of `interop/README.md` on three servers of one process, which move the players among each other all the
//! time: each line has to arrive once and in order nevertheless.
//!
//! `interop_fleet --clients C --moves M [--seconds S]` prints the servers' ports, and reads a line with the addresses
//! by which clients reach them, separated by spaces; an empty line means the servers' own.

use skipstone::{Bytes, Event, MoveId, MoveStage, PeerId, Security, Server, ServerConfig, Settings, code};
use skipstone_examples::interop::{CONTROL, Outcome, STRESS, quoted};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Each call of the library has its own error, with cause and remedy.
type Failure = Box<dyn std::error::Error + Send + Sync>;

const NODES: usize = 3;
/// The channel of moves.
const MOVES: u16 = 9;
/// Players that are moved at once.
const AT_ONCE: usize = 3;
/// How long each server is waited for in turn.
const TURN: Duration = Duration::from_millis(1);
/// Time for the last messages to a player that has left for another server.
const LINGER: Duration = Duration::from_secs(5);
/// Time for clients to leave at the end.
const GOODBYE: Duration = Duration::from_secs(2);

/// Plays, and exits with 1 if a player is lost, 2 if the command line is invalid.
pub fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((clients, moves, patience)) = parse(&arguments) else {
        eprintln!("--clients C --moves M [--seconds S]: each a number");
        std::process::exit(2);
    };
    let result = serve(clients, moves, patience);
    println!("{}", result.json);
    std::process::exit(if result.is_ok { 0 } else { 1 })
}

/// Reads a command line: the number of clients and of moves, and the time limit.
pub fn parse(arguments: &[String]) -> Option<(usize, u64, Duration)> {
    let mut values = BTreeMap::from([("--seconds", 30)]);
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return None };
        let name = ["--clients", "--moves", "--seconds"].into_iter().find(|known| known == name)?;
        values.insert(name, value.parse().ok()?);
    }
    let seconds = Duration::from_secs(values["--seconds"]);
    Some((usize::try_from(*values.get("--clients")?).ok()?, *values.get("--moves")?, seconds))
}

/// The servers.
pub fn serve(clients: usize, moves: u64, patience: Duration) -> Outcome {
    let mut fleet = Fleet::default();
    let ended = fleet.run(clients, moves, Instant::now() + patience);
    let is_ok = ended.is_ok();
    let reason = ended.err().map(|why| quoted(&why.to_string())).unwrap_or_else(|| "\"\"".into());
    let Fleet { lines, chats, arrived, stayed, .. } = fleet;
    let json = format!(
        "{{\"event\":\"result\",\"role\":\"server\",\"language\":\"rust\",\"clients\":{clients},\"lines\":{lines},\
         \"chats\":{chats},\"moves\":{arrived},\"stayed\":{stayed},\"ok\":{is_ok},\"reason\":{reason}}}"
    );
    Outcome { is_ok, json }
}

/// A player, on whichever server.
struct Seat {
    name: String,
    /// Its server and its connection there.
    place: (usize, PeerId),
    is_able: bool,
    /// Whether its server acts for it; if not, what it is to get waits.
    is_here: bool,
    waiting: Vec<(u16, Bytes)>,
    /// Its move.
    moving: Option<MoveId>,
}

#[derive(Default)]
struct Fleet {
    servers: Vec<Server>,
    /// By which clients reach them.
    addresses: Vec<String>,
    seats: Vec<Seat>,
    /// Who has come for a move, to which server and by which connection; whether it is connected.
    guests: BTreeMap<MoveId, (usize, PeerId, bool)>,
    names: BTreeMap<(usize, PeerId), String>,
    /// Connections that end because their players are at another server.
    left: BTreeSet<(usize, PeerId)>,
    begun: u64,
    arrived: u64,
    stayed: u64,
    /// The seat that is moved next.
    next: usize,
    lines: u32,
    chats: u32,
    ready: usize,
    done: usize,
    has_started: bool,
    is_going: bool,
    is_over: bool,
}

impl Fleet {
    fn run(&mut self, clients: usize, moves: u64, mut end: Instant) -> Result<(), Failure> {
        self.open()?;
        while !self.is_over || !self.seats.is_empty() {
            if Instant::now() >= end {
                return if self.is_over { Ok(()) } else { Err(self.lateness().into()) };
            }
            for at in 0..NODES {
                self.servers[at].wait(TURN);
                while let Some(event) = self.servers[at].poll_event() {
                    self.on_event(at, event)?;
                }
            }
            if !self.has_started && self.seats.len() == clients {
                self.has_started = true;
                let names: Vec<&str> = self.seats.iter().map(|seat| seat.name.as_str()).collect();
                let start = format!("start {}", names.join(" "));
                self.broadcast(CONTROL, &start.into())?;
            }
            if !self.is_going && self.ready == clients {
                self.is_going = true;
                self.broadcast(CONTROL, &"go".into())?;
            }
            if self.is_going && !self.is_over {
                self.move_some(moves)?;
            }
            if !self.is_over && self.done == clients && self.arrived >= moves {
                (self.is_over, end) = (true, Instant::now() + GOODBYE);
                self.broadcast(CONTROL, &"over".into())?;
            }
            for server in &mut self.servers {
                server.flush()?;
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), Failure> {
        let security = Security::self_signed()?;
        for _ in 0..NODES {
            let settings = Settings { moves_channel: MOVES.into(), ..Settings::default() };
            let config = ServerConfig::new("127.0.0.1:0".parse()?);
            let config = ServerConfig { security: Some(security.clone()), settings, ..config };
            self.servers.push(Server::start(config)?);
        }
        let first = &self.servers[0];
        let ports: Vec<String> = self.servers.iter().map(|it| it.local_addr().port().to_string()).collect();
        let pin = first.web_fingerprints().first().copied().filter(|_| first.webtransport_url().is_some());
        let pages = pin.map(|pin| format!(",\"pages\":\"https://127.0.0.1:{}#sha256={pin}\"", ports[0]));
        println!(
            "{{\"event\":\"listening\",\"url\":{},\"port\":{},\"ports\":[{}]{}}}",
            quoted(&first.url()),
            ports[0],
            ports.join(","),
            pages.unwrap_or_default()
        );
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        self.addresses = line.split_whitespace().map(String::from).collect();
        if self.addresses.is_empty() {
            self.addresses = self.servers.iter().map(|server| server.local_addr().to_string()).collect();
        }
        if self.addresses.len() != NODES {
            return Err(format!("{} addresses were given for {NODES} servers", self.addresses.len()).into());
        }
        Ok(())
    }

    fn lateness(&self) -> String {
        let open = format!("{} clients, {} done, {} moves", self.seats.len(), self.done, self.arrived);
        match self.seats.iter().find(|seat| !seat.is_able) {
            Some(seat) => format!("{} cannot be moved: its client does not reconnect; {open}", seat.name),
            None => format!("it is not over within the time limit: {open}"),
        }
    }

    /// Begins moves: each to the next server, the players in turn.
    fn move_some(&mut self, moves: u64) -> Result<(), Failure> {
        for _ in 0..self.seats.len() {
            let under_way = self.seats.iter().filter(|seat| seat.moving.is_some()).count();
            if under_way >= AT_ONCE || self.begun >= moves + self.stayed {
                break;
            }
            let at = self.next % self.seats.len();
            self.next += 1;
            let seat = &mut self.seats[at];
            if !seat.is_able || !seat.is_here || seat.moving.is_some() {
                continue;
            }
            self.begun += 1;
            let (id, (node, peer)) = (MoveId(self.begun), seat.place);
            seat.moving = Some(id);
            let to = (node + 1) % NODES;
            self.servers[node].move_client(peer, id, &self.addresses[to], format!("move {}", id.0).as_bytes())?;
        }
        Ok(())
    }

    fn on_event(&mut self, at: usize, event: Event) -> Result<(), Failure> {
        match event {
            Event::Requested { peer, token, .. } => {
                let text = String::from_utf8_lossy(&token).into_owned();
                match text.strip_prefix("move ").and_then(|id| id.parse().ok()) {
                    Some(id) => drop(self.guests.insert(MoveId(id), (at, peer, false))),
                    None => drop(self.names.insert((at, peer), text)),
                }
                self.servers[at].accept(peer)?;
            }
            Event::Connected { peer, .. } => {
                if let Some(name) = self.names.remove(&(at, peer)) {
                    let (is_able, is_here) = (false, true);
                    let place = (at, peer);
                    self.seats.push(Seat { name, place, is_able, is_here, waiting: Vec::new(), moving: None });
                } else if let Some((id, guest)) =
                    self.guests.iter_mut().find(|(_, guest)| (guest.0, guest.1) == (at, peer))
                {
                    guest.2 = true;
                    let id = *id;
                    self.welcome_if_ready(id)?;
                }
            }
            Event::Message { peer, channel, payload, .. } => {
                if self.seat(at, peer).is_none() {
                    return Err("a message of a client that is not a player there".into());
                }
                self.on_message(channel, payload)?;
            }
            Event::Move { peer, stage } => self.on_stage(at, peer, stage)?,
            // One that has left may not have been seen to arrive yet.
            Event::Closed { peer, .. } if self.left.remove(&(at, peer)) => {}
            Event::Closed { peer, close } => {
                let Some(gone) = self.seats.iter().position(|seat| seat.place == (at, peer)) else { return Ok(()) };
                let seat = self.seats.remove(gone);
                if !self.is_over {
                    let why = format!("{} {}", close.code, close.reason_text());
                    return Err(format!("{} left before the end: {why}", seat.name).into());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn on_message(&mut self, channel: u16, payload: Bytes) -> Result<(), Failure> {
        match (channel, &payload[..]) {
            (STRESS, _) => self.lines += 1,
            (CONTROL, text) if text.starts_with(b"chat ") => self.chats += 1,
            (CONTROL, b"ready") => {
                self.ready += 1;
                return Ok(());
            }
            (CONTROL, b"done") => {
                self.done += 1;
                return Ok(());
            }
            _ => return Ok(()),
        }
        self.broadcast(channel, &payload)
    }

    fn on_stage(&mut self, at: usize, peer: PeerId, stage: MoveStage) -> Result<(), Failure> {
        match stage {
            MoveStage::Arrived(id) => {
                self.guests.remove(&id);
                let seat = self.seats.iter_mut().find(|seat| seat.moving == Some(id)).ok_or("nobody was moved")?;
                (seat.place, seat.moving) = ((at, peer), None);
                self.arrived += 1;
                return self.act_again(at, peer);
            }
            // Time for the last messages; its seat is at the other server.
            MoveStage::Left(_) => {
                self.left.insert((at, peer));
                self.servers[at].close(peer, code::NONE, "moved", LINGER)?;
            }
            _ => {}
        }
        let Some(seat) = self.seat(at, peer) else { return Ok(()) };
        match stage {
            MoveStage::Able => seat.is_able = true,
            MoveStage::Ready(id) => {
                seat.is_here = false;
                self.welcome_if_ready(id)?;
            }
            MoveStage::Stayed(id, _) => {
                seat.moving = None;
                self.guests.remove(&id);
                self.stayed += 1;
                self.act_again(at, peer)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The other server has the player once the client is ready here and connected there.
    fn welcome_if_ready(&mut self, id: MoveId) -> Result<(), Failure> {
        let is_ready = self.seats.iter().any(|seat| seat.moving == Some(id) && !seat.is_here);
        if let Some((to, guest, true)) = self.guests.get(&id).copied().filter(|_| is_ready) {
            self.servers[to].welcome(guest, id)?;
        }
        Ok(())
    }

    /// Its server acts for the player, and sends what has waited.
    fn act_again(&mut self, at: usize, peer: PeerId) -> Result<(), Failure> {
        let Some(seat) = self.seat(at, peer) else { return Ok(()) };
        seat.is_here = true;
        for (channel, payload) in std::mem::take(&mut seat.waiting) {
            self.servers[at].send(peer, channel, payload)?;
        }
        Ok(())
    }

    fn broadcast(&mut self, channel: u16, payload: &Bytes) -> Result<(), Failure> {
        for seat in &mut self.seats {
            let (at, peer) = seat.place;
            if seat.is_here {
                self.servers[at].send(peer, channel, payload.clone())?;
            } else {
                seat.waiting.push((channel, payload.clone()));
            }
        }
        Ok(())
    }

    fn seat(&mut self, at: usize, peer: PeerId) -> Option<&mut Seat> {
        self.seats.iter_mut().find(|seat| seat.place == (at, peer))
    }
}
