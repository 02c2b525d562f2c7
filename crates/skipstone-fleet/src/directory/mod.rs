//! Which nodes a fleet has, and which of them owns which room: leases, epochs, succession, placement.
//!
//! A [`Directory`] is a state machine without clock, thread and network. It takes the time and what the store says, and
//! gives calls of the store and events. A [`DirectoryDriver`] runs it over a [`Bus`](crate::bus::Bus).
//!
//! ```text
//!  time, answers, changes          +-----------+          calls: create, update or delete at a revision, read
//! -------------------------------> | Directory | ------------------------------------------------------------>
//!  claim, close, status, leave     +-----------+          events: joined, room owned, room stopped ...
//! ```
//!
//! The store has two kinds of entries. `node.N` is a lease: its node writes it each 3 s, by compare-and-set, and it lasts
//! 15 s. `room.R` names the node that owns the room and the lease under which it does. The revision of `room.R` is the
//! room's *epoch*, which every message of the room carries.
//!
//! # Why there is one owner
//! Leases are those of Gray and Cheriton (*Leases: an efficient fault-tolerant mechanism for distributed file cache
//! consistency*, SOSP 1989). No clock is compared with another; durations alone count, by each node's own monotonic clock.
//! - The owner counts from when it **sent** a renewal that was stored, and stops unique rooms 1 s before 15 s are over.
//! - Another node counts from when it **first saw** the revision, which is later, and waits 15 s and the error of both
//!   clocks' rates. It then deletes `node.N` **at that revision**. If that succeeds, no renewal was stored in between,
//!   and none can be stored any more: the lease has ended for all.
//! - Only then is `room.R` replaced, at its revision. Of several nodes that try, one succeeds.
//! - A lease that ended is never resumed. Its node begins another session, and claims its rooms again like any other.
//!
//! A late, doubled or stale change of the watch can thus delay a takeover and never cause one too early.
//!
//! # What remains, and the gate
//! A process that was suspended between [`Directory::epoch`] and its send acts late. Its message carries the old epoch, and
//! an [`EpochGate`] that has seen the later one drops it: these are the sequencers of Burrows (*The Chubby lock service for
//! loosely-coupled distributed systems*, OSDI 2006, section 2.4), also called fencing tokens. Writes to databases carry the
//! epoch for the same reason.
//!
//! A store that is lost as a whole (memory storage, all servers restarted) loses the leases too: until an owner's next
//! renewal fails, at most 3 s and an answer later, a new owner may exist beside it. Epochs do not go back for all that: nodes
//! that saw the old store add its last epoch to the revisions of the new.

mod calls;
mod copy;
mod driver;
mod epoch;
mod event;
mod event_queue;
mod lease;
mod machine;
mod name;
mod placement;
mod reader;
mod record;
mod release;
mod rooms;
mod settings;
mod succession;

pub use calls::{CallId, DirectoryCall, StoreOperation};
pub use driver::{DirectoryDriver, DriverError};
pub use epoch::{Epoch, EpochGate, GateVerdict};
pub use event::{DirectoryEvent, StopReason};
pub use machine::{ClaimError, Directory, DirectoryStats};
pub use name::{NameError, NodeName, RoomName};
pub use placement::Placement;
pub use reader::{DirectoryReader, ListedEntry};
pub use record::{Incarnation, NodeRecord, NodeStatus, RoomPolicy, RoomRecord};
pub use release::deployed_release;
pub use settings::{DirectoryError, DirectorySettings};
