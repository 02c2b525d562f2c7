//! The ids that packets bear: a client that moves is not recognised by the old ones. WIRE.md section 6.3.

use crate::connection::Connection;
use crate::time::{Duration, Time};

impl Connection {
    /// The connection is established: each side may have another id.
    pub(in crate::connection) fn want_spare_id(&mut self) {
        self.identity.spare.is_wanted = !self.path.current.carrier.is_reliable;
    }

    /// Whether [`Connection::provide_id`] is waited for.
    #[inline]
    pub(crate) fn wants_id(&self) -> bool {
        self.identity.spare.is_wanted
    }

    /// Takes an id by which the peer may reach this side after a move; `None` if there is no free one now.
    pub(crate) fn provide_id(&mut self, id: Option<u32>) {
        self.sending.pending.new_id |= self.identity.spare.provide(id);
    }

    /// All ids of this side, the spare one included.
    pub(crate) fn local_ids(&self) -> impl Iterator<Item = u32> + use<> {
        [Some(self.identity.ids.local), self.identity.spare.local()].into_iter().flatten()
    }

    /// One more than the greatest packet number that was opened.
    #[inline]
    pub(crate) fn next_number(&self) -> u64 {
        self.receiving.received.next()
    }

    /// Whether a packet that bears this id reveals something about the ids.
    #[inline]
    pub(crate) fn watches_ids(&self, id: u32) -> bool {
        id != self.identity.ids.local || self.identity.spare.used_since != Time::NEVER
    }

    /// Notes that the newest packet bears this id. Returns the id that no packet bears any more, if that is certain
    /// now.
    pub(crate) fn on_newest_by(&mut self, now: Time, id: u32) -> Option<u32> {
        let (spare, ids) = (&mut self.identity.spare, &mut self.identity.ids);
        if id == ids.local {
            spare.used_since = Time::NEVER;
            return None;
        }
        spare.used_since = spare.used_since.min(now);
        if now.since(spare.used_since) < RELEASE_AFTER {
            return None;
        }
        let released = core::mem::replace(&mut ids.local, spare.local);
        (spare.local, spare.used_since) = (0, Time::NEVER);
        self.want_spare_id();
        Some(released)
    }

    /// This side moved: its packets bear the peer's next id, if the peer gave one.
    pub(in crate::connection) fn use_next_id(&mut self) {
        let spare = core::mem::take(&mut self.identity.spare.remote);
        if spare != 0 {
            self.identity.ids.remote = spare;
        }
    }

    /// The peer's id for packets to an address that is used from now on. Returns the one that was used.
    pub(in crate::connection) fn use_id(&mut self, id: u32) -> u32 {
        if self.identity.spare.remote == id {
            self.identity.spare.remote = 0;
        }
        core::mem::replace(&mut self.identity.ids.remote, id)
    }

    /// The peer's id for packets to another address, from which a packet with the id `by` arrived; `None` if that
    /// packet is older than the peer's last change of ids, and reveals nothing about the ids that it knows now.
    pub(in crate::connection) fn id_towards(&self, by: u32) -> Option<u32> {
        let spare = &self.identity.spare;
        let is_late = by == self.identity.ids.local && spare.used_since != Time::NEVER;
        (!is_late).then(|| spare.answering(by).unwrap_or(self.identity.ids.remote))
    }

    /// The peer's id for packets that leave now.
    #[inline]
    pub(in crate::connection) fn remote_id(&self) -> u32 {
        self.path.roaming.in_use().map_or(self.identity.ids.remote, |candidate| candidate.id)
    }

    /// A packet with a NEW_ID was lost. Only the newest is sent again.
    pub(in crate::connection) fn on_new_id_lost(&mut self, sequence: u32) {
        self.sending.pending.new_id |= sequence == self.identity.spare.given && self.identity.spare.local != 0;
    }
}

/// An id is released once the next one has been in use for this long without a newer packet that bears the old one. A
/// new address is challenged for three seconds; if it does not answer, packets go to the old address again.
const RELEASE_AFTER: Duration = Duration::from_secs(3);
