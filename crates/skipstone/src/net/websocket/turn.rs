//! How much a connection reads before others have their turn.

use super::transport::Transport;
use std::io::{self, Read};

/// Bytes that a connection may still read before other connections have their turn.
#[derive(Debug)]
pub(super) struct Turn {
    budget_bytes: usize,
    pub(super) bytes_in: u64,
}

/// Bytes that one connection may read before other connections have their turn.
const TURN_BYTES: usize = 64 << 10;

impl Turn {
    pub(super) fn new() -> Turn {
        Turn { budget_bytes: TURN_BYTES, bytes_in: 0 }
    }

    /// Starts a new turn.
    pub(super) fn begin(&mut self) {
        self.budget_bytes = TURN_BYTES;
    }

    /// Whether the budget is used up, so that more bytes may wait.
    pub(super) fn is_used_up(&self) -> bool {
        self.budget_bytes == 0
    }

    /// Reads within the budget; without a budget the read "would block".
    pub(super) fn read(&mut self, transport: &mut Transport, buffer: &mut [u8]) -> io::Result<usize> {
        let limit = buffer.len().min(self.budget_bytes);
        if limit == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = transport.read(&mut buffer[..limit])?;
        // A record may hold padding and hardly anything else: what is read and opened counts.
        self.budget_bytes = (self.budget_bytes - count).min(TURN_BYTES.saturating_sub(transport.taken_bytes()));
        self.bytes_in += count as u64;
        Ok(count)
    }
}
