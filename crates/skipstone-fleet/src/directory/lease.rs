//! The lease of the own node: made, renewed, lost, made again.
//!
//! ```text
//!           created                 term over, fenced, replaced
//! Absent ------------> Written{since} ------------> Written{none} --written, next session--> Written{since}
//!   |  exists            ^                              |
//!   v                    | overdue: replaced            v  gone
//! Occupied --------------'                            Absent
//!   | renewed by the other
//!   v
//! Refused
//! ```

use super::calls::{Calls, Purpose, StoreOperation};
use super::name::NodeName;
use super::record::{Incarnation, NodeRecord, NodeStatus};
use super::settings::DirectorySettings;
use crate::bus::KvOutcome;
use std::time::Duration;

/// The own lease.
#[derive(Debug)]
pub(super) struct OwnLease {
    node: NodeName,
    record: NodeRecord,
    standing: Standing,
    is_in_flight: bool,
    next_at: Duration,
    timing: LeaseTiming,
}

#[derive(Debug)]
struct LeaseTiming {
    owner_term: Duration,
    watcher_term: Duration,
    renew_every: Duration,
}

#[derive(Debug)]
enum Standing {
    /// No entry of this name is known.
    Absent,
    /// Another process has the name.
    Occupied {
        by: Incarnation,
        revision: u64,
        since: Duration,
    },
    /// The entry is this process's. It is a lease if it was written in this session, at this moment or later.
    Written {
        revision: u64,
        since: Option<Duration>,
    },
    /// The entry is to be deleted.
    Leaving {
        revision: u64,
    },
    Refused,
    Left,
}

/// What became of the lease.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LeaseChange {
    Nothing,
    Joined,
    Ended,
    NameTaken { address: String },
    Left,
    StoreRefused { why: String },
}

impl OwnLease {
    pub(super) fn new(settings: &DirectorySettings, now: Duration) -> OwnLease {
        OwnLease {
            node: settings.node.clone(),
            record: settings.record(),
            standing: Standing::Absent,
            is_in_flight: false,
            next_at: now,
            timing: LeaseTiming {
                owner_term: settings.owner_term(),
                watcher_term: settings.watcher_term(),
                renew_every: settings.renew_every,
            },
        }
    }

    pub(super) fn node(&self) -> &NodeName {
        &self.node
    }

    pub(super) fn status(&self) -> NodeStatus {
        self.record.status
    }

    pub(super) fn incarnation(&self) -> Incarnation {
        self.record.incarnation
    }

    /// Whether the lease lasts at this moment: counted from when the renewal was sent, by the own clock.
    pub(super) fn is_valid(&self, now: Duration) -> bool {
        self.valid_until().is_some_and(|until| now < until)
    }

    /// Until when the lease lasts, if it is not renewed; nothing if it has ended.
    pub(super) fn valid_until(&self) -> Option<Duration> {
        match self.standing {
            Standing::Written { since: Some(since), .. } => Some(since + self.timing.owner_term),
            _ => None,
        }
    }

    /// Whether nothing more will happen.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.standing, Standing::Refused | Standing::Left)
    }

    /// When [`OwnLease::lapse`] and [`OwnLease::advance`] have something to do.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let next = match (&self.standing, self.is_in_flight) {
            (Standing::Refused | Standing::Left, _) | (_, true) => None,
            (Standing::Occupied { since, .. }, false) => Some(self.next_at.max(*since + self.timing.watcher_term)),
            _ => Some(self.next_at),
        };
        self.valid_until().into_iter().chain(next).min()
    }

    /// The status goes with the next renewal; whether to drain goes at once.
    pub(super) fn set_status(&mut self, status: NodeStatus, now: Duration) {
        if status.is_draining != self.record.status.is_draining {
            self.next_at = now;
        }
        self.record.status = status;
    }

    /// Ends a lease whose term is over. Its session is never valid again.
    pub(super) fn lapse(&mut self, now: Duration) -> LeaseChange {
        match self.valid_until() {
            Some(until) if now >= until => self.end(now),
            _ => LeaseChange::Nothing,
        }
    }

    /// Sends what is due.
    pub(super) fn advance(&mut self, now: Duration, calls: &mut Calls) {
        if self.is_in_flight || now < self.next_at {
            return;
        }
        let value = self.record.encode();
        let operation = match self.standing {
            Standing::Absent => StoreOperation::Create(value),
            Standing::Occupied { since, .. } if now < since + self.timing.watcher_term => return,
            Standing::Occupied { revision, .. } | Standing::Written { revision, .. } => {
                StoreOperation::Update { value, revision }
            }
            Standing::Leaving { revision } => {
                self.is_in_flight = true;
                let operation = StoreOperation::DeleteAt { revision };
                return calls.send(now, self.node.key(), operation, Purpose::DeleteLease);
            }
            Standing::Refused | Standing::Left => return,
        };
        self.is_in_flight = true;
        let purpose = Purpose::WriteLease { incarnation: self.record.incarnation };
        calls.send(now, self.node.key(), operation, purpose);
    }

    /// Deletes the entry as soon as no write of it waits.
    pub(super) fn leave(&mut self, now: Duration) -> LeaseChange {
        self.next_at = now;
        match self.standing {
            Standing::Written { revision, .. } => {
                self.standing = Standing::Leaving { revision };
                LeaseChange::Nothing
            }
            Standing::Leaving { .. } | Standing::Left => LeaseChange::Nothing,
            _ => self.left(),
        }
    }

    /// A write of the entry ended, which was sent at that moment in that session.
    pub(super) fn on_written(
        &mut self,
        outcome: KvOutcome,
        incarnation: Incarnation,
        sent_at: Duration,
        now: Duration,
        calls: &mut Calls,
    ) -> LeaseChange {
        self.is_in_flight = false;
        if let Standing::Leaving { .. } = self.standing {
            return self.on_written_while_leaving(outcome, now, calls);
        }
        match outcome {
            _ if self.is_over() => LeaseChange::Nothing,
            KvOutcome::Stored { revision } => self.on_stored(revision, incarnation, sent_at, now),
            KvOutcome::Exists { value, revision } => self.on_found(&value, revision, now),
            KvOutcome::WrongRevision => {
                self.read(now, calls);
                LeaseChange::Nothing
            }
            KvOutcome::Refused { why } => {
                self.next_at = now + self.timing.renew_every;
                LeaseChange::StoreRefused { why }
            }
            _ => {
                self.next_at = now + RETRY;
                LeaseChange::Nothing
            }
        }
    }

    /// The entry was read, because a write found another revision.
    pub(super) fn on_read(&mut self, outcome: KvOutcome, now: Duration) -> LeaseChange {
        self.is_in_flight = false;
        match (&mut self.standing, outcome) {
            (Standing::Refused | Standing::Left, _) => LeaseChange::Nothing,
            (Standing::Leaving { revision: own }, KvOutcome::Found { value, revision })
                if is_of(&value, self.record.incarnation.process) =>
            {
                *own = revision;
                self.next_at = now;
                LeaseChange::Nothing
            }
            (Standing::Leaving { .. }, KvOutcome::Found { .. } | KvOutcome::NotFound) => self.left(),
            (_, KvOutcome::Found { value, revision }) => self.on_found(&value, revision, now),
            (_, KvOutcome::NotFound) => self.on_gone(now),
            _ => {
                self.next_at = now + RETRY;
                LeaseChange::Nothing
            }
        }
    }

    /// The deletion of the entry ended.
    pub(super) fn on_deleted(&mut self, outcome: &KvOutcome, now: Duration, calls: &mut Calls) -> LeaseChange {
        self.is_in_flight = false;
        match outcome {
            KvOutcome::Stored { .. } => self.left(),
            KvOutcome::WrongRevision => {
                self.read(now, calls);
                LeaseChange::Nothing
            }
            _ => {
                self.next_at = now + RETRY;
                LeaseChange::Nothing
            }
        }
    }

    /// The watch saw the entry.
    pub(super) fn on_change(&mut self, record: Option<&NodeRecord>, revision: u64, now: Duration) -> LeaseChange {
        let own = self.record.incarnation.process;
        match (&mut self.standing, record) {
            (Standing::Occupied { revision: known, .. }, _) if revision <= *known => LeaseChange::Nothing,
            (Standing::Occupied { .. }, Some(record)) if record.incarnation.process != own => self.refuse(record),
            (Standing::Occupied { .. }, None) if !self.is_in_flight => self.on_gone(now),
            (Standing::Written { revision: known, .. }, _) if revision <= *known => LeaseChange::Nothing,
            (Standing::Written { .. }, None) => self.on_gone(now),
            (Standing::Written { .. }, Some(record)) if record.incarnation.process != own => {
                self.on_other(record, revision, now)
            }
            // An own write whose answer was lost.
            (Standing::Written { revision: known, .. }, Some(_)) if !self.is_in_flight => {
                *known = revision;
                LeaseChange::Nothing
            }
            _ => LeaseChange::Nothing,
        }
    }

    fn on_stored(&mut self, revision: u64, incarnation: Incarnation, sent_at: Duration, now: Duration) -> LeaseChange {
        let lasted = self.valid_until().is_some();
        let is_current = incarnation == self.record.incarnation && now < sent_at + self.timing.owner_term;
        let since = is_current.then_some(sent_at);
        self.next_at = if is_current { now.max(sent_at + self.timing.renew_every) } else { now };
        self.standing = Standing::Written { revision, since };
        match (lasted, is_current) {
            (false, true) => LeaseChange::Joined,
            (true, false) => self.end(now),
            _ => LeaseChange::Nothing,
        }
    }

    /// A delayed write may have made the entry that is to be deleted.
    fn on_written_while_leaving(&mut self, outcome: KvOutcome, now: Duration, calls: &mut Calls) -> LeaseChange {
        match outcome {
            KvOutcome::Stored { revision } => {
                self.standing = Standing::Leaving { revision };
                self.next_at = now;
            }
            _ => self.read(now, calls),
        }
        LeaseChange::Nothing
    }

    fn on_found(&mut self, value: &[u8], revision: u64, now: Duration) -> LeaseChange {
        let Some(record) = NodeRecord::decode(value) else {
            self.next_at = now + self.timing.renew_every;
            return LeaseChange::StoreRefused { why: format!("the entry {} is no node's; delete it", self.node.key()) };
        };
        if record.incarnation.process != self.record.incarnation.process {
            return self.on_other(&record, revision, now);
        }
        let since = match self.standing {
            Standing::Written { since, .. } if record.incarnation == self.record.incarnation => since,
            _ => None,
        };
        self.standing = Standing::Written { revision, since };
        self.next_at = now;
        LeaseChange::Nothing
    }

    fn on_other(&mut self, record: &NodeRecord, revision: u64, now: Duration) -> LeaseChange {
        if let Standing::Occupied { by, revision: known, .. } = self.standing
            && (by != record.incarnation || revision > known)
        {
            return self.refuse(record);
        }
        let change = if self.valid_until().is_some() { self.end(now) } else { LeaseChange::Nothing };
        if !matches!(self.standing, Standing::Occupied { .. }) {
            self.standing = Standing::Occupied { by: record.incarnation, revision, since: now };
        }
        change
    }

    fn on_gone(&mut self, now: Duration) -> LeaseChange {
        let change = if self.valid_until().is_some() { self.end(now) } else { LeaseChange::Nothing };
        self.standing = Standing::Absent;
        self.next_at = now;
        change
    }

    fn end(&mut self, now: Duration) -> LeaseChange {
        if let Standing::Written { since, .. } = &mut self.standing {
            *since = None;
        }
        self.record.incarnation.session += 1;
        self.next_at = now;
        LeaseChange::Ended
    }

    fn refuse(&mut self, record: &NodeRecord) -> LeaseChange {
        self.standing = Standing::Refused;
        LeaseChange::NameTaken { address: record.address.clone() }
    }

    fn left(&mut self) -> LeaseChange {
        self.standing = Standing::Left;
        LeaseChange::Left
    }

    fn read(&mut self, now: Duration, calls: &mut Calls) {
        self.is_in_flight = true;
        calls.send(now, self.node.key(), StoreOperation::Get, Purpose::ReadLease);
    }
}

fn is_of(value: &[u8], process: u64) -> bool {
    NodeRecord::decode(value).is_some_and(|record| record.incarnation.process == process)
}

/// How long after a call without an outcome the next is sent.
const RETRY: Duration = Duration::from_millis(250);
