//! The lower bound of cost: the lines of a tick in packed datagrams, one GSO call per client, sendmmsg across clients,
//! recvmmsg and GRO, by the same sockets that Skipstone uses; and no protocol. Lost datagrams are not retransmitted.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use mio::Token;
use skipstone::net::udp::{ReceiveBatch, SendBatch, UdpOptions, UdpSocket};

use super::driver::{BenchClients, BenchServer, ClientEvent, Inbox, OnEvent, ServerSetup};
use super::listeners;
use super::watch::Watch;
use crate::framing::HEADER_BYTES;
use crate::framing::{each_line, frame};
use crate::socket_error::text;

/// The kind of a datagram, in its first byte.
const HELLO: u8 = b'h';
const WELCOME: u8 = b'w';
const LINES: u8 = b'l';
const ACK: u8 = b'a';
const GOODBYE: u8 = b'g';

/// An Ethernet MTU less IP and UDP headers: the size that Skipstone's path MTU discovery finds there.
const DATAGRAM_BYTES_MAX: usize = 1_472;
/// Placeholder for a packet number and the rest of a header.
const OWN_HEADER_BYTES: usize = 8;
/// Approximate bytes of an acknowledgement.
const ACK_BYTES: usize = 16;
const HELLO_AGAIN: Duration = Duration::from_millis(200);

/// The server.
pub(super) struct BareServer {
    udp: UdpSocket,
    /// Clients by address, and back.
    numbers: BTreeMap<SocketAddr, u32>,
    addresses: Vec<Option<SocketAddr>>,
    incoming: ReceiveBatch,
    outgoing: SendBatch,
    tick: Packed,
    answers: BTreeMap<u32, Packed>,
    ip_bytes: u64,
}

/// Lines in datagrams of one length, but for the last.
#[derive(Debug, Default)]
struct Packed {
    bytes: Vec<u8>,
    /// Lengths of the datagrams in it; all but the last are filled up to the limit.
    begun_at: usize,
}

impl Packed {
    fn push(&mut self, line: &[u8]) {
        let used = self.bytes.len() - self.begun_at;
        if self.bytes.is_empty() || used + 2 + line.len() > DATAGRAM_BYTES_MAX {
            // All segments of one call have one length: the rest of a full datagram stays empty.
            if !self.bytes.is_empty() {
                self.bytes.resize(self.begun_at + DATAGRAM_BYTES_MAX, 0);
                self.begun_at += DATAGRAM_BYTES_MAX;
            }
            self.bytes.resize(self.begun_at + OWN_HEADER_BYTES, 0);
            self.bytes[self.begun_at] = LINES;
        }
        frame(line, &mut self.bytes);
    }
}

/// The lines of a datagram; a line of length 0 marks the beginning of the empty rest.
fn unpack(datagram: &[u8], mut take: impl FnMut(&[u8])) {
    each_line(datagram.get(OWN_HEADER_BYTES..).unwrap_or_default(), |line| {
        if !line.is_empty() {
            take(line);
        }
    });
}

impl BareServer {
    pub(super) fn start(setup: ServerSetup<'_>) -> Result<Self, String> {
        Ok(Self {
            udp: UdpSocket::bind(setup.listen, &UdpOptions::server()).map_err(text("listen"))?,
            numbers: BTreeMap::new(),
            addresses: Vec::new(),
            incoming: ReceiveBatch::new(),
            outgoing: SendBatch::new(),
            tick: Packed::default(),
            answers: BTreeMap::new(),
            ip_bytes: 0,
        })
    }

    fn push(&mut self, bytes: &[u8], to: SocketAddr) {
        // One call takes at most 64 KB, which is 44 datagrams.
        for piece in bytes.chunks(DATAGRAM_BYTES_MAX * (65_507 / DATAGRAM_BYTES_MAX)) {
            if !self.outgoing.push(piece, to, Some(DATAGRAM_BYTES_MAX)) {
                self.send();
                self.outgoing.push(piece, to, Some(DATAGRAM_BYTES_MAX));
            }
        }
    }

    fn send(&mut self) {
        let outcome = self.udp.send_batch(&mut self.outgoing);
        self.ip_bytes += outcome.bytes + outcome.datagrams * HEADER_BYTES as u64;
        self.outgoing.clear();
    }
}

impl BenchServer for BareServer {
    fn url(&self) -> String {
        self.udp.local_addr().map_or(String::new(), |address| address.to_string())
    }

    fn receive(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        let mut welcome = Vec::new();
        while self.udp.receive_batch(&mut self.incoming).map_err(text("receive"))? > 0 {
            for received in self.incoming.datagrams() {
                self.ip_bytes += received.bytes.len() as u64 + HEADER_BYTES as u64;
                let known = self.numbers.get(&received.from).copied();
                match (received.bytes.first(), known) {
                    (Some(&HELLO), None) => {
                        self.numbers.insert(received.from, self.addresses.len() as u32);
                        self.addresses.push(Some(received.from));
                        welcome.push(received.from);
                    }
                    (Some(&HELLO), Some(_)) => welcome.push(received.from),
                    (Some(&LINES), Some(number)) => {
                        unpack(received.bytes, |line| inbox.0.push((number, Bytes::copy_from_slice(line))));
                    }
                    (Some(&GOODBYE), Some(number)) => {
                        self.numbers.remove(&received.from);
                        self.addresses[number as usize] = None;
                    }
                    _ => {}
                }
            }
        }
        welcome.into_iter().for_each(|to| self.push(&[WELCOME], to));
        self.send();
        Ok(())
    }

    fn broadcast(&mut self, line: &Bytes) {
        self.tick.push(line);
    }

    fn answer(&mut self, client: u32, line: Bytes) {
        self.answers.entry(client).or_default().push(&line);
    }

    fn flush(&mut self) -> Result<(), String> {
        let Packed { mut bytes, .. } = std::mem::take(&mut self.tick);
        if !bytes.is_empty() {
            for number in 0..self.addresses.len() {
                if let Some(to) = self.addresses[number] {
                    self.push(&bytes, to);
                }
            }
        }
        for (number, packed) in std::mem::take(&mut self.answers) {
            if let Some(to) = self.addresses[number as usize] {
                self.push(&packed.bytes, to);
            }
        }
        self.send();
        bytes.clear();
        self.tick.bytes = bytes;
        Ok(())
    }

    fn clients(&self) -> usize {
        self.numbers.len()
    }

    fn ip_bytes(&mut self) -> Option<u64> {
        Some(self.ip_bytes)
    }
}

/// Whether clients answer what they receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acks {
    None,
    EachTick,
}

/// The clients.
pub(super) struct BareClients {
    watch: Watch,
    server: SocketAddr,
    acks: Acks,
    clients: Vec<BareClient>,
    incoming: ReceiveBatch,
    outgoing: SendBatch,
    line: Vec<u8>,
    waiting: usize,
    hello_due: Instant,
    gone: Vec<u32>,
}

struct BareClient {
    udp: UdpSocket,
    is_welcome: bool,
}

impl BareClients {
    pub(super) fn new(server: SocketAddr, acks: Acks) -> Result<Self, String> {
        Ok(Self {
            watch: Watch::new()?,
            server,
            acks,
            clients: Vec::new(),
            incoming: ReceiveBatch::new(),
            outgoing: SendBatch::with_capacity(1, 2_048),
            line: Vec::new(),
            waiting: 0,
            hello_due: Instant::now(),
            gone: Vec::new(),
        })
    }

    fn say_hello_again(&mut self) {
        if self.waiting == 0 || Instant::now() < self.hello_due {
            return;
        }
        self.hello_due = Instant::now() + HELLO_AGAIN;
        for client in self.clients.iter_mut().filter(|client| !client.is_welcome) {
            say(&mut client.udp, &mut self.outgoing, &[HELLO], self.server);
        }
    }
}

fn say(udp: &mut UdpSocket, batch: &mut SendBatch, bytes: &[u8], to: SocketAddr) -> bool {
    batch.push(bytes, to, None);
    let sent = udp.send_batch(batch).datagrams == 1;
    batch.clear();
    sent
}

impl BenchClients for BareClients {
    fn connect(&mut self) -> Result<(), String> {
        let mut udp =
            UdpSocket::bind(listeners::any(self.server), &UdpOptions::client()).map_err(text("open a socket"))?;
        udp.register(self.watch.registry(), Token(self.clients.len())).map_err(text("open a socket"))?;
        say(&mut udp, &mut self.outgoing, &[HELLO], self.server);
        self.clients.push(BareClient { udp, is_welcome: false });
        self.waiting += 1;
        Ok(())
    }

    fn send(&mut self, client: u32, line: &[u8]) -> bool {
        self.line.clear();
        self.line.resize(OWN_HEADER_BYTES, 0);
        self.line[0] = LINES;
        frame(line, &mut self.line);
        say(&mut self.clients[client as usize].udp, &mut self.outgoing, &self.line, self.server)
    }

    fn poll(&mut self, wait_max: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        self.gone.drain(..).for_each(|client| on_event(ClientEvent::Gone { client, reason: "it left".into() }));
        self.say_hello_again();
        self.watch.wait(wait_max)?;
        for number in self.watch.ready() {
            let client = &mut self.clients[number];
            let mut has_lines = false;
            while client.udp.receive_batch(&mut self.incoming).map_err(text("receive"))? > 0 {
                for received in self.incoming.datagrams() {
                    match received.bytes.first() {
                        Some(&WELCOME) if !client.is_welcome => {
                            client.is_welcome = true;
                            self.waiting -= 1;
                            on_event(ClientEvent::Connected(number as u32));
                        }
                        Some(&LINES) => {
                            has_lines = true;
                            let client = number as u32;
                            unpack(received.bytes, |line| on_event(ClientEvent::Line { client, line, at_ns: None }));
                        }
                        _ => {}
                    }
                }
            }
            if has_lines && self.acks == Acks::EachTick {
                let mut ack = [0; ACK_BYTES];
                ack[0] = ACK;
                say(&mut client.udp, &mut self.outgoing, &ack, self.server);
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        for client in &mut self.clients {
            say(&mut client.udp, &mut self.outgoing, &[GOODBYE], self.server);
        }
        self.gone = (0..self.clients.len() as u32).collect();
    }
}
