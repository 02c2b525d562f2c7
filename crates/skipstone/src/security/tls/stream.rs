//! The handshake bytes of one level, in order: sent, acknowledged and received.

/// One level in both directions.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// All bytes that this side sends; the whole handshake is a few hundred bytes.
    pub(super) said: Vec<u8>,
    /// Number of these bytes that were sent.
    sent: usize,
    /// Number of these bytes that the peer has acknowledged.
    acknowledged: usize,
    /// The peer's bytes that arrived without a gap.
    heard: usize,
}

impl Stream {
    /// Bytes received from the peer without a gap.
    pub(super) fn heard(&self) -> usize {
        self.heard
    }

    /// The new bytes of a piece at this offset; `None` if bytes before them are missing, or the peer sends more than
    /// `bytes_max` in all.
    pub(super) fn hear<'a>(&mut self, offset: u64, bytes: &'a [u8], bytes_max: usize) -> Option<&'a [u8]> {
        let offset = usize::try_from(offset).ok().filter(|offset| *offset <= self.heard)?;
        if offset + bytes.len() > bytes_max {
            return None;
        }
        let new = bytes.get(self.heard - offset..).unwrap_or(&[]);
        self.heard += new.len();
        Some(new)
    }

    /// The peer has acknowledged the bytes up to this offset.
    pub(super) fn on_acknowledged(&mut self, offset: u64) {
        let heard = usize::try_from(offset).unwrap_or(usize::MAX);
        if heard <= self.said.len() {
            self.acknowledged = self.acknowledged.max(heard);
            self.sent = self.sent.max(self.acknowledged);
        }
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

    /// Marks the bytes that were not acknowledged as not sent, so that they are sent again.
    pub(super) fn repeat(&mut self) {
        self.sent = self.acknowledged;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_heard_once_and_in_order() {
        let mut stream = Stream::default();
        assert_eq!(stream.hear(1, b"b", 9), None, "something is missing");
        assert_eq!(stream.hear(0, b"abc", 9), Some(&b"abc"[..]));
        assert_eq!(stream.hear(0, b"abc", 9), Some(&b""[..]));
        assert_eq!(stream.hear(1, b"bcde", 9), Some(&b"de"[..]));
        assert_eq!(stream.hear(5, b"12345", 9), None, "it is too much");
        assert_eq!(stream.hear(u64::MAX, b"1", 9), None);
        assert_eq!(stream.heard(), 5);
    }

    #[test]
    fn what_was_not_heard_is_said_again() {
        let mut stream = Stream { said: b"abcdef".to_vec(), ..Stream::default() };
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
