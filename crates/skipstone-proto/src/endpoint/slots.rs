//! Slots that hold the connections. A slot is reused, each time with a new generation.

use super::groups::Group;
use super::population::Counted;
use super::victims::Charge;
use crate::connection::Connection;
use crate::connection::event::PeerId;
use crate::network::Network;
use skipstone_prefetch::{Step, prefetch};

/// All connections of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

/// A slot for a connection, and the endpoint's state about it.
#[derive(Debug)]
pub(crate) struct Slot {
    generation: u32,
    pub(crate) connection: Option<Box<Connection>>,
    /// The connection is in the endpoint's queue of connections that may have something to send.
    pub(crate) is_active: bool,
    /// The connection waits for its share of the endpoint's bandwidth.
    pub(crate) is_waiting: bool,
    /// The connection is in the list of connections that wait for a flush.
    pub(crate) is_unflushed: bool,
    /// The connection's stream accepts no more bytes for now.
    pub(crate) is_blocked: bool,
    /// The connection is an encrypted handshake that the endpoint counts as pending.
    pub(crate) is_pending: bool,
    /// The connection has changed since the last [`Slot::untouch`].
    is_touched: bool,
    pub(crate) groups: Vec<Group>,
    /// The limit that the endpoint counts the connection towards.
    pub(crate) counted: Counted,
    /// Network and bytes of memory that the connection is charged for.
    pub(crate) charge: Option<(Network, u64)>,
    /// Bytes of memory that the carrier's session holds for the connection.
    pub(crate) carrier_bytes: u32,
}

impl Slot {
    /// Marks the connection as changed. Returns its id if this is the first change since the last [`Slot::untouch`].
    #[inline]
    pub(crate) fn touch(&mut self, index: u32) -> Option<PeerId> {
        let is_news = !core::mem::replace(&mut self.is_touched, true);
        is_news.then_some(PeerId { index, generation: self.generation })
    }

    /// Marks the connection as seen.
    pub(crate) fn untouch(&mut self) {
        self.is_touched = false;
    }
}

impl Slots {
    /// Reserves a free slot, for [`Slots::fill`].
    pub(crate) fn reserve(&mut self) -> PeerId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                connection: None,
                is_active: false,
                is_waiting: false,
                is_unflushed: false,
                is_blocked: false,
                is_pending: false,
                is_touched: false,
                groups: Vec::new(),
                counted: Counted::Nothing,
                charge: None,
                carrier_bytes: 0,
            });
            self.slots.len() as u32 - 1
        });
        PeerId { index, generation: self.slots[index as usize].generation }
    }

    /// Frees a reserved slot that was not used.
    pub(crate) fn unreserve(&mut self, peer: PeerId) {
        self.free.push(peer.index);
    }

    pub(crate) fn fill(&mut self, connection: Connection, counted: Counted) {
        let slot = &mut self.slots[connection.peer().index as usize];
        slot.is_blocked = false;
        slot.carrier_bytes = 0;
        slot.counted = counted;
        slot.connection = Some(Box::new(connection));
    }

    /// The limit that each connection counts towards by its present state.
    #[cfg(any(test, feature = "unstable"))]
    pub(super) fn counted(&self) -> impl Iterator<Item = Counted> + '_ {
        self.slots.iter().filter_map(|slot| Some(slot.counted.follow(slot.connection.as_ref()?)))
    }

    /// Removes the connection, and returns how it was counted. The slot's marks about queues stay valid: its entries
    /// there will find no connection, or the next one, and do no harm.
    pub(crate) fn empty(&mut self, index: u32) -> Option<(Box<Connection>, Counted)> {
        let slot = self.slots.get_mut(index as usize)?;
        let connection = slot.connection.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        slot.is_touched = false;
        self.free.push(index);
        Some((connection, core::mem::take(&mut slot.counted)))
    }

    /// The endpoint counts this connection among the pending handshakes.
    pub(crate) fn set_pending(&mut self, peer: PeerId) {
        if let Some(slot) = self.find(peer) {
            slot.is_pending = true;
        }
    }

    pub(crate) fn take_groups(&mut self, index: u32) -> Vec<Group> {
        core::mem::take(&mut self.slots[index as usize].groups)
    }

    pub(crate) fn at(&mut self, index: u32) -> Option<&mut Slot> {
        self.slots.get_mut(index as usize)
    }

    /// Prefetches the connection in a slot, if there is one.
    pub(crate) fn prefetch(&self, index: u32, step: Step) {
        match self.slots.get(index as usize).and_then(|slot| slot.connection.as_deref()) {
            Some(connection) if step == Step::Itself => prefetch(connection),
            Some(connection) => connection.prefetch(step),
            None => {}
        }
    }

    pub(crate) fn find(&mut self, peer: PeerId) -> Option<&mut Slot> {
        self.at(peer.index).filter(|slot| slot.generation == peer.generation && slot.connection.is_some())
    }

    pub(crate) fn connection(&mut self, peer: PeerId) -> Option<&mut Connection> {
        self.find(peer)?.connection.as_deref_mut()
    }

    pub(crate) fn connection_at(&mut self, index: u32) -> Option<&mut Connection> {
        self.at(index)?.connection.as_deref_mut()
    }

    /// The connection with this id, read-only.
    pub(crate) fn peek(&self, peer: PeerId) -> Option<&Connection> {
        let slot = self.slots.get(peer.index as usize).filter(|slot| slot.generation == peer.generation)?;
        slot.connection.as_deref()
    }

    /// Whether a connection with this id existed.
    pub(crate) fn was(&self, peer: PeerId) -> bool {
        let slot = self.slots.get(peer.index as usize);
        slot.is_some_and(|slot| slot.generation.wrapping_sub(peer.generation) < u32::MAX / 2)
    }

    pub(crate) fn peer_at(&self, index: u32) -> Option<PeerId> {
        let slot = self.slots.get(index as usize)?;
        slot.connection.is_some().then_some(PeerId { index, generation: slot.generation })
    }

    pub(crate) fn connections(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.slots.iter_mut().filter_map(|slot| slot.connection.as_deref_mut())
    }

    /// The charges of all connections.
    pub(super) fn charges(&self) -> impl Iterator<Item = Charge> + '_ {
        (0..).zip(&self.slots).filter_map(|(index, slot)| slot.charge.map(|(network, bytes)| (network, bytes, index)))
    }

    /// The charges of connections whose end would free memory.
    pub(super) fn evictable(&self) -> impl Iterator<Item = Charge> + '_ {
        let is_evictable = |slot: &Slot| slot.connection.as_ref().is_some_and(|connection| connection.has_evictable());
        self.charges().filter(move |(_, _, index)| is_evictable(&self.slots[*index as usize]))
    }

    /// Number of slots, used or not: all indices are below it.
    pub(crate) fn count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Number of slots in use.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
