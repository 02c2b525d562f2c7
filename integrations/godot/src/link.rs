//! A server with its peers, or a client, as the engine's multiplayer API sees them: numbers for peers, packets,
//! targets. The server is peer 1; each client chooses a random number, which the first four bytes of its token carry.

use crate::transfer::{Mode, channel, merging, mode, settings};
use skipstone::{
    Bytes, Client, ClientConfig, Event, Group, PeerId, SendError, SendRefusal, Server, ServerConfig, StartError, code,
};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The server's number.
pub(crate) const SERVER: i32 = 1;

/// Bytes of packets that may wait for the game here; more wait in the library, which then holds the sender back.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// How long reliable packets may still arrive after a peer was disconnected.
const LINGER: Duration = Duration::from_millis(200);

/// A connected server or client.
pub(crate) struct Link {
    end: End,
    waiting: VecDeque<Packet>,
    waiting_bytes: usize,
    changes: VecDeque<Change>,
    /// Clients that ask to connect are refused.
    pub(crate) refuses: bool,
}

enum End {
    Server { server: Box<Server>, numbers: BTreeMap<PeerId, Player>, peers: BTreeMap<i32, PeerId> },
    Client { client: Client, number: i32, status: Status },
    /// A client that has left the server.
    Left { number: i32 },
}

/// A client at the server, who is not connected before the library says so.
struct Player {
    number: i32,
    is_connected: bool,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Disconnected,
    Connecting,
    Connected,
}

/// A packet that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) from: i32,
    pub(crate) mode: Mode,
    pub(crate) transfer_channel: i32,
    pub(crate) payload: Bytes,
}

/// A peer came or went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Connected(i32),
    /// With the reason, for people.
    Disconnected(i32, String),
    /// A client was not let in, with the reason.
    Refused(String),
}

/// Why a packet was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    NoSuchChannel,
    NoSuchPeer,
    Send(SendRefusal),
}

impl Link {
    pub(crate) fn serve(config: ServerConfig) -> Result<Link, StartError> {
        let server = Server::start(ServerConfig { settings: settings(), merging: merging(), ..config })?;
        Ok(Link::new(End::Server { server: Box::new(server), numbers: BTreeMap::new(), peers: BTreeMap::new() }))
    }

    /// Begins to connect, as this number, which is above 1.
    pub(crate) fn connect(url: &str, number: i32, token: &[u8], config: ClientConfig) -> Result<Link, StartError> {
        let token = [&number.to_le_bytes(), token].concat();
        let client = Client::connect(url, &token, config)?;
        Ok(Link::new(End::Client { client, number, status: Status::Connecting }))
    }

    fn new(end: End) -> Link {
        Link { end, waiting: VecDeque::new(), waiting_bytes: 0, changes: VecDeque::new(), refuses: false }
    }

    /// This side's number.
    pub(crate) fn number(&self) -> i32 {
        match &self.end {
            End::Server { .. } => SERVER,
            End::Client { number, .. } | End::Left { number } => *number,
        }
    }

    pub(crate) fn is_server(&self) -> bool {
        matches!(self.end, End::Server { .. })
    }

    pub(crate) fn status(&self) -> Status {
        match &self.end {
            End::Server { server, .. } if server.failure().is_some() => Status::Disconnected,
            End::Server { .. } => Status::Connected,
            End::Client { client, .. } if client.failure().is_some() => Status::Disconnected,
            End::Client { status, .. } => *status,
            End::Left { .. } => Status::Disconnected,
        }
    }

    /// The URL of a server, by which clients on this machine reach it; empty at a client.
    pub(crate) fn url(&self) -> String {
        match &self.end {
            End::Server { server, .. } => server.url(),
            End::Client { .. } | End::Left { .. } => String::new(),
        }
    }

    /// Takes what arrived from the library, as far as there is room.
    pub(crate) fn poll(&mut self) {
        while self.waiting_bytes < WAITING_BYTES_MAX {
            let event = match &mut self.end {
                End::Server { server, .. } => server.poll_event(),
                End::Client { client, .. } => client.poll_event(),
                End::Left { .. } => None,
            };
            let Some(event) = event else { return };
            self.on_event(event);
        }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Message { peer, channel, payload, .. } => self.on_message(peer, channel, payload),
            event => match &mut self.end {
                End::Server { server, numbers, peers } => {
                    let change = on_server_event(server, numbers, peers, self.refuses, event);
                    self.changes.extend(change);
                }
                End::Client { status, .. } => match event {
                    Event::Connected { .. } => {
                        *status = Status::Connected;
                        self.changes.push_back(Change::Connected(SERVER));
                    }
                    Event::Closed { close, .. } => {
                        self.changes.push_back(match *status {
                            Status::Connected => Change::Disconnected(SERVER, describe(&close)),
                            _ => Change::Refused(describe(&close)),
                        });
                        *status = Status::Disconnected;
                    }
                    _ => {}
                },
                End::Left { .. } => {}
            },
        }
    }

    fn on_message(&mut self, peer: PeerId, channel: u16, payload: Bytes) {
        let from = match &self.end {
            End::Server { numbers, .. } => numbers.get(&peer).map(|player| player.number),
            End::Client { .. } | End::Left { .. } => Some(SERVER),
        };
        if let (Some(from), Some((mode, transfer_channel))) = (from, mode(channel)) {
            self.waiting_bytes += payload.len() + 1;
            self.waiting.push_back(Packet { from, mode, transfer_channel, payload });
        }
    }

    /// The packets that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The packet that is next.
    pub(crate) fn next(&self) -> Option<&Packet> {
        self.waiting.front()
    }

    pub(crate) fn take(&mut self) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.waiting_bytes -= packet.payload.len() + 1;
        Some(packet)
    }

    pub(crate) fn take_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// Sends to the target: a peer, all for 0, all but one for its negative number. A client reaches only the server;
    /// the engine relays what is for others.
    pub(crate) fn send(
        &mut self,
        target: i32,
        mode: Mode,
        transfer_channel: i32,
        payload: Bytes,
    ) -> Result<(), Refusal> {
        let channel = channel(mode, transfer_channel).ok_or(Refusal::NoSuchChannel)?;
        match &mut self.end {
            End::Left { .. } => Err(Refusal::NoSuchPeer),
            End::Client { client, .. } => match target {
                0 | SERVER => client.send(channel, payload).map(drop).map_err(refused),
                // All but the server.
                target if target == -SERVER => Ok(()),
                target if target < 0 => client.send(channel, payload).map(drop).map_err(refused),
                _ => Err(Refusal::NoSuchPeer),
            },
            End::Server { server, peers, .. } => {
                if target > 0 {
                    let peer = peers.get(&target).ok_or(Refusal::NoSuchPeer)?;
                    return server.send(*peer, channel, payload).map(drop).map_err(refused);
                }
                let except = target.checked_neg().and_then(|number| peers.get(&number)).copied();
                let sent = server.broadcast_except(Group::EVERYONE, except.as_slice(), channel, payload);
                sent.map(drop).map_err(refused)
            }
        }
    }

    /// Ends the connection to a peer; at a client, the one to the server, for whose answer it waits as
    /// [`close`](Link::close) does. Without a change if the engine wants none.
    pub(crate) fn disconnect(&mut self, number: i32, is_told: IsTold) {
        let was_connected = match &mut self.end {
            End::Server { server, peers, numbers } => {
                let Some(peer) = peers.remove(&number) else { return };
                let was_connected = numbers.remove(&peer).is_some_and(|player| player.is_connected);
                // Fails only for a client who has left in the meantime.
                let _ = server.close(peer, code::KICKED, "the server's game ended the connection", LINGER);
                was_connected
            }
            End::Client { number: own, status, .. } if number == SERVER => {
                let (own, was_connected) = (*own, *status == Status::Connected);
                leave(std::mem::replace(&mut self.end, End::Left { number: own }));
                was_connected
            }
            End::Client { .. } | End::Left { .. } => return,
        };
        if is_told.0 && was_connected {
            self.changes.push_back(Change::Disconnected(number, "disconnected by this game".into()));
        }
    }

    /// Ends all connections, and waits for the answers: a thread that did so would still run when the engine unloads
    /// the library.
    pub(crate) fn close(self) {
        leave(self.end);
    }
}

fn leave(end: End) {
    match end {
        End::Server { server, .. } => _ = server.shutdown(code::SHUTDOWN, "the server's game has ended", LINGER),
        End::Client { client, .. } => client.close(code::NONE, "the player has left", LINGER),
        End::Left { .. } => {}
    }
}

/// Whether the engine is told that a peer has gone.
pub(crate) struct IsTold(pub(crate) bool);

fn refused(error: SendError) -> Refusal {
    Refusal::Send(error.reason)
}

fn describe(close: &skipstone::Close) -> String {
    format!("{} (code {})", close.reason_text(), close.code)
}

fn on_server_event(
    server: &mut Server,
    numbers: &mut BTreeMap<PeerId, Player>,
    peers: &mut BTreeMap<i32, PeerId>,
    refuses: bool,
    event: Event,
) -> Option<Change> {
    match event {
        Event::Requested { peer, token, .. } => {
            let number = token.first_chunk().map(|bytes| i32::from_le_bytes(*bytes)).filter(|number| *number > SERVER);
            // An answer fails only for a client who has left in the meantime.
            let _ = match number {
                _ if refuses => server.refuse(peer, code::REFUSED, "the server takes no new players now"),
                None => server.refuse(peer, code::REFUSED, "the token does not begin with a peer's number"),
                Some(number) if peers.contains_key(&number) => {
                    server.refuse(peer, code::REFUSED, "another peer has this number: connect again")
                }
                Some(number) => {
                    // From now on, so that two clients who wait do not get one number.
                    peers.insert(number, peer);
                    numbers.insert(peer, Player { number, is_connected: false });
                    server.accept(peer)
                }
            };
            None
        }
        Event::Connected { peer, .. } => {
            let player = numbers.get_mut(&peer)?;
            player.is_connected = true;
            Some(Change::Connected(player.number))
        }
        Event::Closed { peer, close } => {
            let player = numbers.remove(&peer)?;
            peers.remove(&player.number);
            player.is_connected.then(|| Change::Disconnected(player.number, describe(&close)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Instant;

    /// A server and two clients, 7 and 9.
    fn links() -> [Link; 3] {
        let config = ServerConfig::new("127.0.0.1:0".parse().expect("an address"));
        let server = Link::serve(config).expect("it starts");
        let client =
            |number| Link::connect(&server.url(), number, b"", ClientConfig::default()).expect("it begins to connect");
        let clients = [client(7), client(9)];
        let [a, b] = clients;
        let mut links = [server, a, b];
        let mut changes = [const { Vec::new() }; 3];
        until(&mut links, |links| {
            links.iter_mut().zip(&mut changes).for_each(|(link, changes)| changes.extend(link.take_change()));
            changes.iter().map(Vec::len).eq([2, 1, 1])
        });
        changes[0].sort_by_key(|change| format!("{change:?}"));
        assert_eq!(changes[0], [Change::Connected(7), Change::Connected(9)]);
        assert_eq!(changes[1], [Change::Connected(SERVER)]);
        links
    }

    fn until(links: &mut [Link; 3], mut holds: impl FnMut(&mut [Link; 3]) -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !holds(links) {
            assert!(Instant::now() < end, "20 s have passed");
            links.iter_mut().for_each(Link::poll);
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn texts(link: &mut Link) -> Vec<String> {
        std::iter::from_fn(|| link.take()).map(|packet| String::from_utf8_lossy(&packet.payload).into_owned()).collect()
    }

    #[test]
    fn targets_are_one_peer_all_peers_or_all_but_one() {
        let mut links = links();
        for (target, text) in [(7, "to 7"), (0, "to all"), (-7, "to all but 7"), (9, "end"), (7, "end")] {
            links[0].send(target, Mode::Reliable, 0, text.into()).expect("there is room");
        }
        let mut got = [Vec::new(), Vec::new()];
        until(&mut links, |links| {
            got.iter_mut().zip(&mut links[1..]).for_each(|(got, link)| got.extend(texts(link)));
            got.iter().all(|got| got.last().is_some_and(|text| text == "end"))
        });
        assert_eq!(got[0], ["to 7", "to all", "end"]);
        assert_eq!(got[1], ["to all", "to all but 7", "end"]);
        assert_eq!(links[0].send(8, Mode::Reliable, 0, "".into()), Err(Refusal::NoSuchPeer));
        assert_eq!(links[1].send(9, Mode::Reliable, 0, "".into()), Err(Refusal::NoSuchPeer));
    }

    #[test]
    fn packets_have_their_sender_mode_and_channel() {
        let mut links = links();
        links[2].send(SERVER, Mode::UnreliableOrdered, 5, "input".into()).expect("there is room");
        until(&mut links, |links| links[0].waiting() > 0);
        let expected = Packet { from: 9, mode: Mode::UnreliableOrdered, transfer_channel: 5, payload: "input".into() };
        assert_eq!(links[0].next(), Some(&expected));
        assert_eq!(links[0].take(), Some(expected));
        assert_eq!(links[2].send(SERVER, Mode::Reliable, 256, "".into()), Err(Refusal::NoSuchChannel));
    }

    #[test]
    fn a_disconnected_peer_learns_it_and_others_stay() {
        let mut links = links();
        links[0].disconnect(7, IsTold(false));
        assert_eq!(links[0].take_change(), None);
        until(&mut links, |links| links[1].status() == Status::Disconnected);
        let told = Change::Disconnected(SERVER, "the server's game ended the connection (code 1002)".into());
        assert_eq!(links[1].take_change(), Some(told));
        assert_eq!(links[2].status(), Status::Connected);
    }

    #[test]
    fn a_client_that_disconnects_from_its_server_has_left() {
        let mut links = links();
        links[1].disconnect(9, IsTold(true));
        assert_eq!(links[1].take_change(), None, "the engine relays to other clients");
        links[1].disconnect(SERVER, IsTold(true));
        assert_eq!((links[1].status(), links[1].number()), (Status::Disconnected, 7));
        let told = Change::Disconnected(SERVER, "disconnected by this game".into());
        assert_eq!(links[1].take_change(), Some(told));
        assert_eq!(links[1].send(SERVER, Mode::Reliable, 0, "".into()), Err(Refusal::NoSuchPeer));
        let mut change = None;
        until(&mut links, |links| {
            change = links[0].take_change();
            change.is_some()
        });
        assert_eq!(change, Some(Change::Disconnected(7, "the player has left (code 0)".into())));
    }

    #[test]
    fn a_peer_that_leaves_is_a_change_at_the_server() {
        let [server, leaver, other] = links();
        leaver.close();
        let mut links = [
            server,
            Link::connect("skip+plain://127.0.0.1:9", 3, b"", ClientConfig::default()).expect("it begins"),
            other,
        ];
        let mut change = None;
        until(&mut links, |links| {
            change = links[0].take_change();
            change.is_some()
        });
        assert_eq!(change, Some(Change::Disconnected(7, "the player has left (code 0)".into())));
    }

    #[test]
    fn a_number_that_is_taken_and_clients_that_are_not_wanted_are_refused() {
        let mut links = links();
        let url = links[0].url();
        let connect = |number| Link::connect(&url, number, b"", ClientConfig::default()).expect("it begins to connect");
        let told = |links: &mut [Link; 3], mut client: Link| {
            let mut change = None;
            until(links, |_| {
                client.poll();
                change = client.take_change();
                change.is_some()
            });
            format!("{change:?}")
        };
        let taken = told(&mut links, connect(9));
        assert!(taken.starts_with("Some(Refused("), "it was never connected: {taken}");
        assert!(taken.contains("another peer has this number"), "{taken}");
        links[0].refuses = true;
        let unwanted = told(&mut links, connect(10));
        assert!(unwanted.contains("no new players"), "{unwanted}");
    }
}
