//! Every time and size limit of a session, except the limits of formats. Tests shorten the times.

use crate::door::WRONG_TOLD_AFTER;
use std::time::Duration;

/// The limits of a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The longest time from the connection to the right token.
    pub(super) login: Duration,
    /// The time from a wrong token to the error message.
    pub(super) wrong_told_after: Duration,
    /// The longest time from the connection to the first command, if no token is required.
    pub(super) first_command: Duration,
    /// How long a client may leave waiting bytes unread.
    pub(super) stall: Duration,
    /// How long a closing server waits for a handler that is still running.
    pub(super) handler_grace: Duration,
    /// After this long without input a telnet client is sent a NOP, so that a lost connection is detected.
    pub(super) keep_alive: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            login: Duration::from_secs(10),
            wrong_told_after: WRONG_TOLD_AFTER,
            first_command: Duration::from_secs(120),
            stall: Duration::from_secs(5),
            handler_grace: Duration::from_secs(1),
            keep_alive: Duration::from_secs(60),
        }
    }
}

/// While this number of bytes waits to be sent, a session reads no input and takes no log lines.
pub(super) const TRANSMIT_BYTES_HIGH: usize = 64 * 1024;

/// The number of log lines that may wait for one session; further ones are counted and skipped.
pub(super) const LOG_BYTES_MAX: usize = 256 * 1024;

/// How long a thread sleeps in a call, and so how soon it notices that the server ends.
pub(super) const POLL: Duration = Duration::from_millis(40);
