//! Answers to strangers, for whom nothing else is kept. Each is no longer than what it answers; few may wait.

use super::Transmit;
use crate::path::Path;
use crate::wire::cursor::Writer;
use std::collections::VecDeque;

/// Stateless answers that wait to be sent.
#[derive(Debug, Default)]
pub(crate) struct Replies(VecDeque<Reply>);

#[derive(Debug)]
struct Reply {
    path: Path,
    length: u8,
    bytes: [u8; REPLY_BYTES_MAX],
}

pub(crate) const REPLY_BYTES_MAX: usize = 96;
const REPLIES_MAX: usize = 1_024;

impl Replies {
    /// Queues what `write` writes. False if too many wait already.
    pub(crate) fn push(&mut self, path: Path, write: impl FnOnce(&mut Writer<'_>)) -> bool {
        if self.0.len() >= REPLIES_MAX {
            return false;
        }
        let mut bytes = [0; REPLY_BYTES_MAX];
        let mut writer = Writer::new(&mut bytes);
        write(&mut writer);
        let length = writer.len() as u8;
        self.0.push_back(Reply { path, length, bytes });
        true
    }

    pub(crate) fn pop(&mut self, buffer: &mut [u8]) -> Option<Transmit> {
        let reply = self.0.pop_front()?;
        let bytes = usize::from(reply.length);
        buffer[..bytes].copy_from_slice(&reply.bytes[..bytes]);
        Some(Transmit { path: reply.path, bytes, segment_bytes: bytes })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
