//! Every time and size limit of a session that is not a format's own. Tests shorten the times.

use crate::door::WRONG_TOLD_AFTER;
use std::time::Duration;

/// The limits of a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The longest time from the connection to the right token.
    pub(super) login: Duration,
    /// From a wrong token to the sentence that says so.
    pub(super) wrong_told_after: Duration,
    /// From the connection to the first command, where no token is asked for.
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

/// With this much waiting to be sent, a session takes no further input, and no log lines.
pub(super) const TRANSMIT_BYTES_HIGH: usize = 64 * 1024;

/// Log lines that wait for one session; more are counted and skipped.
pub(super) const LOG_BYTES_MAX: usize = 256 * 1024;

/// How long a thread sleeps in a call, and so how soon it notices that the server ends.
pub(super) const POLL: Duration = Duration::from_millis(40);
