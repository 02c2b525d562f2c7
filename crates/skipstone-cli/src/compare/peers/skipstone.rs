//! Skipstone itself: a channel for each entity, everything else as it comes.

use std::collections::VecDeque;
use std::net::SocketAddr;

use skipstone_proto::channel::{MessageId, Submission};
use skipstone_proto::endpoint::{Config, Endpoint, Event, PeerId, Transmit};
use skipstone_proto::path::{Carrier, Path};
use skipstone_proto::time::Time;
use skipstone_proto::wire::redundancy::Redundancy;
use skipstone_proto::wire::settings::Settings;

use super::{Ends, Setup};
use crate::compare::contender::Mode;
use crate::compare::payload::splitmix;
use crate::compare::peer::{Peer, Telemetry, Update};

/// How packets are sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suite {
    /// By a stand-in of the encryption's sizes.
    Sealed,
    /// In clear, with a tag against damage.
    Plain,
}

pub(super) fn ends(suite: Suite, mode: Mode, setup: Setup<'_>) -> Ends {
    let redundancy = Redundancy { mode: mode.on_wire(), ..Redundancy::default() };
    let settings = Settings { redundancy, ..Settings::default() };
    let mut seed = setup.seed;
    let mut end = |config| {
        let words: Vec<u8> = (0..4).flat_map(|_| splitmix(&mut seed).to_be_bytes()).collect();
        let mut endpoint = Endpoint::new(config, words.try_into().expect("32 bytes")).expect("good settings");
        seal(&mut endpoint, suite);
        End::new(endpoint)
    };
    let (mut client, server) = (end(Config::client()), end(Config::server(settings)));
    client.endpoint.connect(setup.now, path(setup.server), b"").expect("it may connect");
    Ends { client: Box::new(client), server: Box::new(server) }
}

/// Puts the stand-in in place of the plain tag.
fn seal(_endpoint: &mut Endpoint, suite: Suite) {
    match suite {
        Suite::Plain => {}
        // The stand-in is to come; until then it is plain, and `is_sealed` says so.
        Suite::Sealed => {}
    }
}

/// Whether the sizes of encryption are in the figures of `skipstone`.
pub(super) const IS_SEALED: bool = false;

fn path(remote: SocketAddr) -> Path {
    Path { socket: 0, remote, carrier: Carrier::UDP }
}

struct End {
    endpoint: Endpoint,
    peer: Option<PeerId>,
    is_connected: bool,
    arrived: VecDeque<Update>,
    buffer: Vec<u8>,
    /// What of the buffer has not left yet.
    rest: Option<(Transmit, usize)>,
    messages: u64,
}

/// Room for datagrams that are written at once.
const BUFFER_BYTES: usize = 1 << 16;

impl End {
    fn new(endpoint: Endpoint) -> End {
        End {
            endpoint,
            peer: None,
            is_connected: false,
            arrived: VecDeque::new(),
            buffer: vec![0; BUFFER_BYTES],
            rest: None,
            messages: 0,
        }
    }

    /// Takes all that the endpoint has to tell.
    fn pump(&mut self, now: Time) {
        while let Some(event) = self.endpoint.poll_event(now) {
            match event {
                Event::Requested { peer, .. } => drop(self.endpoint.accept(now, peer)),
                Event::Connected { peer } => {
                    self.peer = Some(peer);
                    self.is_connected = true;
                }
                Event::Message { channel, payload, age, .. } => {
                    self.arrived.push_back(Update { entity: channel, payload, age });
                }
                Event::Closed { .. } => self.peer = None,
                Event::Acknowledged { .. } | Event::GivenUp { .. } | Event::PathChanged { .. } => {}
            }
        }
    }
}

impl Peer for End {
    fn handle_datagram(&mut self, now: Time, from: SocketAddr, datagram: &mut Vec<u8>) {
        self.endpoint.handle_datagram(now, path(from), datagram);
        self.pump(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.endpoint.handle_timeout(now);
        self.pump(now);
    }

    fn poll_timeout(&mut self) -> Time {
        self.endpoint.poll_timeout()
    }

    fn poll_transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SocketAddr> {
        if self.rest.is_none() {
            self.rest = self.endpoint.poll_transmit(now, &mut self.buffer).map(|transmit| (transmit, 0));
        }
        let (transmit, from) = self.rest?;
        let to = (from + transmit.segment_bytes).min(transmit.bytes);
        datagram.clear();
        datagram.extend_from_slice(&self.buffer[from..to]);
        self.rest = (to < transmit.bytes).then_some((transmit, to));
        Some(transmit.path.remote)
    }

    fn is_connected(&self) -> bool {
        self.is_connected
    }

    fn send(&mut self, now: Time, update: Update) {
        let Some(peer) = self.peer else { return };
        self.messages += 1;
        let message = Submission { payload: update.payload, id: MessageId(self.messages), age: update.age };
        // What a full queue refuses is not delivered, and so counted.
        let _ = self.endpoint.submit(now, peer, update.entity, message);
    }

    fn poll_message(&mut self, _now: Time) -> Option<Update> {
        self.arrived.pop_front()
    }

    fn telemetry(&mut self) -> Telemetry {
        let totals = self.endpoint.totals();
        Telemetry {
            resent: Some(totals.resent),
            redundancy_bytes: Some(totals.redundancy.bytes_sent),
            spurious: Some(totals.packets_spurious),
            repaired: Some(totals.redundancy.packets_repaired),
        }
    }
}
