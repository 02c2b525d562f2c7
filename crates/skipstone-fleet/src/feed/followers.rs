//! Players that moved here with positions other than this node's.

use super::entry::FeedEntry;
use super::machine::Feed;
use super::position::Positions;
use bytes::Bytes;
use skipstone::PeerId;
use std::collections::BTreeMap;
use std::time::Duration;

/// Players that have heard more of some node than this node has: until it has caught up with them, they get each
/// message by itself, if at all. The others are the node's audience, which gets every message. A node that this one does
/// not hear for [`FeedSettings::forget_after`](super::FeedSettings::forget_after) has ended, and is not waited for.
#[derive(Debug, Default)]
pub struct Followers(BTreeMap<PeerId, Follower>);

#[derive(Debug)]
struct Follower {
    has: Positions,
    since: Duration,
}

impl Followers {
    /// A player has come that has heard this much, and was connected to the fleet for `age`. Send it these messages
    /// now, before any that is polled later. Whether it belongs to the audience from then on says
    /// [`Followers::settled`].
    pub fn arrive(
        &mut self,
        peer: PeerId,
        positions: Positions,
        age: Duration,
        feed: &Feed,
        now: Duration,
    ) -> Vec<Bytes> {
        let missed = feed.since(&positions, age, now).map(|entry| entry.payload.clone()).collect();
        self.0.insert(peer, Follower { has: positions, since: now });
        missed
    }

    /// Who gets this message by itself, before it goes to the audience.
    pub fn wanting<'f>(&'f self, entry: &'f FeedEntry, feed: &'f Feed) -> impl Iterator<Item = PeerId> + 'f {
        self.0.iter().filter(|(_, follower)| !feed.is_in(&entry.position, &follower.has)).map(|(peer, _)| *peer)
    }

    /// Players with whom this node has caught up: they belong to the audience from now on.
    pub fn settled(&mut self, feed: &Feed, now: Duration) -> Vec<PeerId> {
        let mut settled = Vec::new();
        self.0.retain(|peer, Follower { has, since }| {
            feed.without_ended(has, *since, now);
            let reached = feed.reaches(has);
            if reached {
                settled.push(*peer);
            }
            !reached
        });
        settled
    }

    /// A player leaves, or has left: what it has heard.
    pub fn leave(&mut self, peer: PeerId, feed: &Feed) -> Positions {
        let own = feed.positions();
        match self.0.remove(&peer) {
            Some(Follower { has, .. }) => feed.later(has, own),
            None => own,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
