//! All publishers of reliable groups that a node follows, and when each is to be looked at.

use super::name::GroupName;
use super::packet::StreamId;
use super::stream::Stream;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Streams {
    keys: BTreeMap<GroupName, BTreeMap<StreamId, StreamKey>>,
    all: BTreeMap<StreamKey, Followed>,
    due: BTreeSet<(Duration, StreamKey)>,
    /// Of batches that wait for an earlier one.
    early_bytes: usize,
    last_key: StreamKey,
}

/// Of one stream that is followed; never given twice.
pub(super) type StreamKey = u64;

#[derive(Debug)]
pub(super) struct Followed {
    pub(super) group: GroupName,
    pub(super) publisher: StreamId,
    pub(super) stream: Stream,
    due_at: Option<Duration>,
}

impl Streams {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn early_bytes(&self) -> usize {
        self.early_bytes
    }

    pub(super) fn key(&self, group: &GroupName, publisher: &StreamId) -> Option<StreamKey> {
        self.keys.get(group)?.get(publisher).copied()
    }

    pub(super) fn of(&self, key: StreamKey) -> Option<&Followed> {
        self.all.get(&key)
    }

    pub(super) fn insert(&mut self, group: GroupName, publisher: StreamId, now: Duration) -> StreamKey {
        self.last_key += 1;
        let (key, stream) = (self.last_key, Stream::new(now));
        self.keys.entry(group.clone()).or_default().insert(publisher.clone(), key);
        self.all.insert(key, Followed { group, publisher, stream, due_at: None });
        key
    }

    /// Changes a stream, and keeps the account of its bytes.
    pub(super) fn change<T>(&mut self, key: StreamKey, change: impl FnOnce(&mut Stream) -> T) -> Option<T> {
        let stream = &mut self.all.get_mut(&key)?.stream;
        let before = stream.early_bytes();
        let result = change(stream);
        self.early_bytes = self.early_bytes + stream.early_bytes() - before;
        Some(result)
    }

    /// The next batch in order of a stream.
    pub(super) fn pop(&mut self, key: StreamKey, now: Duration) -> Option<Bytes> {
        self.change(key, |stream| stream.pop(now)).flatten()
    }

    /// Looks at a stream again when it has something to do, and not at this moment.
    pub(super) fn schedule(&mut self, key: StreamKey, give_up_after: Duration, now: Duration) {
        let Some(followed) = self.all.get_mut(&key) else { return };
        let next = followed.stream.deadline(give_up_after).map(|at| at.max(now + MOMENT));
        if next == followed.due_at {
            return;
        }
        if let Some(at) = followed.due_at {
            self.due.remove(&(at, key));
        }
        followed.due_at = next;
        self.due.extend(next.map(|at| (at, key)));
    }

    /// A stream that has something to do.
    pub(super) fn pop_due(&mut self, now: Duration) -> Option<StreamKey> {
        let (at, key) = *self.due.first().filter(|(at, _)| *at <= now)?;
        self.due.remove(&(at, key));
        if let Some(followed) = self.all.get_mut(&key) {
            followed.due_at = None;
        }
        Some(key)
    }

    /// All streams ask soon for what they do not know of, a little apart.
    pub(super) fn on_reconnected(&mut self, apart: Duration, give_up_after: Duration, now: Duration) {
        let keys: Vec<StreamKey> = self.all.keys().copied().collect();
        for (at, key) in (0..).map(|index| now + apart * index).zip(keys) {
            self.change(key, |stream| stream.on_reconnected(at, now));
            self.schedule(key, give_up_after, now);
        }
    }

    pub(super) fn remove_group(&mut self, group: &GroupName) {
        for key in self.keys.remove(group).into_iter().flat_map(BTreeMap::into_values) {
            self.forget(key);
        }
    }

    /// Gives up the stream that was silent the longest, if it was for so long; its group.
    pub(super) fn remove_silent(&mut self, since: Duration) -> Option<GroupName> {
        let (key, _) = self.all.iter().min_by_key(|(_, followed)| followed.stream.heard_at())?;
        let key = *key;
        let Followed { group, publisher, stream, .. } = &self.all[&key];
        if stream.heard_at() > since {
            return None;
        }
        if let Some(keys) = self.keys.get_mut(group) {
            keys.remove(publisher);
        }
        self.forget(key).map(|followed| followed.group)
    }

    fn forget(&mut self, key: StreamKey) -> Option<Followed> {
        let followed = self.all.remove(&key)?;
        self.early_bytes -= followed.stream.early_bytes();
        if let Some(at) = followed.due_at {
            self.due.remove(&(at, key));
        }
        Some(followed)
    }
}

/// What has something to do and finds no room is looked at again after this.
const MOMENT: Duration = Duration::from_millis(1);
