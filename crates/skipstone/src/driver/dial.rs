//! A client whose server has a name: the name is resolved in a separate thread, and the addresses are tried in turn,
//! until one answers (RFC 8305, "Happy Eyeballs").
//!
//! ```text
//! resolver thread ──addresses──> Dial ──attempt every 250 ms, or at once when one fails──> a socket each
//!                                 first answer to HELLO, or first stream that opens ──> the connection's path
//! ```
//! Meanwhile the endpoint's connection has a placeholder path, which no socket has. This file makes the decisions;
//! `sockets` handles the sockets.

mod sockets;

use super::impair::Impairment;
use super::protected::{Beneath, Protected};
use crate::url::{Target, UrlError};
use skipstone_proto::Path;
use skipstone_proto::{Duration, Time};
use skipstone_proto::{Endpoint, PeerId, code};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, OnceLock};

/// A connection's search for an address of its server.
#[derive(Debug)]
pub(super) struct Dial {
    pub(super) peer: PeerId,
    /// The socket number of the placeholder path.
    pub(super) placeholder: u32,
    pub(super) target: Target,
    pub(super) impairment: Option<Impairment>,
    pub(super) beneath: Beneath,
    /// Receiver of the resolver's result, until the result has arrived.
    resolving: Option<Receiver<Resolved>>,
    /// Why the name has no address.
    unresolved: Option<UrlError>,
    /// Addresses not tried yet.
    pub(super) addresses: VecDeque<SocketAddr>,
    pub(super) attempts: Vec<Attempt>,
    /// Descriptions of the failed attempts.
    pub(super) failures: Vec<String>,
    /// A server that answered at one of the addresses is not trusted.
    is_untrusted: bool,
    pub(super) next_attempt_at: Time,
    deadline: Time,
    /// The HELLO that every attempt over UDP sends.
    pub(super) hello: Vec<u8>,
    pub(super) is_hello_due: bool,
    /// The path on which the first answer arrived.
    pub(super) winner: Option<Path>,
    /// Cell from which the application reads the winner's address.
    remote: Arc<OnceLock<SocketAddr>>,
}

/// Parameters of a search.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) target: Target,
    pub(super) impairment: Option<Impairment>,
    pub(super) beneath: Beneath,
    pub(super) resolving: Receiver<Resolved>,
    pub(super) remote: Arc<OnceLock<SocketAddr>>,
}

pub(super) type Resolved = Result<Vec<SocketAddr>, UrlError>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) address: SocketAddr,
    pub(super) socket: u32,
}

/// Target and parameters of a client that dials.
#[derive(Debug)]
pub(crate) struct DialConfig<'a> {
    pub(crate) target: Target,
    pub(crate) token: &'a [u8],
    pub(crate) impairment: Option<Impairment>,
    pub(crate) protection: Protected,
    pub(crate) handshake_timeout: Duration,
    pub(crate) remote: Arc<OnceLock<SocketAddr>>,
}

/// Delay after which the next address is tried in parallel to an unanswered attempt (RFC 8305, section 5).
pub(super) const ATTEMPT_DELAY: Duration = Duration::from_millis(250);
/// Limit on the addresses of one name that are tried, each with a socket.
const ADDRESSES_MAX: usize = 16;

impl Dial {
    /// Starts a search within this span of time, for a connection with this placeholder path.
    pub(super) fn new(search: Search, peer: PeerId, placeholder: u32, span: Range<Time>) -> Self {
        let Search { target, impairment, beneath, resolving, remote } = search;
        Dial {
            peer,
            placeholder,
            target,
            impairment,
            beneath,
            resolving: Some(resolving),
            unresolved: None,
            addresses: VecDeque::new(),
            attempts: Vec::new(),
            failures: Vec::new(),
            is_untrusted: false,
            next_attempt_at: span.start,
            deadline: span.end,
            hello: Vec::new(),
            is_hello_due: false,
            winner: None,
            remote,
        }
    }

    /// Time of the next action, except a result of the resolver or an answer of a server.
    pub(super) fn due(&self) -> Time {
        let attempt_at = if self.addresses.is_empty() { Time::NEVER } else { self.next_attempt_at };
        attempt_at.min(self.deadline)
    }

    /// Handles a datagram of an attempt: if the datagram answers the HELLO, its path wins.
    pub(super) fn on_datagram(&mut self, endpoint: &mut Endpoint, path: Path, datagram: &[u8]) {
        let is_asked = |attempt: &Attempt| attempt.socket == path.socket && attempt.address == path.remote;
        if self.attempts.iter().any(is_asked) && endpoint.is_answer(self.peer, datagram) {
            self.on_answer(endpoint, path);
        }
    }

    /// Handles an answer on this path, or the opening of its stream: the first such path wins.
    pub(super) fn on_answer(&mut self, endpoint: &mut Endpoint, path: Path) {
        let is_attempt = self.attempts.iter().any(|attempt| attempt.socket == path.socket);
        if is_attempt && self.winner.is_none() && endpoint.settle_path(self.peer, path) {
            self.winner = Some(path);
            // This cannot fail: only the winner's address is set, and there is one winner.
            let _ = self.remote.set(path.remote);
        }
    }

    /// Records a failed attempt and makes the next one due. False if the socket belongs to no attempt, or a path has
    /// won.
    pub(super) fn on_failed(&mut self, now: Time, socket: u32, why: &str) -> bool {
        let is_it = |attempt: &Attempt| attempt.socket == socket;
        let place = self.attempts.iter().position(is_it).filter(|_| self.winner.is_none());
        let Some(place) = place else { return false };
        let failed = self.attempts.remove(place);
        self.failures.push(format!("{} ({why})", failed.address));
        self.next_attempt_at = now;
        true
    }

    /// The server at the address of this attempt is not trusted.
    pub(super) fn on_untrusted(&mut self, socket: u32) {
        self.is_untrusted |= self.attempts.iter().any(|attempt| attempt.socket == socket);
    }

    /// Takes the resolver's result, if it has arrived.
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

    /// Whether the next address must be tried now.
    pub(super) fn wants_attempt(&self, now: Time) -> bool {
        let is_due = self.next_attempt_at <= now || self.attempts.is_empty();
        !self.addresses.is_empty() && is_due
    }

    /// Close code and reason if no address won the search.
    pub(super) fn verdict(&self, now: Time) -> Option<(u64, &'static str)> {
        let is_exhausted = self.resolving.is_none() && self.addresses.is_empty() && self.attempts.is_empty();
        let is_late = now >= self.deadline;
        match (is_exhausted || is_late, self.is_untrusted) {
            (false, _) => None,
            // The host that answered is not the server: that is the reason, whatever happened with the other addresses.
            (true, true) => Some((code::SECURITY, "is not trusted")),
            (true, false) if is_late => Some((code::HANDSHAKE_TIMEOUT, "did not answer in time")),
            (true, false) => Some((code::UNREACHABLE, "cannot be reached")),
        }
    }

    /// Text that lists all attempts, for users.
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

/// Order of the attempts: the address families alternate, beginning with the family of the resolver's first address.
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
    fn families_alternate_from_the_first_and_each_address_is_tried_once() {
        let addresses =
            |all: &[&str]| all.iter().map(|one| one.parse().expect("an address")).collect::<Vec<SocketAddr>>();
        let mixed = addresses(&["[::1]:1", "[::2]:1", "[::1]:1", "[::3]:1", "1.1.1.1:1", "1.1.1.2:1"]);
        let order = addresses(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "1.1.1.2:1", "[::3]:1"]);
        assert_eq!(in_order(mixed), order);
        let many = (0..100).map(|port| SocketAddr::from(([127, 0, 0, 1], port))).collect();
        assert_eq!(in_order(many).len(), ADDRESSES_MAX);
    }
}
