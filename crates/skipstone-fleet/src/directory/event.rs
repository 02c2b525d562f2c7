//! What a directory reports.

use super::epoch::Epoch;
use super::name::{NodeName, RoomName};

/// Something that happened to this node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DirectoryEvent {
    /// The node has a lease: the first, or another after it lost one.
    Joined,
    /// The lease ends or was lost. Unique rooms have stopped; each has its event. The directory joins again by itself.
    LeaseEnded,
    /// A living process has this node's name. The directory does nothing more: use another name, or end the other.
    NameTaken {
        /// Where its players connect.
        address: String,
    },
    /// The node has left: another may take its name and its rooms.
    Left,
    /// The node owns a room, and runs it with this epoch from now on.
    RoomOwned {
        /// The room.
        room: RoomName,
        /// Its epoch.
        epoch: Epoch,
    },
    /// A room of this node must not run any more.
    RoomStopped {
        /// The room.
        room: RoomName,
        /// The epoch that it had.
        epoch: Epoch,
        /// Why.
        reason: StopReason,
    },
    /// A room that was claimed belongs to another.
    ClaimFailed {
        /// The room.
        room: RoomName,
        /// Its owner.
        owner: NodeName,
    },
    /// The store refuses a call, and would again. The directory tries again slowly.
    StoreRefused {
        /// Why, and what to do.
        why: String,
    },
    /// This many events found the queue full: ask [`Directory::epoch`](super::Directory::epoch) for each room.
    Lagged {
        /// Their number.
        dropped: u64,
    },
}

/// Why a room must not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The lease ends; the room continues here if no other node takes it over before there is a new one.
    LeaseEnded,
    /// Another node owns it.
    TakenOver,
    /// Its entry was deleted.
    Deleted,
    /// This node leaves.
    Leaving,
}
