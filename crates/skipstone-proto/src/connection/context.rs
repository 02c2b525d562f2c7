//! State outside of the connection that a call into a connection may change.

use super::event::EventQueue;
use crate::channel::inbox::Inbox;
use crate::channel::outgoing::Receipt;
use crate::recovery::Resolved;
use crate::time::Time;

/// State outside of the connection that a call into a connection may change.
pub(crate) struct Context<'a> {
    pub(crate) now: Time,
    pub(crate) events: &'a mut EventQueue,
    pub(crate) scratch: &'a mut Scratch,
}

/// Lists that are filled and emptied within one call, kept for their memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(super) resolved: Vec<Resolved>,
    pub(super) inbox: Inbox,
    pub(super) receipts: Vec<Receipt>,
}
