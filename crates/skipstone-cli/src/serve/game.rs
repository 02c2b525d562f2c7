//! The application of the tool's server: its clients, and the lines that it broadcasts.

use super::audience::Audience;
use super::input::LoopEvent;
use super::node::FleetNode;
use super::rates::Rates;
use super::restart::Restart;
use super::visit::Visit;
use super::who::who_is_here;
use crate::console::SessionId;
use bytes::Bytes;
use skipstone::{ClosedBy, Event, Fingerprint, PeerId, SendError, SendRefusal, Server, code};
#[cfg(feature = "carriers")]
use skipstone::{Scheme, Target};
use skipstone_lab::clean;
use skipstone_lab::workload::{CONTROL, Guest, LINES, StressTurn, WHO, Word, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Everything that the loop owns.
pub(crate) struct Game {
    pub(super) server: Server,
    workload: Workload,
    /// Clients that were accepted and are not connected yet: nothing can be sent to them.
    pub(super) arriving: BTreeMap<PeerId, Guest>,
    pub(super) guests: BTreeMap<PeerId, Visit>,
    pub(super) lines: u64,
    pub(super) rates: BTreeMap<Option<SessionId>, Rates>,
    pub(super) must_stop: bool,
    pub(super) restart: Restart,
    /// This server as a node of a fleet.
    pub(super) node: Option<FleetNode>,
    pub(super) began: Instant,
    /// Events of this tick: empty between two ticks.
    events: Vec<LoopEvent>,
    /// Clients that asked in this tick who is here.
    asked_who: BTreeSet<PeerId>,
}

/// How long a command waits for room in the driver's queue; a machine does not stall for this long.
const ROOM_MAX: Duration = Duration::from_secs(5);

/// The limits of one tick: events, and bytes of their messages. The rest waits in the drivers' bounded queues, so a
/// tick ends however fast clients send.
const EVENTS_MAX: usize = 1 << 16;
const EVENT_BYTES_MAX: usize = 16 << 20;

impl Game {
    pub(super) fn new(server: Server, workload: Workload, restart: Restart, node: Option<FleetNode>) -> Self {
        Game {
            server,
            workload,
            arriving: BTreeMap::new(),
            guests: BTreeMap::new(),
            lines: 0,
            rates: BTreeMap::new(),
            must_stop: false,
            restart,
            node,
            began: Instant::now(),
            events: Vec::new(),
            asked_who: BTreeSet::new(),
        }
    }

    /// The URL by DTLS under this host, if DTLS is served.
    #[cfg(feature = "carriers")]
    pub(super) fn dtls_url(&self, host: &str) -> Option<String> {
        let pin = self.server.dtls_fingerprint()?;
        Some(Target::new(Scheme::Dtls, host, self.server.local_addr().port()).pinned(pin).url)
    }

    #[cfg(not(feature = "carriers"))]
    pub(super) fn dtls_url(&self, _host: &str) -> Option<String> {
        None
    }

    /// The URL for pages, and the hashes of the certificates to accept: the current one, and the one of some days
    /// later. `None` if an authority signed the certificate.
    pub(super) fn webtransport(&self) -> Option<(String, Vec<String>)> {
        let hashes = self.server.web_fingerprints().iter().map(Fingerprint::to_string).collect();
        Some((self.server.webtransport_url()?, hashes))
    }

    /// Clients whose handshake has begun, or that were admitted, and are not connected yet.
    pub(super) fn arriving(&self) -> usize {
        let handshakes: usize = self.server.shards().iter().map(|shard| shard.handshakes).sum();
        self.arriving.len() + handshakes
    }

    /// One tick: handles the events, and sends the lines that result.
    ///
    /// Each shard has its own queue, so a line may be polled before the connection of a client that was admitted before
    /// the line was sent. Therefore connections are handled first: a client that knows that it is admitted misses no
    /// line that others send from then on.
    pub(super) fn tick(&mut self, audience: &Audience) {
        let mut events = core::mem::take(&mut self.events);
        self.take_events(&mut events, audience);
        events.drain(..).for_each(|event| self.handle(event, audience));
        self.events = events;
        self.answer_who();
        self.tick_node(audience);
        // A driver that has ended reports a failure, which ends the server.
        let _ = self.server.flush();
    }

    /// Its rooms and its name are free from then on.
    pub(super) fn leave_fleet(&mut self) {
        self.node.take().into_iter().for_each(FleetNode::leave);
    }

    /// Takes the tick's events, and handles events of connections at once.
    fn take_events(&mut self, events: &mut Vec<LoopEvent>, audience: &Audience) {
        let mut bytes = 0;
        while let Some(input) = self.poll_input() {
            match input {
                LoopEvent::Server(Event::Connected { .. }) => self.handle(input, audience),
                LoopEvent::Server(Event::Message { ref payload, .. }) => {
                    bytes += payload.len();
                    events.push(input);
                }
                input => events.push(input),
            }
            if events.len() >= EVENTS_MAX || bytes >= EVENT_BYTES_MAX {
                return;
            }
        }
    }

    fn handle(&mut self, input: LoopEvent, audience: &Audience) {
        let line = match input {
            LoopEvent::Server(event) => self.on_event(event, audience),
            #[cfg(feature = "fleet")]
            LoopEvent::Move(notice) => self.on_move(notice, audience),
        };
        if let Some(line) = line {
            audience.all().for_each(|watcher| watcher.log(&line));
        }
    }

    /// Tells the audience that all clients leave.
    pub(super) fn part(&mut self, audience: &Audience, code: u64) {
        for (peer, visit) in std::mem::take(&mut self.guests) {
            audience.all().for_each(|watcher| watcher.left(peer, &visit, code));
        }
    }

    /// Handles one event; returns a line for the log, if the event deserves one.
    fn on_event(&mut self, event: Event, audience: &Audience) -> Option<String> {
        match event {
            Event::Requested { peer, token, .. } => self.on_request(peer, &token),
            Event::Message { peer, channel: LINES, payload, age } => {
                self.on_line(peer, payload, age, audience);
                None
            }
            Event::Message { peer, channel: CONTROL, payload, .. } => {
                if payload == WHO {
                    self.asked_who.insert(peer);
                } else if let Some(turn) = StressTurn::decode(&payload) {
                    self.on_turn(peer, turn, audience);
                }
                None
            }
            Event::Connected { peer, .. } => self.on_connected(peer, audience),
            Event::Closed { peer, close } => {
                self.arriving.remove(&peer);
                let handed = self.on_closed_move(peer);
                let visit = self.guests.remove(&peer).or(handed)?;
                audience.all().for_each(|watcher| watcher.left(peer, &visit, close.code));
                let by = match close.by {
                    ClosedBy::Local => "closed",
                    ClosedBy::Peer => "left",
                    ClosedBy::Nobody => "lost",
                };
                Some(format!(
                    "{peer} {} {by}: {} (code {})",
                    visit.name(),
                    clean::line(&close.reason_text()),
                    close.code
                ))
            }
            _ => None,
        }
    }

    fn on_request(&mut self, peer: PeerId, token: &[u8]) -> Option<String> {
        let guest = match self.guest_of(token) {
            Ok(guest) => guest,
            Err(why) => {
                self.refuse(peer, &why);
                return Some(format!("{peer} refused: {why}"));
            }
        };
        if let (Guest::Stress(_), Workload::Echo) = (&guest, self.workload) {
            self.refuse(peer, "this server echoes: a stress run needs --workload broadcast");
            return Some(format!("{peer} refused: a stress client, and this server echoes"));
        }
        if let Err(error) = self.server.accept(peer) {
            return Some(format!("{peer} is not admitted: {error}"));
        }
        self.arriving.insert(peer, guest);
        None
    }

    /// The guest that a token names, or why the token is refused.
    fn guest_of(&mut self, token: &[u8]) -> Result<Guest, String> {
        match self.node.as_mut().and_then(|node| node.admit(token)) {
            Some(admitted) => admitted.map_err(|error| error.to_string()),
            None => Guest::from_token(token)
                .ok_or_else(|| "the token names neither a chat guest nor a stress client".to_owned()),
        }
    }

    fn on_connected(&mut self, peer: PeerId, audience: &Audience) -> Option<String> {
        let guest = self.arriving.remove(&peer)?;
        let visit = Visit { guest, since: Instant::now(), lines: 0, turn: StressTurn::Own };
        let carrier = || self.server.overview(peer).map_or("unknown", |seen| seen.path.carrier.name);
        audience.all().for_each(|watcher| watcher.joined(peer, &visit, &carrier));
        let line = format!("{peer} {} joined", visit.name());
        self.guests.insert(peer, visit);
        self.enter_chat(peer);
        Some(line)
    }

    fn on_turn(&mut self, peer: PeerId, turn: StressTurn, audience: &Audience) {
        let Some(visit) = self.guests.get_mut(&peer) else { return };
        if let Guest::Stress(_) = visit.guest
            && visit.turn != turn
        {
            visit.turn = turn;
            audience.all().for_each(|watcher| watcher.turned(peer, turn));
        }
    }

    fn on_line(&mut self, peer: PeerId, payload: Bytes, age: Duration, audience: &Audience) {
        let Some(visit) = self.guests.get_mut(&peer) else { return };
        visit.lines += 1;
        self.lines += 1;
        let line: Bytes = match &visit.guest {
            Guest::Stress(_) => payload,
            Guest::Chat(name) => {
                let text = clean::bytes(&payload);
                audience.all().for_each(|watcher| watcher.chat(name, &text));
                format!("{name}: {text}").into()
            }
        };
        match self.workload {
            Workload::Broadcast => self.broadcast_line(peer, &line),
            Workload::Echo => self.send_blocking(|server| server.send_aged(peer, LINES, line.clone(), age).map(drop)),
        }
    }

    /// Answers all who asked in this tick with one text.
    fn answer_who(&mut self) {
        let asked = core::mem::take(&mut self.asked_who);
        if asked.is_empty() {
            return;
        }
        let guests = self.guests.values().map(|visit| &visit.guest);
        let text = Bytes::from(Word::Who(who_is_here(guests)).encode());
        asked.into_iter().for_each(|peer| self.send_control(peer, &text));
    }

    /// Sends a word to one client.
    pub(super) fn say_to(&mut self, peer: PeerId, word: &Word) {
        self.send_control(peer, &Bytes::from(word.encode()));
    }

    fn send_control(&mut self, peer: PeerId, text: &Bytes) {
        self.send_blocking(|server| server.send(peer, CONTROL, text.clone()).map(drop));
    }

    fn refuse(&mut self, peer: PeerId, reason: &str) {
        // A client that has left meanwhile need not be refused.
        let _ = self.server.refuse(peer, code::REFUSED, reason);
    }

    /// Sends, and waits while the driver is behind. A peer that has left, or is about to, gets nothing.
    pub(super) fn send_blocking(&mut self, mut send: impl FnMut(&mut Server) -> Result<(), SendError>) {
        let end = Instant::now() + ROOM_MAX;
        while send(&mut self.server).is_err_and(|error| error.reason == SendRefusal::DriverBusy) && Instant::now() < end
        {
            let _ = self.server.flush();
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone::{ClientConfig, Redundancy, ServerConfig};
    use skipstone_lab::workload;

    #[test]
    fn a_thousand_requests_in_a_tick_get_one_answer() {
        let settings = workload::settings(1 << 20, Redundancy::default());
        let server = Server::start(ServerConfig { settings, ..ServerConfig::offline() }).expect("it needs no socket");
        let restart = Restart::new(false).expect("it has no signal");
        let mut game = Game::new(server, Workload::Broadcast, restart, None);
        let audience = Audience { console: None, watchers: Vec::new() };
        let token = Guest::Chat("zoe".into()).token();
        let mut client = game.server.connect_local(&token, ClientConfig::default()).expect("it is there");
        let end = Instant::now() + Duration::from_secs(40);
        while game.guests.is_empty() {
            assert!(Instant::now() < end, "no client connects");
            game.server.wait(Duration::from_millis(10));
            game.tick(&audience);
        }
        let peer = *game.guests.keys().next().expect("it is connected");
        let ask = Event::Message { peer, channel: CONTROL, payload: Bytes::from(WHO), age: Duration::ZERO };
        (0..1_000).for_each(|_| game.handle(LoopEvent::Server(ask.clone()), &audience));
        game.tick(&audience);
        game.say_to(peer, &Word::Say("that was all".into()));
        game.server.flush().expect("it runs");
        let mut words = Vec::new();
        while words.last() != Some(&Word::Say("that was all".into())) {
            assert!(Instant::now() < end, "{words:?}");
            client.wait(Duration::from_millis(10));
            while let Some(event) = client.poll_event() {
                if let Event::Message { payload, .. } = event {
                    words.push(Word::decode(&payload).expect("it is a word"));
                }
            }
        }
        assert_eq!(words, [Word::Who("zoe".into()), Word::Say("that was all".into())]);
    }
}
