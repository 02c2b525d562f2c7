//! The handshake bytes of one level, in order: sent, acknowledged and received.

use super::assembly::{Assembly, Heard};

/// One level in both directions.
#[derive(Debug, Default)]
pub(super) struct HandshakeStream {
    /// All bytes that this side sends; the whole handshake is a few hundred bytes.
    pub(super) said: Vec<u8>,
    /// Number of these bytes that were sent.
    sent: usize,
    /// Number of these bytes that the peer has acknowledged.
    acknowledged: usize,
    /// The peer's bytes.
    heard: Assembly,
}

impl HandshakeStream {
    /// Bytes that the stream holds in memory.
    pub(super) fn held_bytes(&self) -> usize {
        self.said.capacity() + self.heard.held_bytes()
    }

    /// Bytes received from the peer without a gap.
    pub(super) fn heard(&self) -> usize {
        self.heard.joined()
    }

    /// Takes a piece of the peer's at this offset, as [`Assembly::hear`].
    pub(super) fn hear<'a>(&mut self, offset: u64, bytes: &'a [u8], bytes_max: usize) -> Heard<'a> {
        self.heard.hear(offset, bytes, bytes_max)
    }

    /// The peer has acknowledged the bytes up to this offset. True if that is new.
    pub(super) fn on_acknowledged(&mut self, offset: u64) -> bool {
        let heard = usize::try_from(offset).ok().filter(|heard| *heard <= self.said.len()).unwrap_or(0);
        let is_new = heard > self.acknowledged;
        self.acknowledged = self.acknowledged.max(heard);
        self.sent = self.sent.max(self.acknowledged);
        is_new
    }

    /// The peer has answered, and so has received everything.
    pub(super) fn on_answered(&mut self) {
        self.on_acknowledged(self.said.len() as u64);
    }

    /// Whether there is something to send.
    pub(super) fn has_more(&self) -> bool {
        self.sent < self.said.len()
    }

    /// Whether some bytes are not acknowledged.
    pub(super) fn is_waiting(&self) -> bool {
        self.acknowledged < self.said.len()
    }

    /// Where the next piece begins.
    pub(super) fn offset(&self) -> usize {
        self.sent
    }

    /// The next piece, no longer than this.
    pub(super) fn take(&mut self, bytes_max: usize) -> &[u8] {
        let begin = self.sent;
        self.sent = self.said.len().min(begin + bytes_max);
        &self.said[begin..self.sent]
    }

    /// Marks all bytes as not sent, for a peer that has received them and whose answer is missing.
    pub(super) fn repeat_all(&mut self) {
        (self.sent, self.acknowledged) = (0, 0);
    }

    /// Marks the bytes that were not acknowledged as not sent, so that they are sent again.
    pub(super) fn repeat(&mut self) {
        self.sent = self.acknowledged;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unacknowledged_bytes_are_sent_again() {
        let mut stream = HandshakeStream { said: b"abcdef".to_vec(), ..HandshakeStream::default() };
        assert_eq!(stream.take(4), b"abcd");
        assert_eq!(stream.take(4), b"ef");
        assert!(!stream.has_more() && stream.is_waiting());
        stream.on_acknowledged(7);
        stream.on_acknowledged(3);
        stream.on_acknowledged(1);
        stream.repeat();
        assert_eq!((stream.offset(), stream.take(9)), (3, &b"def"[..]));
        stream.on_answered();
        assert!(!stream.has_more() && !stream.is_waiting());
    }
}
