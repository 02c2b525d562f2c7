//! The stress line: printable text that carries who sent it, which one it is, when it was due, and a checksum.
//!
//! ```text
//! byte  0      5            10                20
//!       check  run, client  sequence, time    ' ' words …
//!       5      5            10                0 to 1 MiB
//! ```
//!
//! The first 20 bytes are four 32-bit numbers, each five Z85 digits (ZeroMQ RFC 32): 128 bits exactly, which is why a
//! line of 20 bytes still has a full CRC-32. The check covers every other byte of the line and its length.

use std::sync::LazyLock;

use crate::measure::sentence::z85::{decode, encode};
use crate::measure::splitmix::splitmix;
use crate::units::Size;

mod z85;

/// Which stress run a line belongs to, so that a run ignores the lines of another one and people who chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunId(pub u16);

/// Writes lines. The same seed, client and sequence give the same text, in whatever order the lines are written.
#[derive(Debug, Clone)]
pub struct Sentences {
    seed: u64,
    run: RunId,
    size: Size,
}

/// The findings of [`parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// A line of this run, unchanged.
    Line {
        /// The client that sent it.
        client: u32,
        /// Which of its lines this is, from 0.
        sequence: u32,
        /// When it was due, in microseconds since the run began.
        scheduled_us: u64,
    },
    /// Chat, or a line of another run.
    Foreign,
    /// A line of this run that was changed on its way.
    Corrupt,
}

/// A fixed size that no line can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// Its bytes.
    #[error(
        "a line of {0} bytes has no room for its client, sequence, time and checksum: \
         the smallest size is {LINE_BYTES_MIN}"
    )]
    TooShort(usize),
    /// Its bytes.
    #[error("a line of {0} bytes is too long: the largest size is {LINE_BYTES_MAX}")]
    TooLong(usize),
}

impl Sentences {
    /// Lines of `run` of the given size; `seed` chooses the words and the lengths.
    pub fn new(seed: u64, run: RunId, size: Size) -> Result<Self, SizeError> {
        match size {
            Size::Bytes(bytes) if bytes < LINE_BYTES_MIN => Err(SizeError::TooShort(bytes)),
            Size::Bytes(bytes) if bytes > LINE_BYTES_MAX => Err(SizeError::TooLong(bytes)),
            _ => Ok(Self { seed, run, size }),
        }
    }

    /// Replaces what is in `out` by one line. Allocates only while `out` has not yet held the longest line.
    ///
    /// # Panics
    /// When a field is larger than a line can carry: check the run's plan against the limits before it starts.
    pub fn write(&self, client: u32, sequence: u32, scheduled_us: u64, out: &mut Vec<u8>) {
        assert!(client <= CLIENT_MAX, "a line carries client numbers up to {CLIENT_MAX}, not {client}");
        assert!(sequence <= SEQUENCE_MAX, "a line carries sequence numbers up to {SEQUENCE_MAX}, not {sequence}");
        assert!(
            scheduled_us <= SCHEDULED_US_MAX,
            "a line carries times up to {SCHEDULED_US_MAX} us, not {scheduled_us}"
        );
        let mut words = Words::new(self.seed, client, sequence);
        let length = match self.size {
            Size::Sentence => SENTENCE_BYTES_MIN + words.below(SENTENCE_BYTES_MAX - SENTENCE_BYTES_MIN + 1),
            Size::Bytes(bytes) => bytes,
        };
        out.clear();
        out.extend_from_slice(&[0; CHECK_BYTES]);
        let place = u64::from(sequence) << SCHEDULED_BITS | scheduled_us;
        out.extend_from_slice(&encode(u32::from(self.run.0) << CLIENT_BITS | client));
        out.extend_from_slice(&encode((place >> 32) as u32));
        out.extend_from_slice(&encode(place as u32));
        words.fill(length, out);
        let check = encode(checksum(&out[CHECK_BYTES..]));
        out[..CHECK_BYTES].copy_from_slice(&check);
    }
}

/// Reads a line that arrived. Any bytes are welcome.
///
/// A line whose run id itself was changed cannot be told from chat: it counts as foreign, and the ledger misses it.
pub fn parse(line: &[u8], run: RunId) -> Parsed {
    let Some((header, _)) = line.split_first_chunk::<LINE_BYTES_MIN>() else {
        return Parsed::Foreign;
    };
    let owner = decode(header, 5);
    if owner.is_none_or(|owner| owner >> CLIENT_BITS != u32::from(run.0)) {
        return Parsed::Foreign;
    }
    let (Some(check), Some(owner), Some(high), Some(low)) =
        (decode(header, 0), owner, decode(header, 10), decode(header, 15))
    else {
        return Parsed::Corrupt;
    };
    if check != checksum(&line[CHECK_BYTES..]) {
        return Parsed::Corrupt;
    }
    let place = u64::from(high) << 32 | u64::from(low);
    Parsed::Line {
        client: owner & CLIENT_MAX,
        sequence: (place >> SCHEDULED_BITS) as u32,
        scheduled_us: place & SCHEDULED_US_MAX,
    }
}

/// CRC-32 of the bytes after the check.
fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Random words. SplitMix64, started from what names the line.
struct Words {
    state: u64,
}

impl Words {
    fn new(seed: u64, client: u32, sequence: u32) -> Self {
        let name = u64::from(client) << 32 | u64::from(sequence);
        Self { state: seed ^ name.wrapping_mul(0xD6E8_FEB8_6659_FD93) }
    }

    fn below(&mut self, limit: usize) -> usize {
        ((u128::from(splitmix(&mut self.state)) * limit as u128) >> 64) as usize
    }

    /// Appends words until `out` is `length` bytes long, the last one cut and closed by a full stop.
    fn fill(&mut self, length: usize, out: &mut Vec<u8>) {
        if out.len() == length {
            return;
        }
        while out.len() < length {
            let word = WORDS[self.below(WORDS.len())].as_bytes();
            out.push(b' ');
            out.extend_from_slice(&word[..word.len().min(length - out.len())]);
        }
        out[length - 1] = b'.';
    }
}

/// The shortest line: its header alone.
pub const LINE_BYTES_MIN: usize = 20;
/// The longest line.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;
/// The largest client number that a line carries.
pub const CLIENT_MAX: u32 = (1 << CLIENT_BITS) - 1;
/// The largest sequence number that a line carries: at 100 lines a second from one client, 46 hours.
pub const SEQUENCE_MAX: u32 = (1 << (64 - SCHEDULED_BITS)) - 1;
/// The largest time that a line carries: 12.7 days.
pub const SCHEDULED_US_MAX: u64 = (1 << SCHEDULED_BITS) - 1;

const SENTENCE_BYTES_MIN: usize = 20;
const SENTENCE_BYTES_MAX: usize = 115;
const CHECK_BYTES: usize = 5;
const CLIENT_BITS: u32 = 16;
const SCHEDULED_BITS: u32 = 40;

static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("sentence/words.txt").split_whitespace().collect());

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: RunId = RunId(0xBEEF);

    fn line(size: Size, client: u32, sequence: u32, scheduled_us: u64) -> Vec<u8> {
        let mut out = Vec::new();
        Sentences::new(7, RUN, size).unwrap().write(client, sequence, scheduled_us, &mut out);
        out
    }

    #[test]
    fn twenty_bytes_hold_the_largest_client_sequence_and_time() {
        for (client, sequence, scheduled_us) in
            [(0, 0, 0), (65_535, 1_000_000, 86_400_000_000), (CLIENT_MAX, SEQUENCE_MAX, SCHEDULED_US_MAX)]
        {
            let line = line(Size::Bytes(20), client, sequence, scheduled_us);
            assert_eq!(line.len(), 20);
            assert_eq!(parse(&line, RUN), Parsed::Line { client, sequence, scheduled_us });
        }
    }

    #[test]
    fn every_fixed_size_is_exact_and_printable() {
        for bytes in (20..300).chain([4096, LINE_BYTES_MAX]) {
            let line = line(Size::Bytes(bytes), 3, 4, 5);
            assert_eq!(line.len(), bytes);
            assert!(line.iter().all(|byte| (b' '..=b'~').contains(byte)), "size {bytes}");
            assert_eq!(parse(&line, RUN), Parsed::Line { client: 3, sequence: 4, scheduled_us: 5 });
        }
    }

    #[test]
    fn sentences_are_20_to_115_bytes_long_and_reach_both_ends() {
        let lengths: Vec<usize> = (0..5000).map(|sequence| line(Size::Sentence, 1, sequence, 0).len()).collect();
        assert_eq!(lengths.iter().min(), Some(&20));
        assert_eq!(lengths.iter().max(), Some(&115));
    }

    #[test]
    fn the_same_seed_gives_the_same_line_in_any_order() {
        let forward: Vec<_> = (0..50).map(|sequence| line(Size::Sentence, 9, sequence, 1)).collect();
        let backward: Vec<_> = (0..50).rev().map(|sequence| line(Size::Sentence, 9, sequence, 1)).collect();
        assert!(forward.iter().eq(backward.iter().rev()));
        let mut other = Vec::new();
        Sentences::new(8, RUN, Size::Sentence).unwrap().write(9, 0, 1, &mut other);
        assert_ne!(forward[0], other);
    }

    #[test]
    fn no_changed_bit_passes_as_a_line() {
        let good = line(Size::Bytes(90), 12, 345, 6_789_000);
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                let parsed = parse(&bad, RUN);
                assert!(!matches!(parsed, Parsed::Line { .. }), "byte {at} bit {bit}");
                assert!(parsed == Parsed::Corrupt || (5..10).contains(&at), "byte {at} bit {bit}: {parsed:?}");
            }
        }
    }

    #[test]
    fn a_truncated_or_extended_line_is_corrupt() {
        let good = line(Size::Bytes(60), 1, 2, 3);
        for length in 20..60 {
            assert_eq!(parse(&good[..length], RUN), Parsed::Corrupt);
        }
        for extra in [b' ', b'x', 0] {
            let mut long = good.clone();
            long.push(extra);
            assert_eq!(parse(&long, RUN), Parsed::Corrupt);
        }
    }

    #[test]
    fn chat_noise_and_other_runs_are_foreign() {
        let good = line(Size::Sentence, 1, 2, 3);
        assert_eq!(parse(&good, RunId(RUN.0 ^ 1)), Parsed::Foreign);
        let chat: [&[u8]; 4] = [b"", b"hello", b"zoe: does anybody know the way to the castle?", &[0xFF; 64]];
        for text in chat {
            assert_eq!(parse(text, RUN), Parsed::Foreign);
        }
    }

    #[test]
    fn an_impossible_size_is_refused_with_the_limit() {
        let error = Sentences::new(1, RUN, Size::Bytes(19)).unwrap_err().to_string();
        assert!(error.ends_with("the smallest size is 20"), "{error}");
        let error = Sentences::new(1, RUN, Size::Bytes(LINE_BYTES_MAX + 1)).unwrap_err().to_string();
        assert!(error.ends_with("the largest size is 1048576"), "{error}");
    }
}
