//! The moves of a pool's clients: which connection is a client's. [`Crossing`] decides, and keeps what waits for the one
//! or the other; WIRE.md section 8.2. A client keeps the id that the application has, whatever its connection.

use crate::driver::Driver;
use crate::driver::impair::Impairment;
use crate::handle::reason_of;
use crate::restart_notice::split;
use crate::send_error::{SendError, SendRefusal};
use crate::url::Target;
use skipstone_proto::{
    Crossing, Duration, Event, GivenUp, MessageId, MoveAction, MoveMessage, PeerId, Route, Stats, Submission, code,
};
use std::collections::{BTreeSet, VecDeque};

/// The clients of a pool that follow moves.
#[derive(Debug, Default)]
pub(crate) struct PoolMoves {
    /// By the index of the id that the application has.
    clients: Vec<PoolClient>,
    /// Whose connection it is, by the connection's index.
    owners: Vec<Owner>,
    /// Clients whose move is under way: they have deadlines.
    moving: BTreeSet<u32>,
    /// Events that come before those of the driver.
    ready: VecDeque<Event>,
    /// Connections that are to be opened.
    dials: VecDeque<PoolDial>,
    next_id: u64,
}

#[derive(Debug)]
struct PoolClient {
    here: PeerId,
    target: Target,
    impairment: Option<Impairment>,
    /// Counters of its former connections.
    former: Stats,
    /// Present while it is connected to a server that can move it.
    moves: Option<Box<ClientMove>>,
}

#[derive(Debug)]
struct ClientMove {
    crossing: Crossing,
    /// Bytes of a message, at most.
    message_bytes_max: usize,
    there: Option<(PeerId, Target)>,
    /// Counters of the connection here when the client chose the other: later ones are gone with it.
    counted: Stats,
}

/// Whose connection it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Owner {
    /// No client's any more.
    #[default]
    Nobody,
    /// This client's.
    Here(u32),
    /// Of this client, which is on its way.
    There(u32),
}

/// A connection that a move needs.
#[derive(Debug)]
pub(crate) struct PoolDial {
    client: u32,
    pub(crate) target: Target,
    pub(crate) impairment: Option<Impairment>,
    pub(crate) token: Vec<u8>,
}

impl PoolMoves {
    /// A client began to connect. The id that the application gets.
    pub(crate) fn add(&mut self, here: PeerId, target: Target, impairment: Option<&Impairment>) -> PeerId {
        let number = self.clients.len() as u32;
        let impairment = impairment.cloned();
        self.clients.push(PoolClient { here, target, impairment, former: Stats::default(), moves: None });
        self.own(here, Owner::Here(number));
        id_of(number)
    }

    /// The present connection of a client; an unknown one if there is no such client.
    pub(crate) fn here(&self, client: PeerId) -> PeerId {
        self.clients.get(client.index as usize).map_or(UNKNOWN, |known| known.here)
    }

    /// The other connection of a client that is on its way.
    pub(crate) fn there(&self, client: PeerId) -> Option<PeerId> {
        let moves = self.clients.get(client.index as usize)?.moves.as_ref()?;
        moves.there.as_ref().map(|(peer, _)| *peer)
    }

    /// Counters of a client's former connections.
    pub(crate) fn former(&self, client: PeerId) -> Option<&Stats> {
        Some(&self.clients.get(client.index as usize)?.former)
    }

    /// The next event that is not the driver's.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// An event of the driver, as far as it is the application's now.
    pub(crate) fn on_event(&mut self, mut event: Event, driver: &mut Driver) -> Option<Event> {
        let (owner, now) = (self.owner(event.peer()), driver.now());
        let (Owner::Here(number) | Owner::There(number)) = owner else { return None };
        *event.peer_mut() = id_of(number);
        let client = &mut self.clients[number as usize];
        if let Event::Connected { settings, .. } = &event
            && owner == Owner::Here(number)
        {
            client.moves = Crossing::new(settings, WAITING_BYTES_MAX).map(|crossing| {
                let message_bytes_max = settings.message_bytes_max as usize;
                Box::new(ClientMove { crossing, message_bytes_max, there: None, counted: Stats::default() })
            });
            if let Some(moves) = &client.moves {
                let (here, channel) = (client.here, moves.crossing.channel());
                self.tell(driver, here, channel, MoveMessage::Able.encode());
            }
            return Some(event);
        }
        let Some(moves) = &mut client.moves else { return Some(event) };
        let event = match owner {
            Owner::Here(_) => moves.crossing.on_event_here(event, now),
            _ => {
                moves.crossing.on_event_there(event, now);
                None
            }
        };
        if event.is_some() {
            return event;
        }
        // All clients share a driver: what one has no room for cannot stay in its connection.
        if !moves.crossing.has_room()
            && let Some((there, _)) = moves.there
        {
            let why = "more than 16 MiB wait for the end of a move";
            driver.endpoint.close(now, there, code::NONE, why, Duration::ZERO);
        }
        self.moving.insert(number);
        // At once: what the next event means depends on which connection is the client's.
        self.act(number, driver);
        self.ready.pop_front()
    }

    /// Does what the deadlines of moves need.
    pub(crate) fn advance(&mut self, driver: &mut Driver) {
        let now = driver.now();
        for number in self.moving.iter().copied().collect::<Vec<_>>() {
            if let Some(moves) = &mut self.clients[number as usize].moves {
                moves.crossing.on_time(now);
            }
            self.act(number, driver);
            if self.clients[number as usize].moves.as_ref().is_none_or(|moves| !moves.crossing.is_moving()) {
                self.moving.remove(&number);
            }
        }
    }

    /// The next connection that a move needs.
    pub(crate) fn poll_dial(&mut self) -> Option<PoolDial> {
        self.dials.pop_front()
    }

    /// Whether any client is on its way.
    pub(crate) fn is_moving(&self) -> bool {
        !self.moving.is_empty()
    }

    /// The connection has begun, or could not.
    pub(crate) fn connecting(&mut self, dial: &PoolDial, there: Option<PeerId>) {
        let Some(moves) = &mut self.clients[dial.client as usize].moves else { return };
        match there {
            Some(there) => {
                moves.there = Some((there, dial.target.clone()));
                self.own(there, Owner::There(dial.client));
            }
            None => moves.crossing.stay(),
        }
    }

    /// Accepts a message for the connection that it belongs to.
    pub(crate) fn send(
        &mut self,
        driver: &mut Driver,
        client: PeerId,
        channel: u16,
        message: Submission,
    ) -> Result<(), SendError> {
        let mut to = self.here(client);
        if let Some(moves) = self.clients.get_mut(client.index as usize).and_then(|known| known.moves.as_mut()) {
            match moves.crossing.route(channel) {
                Route::Refused => return Err(SendError::new(SendRefusal::NoSuchChannel { channel }, message.payload)),
                Route::Held => return moves.hold(channel, message),
                Route::There => to = moves.there.as_ref().map_or(to, |(there, _)| *there),
                Route::Here => {}
            }
        }
        let (payload, bytes) = (message.payload.clone(), message.payload.len());
        let sent = driver.send(to, channel, message);
        sent.map_err(|error| SendError::new(reason_of(error, channel, bytes), payload))
    }

    /// Does what the client's move needs, and takes what the application may have.
    fn act(&mut self, number: u32, driver: &mut Driver) {
        let now = driver.now();
        loop {
            let client = &mut self.clients[number as usize];
            let here = client.here;
            let Some(moves) = &mut client.moves else { return };
            let (channel, there) = (moves.crossing.channel(), moves.there.as_ref().map(|(there, _)| *there));
            let action = moves.crossing.poll_action();
            self.ready.extend(std::iter::from_fn(|| moves.crossing.poll_event()));
            let Some(action) = action else { return };
            match action {
                MoveAction::Connect { destination, token } => {
                    let Some((host, port)) = split(&destination) else {
                        moves.crossing.stay();
                        continue;
                    };
                    let target = client.target.moved(host, port);
                    let impairment = client.impairment.clone();
                    self.dials.push_back(PoolDial { client: number, target, impairment, token });
                }
                MoveAction::Settle => driver.endpoint.settle(now, here),
                MoveAction::SendHere(message) => self.tell(driver, here, channel, message),
                MoveAction::SendThere(message) => {
                    there.into_iter().for_each(|there| self.tell(driver, there, channel, message.clone()));
                }
                MoveAction::Switch => {
                    moves.counted = driver.endpoint.overview(here).map(|seen| seen.stats).unwrap_or_default();
                    there.into_iter().for_each(|to| moves.release(driver, number, to));
                }
                MoveAction::Stay => {
                    moves.there = None;
                    moves.release(driver, number, here);
                    if let Some(there) = there {
                        driver.endpoint.close(now, there, code::NONE, "the client stays where it is", Duration::ZERO);
                        self.own(there, Owner::Nobody);
                    }
                }
                MoveAction::Finish => self.finish(number),
            }
        }
    }

    /// The other connection is the client's from now on.
    fn finish(&mut self, number: u32) {
        let client = &mut self.clients[number as usize];
        let Some(moves) = &mut client.moves else { return };
        let Some((there, target)) = moves.there.take() else { return };
        let former = std::mem::replace(&mut client.here, there);
        client.former.add(&moves.counted);
        client.target = target;
        if self.ready.iter().any(|event| matches!(event, Event::Closed { peer, .. } if peer.index == number)) {
            client.moves = None;
        }
        self.own(former, Owner::Nobody);
        self.own(there, Owner::Here(number));
    }

    /// Sends a message about moves. What cannot be sent belongs to a connection that ends.
    fn tell(&mut self, driver: &mut Driver, peer: PeerId, channel: u16, message: Vec<u8>) {
        self.next_id += 1;
        // Ids of the application's messages count from 1.
        let id = MessageId(u64::MAX - self.next_id);
        let _ = driver.send(peer, channel, Submission { payload: message.into(), id, age: Duration::ZERO });
        let now = driver.now();
        driver.endpoint.flush(now);
    }

    fn owner(&self, connection: PeerId) -> Owner {
        self.owners.get(connection.index as usize).copied().unwrap_or_default()
    }

    fn own(&mut self, connection: PeerId, owner: Owner) {
        let index = connection.index as usize;
        if self.owners.len() <= index {
            self.owners.resize(index + 1, Owner::Nobody);
        }
        self.owners[index] = owner;
    }
}

impl ClientMove {
    fn hold(&mut self, channel: u16, message: Submission) -> Result<(), SendError> {
        let (bytes, bytes_max) = (message.payload.len(), self.message_bytes_max);
        if bytes > bytes_max {
            return Err(SendError::new(SendRefusal::TooLong { bytes, bytes_max }, message.payload));
        }
        let held = self.crossing.hold(channel, message);
        held.map_err(|message| SendError::new(SendRefusal::QueueFull, message.payload))
    }

    /// Sends what was held back.
    fn release(&mut self, driver: &mut Driver, number: u32, to: PeerId) {
        for (channel, message) in self.crossing.take_held() {
            let id = message.id;
            if driver.send(to, channel, message).is_err() {
                self.crossing.give_up(id_of(number), id, channel, GivenUp::QueueFull);
            }
        }
        let now = driver.now();
        driver.endpoint.flush(now);
    }
}

/// The id that the application has.
fn id_of(number: u32) -> PeerId {
    PeerId { index: number, generation: 0 }
}

/// No connection has this index.
const UNKNOWN: PeerId = PeerId { index: u32::MAX, generation: u32::MAX };
/// Bytes of a client's messages that may wait for its decision, and of the other server's events that may wait for the
/// end of this one.
const WAITING_BYTES_MAX: u64 = 16 << 20;
