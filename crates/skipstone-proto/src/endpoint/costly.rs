//! Datagrams whose handling takes a signature. A round has room for some of them; the others wait, and leave in turns
//! of their networks, so that players' datagrams are handled in time and a flood delays only itself.

use super::fair_queue::FairQueue;
use crate::cost::Cost;
use crate::network::Network;
use crate::path::Path;
use crate::time::{Duration, Time};

/// The waiting requests, and the rest of this round's budget.
#[derive(Debug)]
pub(super) struct Costly {
    waiting: FairQueue<Waiting>,
    left: Cost,
}

/// A datagram that was received and not handled.
#[derive(Debug)]
pub(super) struct Waiting {
    received: Time,
    pub(super) path: Path,
    pub(super) bytes: Box<[u8]>,
}

/// The budget of one round, which ends with [`Endpoint::handle_timeout`](super::state::Endpoint::handle_timeout). One
/// more handshake may begin while some of it is left. An overdraft is taken from the next rounds.
const ROUND: Cost = Cost::micros(2_000);
/// Each waiting datagram has at most 1,500 bytes.
const WAITING_MAX: usize = 256;
/// By then its client has sent the datagram again, more than once.
const AGE_MAX: Duration = Duration::from_secs(3);

impl Costly {
    /// Nothing waits; `key` is secret.
    pub(super) fn new(key: u64) -> Self {
        Costly { waiting: FairQueue::new(WAITING_MAX, key), left: ROUND }
    }

    pub(super) fn begin_round(&mut self) {
        self.left = ROUND.min(self.left + ROUND);
    }

    /// Whether this round has room for another.
    pub(super) fn has_room(&self) -> bool {
        self.left.is_left()
    }

    /// Charges a signature. Streams sign whatever is left of the budget: together they overdraw it by one signature at
    /// most, so that they do not keep other carriers waiting.
    pub(super) fn charge(&mut self, cost: Cost) {
        self.left = (self.left - cost).max(Cost::ZERO - cost);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.len() == 0
    }

    /// Has a datagram wait. False if it, or another one in its place, was dropped.
    pub(super) fn put_off(&mut self, now: Time, path: Path, bytes: &[u8]) -> bool {
        self.waiting.push(&Network::of(&path.remote), Waiting { received: now, path, bytes: bytes.into() })
    }

    /// The next one, if there is room for it.
    pub(super) fn next(&mut self) -> Option<Waiting> {
        if self.has_room() { self.waiting.pop() } else { None }
    }
}

impl Waiting {
    pub(super) fn is_stale(&self, now: Time) -> bool {
        now.since(self.received) > AGE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_stream_signatures_delay_others_by_three_rounds() {
        let mut costly = Costly::new(7);
        (0..1_000).for_each(|_| costly.charge(Cost::micros(5_500)));
        for has_room in [false, false, false, true] {
            assert_eq!(costly.has_room(), has_room);
            costly.begin_round();
        }
    }
}
