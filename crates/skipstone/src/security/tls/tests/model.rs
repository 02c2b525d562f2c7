//! Two endpoints with real sessions on a model path: a fixed delay, and a rule that decides the fate of each datagram.

use super::super::TlsSession;
use rustls::{ClientConfig, ServerConfig};
use skipstone_proto::{Carrier, Config, Duration, Endpoint, Event, Path, Protection, Session, Suites, Time};
use std::sync::Arc;

/// Sessions of these configurations.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) client: Arc<ClientConfig>,
    pub(super) server: Arc<ServerConfig>,
}

impl Suites for Sessions {
    fn offered(&self) -> u8 {
        skipstone_proto::SUITE_TLS_1_3
    }

    fn client(&self, now: Time, _suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>> {
        Some(Box::new(TlsSession::client(now, self.client.clone(), transcript)?))
    }

    fn server(&self, now: Time, _suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>> {
        Some(Box::new(TlsSession::server(now, self.server.clone(), transcript)?))
    }
}

/// The fate of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Arrives,
    IsLost,
    /// It arrives later than others by this time.
    IsLate(Duration),
}

pub(super) struct Model {
    pub(super) now: Time,
    pub(super) client: Endpoint,
    pub(super) server: Endpoint,
    /// Arrival, whether towards the server, bytes; in the order in which they were sent.
    on_the_way: Vec<(Time, bool, Vec<u8>)>,
    /// First byte and length of each datagram, and whether towards the server, in the order in which they were sent.
    pub(super) sent: Vec<(bool, u8, usize)>,
    pub(super) joined: Option<Time>,
    pub(super) closes: Vec<String>,
    pub(super) codes: Vec<u64>,
    /// Longer datagrams are lost.
    pub(super) carries: usize,
}

pub(super) const BEGINNING: Time = Time::from_micros(1_000_000);
pub(super) const DELAY: Duration = Duration::from_millis(20);

const fn address(number: u8) -> Path {
    use std::net::{IpAddr, Ipv4Addr, SocketAddr};
    let remote = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, number)), 7_777);
    Path { socket: 0, local: None, remote, carrier: Carrier::UDP }
}
const CLIENT: Path = address(1);
const SERVER: Path = address(2);

impl Model {
    pub(super) fn new(seed: u8, sessions: &Arc<Sessions>) -> Self {
        let end = |config, number: u8| Endpoint::new(config, [seed ^ number; 32]).expect("a good configuration");
        let server = Config::server(Default::default()).encrypted(sessions.clone());
        let mut client = end(Config::client(), 1);
        client.connect_with(BEGINNING, SERVER, b"a token", Protection::Encrypted(sessions.clone())).expect("it may");
        Model {
            now: BEGINNING,
            client,
            server: end(server, 2),
            on_the_way: Vec::new(),
            sent: Vec::new(),
            joined: None,
            closes: Vec::new(),
            codes: Vec::new(),
            carries: usize::MAX,
        }
    }

    /// Runs until the client is connected or its attempt has ended. `fate` gets the number of each datagram.
    pub(super) fn run(&mut self, fate: &mut dyn FnMut(usize) -> Fate) {
        self.run_by(&mut |_, _, number| fate(number));
    }

    /// The same; `fate` gets the time, whether it leaves towards the server, and the number of each datagram.
    pub(super) fn run_by(&mut self, fate: &mut dyn FnMut(Time, bool, usize) -> Fate) {
        loop {
            self.settle(fate);
            self.poll_events();
            if self.joined.is_some() || !self.closes.is_empty() {
                return;
            }
            let arrival = self.on_the_way.iter().map(|(at, ..)| *at).min().unwrap_or(Time::NEVER);
            let next = arrival.min(self.client.poll_timeout()).min(self.server.poll_timeout());
            assert!(next < BEGINNING + Duration::from_secs(60), "nothing happens any more: {:?}", self.sent);
            self.now = next.max(self.now + Duration::from_micros(1));
        }
    }

    fn settle(&mut self, fate: &mut dyn FnMut(Time, bool, usize) -> Fate) {
        let now = self.now;
        while let Some(at) = self.on_the_way.iter().position(|(at, ..)| *at <= now) {
            let (_, is_up, mut bytes) = self.on_the_way.remove(at);
            let (to, from) = if is_up { (&mut self.server, CLIENT) } else { (&mut self.client, SERVER) };
            to.handle_datagram(now, from, &mut bytes);
        }
        self.client.handle_timeout(now);
        self.server.handle_timeout(now);
        self.poll_events();
        let mut buffer = vec![0; 1 << 16];
        for (is_up, end) in [(true, &mut self.client), (false, &mut self.server)] {
            while let Some(transmit) = end.poll_transmit(now, &mut buffer) {
                for datagram in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                    let late = match fate(now, is_up, self.sent.len()) {
                        _ if datagram.len() > self.carries => None,
                        Fate::Arrives => Some(Duration::ZERO),
                        Fate::IsLost => None,
                        Fate::IsLate(span) => Some(span),
                    };
                    self.sent.push((is_up, datagram[0], datagram.len()));
                    self.on_the_way.extend(late.map(|late| (now + DELAY + late, is_up, datagram.to_vec())));
                }
            }
        }
    }

    fn poll_events(&mut self) {
        let now = self.now;
        for (is_client, end) in [(true, &mut self.client), (false, &mut self.server)] {
            while let Some(event) = end.poll_event(now) {
                match event {
                    Event::Requested { peer, .. } => drop(end.accept(now, peer)),
                    Event::Connected { .. } if is_client => self.joined = Some(now),
                    Event::Closed { close, .. } => {
                        self.closes.push(close.reason_text().into_owned());
                        self.codes.push(close.code);
                    }
                    _ => {}
                }
            }
        }
    }

    /// How long the client took to be connected.
    pub(super) fn took(&self) -> Option<Duration> {
        self.joined.map(|at| at.since(BEGINNING))
    }
}
