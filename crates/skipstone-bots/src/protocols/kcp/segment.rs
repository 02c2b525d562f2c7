//! KCP's wire: a datagram is a run of segments, each with a header of 24 bytes, little-endian, and its data. Read from
//! skywind3000's `ikcp.c`, version 1.7, which kcp-go and kcp2k follow.

/// One segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    pub(super) command: Command,
    /// How many fragments of the same message follow.
    pub(super) fragments_left: u8,
    /// Segments that the sender of this one has room for.
    pub(super) window: u16,
    /// Milliseconds of the sender's clock; an acknowledgement repeats that of the segment it answers.
    pub(super) timestamp: u32,
    pub(super) number: u32,
    /// All segments below this one have arrived at its sender.
    pub(super) unacknowledged: u32,
    pub(super) data: &'a [u8],
}

/// What a segment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Data.
    Push,
    /// `number` arrived.
    Acknowledge,
    /// How large is your window?
    AskWindow,
    /// My window is this large.
    TellWindow,
}

/// The bytes are no run of segments of this conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotSegments;

/// Bytes of a header.
pub(super) const HEADER: usize = 24;

const COMMANDS: [(u8, Command); 4] =
    [(81, Command::Push), (82, Command::Acknowledge), (83, Command::AskWindow), (84, Command::TellWindow)];

/// The segments of a datagram, all or none: a datagram is applied only if it is valid as a whole. Fewer bytes than a
/// header at its end are padding.
pub(super) fn decode(datagram: &[u8], conversation: u32) -> Result<Vec<Segment<'_>>, NotSegments> {
    let mut segments = Vec::new();
    let mut rest = datagram;
    while rest.len() >= HEADER {
        let (segment, after) = decode_one(rest, conversation).ok_or(NotSegments)?;
        segments.push(segment);
        rest = after;
    }
    if segments.is_empty() { Err(NotSegments) } else { Ok(segments) }
}

fn decode_one(bytes: &[u8], conversation: u32) -> Option<(Segment<'_>, &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
    let long = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if long(0) != conversation {
        return None;
    }
    let (_, command) = COMMANDS.iter().find(|(code, _)| *code == header[4])?;
    let (data, after) = rest.split_at_checked(usize::try_from(long(20)).ok()?)?;
    let segment = Segment {
        command: *command,
        fragments_left: header[5],
        window: u16::from_le_bytes([header[6], header[7]]),
        timestamp: long(8),
        number: long(12),
        unacknowledged: long(16),
        data,
    };
    Some((segment, after))
}

impl Segment<'_> {
    /// Appends the segment.
    pub(super) fn encode(&self, conversation: u32, out: &mut Vec<u8>) {
        let code = COMMANDS.iter().find(|(_, command)| *command == self.command).map_or(0, |(code, _)| *code);
        out.extend_from_slice(&conversation.to_le_bytes());
        out.extend_from_slice(&[code, self.fragments_left]);
        out.extend_from_slice(&self.window.to_le_bytes());
        out.extend_from_slice(&self.timestamp.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.unacknowledged.to_le_bytes());
        out.extend_from_slice(&(self.data.len() as u32).to_le_bytes());
        out.extend_from_slice(self.data);
    }
}

/// How far `number` is ahead of `base`, below zero if it is behind: numbers wrap.
pub(super) fn distance(number: u32, base: u32) -> i32 {
    number.wrapping_sub(base) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUSH: Segment<'_> = Segment {
        command: Command::Push,
        fragments_left: 2,
        window: 0x0403,
        timestamp: 0x0807_0605,
        number: 0x0C0B_0A09,
        unacknowledged: 0x100F_0E0D,
        data: b"xy",
    };

    #[test]
    fn a_segment_has_the_bytes_of_the_original() {
        let mut bytes = Vec::new();
        PUSH.encode(0x0100_0002, &mut bytes);
        let expected = [2, 0, 0, 1, 81, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 2, 0, 0, 0, b'x', b'y'];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn a_datagram_is_valid_as_a_whole_or_not_at_all() {
        let mut bytes = Vec::new();
        PUSH.encode(7, &mut bytes);
        Segment { command: Command::Acknowledge, data: b"", ..PUSH }.encode(7, &mut bytes);
        assert_eq!(decode(&bytes, 7).map(|segments| segments.len()), Ok(2));
        assert_eq!(decode(&bytes, 8), Err(NotSegments));
        assert_eq!(decode(&bytes[..HEADER + 1], 7), Err(NotSegments));
        assert_eq!(decode(b"", 7), Err(NotSegments));
        let last_command = bytes.len() - HEADER + 4;
        bytes[last_command] = 80;
        assert_eq!(decode(&bytes, 7), Err(NotSegments));
    }

    #[test]
    fn numbers_wrap() {
        assert_eq!(distance(1, u32::MAX), 2);
        assert_eq!(distance(u32::MAX, 1), -2);
        assert_eq!(distance(0x8000_0000, 0), i32::MIN);
    }
}
