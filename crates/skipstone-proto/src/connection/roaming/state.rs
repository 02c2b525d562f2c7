//! The addresses of the peer that are being validated, and the path frames that are due.

use super::candidate::Candidate;
use crate::path::Path;
use crate::rtt::Rtt;
use crate::time::{Duration, Time};
use core::net::SocketAddr;

/// The flight of the old path is sent again, acknowledged, and its losses found within this; on long paths, where a
/// loss costs more than repairs do, repairs come back sooner.
const SETTLING_ROUND_TRIPS: u32 = 4;
const SETTLING_MAX: Duration = Duration::from_millis(100);

/// State of the validation of new addresses, and the path frames that are due.
#[derive(Debug, Default)]
pub(in crate::connection) struct Roaming {
    pub(super) candidate: Option<Box<Candidate>>,
    /// The previous address, if the connection moved because another one answered its challenge. This one is challenged
    /// after the move, and when packets come from there.
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
    /// The peer's address and id when it opened the connection, if it moved since.
    pub(super) opened_by: Option<Box<(SocketAddr, u32)>>,
    /// The time at which the address of either side changed last, as far as this side knows.
    pub(super) moved_at: Option<Time>,
}

/// A packet that is due.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) enum PathFrame {
    Challenge { path: Path, id: u32, token: u64 },
    Answer { token: u64 },
    Announce,
}

impl Roaming {
    pub(in crate::connection) fn due(&self) -> Time {
        let due = |candidate: &Option<Box<Candidate>>| candidate.as_ref().map_or(Time::NEVER, |it| it.due());
        due(&self.candidate).min(due(&self.left))
    }

    /// Whether [`Roaming::poll`] has anything.
    pub(in crate::connection) fn has_path_frame(&self, now: Time) -> bool {
        self.to_answer.is_some() || self.announces || self.due() <= now
    }

    pub(in crate::connection) fn poll(&mut self, now: Time) -> Option<PathFrame> {
        if let Some(candidate) = self.asked().find(|candidate| candidate.is_due(now)) {
            let Candidate { path, id, token, .. } = **candidate;
            return Some(PathFrame::Challenge { path, id, token });
        }
        if let Some(token) = self.to_answer.take() {
            return Some(PathFrame::Answer { token });
        }
        core::mem::take(&mut self.announces).then_some(PathFrame::Announce)
    }

    /// The address that is used although it has not proven itself.
    pub(in crate::connection) fn in_use(&self) -> Option<&Candidate> {
        self.candidate.as_deref().filter(|candidate| candidate.is_used())
    }

    /// A datagram left for the address that is used before its proof.
    pub(in crate::connection) fn pay(&mut self, bytes: usize) {
        if let Some(candidate) = self.candidate.as_mut().filter(|candidate| candidate.is_used()) {
            candidate.pay(bytes);
        }
    }

    /// Addresses that have to prove themselves.
    pub(super) fn asked(&mut self) -> impl Iterator<Item = &mut Box<Candidate>> {
        self.candidate.iter_mut().chain(&mut self.left)
    }

    pub(in crate::connection) fn on_challenge_sent(&mut self, now: Time, token: u64) {
        if let Some(candidate) = self.asked().find(|candidate| candidate.token == token) {
            candidate.on_challenge_sent(now);
        }
    }

    /// The peer asks for proof: this side's address has changed.
    pub(in crate::connection) fn on_challenge(&mut self, now: Time, token: u64) {
        self.to_answer = Some(token);
        self.moved_at = Some(now);
    }

    /// Whether the path is so new that the flight on the old one is still being sent again. Repairs recover nothing of
    /// that flight and would be in its way: addresses that change every few round trips would keep a path full.
    pub(in crate::connection) fn is_settling(&self, now: Time, rtt: &Rtt) -> bool {
        let span = (rtt.smoothed() * SETTLING_ROUND_TRIPS).min(SETTLING_MAX);
        self.in_use().is_some() || self.moved_at.is_some_and(|at| now.since(at) < span)
    }

    pub(in crate::connection) fn on_response(&mut self, token: u64) {
        self.answered = Some(token);
    }

    pub(super) fn announce(&mut self) {
        self.announces = true;
    }
}
