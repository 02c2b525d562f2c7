//! A second id in each direction, given and taken by NEW_ID. WIRE.md section 6.3.

use crate::channel::packet::Packet;
use crate::recovery::{Control, Record};
use crate::time::Time;
use crate::wire::frame;

/// The spare ids, one in each direction, in addition to those in use.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) struct SpareIds {
    /// The id that this side gave the peer for packets after a move; 0 for none.
    pub(super) local: u32,
    /// How many ids this side has given.
    pub(super) given: u32,
    /// The id that the peer gave for packets after a move; 0 for none.
    pub(super) remote: u32,
    /// The peer's count.
    pub(super) taken: u32,
    /// The time since which all of the peer's newest packets bear `local`; [`Time::NEVER`] if they do not.
    pub(super) used_since: Time,
    /// The endpoint should assign another id.
    pub(super) is_wanted: bool,
}

impl Default for SpareIds {
    fn default() -> Self {
        SpareIds { local: 0, given: 0, remote: 0, taken: 0, used_since: Time::NEVER, is_wanted: false }
    }
}

impl SpareIds {
    /// The peer gave an id. A late copy of an earlier NEW_ID does not count.
    pub(in crate::connection) fn on_given(&mut self, sequence: u64, id: u32) {
        if let Some(sequence) = u32::try_from(sequence).ok().filter(|sequence| *sequence > self.taken) {
            (self.taken, self.remote) = (sequence, id);
        }
    }

    /// Takes an id to give to the peer. True if there is one; without, it is wanted still, for others leave.
    pub(super) fn provide(&mut self, id: Option<u32>) -> bool {
        self.is_wanted = id.is_none();
        if let Some(id) = id {
            (self.local, self.given) = (id, self.given + 1);
        }
        id.is_some()
    }

    /// The id that this side gave for packets after a move, if there is one.
    pub(super) fn local(&self) -> Option<u32> {
        (self.local != 0).then_some(self.local)
    }

    /// The id to use towards a peer that moved and showed it by `by`, an id of this side.
    pub(super) fn answering(&self, by: u32) -> Option<u32> {
        (self.remote != 0 && self.local() == Some(by)).then_some(self.remote)
    }
}

/// Writes a NEW_ID; false if it has no room.
pub(in crate::connection) fn write_new_id(packet: &mut Packet<'_>, spare: &SpareIds) -> bool {
    if packet.room() < frame::NEW_ID_BYTES_MAX {
        return false;
    }
    if let Some(id) = spare.local() {
        frame::encode_new_id(&mut packet.writer, spare.given.into(), id);
        packet.record(Record::Control(Control::NewId(spare.given)));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unavailable_id_is_requested_again() {
        let mut spare = SpareIds { is_wanted: true, ..SpareIds::default() };
        assert!(!spare.provide(None) && spare.is_wanted, "all ids are in use");
        assert_eq!((spare.local(), spare.given), (None, 0));
        assert!(spare.provide(Some(7)) && !spare.is_wanted, "somebody has left");
        assert_eq!((spare.local(), spare.given), (Some(7), 1));
    }
}
