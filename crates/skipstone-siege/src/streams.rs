//! Many streams (TCP, or TLS over it) that follow one script; one thread drives them.

use crate::attack::{Beneath, First, Origin, Script, Then};
use crate::bucket::Bucket;
use crate::sent::Sent;
use crate::{openings, trust};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use socket2::{Domain, Socket, Type};
use std::borrow::Cow;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// All of them.
pub(crate) struct Streams {
    script: Script,
    to: SocketAddr,
    origin: Origin,
    tls: Arc<ClientConfig>,
    /// The repeated bytes.
    repeats: Vec<u8>,
    places: Vec<Place>,
    /// The client whose turn is first.
    turn: usize,
}

/// The place of one attacker, with a stream or between two of them.
struct Place {
    line: Option<Line>,
    /// When a new stream may begin, or a quiet one ends.
    due: Instant,
}

struct Line {
    stream: Box<dyn Stream>,
    first: Cow<'static, [u8]>,
    stage: Stage,
    /// Bytes of the stage, or of the unit that is repeated, that were written.
    written: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    First,
    Answer,
    Then,
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

impl Streams {
    pub(crate) fn new(script: Script, to: SocketAddr, origin: Origin, crowd: usize, now: Instant) -> Streams {
        let repeats = match script.then {
            Then::Repeats(unit) | Then::Drips(unit) => openings::repeated(unit),
            Then::Stays | Then::Leaves(_) => Vec::new(),
        };
        // Connections are spread over time.
        let due = |number: usize| match script.then {
            Then::Leaves(span) => now + span * number as u32 / crowd as u32,
            Then::Stays | Then::Repeats(_) | Then::Drips(_) => now,
        };
        let places = (0..crowd).map(|number| Place { line: None, due: due(number) }).collect();
        Streams { script, to, origin, tls: Arc::new(trust::client()), repeats, places, turn: 0 }
    }

    /// Each client gets a turn. False if none could act.
    pub(crate) fn step(&mut self, now: Instant, bucket: &mut Bucket, sent: &mut Sent) -> bool {
        let mut moved = false;
        self.turn += 1;
        for turn in 0..self.places.len() {
            let number = (self.turn + turn) % self.places.len();
            if self.places[number].line.is_none() && self.places[number].due <= now {
                self.places[number].line = self.open(number);
                self.places[number].due = now + self.stay().unwrap_or(AGAIN);
                sent.openings += 1;
            }
            let Some(line) = &mut self.places[number].line else { continue };
            let before = sent.bytes;
            let is_over = line.step(self.script, &self.repeats, bucket, sent, now).is_err();
            let leaves = self.stay().is_some() && self.places[number].due <= now;
            moved |= sent.bytes > before || is_over || leaves;
            if is_over {
                sent.closes += 1;
            }
            if is_over || leaves {
                self.places[number].line = None;
                // A disconnected client reconnects at once; one that leaves by itself keeps its pace.
                if self.stay().is_none() {
                    self.places[number].due = now + AGAIN;
                }
            }
        }
        moved
    }

    /// How long each stays, if it leaves by itself.
    fn stay(&self) -> Option<Duration> {
        match self.script.then {
            Then::Leaves(span) => Some(span),
            Then::Stays | Then::Repeats(_) | Then::Drips(_) => None,
        }
    }

    fn open(&self, number: usize) -> Option<Line> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).ok()?;
        socket.bind(&SocketAddr::new(self.origin.address(number), 0).into()).ok()?;
        socket.set_nonblocking(true).ok()?;
        // Or the system would gather single bytes.
        socket.set_tcp_nodelay(true).ok()?;
        // It is still connecting: writes before that "would block".
        let _ = socket.connect(&self.to.into());
        let tcp: TcpStream = socket.into();
        let stream: Box<dyn Stream> = match self.script.beneath {
            Beneath::Clear => Box::new(tcp),
            Beneath::Tls => {
                let name = ServerName::try_from("localhost").expect("a good name");
                Box::new(StreamOwned::new(ClientConnection::new(self.tls.clone(), name).ok()?, tcp))
            }
        };
        let first = match self.script.first {
            First::Bytes(bytes) => Cow::Borrowed(bytes),
            First::ClientHello => Cow::Owned(self.client_hello()?),
            First::Upgrade(frames) => Cow::Owned([openings::UPGRADE, frames].concat()),
        };
        Some(Line { stream, first, stage: Stage::First, written: 0 })
    }
}

impl Streams {
    fn client_hello(&self) -> Option<Vec<u8>> {
        let (name, mut bytes) = (ServerName::try_from("localhost").expect("a good name"), Vec::new());
        ClientConnection::new(self.tls.clone(), name).ok()?.write_tls(&mut bytes).ok()?;
        Some(bytes)
    }
}

impl Line {
    /// `Err` if the stream is over.
    fn step(
        &mut self,
        script: Script,
        repeats: &[u8],
        bucket: &mut Bucket,
        sent: &mut Sent,
        now: Instant,
    ) -> Result<(), ()> {
        let came = self.read()?;
        if self.stage == Stage::First {
            let first = std::mem::take(&mut self.first);
            let count = self.write(&first[self.written..])?;
            self.first = first;
            self.written += count;
            sent.bytes += count as u64;
            if self.written == self.first.len() {
                let waits = matches!(script.first, First::Upgrade(_));
                (self.stage, self.written) = (if waits { Stage::Answer } else { Stage::Then }, 0);
            }
        }
        if self.stage == Stage::Answer && came > 0 {
            self.stage = Stage::Then;
        }
        if self.stage == Stage::Then && !repeats.is_empty() {
            let (turns, most) = if matches!(script.then, Then::Drips(_)) { (DRIPS, 1) } else { (1, repeats.len()) };
            for _ in 0..turns {
                let room = bucket.room(now).min(repeats.len() - self.written).min(most);
                let count = self.write(&repeats[self.written..self.written + room])?;
                self.written = (self.written + count) % repeats.len();
                bucket.take(count);
                sent.bytes += count as u64;
                if count == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Received bytes, which are ignored.
    fn read(&mut self) -> Result<usize, ()> {
        let mut buffer = [0; 16 << 10];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(()),
            Ok(count) => Ok(count),
            Err(error) if is_for_later(error.kind()) => Ok(0),
            Err(_) => Err(()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<usize, ()> {
        if bytes.is_empty() {
            return Ok(0);
        }
        match self.stream.write(bytes) {
            Ok(count) => Ok(count),
            Err(error) if is_for_later(error.kind()) => Ok(0),
            Err(_) => Err(()),
        }
    }
}

fn is_for_later(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::NotConnected | ErrorKind::Interrupted)
}

/// Writes of a byte in one turn.
const DRIPS: usize = 256;
/// Between the end of a stream and the next one at the same place.
const AGAIN: Duration = Duration::from_millis(5);
