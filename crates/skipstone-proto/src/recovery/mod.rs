//! Sent, received and lost packets: packet numbers on both sides of a connection.
//!
//! Loss is decided only by time, as in RACK (RFC 8985); this module does not interpret the frames.

mod clean;
pub(crate) mod ledger;
mod out_of_order;
pub(crate) mod received;
pub(crate) mod record;
mod recovered;

pub(crate) use ledger::{Leaving, Ledger};
pub(crate) use received::Received;
pub(crate) use record::{Control, Record, Resolved};
