//! The feed of one node: a state machine that takes time, its own messages and the group's, and gives messages for its
//! players.

use super::compass::Compass;
use super::entry::{FeedEntry, Said};
use super::position::{Position, Positions};
use super::settings::FeedSettings;
use crate::directory::NodeName;
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A node's part of a feed. All calls take `now`: the time since any moment, by one monotonic clock of this process.
#[derive(Debug)]
pub struct Feed {
    settings: FeedSettings,
    sent: u64,
    beat_at: Duration,
    /// When nodes that have ended are looked for next.
    review_at: Duration,
    /// What was heard.
    compass: Compass,
    /// What was polled, and so is with this node's players.
    told: Compass,
    /// By node, what waits for a message of another, and what is behind it.
    waiting: BTreeMap<NodeName, VecDeque<Waiting>>,
    waiting_bytes: usize,
    /// What was heard, the oldest first.
    kept: VecDeque<Kept>,
    kept_bytes: usize,
    /// What is kept no longer, of each node.
    forgotten: Compass,
    /// Heard and not polled; without a payload if it says only how far a node is.
    ready: VecDeque<(Position, Option<Bytes>)>,
    stats: FeedStats,
}

/// Figures of a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedStats {
    /// Messages that followed one that did not come in time: their order may be wrong.
    pub unordered: u64,
    /// Messages of processes that had ended, of too many nodes, or that were none.
    pub ignored: u64,
    /// Bytes that are kept for players that come.
    pub kept_bytes: usize,
    /// Bytes that wait for an earlier message.
    pub waiting_bytes: usize,
}

#[derive(Debug)]
struct Waiting {
    said: Said,
    until: Duration,
}

#[derive(Debug)]
struct Kept {
    entry: FeedEntry,
    at: Duration,
}

impl Feed {
    /// Nothing was published or heard.
    pub fn new(settings: FeedSettings) -> Feed {
        let (mut compass, mut told) = (Compass::default(), Compass::default());
        // Earlier processes of this node have ended: players that heard them are not ahead.
        let start = Position { node: settings.node.clone(), process: settings.process, number: 0 };
        compass.note(&start, Duration::ZERO);
        told.note(&start, Duration::ZERO);
        Feed {
            settings,
            sent: 0,
            beat_at: Duration::ZERO,
            review_at: Duration::ZERO,
            compass,
            told,
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            kept: VecDeque::new(),
            kept_bytes: 0,
            forgotten: Compass::default(),
            ready: VecDeque::new(),
            stats: FeedStats::default(),
        }
    }

    /// Numbers a message of this node: send the bytes to the group. It follows `after`, what the same player said at
    /// another node.
    pub fn publish(&mut self, payload: Bytes, after: Option<Position>, now: Duration) -> Bytes {
        self.sent += 1;
        self.said(after, Some(payload), now)
    }

    /// Bytes for the group that say how far this node is, if it has published nothing for a while, or if another node
    /// was just started.
    pub fn beat(&mut self, now: Duration) -> Option<Bytes> {
        (now >= self.beat_at).then(|| self.said(None, None, now))
    }

    /// The place of the message that was published last.
    pub fn last(&self) -> Position {
        let FeedSettings { node, process, .. } = &self.settings;
        Position { node: node.clone(), process: *process, number: self.sent }
    }

    /// The group has a message of this node: of another, or of this one.
    pub fn hear(&mut self, node: &NodeName, encoded: &Bytes, now: Duration) {
        let said = Said::decode(encoded).filter(|said| !self.compass.is_past(&said.position(node)));
        let has_room = self.compass.knows(node) || self.compass.len() < self.settings.nodes_max;
        let Some(said) = said.filter(|_| has_room) else {
            self.stats.ignored += 1;
            return;
        };
        let bytes = said.payload.as_ref().map_or(0, Bytes::len) + ENTRY_BYTES;
        if self.waiting.contains_key(node) || !self.may_follow(node, &said) {
            self.waiting_bytes += bytes;
            let until = now + self.settings.wait_max;
            self.waiting.entry(node.clone()).or_default().push_back(Waiting { said, until });
        } else {
            self.take(node, said, now);
        }
        self.release(now);
    }

    /// The next message for all players of this node.
    pub fn poll(&mut self, now: Duration) -> Option<FeedEntry> {
        if !self.waiting.is_empty() {
            self.release(now);
        }
        self.forget_ended(now);
        while let Some((position, payload)) = self.ready.pop_front() {
            self.told.note(&position, now);
            if let Some(payload) = payload {
                return Some(FeedEntry { position, payload });
            }
        }
        None
    }

    /// How far this node's players have heard all nodes: everything that was polled.
    pub fn positions(&self) -> Positions {
        self.told.positions()
    }

    /// Whether this node's players have heard all that these positions have.
    pub fn reaches(&self, positions: &Positions) -> bool {
        self.told.reaches(positions)
    }

    /// Leaves out what this node has not heard although a player that came with these positions has been here since then:
    /// its node has ended, or counts as ended.
    pub(super) fn without_ended(&self, positions: &mut Positions, since: Duration, now: Duration) {
        if now.saturating_sub(since) >= self.settings.forget_after {
            positions.0.retain(|node, (process, number)| {
                self.told.has(&Position { node: node.clone(), process: *process, number: *number })
            });
        }
    }

    /// Whether a player with these positions has this message.
    pub fn is_in(&self, position: &Position, positions: &Positions) -> bool {
        self.compass.is_in(position, positions)
    }

    /// The later of both, node by node.
    pub fn later(&self, one: Positions, other: Positions) -> Positions {
        self.compass.later(one, other)
    }

    /// What was polled and a player with these positions has not heard. Of nodes that it does not know, only what came while it was
    /// connected, for `age`.
    pub fn since<'f>(
        &'f self,
        positions: &'f Positions,
        age: Duration,
        now: Duration,
    ) -> impl Iterator<Item = &'f FeedEntry> {
        let from = now.saturating_sub(age);
        let is_new = move |kept: &&Kept| {
            let position = &kept.entry.position;
            let is_known = positions.0.contains_key(&position.node);
            let is_new = if is_known { !self.is_in(position, positions) } else { kept.at >= from };
            is_new && self.told.has(position)
        };
        self.kept.iter().filter(is_new).map(|kept| &kept.entry)
    }

    /// Whether messages that a player with these positions needs are kept no longer.
    pub fn has_forgotten(&self, positions: &Positions) -> bool {
        let is_lost = |position: Position| positions.of(&position.node).is_some() && !self.is_in(&position, positions);
        self.forgotten.positions().0.iter().any(|(node, (process, number))| {
            is_lost(Position { node: node.clone(), process: *process, number: *number })
        })
    }

    /// Figures.
    pub fn stats(&self) -> FeedStats {
        FeedStats { kept_bytes: self.kept_bytes, waiting_bytes: self.waiting_bytes, ..self.stats }
    }

    fn said(&mut self, after: Option<Position>, payload: Option<Bytes>, now: Duration) -> Bytes {
        self.beat_at = now + self.settings.beat_every;
        Said { process: self.settings.process, number: self.sent, after, payload }.encode()
    }

    /// A node's own messages are in order.
    fn may_follow(&self, node: &NodeName, said: &Said) -> bool {
        said.after.as_ref().is_none_or(|after| after.node == *node || self.compass.has(after))
    }

    /// Takes what has waited for long enough, or for what has come.
    fn release(&mut self, now: Duration) {
        loop {
            let is_too_much = self.waiting_bytes > self.settings.waiting_bytes_max;
            let next = self.waiting.iter().find_map(|(node, queue)| {
                let first = queue.front()?;
                let may = self.may_follow(node, &first.said);
                (may || is_too_much || now >= first.until).then(|| (node.clone(), may))
            });
            let Some((node, is_in_order)) = next else { return };
            let Some(queue) = self.waiting.get_mut(&node) else { return };
            let Some(Waiting { said, .. }) = queue.pop_front() else { return };
            if queue.is_empty() {
                self.waiting.remove(&node);
            }
            self.waiting_bytes -= said.payload.as_ref().map_or(0, Bytes::len) + ENTRY_BYTES;
            self.stats.unordered += u64::from(!is_in_order);
            self.take(&node, said, now);
        }
    }

    fn take(&mut self, node: &NodeName, said: Said, now: Duration) {
        let position = said.position(node);
        if !self.compass.is_present(&position) {
            // A node that was just started is to know soon how far all others are.
            self.beat_at = self.beat_at.min(now);
        }
        let is_known = self.compass.has(&position) && said.payload.is_some();
        self.compass.note(&position, now);
        if is_known {
            return;
        }
        self.ready.push_back((position.clone(), said.payload.clone()));
        let Some(payload) = said.payload else { return };
        self.kept_bytes += payload.len() + ENTRY_BYTES;
        self.kept.push_back(Kept { entry: FeedEntry { position, payload }, at: now });
        self.forget(now);
    }

    fn forget_ended(&mut self, now: Duration) {
        if now < self.review_at {
            return;
        }
        self.review_at = now + REVIEW_EVERY;
        if let Some(since) = now.checked_sub(self.settings.forget_after) {
            for compass in [&mut self.compass, &mut self.told, &mut self.forgotten] {
                compass.forget_silent(since, &self.settings.node);
            }
        }
    }

    fn forget(&mut self, now: Duration) {
        while let Some(Kept { at, .. }) = self.kept.front()
            && (self.kept_bytes > self.settings.kept_bytes_max || *at + self.settings.kept_for < now)
            && let Some(Kept { entry, .. }) = self.kept.pop_front()
        {
            self.kept_bytes -= entry.payload.len() + ENTRY_BYTES;
            self.forgotten.note(&entry.position, now);
        }
    }
}

/// How often nodes that have ended are looked for.
const REVIEW_EVERY: Duration = Duration::from_secs(10);
/// What a message costs beside its payload.
const ENTRY_BYTES: usize = 128;

#[cfg(test)]
mod tests;
