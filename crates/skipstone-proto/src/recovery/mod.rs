//! What was sent, what was received, what is lost: packet numbers on both sides of a connection.
//!
//! Loss is decided by time alone, as RACK does (RFC 8985); nothing here knows what the frames mean.

pub mod copies;
mod late;
pub mod ledger;
pub mod received;
pub mod record;

pub use ledger::{Leaving, Ledger};
pub use received::Received;
pub use record::{Control, Record, Resolved};
