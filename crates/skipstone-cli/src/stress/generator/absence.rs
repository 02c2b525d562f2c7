//! A client that left and comes back: since when, when it tries next, and why it left.

use crate::stress::client_drop::ClientDrop;
use std::time::Instant;

/// A client that left and comes back.
#[derive(Clone, Debug)]
pub(super) struct Absence {
    pub(super) since: Instant,
    pub(super) next_try: Instant,
    /// How its last connection, or its last attempt, ended, and why.
    pub(super) end: ClientDrop,
    pub(super) why: String,
}
