//! A relay of TCP. The kernel ends the connections of both sides here, so no byte can be lost, and no retransmission be
//! seen: delay, jitter, rate and outages are all that a relay can do to a stream. To expose TCP to loss, use
//! a link between two namespaces.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry, Token};

use super::live_path::{Direction, LivePath};
use super::outages::Outages;
use super::path_settings::PathConfig;
use super::snapshot::StreamCounts;
use crate::flow_recording::{FlowEvent, FlowId, FlowProtocol, FlowRecorder};

/// The relay's streams, and the links that they share.
pub(crate) struct TcpRelay {
    registry: Registry,
    listener: TcpListener,
    local: SocketAddr,
    server: SocketAddr,
    links: LivePath,
    outages: Outages,
    pairs: BTreeMap<u64, Pair>,
    /// Pairs that can be read or written, now or once the links have room; all others cost nothing.
    busy: BTreeSet<u64>,
    counts: StreamCounts,
    may_accept: bool,
    /// Clients for which the system had no room may still wait, and no further event reports them.
    accept_again: Option<Duration>,
    recorder: Option<Arc<FlowRecorder>>,
    buffer: Vec<u8>,
}

/// A client's stream and the server's.
struct Pair {
    /// The ends, indexed by the direction that begins there.
    ends: [StreamEnd; 2],
}

struct StreamEnd {
    stream: TcpStream,
    may_read: bool,
    may_write: bool,
    /// All was read that will ever come.
    has_ended: bool,
    /// It ended by a reset, or was refused.
    was_reset: bool,
    /// Bytes that were read here and have not arrived at the other end.
    on_the_way: usize,
    /// Bytes that have arrived for this end and were not written yet.
    unwritten: VecDeque<u8>,
    /// Nothing more arrives for this end.
    is_complete: bool,
    /// The other end's reset has arrived.
    is_to_be_reset: bool,
    is_shut: bool,
}

/// Tokens of streams begin here: the listener, then two for each pair.
pub(crate) const FIRST_TOKEN: usize = 1 << 40;
const PAIRS_MAX: usize = 5_000;
/// When clients are asked for again that could not be accepted.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);
/// The limit of bytes in flight or unwritten, above which a stream is not read.
const PENDING_MAX: usize = 4 << 20;
/// The limit of the queue of a rate-limited stream, above which it is not read.
const QUEUE_MAX: Duration = Duration::from_millis(100);
/// A segment, so that jitter and rate have something to work on.
const SEGMENT_BYTES: usize = 1_448;
/// The number of segments that are read from a stream before the next stream's turn.
const BATCH: usize = 16;

impl TcpRelay {
    pub(crate) fn open(
        listen: SocketAddr,
        server: SocketAddr,
        registry: &Registry,
        (links, outages): (LivePath, Outages),
        recorder: Option<Arc<FlowRecorder>>,
    ) -> Result<TcpRelay, String> {
        let text = |error: io::Error| format!("cannot listen on {listen} over TCP: {error}");
        let mut listener = TcpListener::bind(listen).map_err(text)?;
        registry.register(&mut listener, Token(FIRST_TOKEN), Interest::READABLE).map_err(text)?;
        Ok(TcpRelay {
            registry: registry.try_clone().map_err(text)?,
            local: listener.local_addr().map_err(text)?,
            listener,
            server,
            links,
            outages,
            pairs: BTreeMap::new(),
            busy: BTreeSet::new(),
            counts: StreamCounts::default(),
            may_accept: false,
            accept_again: None,
            recorder,
            buffer: vec![0; SEGMENT_BYTES],
        })
    }

    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }

    pub(crate) fn on_ready(&mut self, token: usize, readable: bool, writable: bool) {
        let Some(at) = (token - FIRST_TOKEN).checked_sub(1) else {
            self.may_accept = true;
            return;
        };
        if let Some(pair) = self.pairs.get_mut(&(at as u64 / 2)) {
            pair.ends[at % 2].may_read |= readable;
            pair.ends[at % 2].may_write |= writable;
            self.busy.insert(at as u64 / 2);
        }
    }

    /// Reads and accepts. True if there may be more right now.
    pub(crate) fn receive(&mut self) -> bool {
        self.accept();
        let mut has_more = false;
        for number in &self.busy {
            let Some(pair) = self.pairs.get_mut(number) else { continue };
            for direction in Direction::BOTH {
                let (links, recorder) = ((&mut self.links, &self.outages), self.recorder.as_deref());
                has_more |= pair.read(*number, direction, links, &mut self.buffer, recorder);
            }
        }
        has_more
    }

    /// Writes what has arrived.
    pub(crate) fn transmit(&mut self) {
        for direction in Direction::BOTH {
            while let Some(arrived) = self.links.receive(direction) {
                let Some(pair) = self.pairs.get_mut(&arrived.tag) else { continue };
                pair.take(direction, arrived.bytes);
                if direction == Direction::Down {
                    record(self.recorder.as_deref(), arrived.tag, FlowEvent::Down, arrived.bytes);
                }
                self.busy.insert(arrived.tag);
                match direction {
                    Direction::Up => self.counts.bytes_up += arrived.bytes.len() as u64,
                    Direction::Down => self.counts.bytes_down += arrived.bytes.len() as u64,
                }
            }
        }
        let mut broken = Vec::new();
        let mut done = Vec::new();
        let pairs = &mut self.pairs;
        self.busy.retain(|number| {
            let Some(pair) = pairs.get_mut(number) else { return false };
            let has_failed = pair.ends.iter_mut().any(|end| end.write().is_err());
            if has_failed || pair.ends.iter().any(|end| end.is_to_be_reset) {
                broken.push(*number);
            } else if pair.ends.iter().all(|end| end.is_shut) {
                done.push(*number);
            }
            pair.ends.iter().any(StreamEnd::wants_to_be_read)
        });
        self.remove_broken(&broken);
        done.iter().for_each(|number| self.remove(*number));
    }

    /// The next arrival, or the moment at which a stream may be read, or a client accepted, again.
    pub(crate) fn next_time(&self) -> Option<Duration> {
        let waits = |direction: Direction| {
            let is_waiting = |pair: &Pair| pair.ends[direction as usize].wants_to_be_read();
            let until = held_until(&self.links, &self.outages, direction)?;
            self.busy.iter().filter_map(|number| self.pairs.get(number)).any(is_waiting).then_some(until)
        };
        let arrival = self.links.next_arrival();
        Direction::BOTH.into_iter().map(waits).chain([arrival, self.accept_again]).flatten().min()
    }

    pub(crate) fn now(&self) -> Duration {
        self.links.now()
    }

    pub(crate) fn configure(&mut self, config: &PathConfig) {
        self.links.configure(&config.of_streams());
    }

    pub(crate) fn take_down(&mut self, direction: Direction, length: Duration) {
        self.outages.take_down(direction, self.links.now(), length);
    }

    pub(crate) fn counts(&self) -> StreamCounts {
        StreamCounts { open: self.pairs.len() as u64, ..self.counts }
    }

    fn accept(&mut self) {
        if self.accept_again.is_some_and(|at| at <= self.links.now()) {
            self.accept_again = None;
            self.may_accept = true;
        }
        while self.may_accept {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.may_accept = false;
                    return;
                }
                // A client that has already left.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                // No descriptor or memory is left: connections that end will free some.
                Err(_) => {
                    self.may_accept = false;
                    self.accept_again = Some(self.links.now() + ACCEPT_AGAIN);
                    return;
                }
            };
            if self.pairs.len() < PAIRS_MAX {
                self.counts.opened += 1;
                self.counts.broken += u64::from(self.join(stream).is_err());
            }
        }
    }

    fn join(&mut self, client: TcpStream) -> io::Result<()> {
        let number = self.counts.opened;
        let server = TcpStream::connect(self.server)?;
        let mut streams = [client, server];
        for (side, stream) in streams.iter_mut().enumerate() {
            let _ = stream.set_nodelay(true);
            let token = Token(FIRST_TOKEN + 1 + 2 * number as usize + side);
            self.registry.register(stream, token, Interest::READABLE | Interest::WRITABLE)?;
        }
        record(self.recorder.as_deref(), number, FlowEvent::Opened, &[]);
        self.pairs.insert(number, Pair { ends: streams.map(StreamEnd::new) });
        Ok(())
    }

    /// Both ends are told by a reset.
    fn remove_broken(&mut self, numbers: &[u64]) {
        for number in numbers {
            let Some(pair) = self.pairs.get(number) else { continue };
            self.counts.broken += 1;
            for end in &pair.ends {
                // A socket that is closed without lingering sends a reset.
                let _ = socket2::SockRef::from(&end.stream).set_linger(Some(Duration::ZERO));
            }
            self.remove(*number);
        }
    }

    fn remove(&mut self, number: u64) {
        let Some(mut pair) = self.pairs.remove(&number) else { return };
        for end in &mut pair.ends {
            let _ = self.registry.deregister(&mut end.stream);
        }
    }
}

/// Records a piece of a stream; an empty one is its end.
fn record(recorder: Option<&FlowRecorder>, number: u64, event: FlowEvent, bytes: &[u8]) {
    let Some(recorder) = recorder else { return };
    let event = match event {
        FlowEvent::Up if bytes.is_empty() => FlowEvent::UpEnded,
        FlowEvent::Down if bytes.is_empty() => FlowEvent::DownEnded,
        event => event,
    };
    recorder.record(FlowId { number: number as u32, protocol: FlowProtocol::Tcp }, event, bytes);
}

/// The time until which nothing is read, because the direction is down or its queue is long.
fn held_until(links: &LivePath, outages: &Outages, direction: Direction) -> Option<Duration> {
    let queue = links.queue_delay(direction);
    let full = queue.checked_sub(QUEUE_MAX).filter(|rest| !rest.is_zero()).map(|rest| links.now() + rest);
    outages.down_until(direction, links.now()).max(full)
}

impl Pair {
    /// Reads some data of this direction. True if there may be more right now.
    fn read(
        &mut self,
        number: u64,
        direction: Direction,
        (links, outages): (&mut LivePath, &Outages),
        buffer: &mut [u8],
        recorder: Option<&FlowRecorder>,
    ) -> bool {
        let recorder = recorder.filter(|_| direction == Direction::Up);
        let [one, other] = &mut self.ends;
        let (from, to) = if direction == Direction::Up { (one, other) } else { (other, one) };
        for _ in 0..BATCH {
            let pending = from.on_the_way + to.unwritten.len();
            let has_room = pending < PENDING_MAX && links.has_room(direction, buffer.len());
            if !from.wants_to_be_read() || !has_room || held_until(links, outages, direction).is_some() {
                return false;
            }
            match from.stream.read(buffer) {
                // An empty segment marks the stream's end on the link, too.
                Ok(0) => {
                    from.has_ended = true;
                    record(recorder, number, FlowEvent::Up, &[]);
                    links.send(direction, &[], number);
                    return false;
                }
                Ok(bytes) => {
                    from.on_the_way += bytes;
                    record(recorder, number, FlowEvent::Up, &buffer[..bytes]);
                    links.send(direction, &buffer[..bytes], number);
                }
                Err(error) if waits(&error) => {
                    from.may_read = false;
                    return false;
                }
                // A reset travels along the link behind the data sent before it.
                Err(_) => {
                    (from.has_ended, from.was_reset) = (true, true);
                    record(recorder, number, FlowEvent::Up, &[]);
                    links.send(direction, &[], number);
                    return false;
                }
            }
        }
        true
    }

    fn take(&mut self, direction: Direction, bytes: &[u8]) {
        let [one, other] = &mut self.ends;
        let (from, to) = if direction == Direction::Up { (one, other) } else { (other, one) };
        from.on_the_way -= bytes.len();
        to.unwritten.extend(bytes);
        to.is_complete |= bytes.is_empty() && !from.was_reset;
        to.is_to_be_reset |= bytes.is_empty() && from.was_reset;
    }
}

impl StreamEnd {
    fn new(stream: TcpStream) -> StreamEnd {
        StreamEnd {
            stream,
            may_read: false,
            may_write: false,
            has_ended: false,
            was_reset: false,
            on_the_way: 0,
            unwritten: VecDeque::new(),
            is_complete: false,
            is_to_be_reset: false,
            is_shut: false,
        }
    }

    fn wants_to_be_read(&self) -> bool {
        self.may_read && !self.has_ended
    }

    fn write(&mut self) -> io::Result<()> {
        while self.may_write && !self.unwritten.is_empty() {
            match self.stream.write(self.unwritten.as_slices().0) {
                Ok(bytes) => drop(self.unwritten.drain(..bytes)),
                Err(error) if waits(&error) => self.may_write = false,
                Err(error) => return Err(error),
            }
        }
        if self.is_complete && self.may_write && self.unwritten.is_empty() && !self.is_shut {
            self.is_shut = true;
            // The peer may have left already, which its other direction reports.
            let _ = self.stream.shutdown(Shutdown::Write);
        }
        Ok(())
    }
}

/// The system has no more data for now, or the stream is not connected yet.
fn waits(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Events, Poll};
    use skipstone::netsim::LinkConfig;
    use std::time::Instant;

    fn turn(relay: &mut TcpRelay, poll: &mut Poll) {
        let mut events = Events::with_capacity(16);
        poll.poll(&mut events, Some(Duration::from_millis(20))).expect("it polls");
        events.iter().for_each(|event| relay.on_ready(event.token().0, event.is_readable(), event.is_writable()));
        while relay.receive() {}
        relay.transmit();
    }

    /// A relay to a listening server over a path with this one-way delay in ms.
    fn relay_to(server: &std::net::TcpListener, delay_ms: u64) -> (TcpRelay, Poll) {
        let link = LinkConfig { delay: Duration::from_millis(delay_ms), ..LinkConfig::default() };
        let config = PathConfig { up: link.clone(), down: link };
        let links = LivePath::new(&config.of_streams(), 1, Instant::now());
        let poll = Poll::new().expect("it polls");
        let [any, to] = ["127.0.0.1:0".parse().expect("an address"), server.local_addr().expect("it listens")];
        let relay =
            TcpRelay::open(any, to, poll.registry(), (links, Outages::of(&config)), None).expect("a port is free");
        (relay, poll)
    }

    #[test]
    fn a_reset_arrives_as_a_reset_after_the_data_before_it() {
        for is_the_servers in [true, false] {
            let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
            let (mut relay, mut poll) = relay_to(&server, 20);
            let client = std::net::TcpStream::connect(relay.local()).expect("the relay listens");
            while relay.pairs.is_empty() {
                turn(&mut relay, &mut poll);
            }
            let accepted = server.accept().expect("the relay connects").0;
            let (mut from, mut to) = if is_the_servers { (accepted, client) } else { (client, accepted) };
            from.write_all(b"a line").expect("it is open");
            // Data read before the reset is not lost.
            while relay.counts.bytes_up + relay.counts.bytes_down == 0 {
                turn(&mut relay, &mut poll);
            }
            socket2::SockRef::from(&from).set_linger(Some(Duration::ZERO)).expect("a socket");
            let reset_at = Instant::now();
            drop(from);
            let mut line = [0; 6];
            to.read_exact(&mut line).expect("it was sent before");
            assert_eq!(&line, b"a line");
            while relay.counts.broken == 0 {
                turn(&mut relay, &mut poll);
            }
            assert!(reset_at.elapsed() >= Duration::from_millis(20), "it takes the path's time");
            let error = to.read(&mut line).expect_err("no clean end");
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
            assert!(relay.pairs.is_empty());
        }
    }

    #[test]
    fn a_fin_arrives_as_a_fin() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let (mut relay, mut poll) = relay_to(&server, 5);
        let client = std::net::TcpStream::connect(relay.local()).expect("the relay listens");
        while relay.pairs.is_empty() {
            turn(&mut relay, &mut poll);
        }
        let mut accepted = server.accept().expect("the relay connects").0;
        client.shutdown(Shutdown::Write).expect("it is open");
        while !relay.pairs.values().all(|pair| pair.ends[1].is_shut) {
            turn(&mut relay, &mut poll);
        }
        assert_eq!(accepted.read(&mut [0; 6]).expect("a clean end"), 0);
        assert_eq!(relay.counts.broken, 0);
    }

    #[test]
    fn idle_streams_cost_no_iteration() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let (mut relay, mut poll) = relay_to(&server, 0);
        let mut clients = [0; 3].map(|_| std::net::TcpStream::connect(relay.local()).expect("the relay listens"));
        while relay.pairs.len() < 3 || !relay.busy.is_empty() {
            turn(&mut relay, &mut poll);
        }
        clients[1].write_all(b"a line").expect("it is open");
        while relay.counts.bytes_up == 0 {
            turn(&mut relay, &mut poll);
            assert!(relay.busy.len() <= 1, "{:?}", relay.busy);
        }
    }
}
