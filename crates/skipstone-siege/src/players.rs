//! Many players: connections of the protocol over `tcp://` (WIRE.md, section 7.3), which take places like any client
//! may. One thread drives them.

use crate::attack::{Ear, Origin, Player};
use crate::bucket::Bucket;
use crate::sent::Sent;
use bytes::Bytes;
use skipstone_proto::{Carrier, Config, Endpoint, Event, MessageId, Path, PeerId, Time};
use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// All of them.
pub(crate) struct Players {
    player: Player,
    to: SocketAddr,
    origin: Origin,
    began: Instant,
    places: Vec<Place>,
    comings: usize,
}

/// The place of one of them, with a connection or between two.
struct Place {
    line: Option<Line>,
    due: Instant,
}

impl Players {
    pub(crate) fn new(player: Player, to: SocketAddr, origin: Origin, crowd: usize, now: Instant) -> Players {
        // They connect over a second, because a listener's queue is short.
        let due = |number: usize| now + Duration::from_secs(1) * number as u32 / crowd as u32;
        let places = (0..crowd).map(|number| Place { line: None, due: due(number) }).collect();
        Players { player, to, origin, began: now, places, comings: 0 }
    }

    /// Each client gets a turn. False if none could act.
    pub(crate) fn step(&mut self, now: Instant, bucket: &mut Bucket, sent: &mut Sent) -> bool {
        let mut moved = false;
        for (number, place) in self.places.iter_mut().enumerate() {
            if place.line.is_none() && place.due <= now {
                place.line = Line::open(self.to, self.origin.address(number), self.comings, self.began);
                place.due = now + AGAIN;
                self.comings += 1;
                sent.openings += 1;
            }
            let Some(line) = &mut place.line else { continue };
            let before = sent.bytes;
            if line.step(self.player, bucket, sent, now).is_err() {
                place.line = None;
                place.due = now + AGAIN;
                sent.closes += 1;
            }
            moved |= sent.bytes > before;
        }
        moved
    }
}

/// A connection, and what waits for its socket.
struct Line {
    stream: TcpStream,
    path: Path,
    endpoint: Endpoint,
    peer: PeerId,
    began: Instant,
    is_connected: bool,
    received: Vec<u8>,
    unsent: Vec<u8>,
}

impl Line {
    fn open(to: SocketAddr, from: std::net::IpAddr, number: usize, began: Instant) -> Option<Line> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).ok()?;
        socket.bind(&SocketAddr::new(from, 0).into()).ok()?;
        socket.set_nonblocking(true).ok()?;
        // It is still connecting: writes before that "would block".
        let _ = socket.connect(&to.into());
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&(number as u64).to_be_bytes());
        let mut endpoint = Endpoint::new(Config::client(), seed).expect("a client's defaults are good");
        let path = Path { socket: 0, local: None, remote: to, carrier: Carrier::TCP };
        let peer = endpoint.connect(time(began), path, format!("chat siege{number}").as_bytes()).ok()?;
        let (received, unsent) = (Vec::new(), Vec::new());
        Some(Line { stream: socket.into(), path, endpoint, peer, began, is_connected: false, received, unsent })
    }

    /// `Err` if the connection is over.
    fn step(&mut self, player: Player, bucket: &mut Bucket, sent: &mut Sent, now: Instant) -> Result<(), ()> {
        if !(self.is_connected && player.ear == Ear::Deaf) {
            self.receive()?;
        }
        self.endpoint.handle_timeout(time(self.began));
        while let Some(event) = self.endpoint.poll_event(time(self.began)) {
            match event {
                Event::Connected { .. } => self.is_connected = true,
                Event::Closed { .. } => return Err(()),
                _ => {}
            }
        }
        if self.is_connected && self.unsent.is_empty() {
            self.say(player, bucket, now);
        }
        self.transmit(sent)
    }

    /// Sends its line as often as there is room.
    fn say(&mut self, player: Player, bucket: &mut Bucket, now: Instant) {
        let Some(word) = player.says else { return };
        for _ in 0..WORDS_AT_ONCE {
            if bucket.room(now) < WORD_BYTES {
                return;
            }
            let word = Bytes::from_static(word.as_bytes());
            if self.endpoint.send(time(self.began), self.peer, WORDS, word, MessageId(0)).is_err() {
                return;
            }
            bucket.take(WORD_BYTES);
        }
    }

    fn receive(&mut self) -> Result<(), ()> {
        let mut buffer = [0; 16 << 10];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(()),
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(error) if is_for_later(error.kind()) => break,
                Err(_) => return Err(()),
            }
        }
        let mut at = 0;
        while let Some([high, low]) = self.received.get(at..at + 2) {
            let length = usize::from(u16::from_be_bytes([*high, *low]) & 0x7FFF);
            let Some(datagram) = self.received.get_mut(at + 2..at + 2 + length) else { break };
            self.endpoint.handle_datagram(time(self.began), self.path, &mut datagram.to_vec());
            at += 2 + length;
        }
        self.received.drain(..at);
        Ok(())
    }

    fn transmit(&mut self, sent: &mut Sent) -> Result<(), ()> {
        let mut buffer = vec![0; 32 << 10];
        while self.unsent.len() < UNSENT_MAX
            && let Some(transmit) = self.endpoint.poll_transmit(time(self.began), &mut buffer)
        {
            for datagram in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                self.unsent.extend_from_slice(&(0x8000 | datagram.len() as u16).to_be_bytes());
                self.unsent.extend_from_slice(datagram);
            }
        }
        if self.unsent.is_empty() {
            return Ok(());
        }
        match self.stream.write(&self.unsent) {
            Ok(count) => {
                self.unsent.drain(..count);
                sent.bytes += count as u64;
                Ok(())
            }
            Err(error) if is_for_later(error.kind()) => Ok(()),
            Err(_) => Err(()),
        }
    }
}

fn is_for_later(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::NotConnected | ErrorKind::Interrupted)
}

fn time(began: Instant) -> Time {
    Time::from_micros(1 + began.elapsed().as_micros() as u64)
}

/// The channel of words (WIRE.md, section 14).
const WORDS: u16 = 1;
/// A word of a few letters with its frame.
const WORD_BYTES: usize = 8;
const WORDS_AT_ONCE: usize = 256;
const UNSENT_MAX: usize = 64 << 10;
const AGAIN: Duration = Duration::from_millis(100);
