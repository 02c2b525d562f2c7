//! A new address of the peer: when it is challenged, and how many bytes may go there until it is validated.

use crate::path::Path;
use crate::time::{Duration, Time};
use crate::wire::datagram::HEADER_BYTES;
use crate::wire::frame::PATH_BYTES;

/// Bytes of a packet with a PATH_CHALLENGE, its seal aside.
pub(in crate::connection) const CHALLENGE_BYTES: usize = HEADER_BYTES + 5 + PATH_BYTES;
/// Longest time that the validation of a new address may take after its first challenge.
const CANDIDATE_MAX: Duration = Duration::from_secs(3);

/// An address that authentic packets came from, and that has to prove that it is the peer's.
#[derive(Debug)]
pub(in crate::connection) struct Candidate {
    pub(super) path: Path,
    /// The peer's id in packets to this address.
    pub(in crate::connection) id: u32,
    pub(super) token: u64,
    /// Number of the packet that made this address a candidate.
    pub(super) number: u64,
    /// Bytes received from there, less those sent there; IP and UDP headers count.
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

/// Whether packets go to an address that has not proven itself, within the credit of the bytes received from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UseBeforeProof {
    /// Only challenges go there: the address may belong to any host.
    Never,
    /// Another port of the peer's host, as soon as it has credit for a challenge: a NAT has most likely lost its
    /// binding, and packets to the old port are lost.
    Allowed,
    /// Packets go only there.
    Begun,
}

/// Bytes for each byte received from another port of a proven host (RFC 9000, section 8.1).
const TIMES_KNOWN_HOST: usize = 3;

impl UseBeforeProof {
    /// How many bytes may be sent there for each received byte.
    fn times(self) -> usize {
        if self == UseBeforeProof::Never { 1 } else { TIMES_KNOWN_HOST }
    }
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

    pub(super) fn is_due(&self, now: Time) -> bool {
        self.can_pay() && self.send_at <= now
    }

    /// An authentic datagram of `bytes` bytes arrived from there.
    pub(super) fn on_datagram(&mut self, bytes: usize) {
        self.credit += (bytes + usize::from(self.path.carrier.overhead_bytes)) * self.use_before_proof.times();
    }

    pub(super) fn on_challenge_sent(&mut self, now: Time) {
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
    pub(in crate::connection) fn affordable(&self) -> usize {
        self.credit.saturating_sub(self.cost + usize::from(self.path.carrier.overhead_bytes))
    }

    /// Takes the bytes of a datagram that was sent to this address off its credit.
    pub(super) fn pay(&mut self, bytes: usize) {
        self.credit = self.credit.saturating_sub(bytes + usize::from(self.path.carrier.overhead_bytes));
    }

    pub(super) fn due(&self) -> Time {
        let send_at = if self.can_pay() { self.send_at } else { Time::NEVER };
        send_at.min(self.deadline)
    }

    /// Whether another address may take this one's place: there is no credit for a challenge, or a challenge was not
    /// answered in time.
    pub(super) fn gives_way(&self) -> bool {
        if self.challenges == 0 { !self.can_pay() } else { self.challenges > 1 }
    }
}
