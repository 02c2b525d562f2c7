//! What both sides of the comparison send.

use std::time::Duration;

/// The span of a tick: 20 in a second.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// Bytes of each message.
pub(crate) const MESSAGE_BYTES: usize = 100;
