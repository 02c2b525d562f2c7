//! The chat of all nodes: lines that players of any node say reach the players of all.

use bytes::Bytes;
use skipstone::PeerId;
use skipstone_fleet::bus::{Bus, BusEvent};
use skipstone_fleet::directory::NodeName;
use skipstone_fleet::feed::{Feed, FeedEntry, FeedSettings, Followers, Position, Positions};
use skipstone_fleet::groups::{Delivery, GroupEvent, GroupName, GroupSettings, GroupsDriver, SendError};
use skipstone_lab::report::format::{bytes, thousands};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

/// The node's part of the chat.
pub(in crate::serve) struct FleetChat {
    groups: GroupsDriver,
    group: GroupName,
    feed: Feed,
    followers: Followers,
    trails: BTreeMap<PeerId, Trail>,
    began: Instant,
    /// Batches of other nodes that are lost.
    gaps: u64,
    /// Lines that did not get into the chat: too long, or too many.
    unsent: u64,
    /// Players that came when lines that they needed were kept no longer.
    late_comers: u64,
}

/// What a player has said last.
#[derive(Clone, Debug, Default)]
struct Trail {
    /// At another node, and nothing here since.
    after: Option<Position>,
    /// Here, and when.
    last: Option<(Position, Duration)>,
}

impl FleetChat {
    /// `process` is a random number of this start.
    pub(super) fn start(bus: &Bus, node: &NodeName, process: u64) -> Result<FleetChat, String> {
        let group = GroupName::new("chat").map_err(|error| error.to_string())?;
        let settings = GroupSettings { message_bytes_max: LINE_BYTES_MAX, ..GroupSettings::new(node.clone(), process) };
        let mut groups = GroupsDriver::start(bus, settings);
        groups.join(&group, Delivery::Reliable).map_err(|error| error.to_string())?;
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let feed = Feed::new(FeedSettings::new(node.clone(), started.as_micros() as u64));
        Ok(FleetChat {
            groups,
            group,
            feed,
            followers: Followers::default(),
            trails: BTreeMap::new(),
            began: Instant::now(),
            gaps: 0,
            unsent: 0,
            late_comers: 0,
        })
    }

    /// Takes an event of the bus, or gives it back if it is not of the chat alone.
    pub(super) fn handle(&mut self, event: BusEvent) -> Option<BusEvent> {
        self.groups.handle(event)
    }

    /// Says a player's line to all nodes, this one included.
    pub(in crate::serve) fn say(&mut self, bus: &Bus, peer: PeerId, line: &Bytes) {
        let now = self.now();
        let trail = self.trails.entry(peer).or_default();
        let message = self.feed.publish(line.clone(), trail.after.take(), now);
        trail.last = Some((self.feed.last(), now));
        let mut sent = self.groups.send(&self.group, message.clone());
        if sent == Err(SendError::QueueFull) {
            // Its own lines are heard at the end of the tick, as all are: players that come meanwhile rely on it.
            self.groups.flush(bus);
            sent = self.groups.send(&self.group, message);
        }
        self.unsent += u64::from(sent.is_err());
    }

    /// Ends a tick: its lines leave as one batch.
    pub(in crate::serve) fn flush(&mut self, bus: &Bus) {
        if let Some(beat) = self.feed.beat(self.now()) {
            // The next one says the same.
            let _ = self.groups.send(&self.group, beat);
        }
        self.groups.flush(bus);
        self.hear(bus);
    }

    /// The next line for the players of this node, and those of them who get it by itself.
    pub(in crate::serve) fn poll(&mut self) -> Option<(FeedEntry, Vec<PeerId>)> {
        let entry = self.feed.poll(self.now())?;
        let wanting = self.followers.wanting(&entry, &self.feed).collect();
        Some((entry, wanting))
    }

    /// Players that get every line from now on, as the audience does.
    pub(in crate::serve) fn settled(&mut self) -> Vec<PeerId> {
        let now = self.now();
        if self.followers.is_empty() { Vec::new() } else { self.followers.settled(&self.feed, now) }
    }

    /// A player has come, or has stayed after all: the lines that it has missed.
    pub(in crate::serve) fn arrive(&mut self, peer: PeerId, heard: Positions, age: Duration) -> Vec<Bytes> {
        self.late_comers += u64::from(self.feed.has_forgotten(&heard));
        self.followers.arrive(peer, heard, age, &self.feed, self.now())
    }

    /// The line that a player's next one follows.
    pub(in crate::serve) fn follow(&mut self, peer: PeerId, after: Option<Position>) {
        self.trails.insert(peer, Trail { after, last: None });
    }

    /// A player is about to leave: what it has heard, and the line that its next one follows, if that may not be with
    /// all nodes yet.
    pub(in crate::serve) fn leave(&mut self, peer: PeerId) -> (Positions, Option<Position>) {
        let heard = self.followers.leave(peer, &self.feed);
        let now = self.now();
        let after = self.trails.get(&peer).and_then(|trail| match &trail.last {
            Some((last, at)) => Some(last).filter(|_| now.saturating_sub(*at) < RECENT),
            None => trail.after.as_ref(),
        });
        (heard, after.cloned())
    }

    /// A player's connection has ended.
    pub(in crate::serve) fn on_closed(&mut self, peer: PeerId) {
        self.trails.remove(&peer);
        let _ = self.followers.leave(peer, &self.feed);
    }

    /// For `stats`.
    pub(super) fn line(&self) -> String {
        let (feed, groups) = (self.feed.stats(), self.groups.stats());
        format!(
            "chat of all nodes: kept {}, waiting {}; lost: batches of other nodes {}, lines of this one {}; in doubtful \
             order {}, ignored {}, players that came too late {}",
            bytes((feed.kept_bytes + groups.kept_bytes) as u64),
            bytes((feed.waiting_bytes + groups.early_bytes) as u64),
            thousands(self.gaps),
            thousands(self.unsent),
            thousands(feed.unordered),
            thousands(feed.ignored + groups.dropped + groups.invalid),
            thousands(self.late_comers),
        )
    }

    fn hear(&mut self, bus: &Bus) {
        let now = self.now();
        while let Some(event) = self.groups.poll(bus) {
            match event {
                GroupEvent::Message { node, payload, .. } => self.feed.hear(&node, &payload, now),
                GroupEvent::Gap { missed, .. } => self.gaps += missed,
                _ => {}
            }
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}

/// A batch has 256 KiB, and NATS takes 1 MiB by default.
const LINE_BYTES_MAX: usize = 256 << 10;
/// A line that was said earlier is with all nodes, or does not delay others any more.
const RECENT: Duration = Duration::from_secs(2);
