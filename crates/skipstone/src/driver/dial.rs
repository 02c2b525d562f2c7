//! A client whose server has a name: the name is resolved in a thread of its own, and the addresses are tried in turn, until
//! one answers (RFC 8305, "Happy Eyeballs").
//!
//! ```text
//! resolver thread ──addresses──> Dial ──attempt every 250 ms, or at once when one fails──> a socket each
//!                                 first answer to HELLO, or first stream that opens ──> the connection's path
//! ```
//! Meanwhile the endpoint's connection has a path that stands for all attempts, which no socket has. This
//! file decides; `dialing` has the sockets.

use super::impair::Impairment;
use crate::url::{Target, UrlError};
use skipstone_proto::Path;
use skipstone_proto::Protection;
use skipstone_proto::{Duration, Time};
use skipstone_proto::{Endpoint, PeerId, code};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, OnceLock};

/// A connection that looks for an address of its server.
#[derive(Debug)]
pub(super) struct Dial {
    pub(super) peer: PeerId,
    /// The socket number that stands for all attempts.
    pub(super) placeholder: u32,
    pub(super) target: Target,
    pub(super) impairment: Option<Impairment>,
    /// Where the resolver's answer comes from, until it has come.
    resolving: Option<Receiver<Resolved>>,
    /// Why the name has no address.
    unresolved: Option<UrlError>,
    /// Addresses that were not tried yet.
    pub(super) addresses: VecDeque<SocketAddr>,
    pub(super) attempts: Vec<Attempt>,
    /// What became of attempts that failed.
    pub(super) failures: Vec<String>,
    pub(super) next_attempt_at: Time,
    deadline: Time,
    /// What is sent along every attempt over UDP.
    pub(super) hello: Vec<u8>,
    pub(super) is_hello_due: bool,
    /// The path that was answered first.
    pub(super) winner: Option<Path>,
    /// Where the application reads the winner's address.
    remote: Arc<OnceLock<SocketAddr>>,
}

/// What a search begins with.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) target: Target,
    pub(super) impairment: Option<Impairment>,
    pub(super) resolving: Receiver<Resolved>,
    pub(super) remote: Arc<OnceLock<SocketAddr>>,
}

pub(super) type Resolved = Result<Vec<SocketAddr>, UrlError>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) address: SocketAddr,
    pub(super) socket: u32,
}

/// What a dialing client wants to connect to, and how.
#[derive(Debug)]
pub(crate) struct DialConfig<'a> {
    pub(crate) target: Target,
    pub(crate) token: &'a [u8],
    pub(crate) impairment: Option<Impairment>,
    pub(crate) protection: Protection,
    pub(crate) handshake_timeout: Duration,
    pub(crate) remote: Arc<OnceLock<SocketAddr>>,
}

/// How long an attempt may go unanswered before the next address is tried beside it (RFC 8305, section 5).
pub(super) const ATTEMPT_DELAY: Duration = Duration::from_millis(250);
/// Addresses of one name that are tried at most, each with a socket.
const ADDRESSES_MAX: usize = 16;

impl Dial {
    /// Searches in this span of time, for a connection whose path has this placeholder.
    pub(super) fn new(search: Search, peer: PeerId, placeholder: u32, span: Range<Time>) -> Self {
        let Search { target, impairment, resolving, remote } = search;
        Dial {
            peer,
            placeholder,
            target,
            impairment,
            resolving: Some(resolving),
            unresolved: None,
            addresses: VecDeque::new(),
            attempts: Vec::new(),
            failures: Vec::new(),
            next_attempt_at: span.start,
            deadline: span.end,
            hello: Vec::new(),
            is_hello_due: false,
            winner: None,
            remote,
        }
    }

    /// When there is something to do, an answer of the resolver or of a server aside.
    pub(super) fn due(&self) -> Time {
        let attempt_at = if self.addresses.is_empty() { Time::NEVER } else { self.next_attempt_at };
        attempt_at.min(self.deadline)
    }

    /// A datagram has come along an attempt: if it answers the HELLO, this path has won.
    pub(super) fn on_datagram(&mut self, endpoint: &mut Endpoint, path: Path, datagram: &[u8]) {
        let is_asked = |attempt: &Attempt| attempt.socket == path.socket && attempt.address == path.remote;
        if self.attempts.iter().any(is_asked) && endpoint.is_answer(self.peer, datagram) {
            self.on_answer(endpoint, path);
        }
    }

    /// This path was answered, or its stream has opened: if it is the first, it has won.
    pub(super) fn on_answer(&mut self, endpoint: &mut Endpoint, path: Path) {
        let is_attempt = self.attempts.iter().any(|attempt| attempt.socket == path.socket);
        if is_attempt && self.winner.is_none() && endpoint.settle_path(self.peer, path) {
            self.winner = Some(path);
            // Only the winner is set, and there is one.
            let _ = self.remote.set(path.remote);
        }
    }

    /// An attempt has failed: the next one is due. False if it is none.
    pub(super) fn on_failed(&mut self, now: Time, socket: u32, why: &str) -> bool {
        let is_it = |attempt: &Attempt| attempt.socket == socket;
        let place = self.attempts.iter().position(is_it).filter(|_| self.winner.is_none());
        let Some(place) = place else { return false };
        let failed = self.attempts.remove(place);
        self.failures.push(format!("{} ({why})", failed.address));
        self.next_attempt_at = now;
        true
    }

    /// Takes the resolver's answer, if it has come.
    pub(super) fn take_answer(&mut self) {
        let answer = match self.resolving.as_ref().map(Receiver::try_recv) {
            None | Some(Err(TryRecvError::Empty)) => return,
            Some(Ok(answer)) => answer,
            Some(Err(TryRecvError::Disconnected)) => {
                Err(UrlError::Unresolved(self.target.host.clone(), "the resolver's thread failed".into()))
            }
        };
        self.resolving = None;
        match answer {
            Ok(addresses) => self.addresses = in_order(addresses),
            Err(error) => self.unresolved = Some(error),
        }
    }

    /// Whether the next address is to be tried now.
    pub(super) fn wants_attempt(&self, now: Time) -> bool {
        let is_due = self.next_attempt_at <= now || self.attempts.is_empty();
        !self.addresses.is_empty() && is_due
    }

    /// Why the search is over without a winner, if it is.
    pub(super) fn verdict(&self, now: Time) -> Option<(u64, &'static str)> {
        if now >= self.deadline {
            return Some((code::HANDSHAKE_TIMEOUT, "did not answer in time"));
        }
        let is_exhausted = self.resolving.is_none() && self.addresses.is_empty() && self.attempts.is_empty();
        is_exhausted.then_some((code::UNREACHABLE, "cannot be reached"))
    }

    /// What was tried, for people.
    pub(super) fn reason(&self, why: &str) -> String {
        let host = &self.target.host;
        if self.resolving.is_some() {
            return format!("'{host}' was not resolved in time: does the name server answer?");
        }
        if let Some(error) = &self.unresolved {
            return error.to_string();
        }
        let unanswered = self.attempts.iter().map(|attempt| format!("{} (no answer)", attempt.address));
        let untried = self.addresses.iter().map(|address| format!("{address} (not tried)"));
        let tried: Vec<String> = self.failures.iter().cloned().chain(unanswered).chain(untried).collect();
        format!("'{host}' {why}: {}", tried.join(", "))
    }
}

/// The order of attempts: the families take turns, beginning with that of the resolver's first address.
fn in_order(addresses: Vec<SocketAddr>) -> VecDeque<SocketAddr> {
    let mut distinct: Vec<SocketAddr> = Vec::new();
    for address in addresses {
        if !distinct.contains(&address) {
            distinct.push(address);
        }
    }
    let is_first_v6 = distinct.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<SocketAddr>, Vec<SocketAddr>) =
        distinct.into_iter().partition(|address| address.is_ipv6() == is_first_v6);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut order = VecDeque::new();
    loop {
        let pair = [first.next(), second.next()];
        if pair == [None, None] {
            order.truncate(ADDRESSES_MAX);
            return order;
        }
        order.extend(pair.into_iter().flatten());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns_from_the_first_one_on_and_each_address_is_tried_once() {
        let addresses =
            |all: &[&str]| all.iter().map(|one| one.parse().expect("an address")).collect::<Vec<SocketAddr>>();
        let mixed = addresses(&["[::1]:1", "[::2]:1", "[::1]:1", "[::3]:1", "1.1.1.1:1", "1.1.1.2:1"]);
        let order = addresses(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "1.1.1.2:1", "[::3]:1"]);
        assert_eq!(in_order(mixed), order);
        let many = (0..100).map(|port| SocketAddr::from(([127, 0, 0, 1], port))).collect();
        assert_eq!(in_order(many).len(), ADDRESSES_MAX);
    }
}
