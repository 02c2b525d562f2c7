//! Requests that wait for their answers, by deadline.

use super::event::RequestId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The requests that wait.
#[derive(Debug, Default)]
pub(super) struct Answers {
    deadlines: BTreeMap<RequestId, Instant>,
    by_deadline: BTreeSet<(Instant, RequestId)>,
}

impl Answers {
    pub(super) fn insert(&mut self, request: RequestId, deadline: Instant) {
        self.deadlines.insert(request, deadline);
        self.by_deadline.insert((deadline, request));
    }

    /// Ends a request; false if it has ended before.
    pub(super) fn remove(&mut self, request: RequestId) -> bool {
        let deadline = self.deadlines.remove(&request);
        deadline.is_some_and(|deadline| self.by_deadline.remove(&(deadline, request)))
    }

    pub(super) fn waits(&self, request: RequestId) -> bool {
        self.deadlines.contains_key(&request)
    }

    pub(super) fn len(&self) -> usize {
        self.deadlines.len()
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.by_deadline.first().map(|(deadline, _)| *deadline)
    }

    /// Ends the request whose deadline has passed first.
    pub(super) fn pop_expired(&mut self, now: Instant) -> Option<RequestId> {
        let (deadline, request) = *self.by_deadline.first()?;
        (deadline <= now).then(|| {
            self.remove(request);
            request
        })
    }
}
