//! Queries to many servers at once, through one socket for each address family.

use super::answer::{QueryAnswer, QueryConfig, QueryError, TRIES_MAX};
use crate::deadline::{deadline_from, deadline_in};
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use skipstone_proto::{DecodedAnswer, encode_question};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

/// Queries to many servers, without a thread: call [`QueryBatch::poll`] in each frame until [`QueryBatch::is_done`].
#[derive(Debug)]
pub struct QueryBatch {
    config: QueryConfig,
    poll: Poll,
    events: Events,
    /// Sockets for IPv4 and for IPv6, opened with the first query to a server of the family.
    sockets: [Option<UdpSocket>; 2],
    waiting: VecDeque<SocketAddr>,
    /// Servers without an answer, by the nonce of the first try.
    asked: BTreeMap<u64, Asked>,
    done: VecDeque<(SocketAddr, Result<QueryAnswer, QueryError>)>,
    buffer: Vec<u8>,
}

/// A server that has not answered yet.
#[derive(Debug)]
struct Asked {
    address: SocketAddr,
    /// Time at which each try was sent.
    sent: Vec<Instant>,
    deadline: Instant,
}

/// Limit on the datagrams read in one turn, so that a flood does not stop the application.
const READS_MAX: usize = 1_024;

impl QueryBatch {
    /// Creates a batch without servers.
    ///
    /// # Errors
    /// A field of the configuration is out of its range, or the system cannot create another poll.
    pub fn new(config: QueryConfig) -> Result<Self, QueryError> {
        config.check().map_err(QueryError::Config)?;
        Ok(QueryBatch {
            config,
            poll: Poll::new().map_err(QueryError::Io)?,
            events: Events::with_capacity(4),
            sockets: [None, None],
            waiting: VecDeque::new(),
            asked: BTreeMap::new(),
            done: VecDeque::new(),
            buffer: vec![0; 2_048],
        })
    }

    /// Adds a server, which is queried when its turn comes. One result follows from [`QueryBatch::poll`].
    pub fn ask(&mut self, server: SocketAddr) {
        self.waiting.push_back(server);
    }

    /// The next result, if there is one: the server that was queried, and its answer or the reason why there is none.
    pub fn poll(&mut self) -> Option<(SocketAddr, Result<QueryAnswer, QueryError>)> {
        if self.done.is_empty() {
            self.turn();
        }
        self.done.pop_front()
    }

    /// Whether every added server has its result, and all results were polled.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.asked.is_empty() && self.done.is_empty()
    }

    /// Waits until there is a result, for `span` at most.
    pub fn wait(&mut self, span: Duration) {
        let end = deadline_in(span);
        loop {
            self.turn();
            let left = end.saturating_duration_since(Instant::now());
            if !self.done.is_empty() || left.is_zero() || self.is_done() {
                return;
            }
            let due = self.asked.values().map(|asked| self.next_due(asked)).min().unwrap_or(end);
            let timeout = due.saturating_duration_since(Instant::now()).min(left).max(Duration::from_millis(1));
            if self.poll.poll(&mut self.events, Some(timeout)).is_err() {
                // A signal arrived, or waiting is impossible: the caller checks again.
                return;
            }
        }
    }

    /// Receives answers, repeats queries without an answer, and queries the servers whose turn has come.
    fn turn(&mut self) {
        self.receive();
        let now = Instant::now();
        let due: Vec<u64> =
            self.asked.iter().filter(|(_, asked)| self.next_due(asked) <= now).map(|(nonce, _)| *nonce).collect();
        for nonce in due {
            let Some(asked) = self.asked.get(&nonce) else { continue };
            if asked.deadline <= now {
                let address = asked.address;
                self.asked.remove(&nonce);
                self.done.push_back((address, Err(QueryError::Timeout)));
            } else {
                self.send(nonce, now);
            }
        }
        while self.asked.len() < self.config.servers_at_once
            && let Some(address) = self.waiting.pop_front()
        {
            match random_nonce() {
                Ok(nonce) => {
                    let deadline = deadline_from(now, self.config.timeout);
                    self.asked.insert(nonce, Asked { address, sent: Vec::new(), deadline });
                    self.send(nonce, now);
                }
                Err(error) => self.done.push_back((address, Err(QueryError::Io(error)))),
            }
        }
    }

    /// Time at which the server is queried again, or given up.
    fn next_due(&self, asked: &Asked) -> Instant {
        let tries = u32::from(self.config.tries);
        match asked.sent.last() {
            Some(last) if asked.sent.len() < self.config.tries.into() => {
                asked.deadline.min(deadline_from(*last, self.config.timeout / tries))
            }
            _ => asked.deadline,
        }
    }

    fn send(&mut self, nonce: u64, now: Instant) {
        let Some(asked) = self.asked.get_mut(&nonce) else { return };
        let (address, attempt) = (asked.address, asked.sent.len() as u64);
        asked.sent.push(now);
        let bytes = usize::from(self.config.question_bytes);
        encode_question(&mut self.buffer[..bytes], nonce | attempt);
        let sent = socket_for(&mut self.sockets, &self.poll, &address)
            .and_then(|socket| socket.send_to(&self.buffer[..bytes], address));
        match sent {
            // If the socket is full for the moment, the question counts as lost: there is another try.
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                self.asked.remove(&nonce);
                self.done.push_back((address, Err(QueryError::Io(error))));
            }
            _ => {}
        }
    }

    fn receive(&mut self) {
        let QueryBatch { sockets, asked, done, buffer, .. } = self;
        for socket in sockets.iter().flatten() {
            for _ in 0..READS_MAX {
                let (length, from) = match socket.recv_from(buffer) {
                    Ok(received) => received,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // Some systems report in this way that no server listens at the destination of a question. The
                    // question gets no answer, and times out.
                    Err(_) => continue,
                };
                if let Some((nonce, answer)) = answer_in(&buffer[..length], from, asked) {
                    let address = asked.remove(&nonce).map_or(from, |asked| asked.address);
                    done.push_back((address, Ok(answer)));
                }
            }
        }
    }
}

/// The answer in a datagram, if it answers one of our queries to the server that sent it.
fn answer_in(datagram: &[u8], from: SocketAddr, asked: &BTreeMap<u64, Asked>) -> Option<(u64, QueryAnswer)> {
    let DecodedAnswer { nonce, versions, payload } = DecodedAnswer::decode(datagram)?;
    let attempt = nonce & u64::from(TRIES_MAX - 1);
    let question = asked.get(&(nonce - attempt)).filter(|asked| is_same(&asked.address, &from))?;
    let rtt = question.sent.get(attempt as usize)?.elapsed();
    let answer =
        QueryAnswer { remote: question.address, rtt, versions, payload: bytes::Bytes::copy_from_slice(payload) };
    Some((nonce - attempt, answer))
}

/// Whether two addresses are the same; an IPv4 address in IPv6 form equals the IPv4 address.
fn is_same(left: &SocketAddr, right: &SocketAddr) -> bool {
    (left.ip().to_canonical(), left.port()) == (right.ip().to_canonical(), right.port())
}

/// The socket of the address's family, opened if it is the first of its kind.
fn socket_for<'a>(
    sockets: &'a mut [Option<UdpSocket>; 2],
    poll: &Poll,
    address: &SocketAddr,
) -> io::Result<&'a mut UdpSocket> {
    let family = usize::from(address.is_ipv6());
    let socket = match sockets[family].take() {
        Some(socket) => socket,
        None => {
            let any = if address.is_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
            let mut socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
            poll.registry().register(&mut socket, Token(family), Interest::READABLE)?;
            socket
        }
    };
    Ok(sockets[family].insert(socket))
}

/// An unpredictable nonce. Its lowest bits number the try, so that the round-trip time is measured from the right one.
fn random_nonce() -> io::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(u64::from_be_bytes(bytes) & !u64::from(TRIES_MAX - 1))
}
