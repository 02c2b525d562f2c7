//! What was sent, what was received, what is lost: packet numbers on both sides of a connection.
//!
//! Loss is decided by time alone, as RACK does (RFC 8985); nothing here knows what the frames mean.

mod clean;
pub(crate) mod ledger;
mod out_of_order;
pub(crate) mod received;
pub(crate) mod record;

pub(crate) use ledger::{Leaving, Ledger};
pub(crate) use received::Received;
pub(crate) use record::{Control, Record, Resolved};
