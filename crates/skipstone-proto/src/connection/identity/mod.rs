//! The identity of a connection, to its application and on the wire: `state` holds its name, its side and its ids,
//! `spare_ids` the ids for packets after a move, and `change` decides when ids are exchanged.

mod change;
mod spare_ids;
mod state;

pub(super) use spare_ids::{SpareIds, write_new_id};
pub(crate) use state::ConnectionIds;
pub(super) use state::Identity;
pub use state::Side;
