//! Validation of the peer's new addresses: when each address is challenged, why, and how many bytes may go there
//! meanwhile.

use crate::path::Path;
use crate::rtt::Rtt;
use crate::time::{Duration, Time};
use crate::wire::datagram::HEADER_BYTES;
use crate::wire::frame::PATH_BYTES;
use core::net::SocketAddr;

/// Bytes of a packet with a PATH_CHALLENGE, its seal aside.
pub(super) const CHALLENGE_BYTES: usize = HEADER_BYTES + 5 + PATH_BYTES;
/// Longest time that the validation of a new address may take after its first challenge.
const CANDIDATE_MAX: Duration = Duration::from_secs(3);

/// The flight of the old path is sent again, acknowledged, and its losses found within this; on long paths, where a loss
/// costs more than repairs do, repairs come back sooner.
const SETTLING_ROUND_TRIPS: u32 = 4;
const SETTLING_MAX: Duration = Duration::from_millis(100);

/// State of the validation of new addresses, and the path frames that are due.
#[derive(Debug, Default)]
pub(super) struct Roaming {
    pub(super) candidate: Option<Box<Candidate>>,
    /// Where the connection was before, if that was by another challenge: asked after the move, and when packets come
    /// from there.
    pub(super) left: Option<Box<Candidate>>,
    /// Until this time no other address is challenged, because the last one that answered was not the peer's.
    pub(super) held_until: Option<Time>,
    /// The last port that was used before validation was not the peer's: no port is used so any more, until one is
    /// validated.
    pub(super) distrusts: bool,
    /// Token of the peer's PATH_CHALLENGE, which this side has to answer.
    pub(super) to_answer: Option<u64>,
    /// Token of the last PATH_RESPONSE.
    pub(super) answered: Option<u64>,
    /// This side has a new address, which the peer does not know.
    pub(super) announces: bool,
    /// Where the peer was when it opened the connection, and its id then, if it moved since.
    pub(super) opened_by: Option<Box<(SocketAddr, u32)>>,
    /// When the address of either side changed last, as far as this side knows.
    pub(super) moved_at: Option<Time>,
}

/// An address that authentic packets came from, and that has to prove that it is the peer's.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) path: Path,
    /// The peer's id in packets to this address.
    pub(super) id: u32,
    pub(super) token: u64,
    /// Number of the packet that made this address a candidate.
    pub(super) number: u64,
    /// Bytes that came from there, less those that were sent there; IP and UDP headers count.
    pub(super) credit: usize,
    /// Bytes of a challenge, with its headers.
    pub(super) cost: usize,
    pub(super) challenges: u32,
    pub(super) sent_at: Time,
    pub(super) send_at: Time,
    pub(super) interval: Duration,
    /// From the first challenge on: a few short packets may have to come before one is paid for.
    pub(super) deadline: Time,
    pub(super) use_before_proof: UseBeforeProof,
}

/// Whether packets go to an address that has not proven itself, as far as what came from there pays for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UseBeforeProof {
    /// Only challenges go there: the address may be anybody's.
    Never,
    /// Another port of the peer's host, as soon as it has credit for a challenge: a NAT has most likely lost its
    /// binding, and packets to the old port are lost.
    Allowed,
    /// Packets go only there.
    Begun,
}

/// Bytes for each that came from another port of a host that has proven itself (RFC 9000, section 8.1).
const TIMES_KNOWN_HOST: usize = 3;

impl UseBeforeProof {
    /// How many bytes may go there for each that came.
    fn times(self) -> usize {
        if self == UseBeforeProof::Never { 1 } else { TIMES_KNOWN_HOST }
    }
}

/// A packet that is due.
#[derive(Clone, Copy, Debug)]
pub(super) enum PathFrame {
    Challenge { path: Path, id: u32, token: u64 },
    Answer { token: u64 },
    Announce,
}

impl Candidate {
    /// A candidate that is challenged as soon as its credit allows.
    pub(super) fn new(
        now: Time,
        path: Path,
        id: u32,
        token: u64,
        number: u64,
        overhead: usize,
        interval: Duration,
    ) -> Box<Self> {
        Box::new(Candidate {
            path,
            id,
            token,
            number,
            credit: 0,
            cost: CHALLENGE_BYTES + overhead + usize::from(path.carrier.overhead_bytes),
            challenges: 0,
            sent_at: Time::NEVER,
            send_at: now,
            interval,
            deadline: Time::NEVER,
            use_before_proof: UseBeforeProof::Never,
        })
    }

    fn is_due(&self, now: Time) -> bool {
        self.can_pay() && self.send_at <= now
    }

    fn path_frame(&self) -> PathFrame {
        PathFrame::Challenge { path: self.path, id: self.id, token: self.token }
    }

    /// An authentic datagram of so many bytes came from there.
    pub(super) fn on_datagram(&mut self, bytes: usize) {
        self.credit += (bytes + usize::from(self.path.carrier.overhead_bytes)) * self.use_before_proof.times();
    }

    fn on_challenge_sent(&mut self, now: Time) {
        self.credit = self.credit.saturating_sub(self.cost);
        if self.challenges == 0 {
            self.deadline = now + CANDIDATE_MAX;
        }
        self.challenges += 1;
        self.sent_at = now;
        self.send_at = now + self.interval;
        self.interval *= 2;
    }

    /// Stops the challenges until packets come from this address.
    pub(super) fn rest(&mut self) {
        (self.challenges, self.send_at, self.deadline) = (0, Time::NEVER, Time::NEVER);
    }

    fn can_pay(&self) -> bool {
        self.credit >= self.cost
    }

    /// Uses the address from now on, if that is allowed and the credit suffices. True if that is new.
    pub(super) fn begin_use(&mut self) -> bool {
        let begins = self.use_before_proof == UseBeforeProof::Allowed && self.can_pay();
        if begins {
            self.use_before_proof = UseBeforeProof::Begun;
        }
        begins
    }

    pub(super) fn is_used(&self) -> bool {
        self.use_before_proof == UseBeforeProof::Begun
    }

    /// Bytes of a datagram that the credit allows; another challenge must still be possible.
    pub(super) fn affordable(&self) -> usize {
        self.credit.saturating_sub(self.cost + usize::from(self.path.carrier.overhead_bytes))
    }

    /// Takes the bytes of a datagram that was sent to this address off its credit.
    pub(super) fn pay(&mut self, bytes: usize) {
        self.credit = self.credit.saturating_sub(bytes + usize::from(self.path.carrier.overhead_bytes));
    }

    fn due(&self) -> Time {
        let send_at = if self.can_pay() { self.send_at } else { Time::NEVER };
        send_at.min(self.deadline)
    }

    /// Whether another address may take this one's place: there is no credit for a challenge, or a challenge was not
    /// answered in time.
    pub(super) fn gives_way(&self) -> bool {
        if self.challenges == 0 { !self.can_pay() } else { self.challenges > 1 }
    }
}

impl Roaming {
    pub(super) fn due(&self) -> Time {
        let due = |candidate: &Option<Box<Candidate>>| candidate.as_ref().map_or(Time::NEVER, |it| it.due());
        due(&self.candidate).min(due(&self.left))
    }

    /// Whether [`Roaming::poll`] has anything.
    pub(super) fn has_path_frame(&self, now: Time) -> bool {
        self.to_answer.is_some() || self.announces || self.due() <= now
    }

    pub(super) fn poll(&mut self, now: Time) -> Option<PathFrame> {
        if let Some(candidate) = self.asked().find(|candidate| candidate.is_due(now)) {
            return Some(candidate.path_frame());
        }
        if let Some(token) = self.to_answer.take() {
            return Some(PathFrame::Answer { token });
        }
        core::mem::take(&mut self.announces).then_some(PathFrame::Announce)
    }

    /// The address that is used although it has not proven itself.
    pub(super) fn in_use(&self) -> Option<&Candidate> {
        self.candidate.as_deref().filter(|candidate| candidate.is_used())
    }

    /// A datagram left for the address that is used before its proof.
    pub(super) fn pay(&mut self, bytes: usize) {
        if let Some(candidate) = self.candidate.as_mut().filter(|candidate| candidate.is_used()) {
            candidate.pay(bytes);
        }
    }

    /// Addresses that have to prove themselves.
    pub(super) fn asked(&mut self) -> impl Iterator<Item = &mut Box<Candidate>> {
        self.candidate.iter_mut().chain(&mut self.left)
    }

    pub(super) fn on_challenge_sent(&mut self, now: Time, token: u64) {
        if let Some(candidate) = self.asked().find(|candidate| candidate.token == token) {
            candidate.on_challenge_sent(now);
        }
    }

    /// The peer asks for proof: this side's address has changed.
    pub(super) fn on_challenge(&mut self, now: Time, token: u64) {
        self.to_answer = Some(token);
        self.moved_at = Some(now);
    }

    /// Whether the path is so new that the flight on the old one is still being sent again. Repairs recover nothing of
    /// that flight and would be in its way: addresses that change every few round trips would keep a path full.
    pub(super) fn is_settling(&self, now: Time, rtt: &Rtt) -> bool {
        let span = (rtt.smoothed() * SETTLING_ROUND_TRIPS).min(SETTLING_MAX);
        self.in_use().is_some() || self.moved_at.is_some_and(|at| now.since(at) < span)
    }

    pub(super) fn on_response(&mut self, token: u64) {
        self.answered = Some(token);
    }

    pub(super) fn announce(&mut self) {
        self.announces = true;
    }
}
