//! Requests that wait for their answers, by deadline.

use super::ids::{KvBucket, RequestId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The requests that wait.
#[derive(Debug, Default)]
pub(super) struct Answers {
    waiting: BTreeMap<RequestId, Waiting>,
    by_deadline: BTreeSet<(Instant, RequestId)>,
}

/// A request that waits: of a store, it waits to begin.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    deadline: Instant,
    bucket: Option<KvBucket>,
}

impl Answers {
    pub(super) fn insert(&mut self, request: RequestId, deadline: Instant) {
        self.add(request, Waiting { deadline, bucket: None });
    }

    pub(super) fn insert_kv(&mut self, request: RequestId, deadline: Instant, bucket: KvBucket) {
        self.add(request, Waiting { deadline, bucket: Some(bucket) });
    }

    fn add(&mut self, request: RequestId, waiting: Waiting) {
        self.waiting.insert(request, waiting);
        self.by_deadline.insert((waiting.deadline, request));
    }

    /// Ends a request; false if it has ended before.
    pub(super) fn remove(&mut self, request: RequestId) -> bool {
        let waiting = self.waiting.remove(&request);
        waiting.is_some_and(|waiting| self.by_deadline.remove(&(waiting.deadline, request)))
    }

    pub(super) fn waits(&self, request: RequestId) -> bool {
        self.waiting.contains_key(&request)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.by_deadline.first().map(|(deadline, _)| *deadline)
    }

    /// Ends the request whose deadline has passed first. With it, the store that it is of.
    pub(super) fn pop_expired(&mut self, now: Instant) -> Option<(RequestId, Option<KvBucket>)> {
        let (deadline, request) = *self.by_deadline.first()?;
        if deadline > now {
            return None;
        }
        self.by_deadline.pop_first();
        Some((request, self.waiting.remove(&request)?.bucket))
    }
}
