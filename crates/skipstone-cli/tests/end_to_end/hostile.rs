//! Hostile clients of a server, on one carrier: those that read nothing, those that never finish the handshake, those
//! that send garbage, and those that send a byte a second. What they are hard on is the server; here they cost next to
//! nothing.

#[path = "../../../skipstone/tests/claims/web_player.rs"]
#[expect(dead_code, reason = "the library's own tests use the rest")]
mod web_player;

use crate::common::{PATIENCE, Served};
use skipstone::{Event, Pool, PoolConfig, Target};
use socket2::{Domain, Socket, Type};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};
use web_player::WebPlayer;

/// The carrier of hostile clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostileCarrier {
    Udp,
    Dtls,
    WebTransport,
    Tcp,
    WebSocket,
    SecureWebSocket,
}

/// As the first bytes of a ClientHello: a record's head, and a part of what it announces.
const HALF_A_HELLO: &[u8] = &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];

impl HostileCarrier {
    pub(crate) const ALL: [HostileCarrier; 6] = [
        HostileCarrier::Udp,
        HostileCarrier::Dtls,
        HostileCarrier::WebTransport,
        HostileCarrier::Tcp,
        HostileCarrier::WebSocket,
        HostileCarrier::SecureWebSocket,
    ];

    fn is_stream(self) -> bool {
        matches!(self, HostileCarrier::Tcp | HostileCarrier::WebSocket | HostileCarrier::SecureWebSocket)
    }

    /// The URL of the server by this carrier; `None` for pages, which have none of the library's.
    fn url(self, served: &Served) -> Option<String> {
        let scheme = match self {
            HostileCarrier::Udp => "skip",
            HostileCarrier::Dtls => "skip+dtls",
            HostileCarrier::SecureWebSocket => "wss",
            HostileCarrier::Tcp => return Some(format!("tcp://{}", served.address)),
            HostileCarrier::WebSocket => return Some(format!("ws://{}", served.address)),
            HostileCarrier::WebTransport => return None,
        };
        Some(served.url.replacen("skip://", &format!("{scheme}://"), 1))
    }

    /// A good beginning, which breaks off.
    fn beginning(self) -> &'static [u8] {
        match self {
            HostileCarrier::Tcp => &[0x80, 0x40, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
            HostileCarrier::WebSocket => b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: ",
            HostileCarrier::SecureWebSocket => HALF_A_HELLO,
            // Datagrams of one byte.
            HostileCarrier::Udp => &[1; 32],
            HostileCarrier::Dtls => &[22; 32],
            HostileCarrier::WebTransport => &[0xC0; 32],
        }
    }

    /// The first bytes of garbage, so that it is parsed as far as possible.
    fn disguise(self) -> &'static [u8] {
        match self {
            HostileCarrier::Udp => &[0x01],
            HostileCarrier::Dtls => &[22, 254, 253, 0, 0],
            HostileCarrier::WebTransport => &[0xC0, 0, 0, 0, 1, 8],
            HostileCarrier::Tcp => &[0x80, 0x20],
            HostileCarrier::WebSocket => b"GET /",
            HostileCarrier::SecureWebSocket => &[0x16, 3, 1, 0, 80],
        }
    }

    /// Kinds of ends with a lower count than the number of clients of each kind.
    pub(crate) fn uncounted(self, each: u64, counted: &BTreeMap<String, u64>) -> impl Iterator<Item = String> {
        let of = |name: &str| counted.get(name).copied().unwrap_or(0);
        let sum = |prefix: &str, but: &[&str]| -> u64 {
            let some = counted.iter().filter(|(name, _)| name.starts_with(prefix));
            some.filter(|(name, _)| !but.iter().any(|but| name.ends_with(but))).map(|(_, count)| *count).sum()
        };
        let mut missing = Vec::new();
        let mut wants = |what: &str, is: u64, least: u64| {
            if is < least {
                missing.push(format!("{what}: {is} of {least}"));
            }
        };
        match self {
            HostileCarrier::Udp => wants("datagrams dropped by reason", sum("drops", &[]), 2 * each),
            HostileCarrier::Dtls => wants("datagrams dropped", of("DTLS sessions: datagrams dropped"), 2 * each),
            HostileCarrier::WebTransport => wants("datagrams dropped", of("WebTransport: datagrams dropped"), 2 * each),
            _ => {
                let ends = sum("TCP streams: ", &["accepted", "not upgraded"]);
                wants("ends of streams by reason", ends, of("TCP streams: accepted"));
            }
        }
        missing.into_iter()
    }
}

/// Clients of four kinds on one carrier.
pub(crate) struct Hostiles {
    carrier: HostileCarrier,
    names: Vec<String>,
    /// Connected, and never driven again.
    mute: Vec<Pool>,
    mute_pages: Vec<WebPlayer>,
    /// Pages that begin a handshake and then fall silent.
    half_pages: Vec<WebPlayer>,
    half: Vec<Pool>,
    strangers: Vec<Stranger>,
    address: SocketAddr,
    state: u64,
    comings: usize,
}

/// A socket that receives bytes of no protocol.
struct Stranger {
    habit: Habit,
    line: Line,
    /// When it writes next.
    due: Instant,
    written: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Habit {
    Silent,
    Garbage,
    Drips,
}

enum Line {
    Stream(Option<TcpStream>),
    Datagrams(UdpSocket),
}

const GARBAGE_SPAN: Duration = Duration::from_millis(200);
const DRIP_SPAN: Duration = Duration::from_secs(1);

impl Hostiles {
    /// A number of clients of each kind. Those that read nothing are connected when this returns.
    pub(crate) fn new(carrier: HostileCarrier, each: usize, served: &Served) -> Hostiles {
        let names = (0..each).map(|number| format!("mute{carrier:?}{number}x")).collect();
        let mut all = Hostiles {
            carrier,
            names,
            mute: Vec::new(),
            mute_pages: Vec::new(),
            half_pages: Vec::new(),
            half: Vec::new(),
            strangers: Vec::new(),
            address: served.address,
            state: 0x5EED,
            comings: each * 4,
        };
        match carrier.url(served) {
            Some(url) => all.mute.push(mute(&url, served.address, &all.names)),
            None => all.mute_pages = all.names.iter().map(|name| mute_page(served.address, name)).collect(),
        }
        match carrier {
            HostileCarrier::Udp | HostileCarrier::Dtls => {
                let url = carrier.url(served).expect("it has one");
                all.half.push(begun(&url, served.address, each));
            }
            HostileCarrier::WebTransport => {
                for _ in 0..each {
                    let mut page = WebPlayer::with_token(served.address, b"chat half");
                    page.step();
                    all.half_pages.push(page);
                }
            }
            _ => (0..each).for_each(|_| all.meet(Habit::Silent)),
        }
        (0..each).for_each(|_| all.meet(Habit::Garbage));
        (0..each).for_each(|_| all.meet(Habit::Drips));
        all
    }

    fn meet(&mut self, habit: Habit) {
        let line = match self.carrier.is_stream() {
            true => Line::Stream(stream(self.address)),
            false => {
                let socket = UdpSocket::bind(HOSTILE).expect("a port is free");
                socket.connect(self.address).expect("it is a socket");
                Line::Datagrams(socket)
            }
        };
        self.strangers.push(Stranger { habit, line, due: Instant::now(), written: 0 });
    }

    /// All clients act for this long.
    pub(crate) fn step(&mut self, span: Duration) {
        let now = Instant::now();
        for stranger in &mut self.strangers {
            stranger.notice_the_end();
            if stranger.due > now {
                continue;
            }
            match stranger.habit {
                Habit::Silent if stranger.written == 0 => stranger.write(self.carrier.beginning()),
                Habit::Silent => {}
                Habit::Garbage => {
                    stranger.due = now + GARBAGE_SPAN;
                    if matches!(stranger.line, Line::Stream(None)) {
                        stranger.line = Line::Stream(stream(self.address));
                        self.comings += 1;
                    }
                    let mut bytes = self.carrier.disguise().to_vec();
                    bytes.extend((0..400).map(|_| next(&mut self.state) as u8));
                    stranger.write(&bytes);
                }
                Habit::Drips => {
                    stranger.due = now + DRIP_SPAN;
                    let beginning = self.carrier.beginning();
                    let at = stranger.written.min(beginning.len() - 1);
                    stranger.write(&beginning[at..=at]);
                }
            }
        }
        std::thread::sleep(span);
    }

    /// Names of those that read nothing.
    pub(crate) fn mute_names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Clients that came, those that came again included.
    pub(crate) fn comings(&self) -> usize {
        self.comings
    }

    /// Streams that the server has not closed, but for those that come again and again.
    pub(crate) fn open(&mut self) -> usize {
        self.strangers.iter_mut().for_each(Stranger::notice_the_end);
        let open =
            |stranger: &&Stranger| matches!(stranger.line, Line::Stream(Some(_))) && stranger.habit != Habit::Garbage;
        self.strangers.iter().filter(open).count()
    }
}

impl Stranger {
    fn write(&mut self, bytes: &[u8]) {
        self.written += bytes.len();
        // A disconnected client cannot write.
        let _ = match &mut self.line {
            Line::Stream(Some(stream)) => stream.write(bytes).map(drop),
            Line::Stream(None) => Ok(()),
            Line::Datagrams(socket) => socket.send(bytes).map(drop),
        };
    }

    fn notice_the_end(&mut self) {
        let Line::Stream(open) = &mut self.line else { return };
        let Some(stream) = open else { return };
        match stream.read(&mut [0; 1_024]) {
            Ok(count) if count > 0 => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            _ => *open = None,
        }
    }
}

/// Another network than the good ones': budgets are per network, and a client that shares one with a hundred hostile
/// clients does suffer.
const HOSTILE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 66, 0, 1)), 0);

fn stream(address: SocketAddr) -> Option<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).ok()?;
    socket.bind(&HOSTILE.into()).ok()?;
    socket.connect(&address.into()).ok()?;
    socket.set_nonblocking(true).ok()?;
    Some(socket.into())
}

/// Clients that connect under these names, and then are never driven again: they read and acknowledge nothing.
fn mute(url: &str, address: SocketAddr, names: &[String]) -> Pool {
    let target: Target = url.parse().expect("a URL");
    let mut pool = Pool::new(PoolConfig::default()).expect("it starts");
    for name in names {
        pool.add(&target, address, format!("chat {name}").as_bytes(), None).expect("a socket");
    }
    let (mut connected, end) = (0, Instant::now() + PATIENCE);
    while connected < names.len() {
        assert!(Instant::now() < end, "{connected} are connected");
        pool.drive(Duration::from_millis(5)).expect("it drives");
        while let Some(event) = pool.poll_event() {
            match event {
                Event::Connected { .. } => connected += 1,
                Event::Closed { close, .. } => panic!("{}", close.reason_text()),
                _ => {}
            }
        }
    }
    pool
}

fn mute_page(address: SocketAddr, name: &str) -> WebPlayer {
    let mut page = WebPlayer::with_token(address, format!("chat {name}").as_bytes());
    let end = Instant::now() + PATIENCE;
    while !page.is_connected {
        assert!(Instant::now() < end && page.closed.is_none(), "{:?}", page.closed);
        page.step();
        std::thread::sleep(Duration::from_millis(1));
    }
    page
}

/// Clients whose first datagrams have left, and nothing after them.
fn begun(url: &str, address: SocketAddr, count: usize) -> Pool {
    let target: Target = url.parse().expect("a URL");
    let mut pool = Pool::new(PoolConfig::default()).expect("it starts");
    for _ in 0..count {
        pool.add(&target, address, b"chat half", None).expect("a socket");
    }
    pool.drive(Duration::ZERO).expect("it drives");
    pool
}

/// The next of a sequence of numbers (xorshift).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
