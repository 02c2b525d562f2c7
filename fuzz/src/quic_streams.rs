//! A page's streams before it is a player, beyond the parsers: bytes of HTTP/3, of sessions and of datagrams in any
//! pieces and any order.

use crate::certificate::security;
use crate::input::Input;
use crate::page::Page;
use quinn_proto::{Dir, StreamId, VarInt};
use skipstone::port_fuzzed::Port;
use skipstone_proto::{Config, Duration, Settings};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

/// A server and a page after their handshake.
struct World {
    port: Port,
    page: Page,
    began: Instant,
    /// The page's datagrams in flight.
    on_way: VecDeque<Vec<u8>>,
    streams: Vec<StreamId>,
}

/// Any calls of a page on its streams, over a path whose loss and reordering the bytes choose; panics if the server
/// panics, or keeps more than it may for a client that is not a player.
pub fn quic_streams(bytes: &[u8]) {
    let mut port = used(bytes);
    // The page has disconnected, and its state is freed.
    for _ in 0..8 {
        port.advance(Duration::from_secs(20));
        port.step();
    }
    assert_eq!((port.strangers(), port.connections()), (0, 0), "nothing is kept for a page that is gone");
}

/// The port after a page's calls.
pub fn used(bytes: &[u8]) -> Port {
    let mut input = Input::new(bytes);
    let mut world = World::new();
    for _ in 0..STEPS_MAX {
        if input.is_empty() || world.page.is_lost {
            break;
        }
        world.step(&mut input);
        for held in world.port.held_for_strangers() {
            let (streams, bytes) = (held.streams, held.incomplete_bytes);
            let streams_max = if held.has_session { SESSION_STREAMS_MAX } else { STREAMS_MAX };
            assert!(streams <= streams_max, "a stranger has {streams} streams");
            assert!(bytes <= INCOMPLETE_BYTES_MAX, "{bytes} incomplete bytes are held for a stranger");
        }
    }
    world.port
}

impl World {
    fn new() -> World {
        let port = Port::new(security(), Config::server(Settings::default()));
        let began = Instant::now();
        let page = Page::new(began, SERVER);
        let mut world = World { port, page, began, on_way: VecDeque::new(), streams: Vec::new() };
        for _ in 0..HANDSHAKE_ROUNDS {
            world.exchange();
        }
        world
    }

    fn now(&self) -> Instant {
        self.began + Duration::from_micros(self.port.now().as_micros())
    }

    /// Delivers everything in flight.
    fn exchange(&mut self) {
        self.leave();
        while let Some(mut datagram) = self.on_way.pop_front() {
            self.port.handle(CLIENT, &mut datagram);
        }
        self.answer();
    }

    fn leave(&mut self) {
        let now = self.now();
        self.page.handle_timeout(now);
        self.on_way.extend(self.page.datagrams(now));
    }

    fn answer(&mut self) {
        let now = self.now();
        for (_, datagram) in self.port.step() {
            self.page.handle(now, &datagram);
        }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let choice = input.u8();
        match choice % 16 {
            0 => self.open(Dir::Uni, input.bytes()),
            1 => self.open(Dir::Bi, input.bytes()),
            2 | 3 => {
                let Some(id) = self.stream(input) else { return };
                let _ = self.page.quic.send_stream(id).write(input.bytes());
            }
            4 => {
                let Some(id) = self.stream(input) else { return };
                let _ = self.page.quic.send_stream(id).finish();
            }
            5 => {
                let (Some(id), code) = (self.stream(input), input.u8()) else { return };
                let _ = self.page.quic.send_stream(id).reset(VarInt::from_u32(code.into()));
            }
            6 => {
                let (Some(id), code) = (self.stream(input), input.u8()) else { return };
                if id.dir() == Dir::Bi {
                    let _ = self.page.quic.recv_stream(id).stop(VarInt::from_u32(code.into()));
                }
            }
            7 => drop(self.page.quic.datagrams().send(input.bytes().to_vec().into(), true)),
            8 => self.open(Dir::Uni, SETTINGS),
            9 => self.open(Dir::Bi, REQUEST),
            10 => self.open(Dir::Uni, &[&[0x40, 0x54, 0][..], &record(input.bytes())].concat()),
            11 => {
                let Some(id) = self.stream(input) else { return };
                let _ = self.page.quic.send_stream(id).write(&record(input.bytes()));
            }
            // Each written piece is sent in its own datagram, and arrives in any order or not at all.
            12 => self.leave(),
            13 => {
                let at = input.below(self.on_way.len());
                if let Some(mut datagram) = self.on_way.remove(at) {
                    self.port.handle(CLIENT, &mut datagram);
                    self.answer();
                }
            }
            14 => {
                self.port.advance(Duration::from_millis(u64::from(input.u8())));
                self.exchange();
            }
            _ => self.exchange(),
        }
    }

    fn open(&mut self, dir: Dir, bytes: &[u8]) {
        let Some(id) = self.page.quic.streams().open(dir) else { return };
        self.streams.push(id);
        let _ = self.page.quic.send_stream(id).write(bytes);
    }

    fn stream(&self, input: &mut Input<'_>) -> Option<StreamId> {
        self.streams.get(input.below(self.streams.len())).copied()
    }
}

/// A length-prefixed datagram of the protocol.
fn record(bytes: &[u8]) -> Vec<u8> {
    [&(0x8000 | bytes.len() as u16).to_be_bytes()[..], bytes].concat()
}

const STEPS_MAX: usize = 400;
const HANDSHAKE_ROUNDS: usize = 4;
/// A control stream with SETTINGS that enable datagrams.
const SETTINGS: &[u8] = &[0, 4, 2, 0x33, 1];
/// A request for a session.
const REQUEST: &[u8] = include_bytes!("../corpus/http3/connect");
/// Streams of a client in both directions, and streams of a client whose session was accepted.
const STREAMS_MAX: usize = 2 + 4;
const SESSION_STREAMS_MAX: usize = 2 + 16;
/// Maximum bytes of incomplete messages of all streams together.
const INCOMPLETE_BYTES_MAX: usize = 12 << 10;
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 1)), 7777);
const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 4_000);
