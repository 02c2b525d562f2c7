//! Lines in a stream of bytes or in a packed datagram, each with its length in two bytes before it.

#[cfg(feature = "peers")]
use bytes::Bytes;
#[cfg(feature = "peers")]
use std::collections::VecDeque;

/// Bytes of an IPv4 header and a UDP header.
pub(crate) const HEADER_BYTES: usize = 28;

/// Appends a line.
pub(crate) fn frame(line: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(line.len() as u16).to_le_bytes());
    out.extend_from_slice(line);
}

/// A line alone.
#[cfg(feature = "peers")]
pub(crate) fn framed(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 + line.len());
    frame(line, &mut out);
    out
}

/// The lines at the beginning of `bytes`; returns how many bytes they take.
pub(crate) fn each_line(bytes: &[u8], mut take: impl FnMut(&[u8])) -> usize {
    let mut at = 0;
    while let Some((length, rest)) = bytes[at..].split_first_chunk() {
        let Some(line) = rest.get(..u16::from_le_bytes(*length).into()) else { break };
        take(line);
        at += 2 + line.len();
    }
    at
}

/// Lines of one stream, in pieces.
#[derive(Debug, Default)]
pub(crate) struct Unframe {
    /// The beginning of a line whose end has not arrived.
    begun: Vec<u8>,
}

impl Unframe {
    /// Takes the next bytes.
    pub(crate) fn add(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) {
        if self.begun.is_empty() {
            let taken = each_line(bytes, take);
            self.begun.extend_from_slice(&bytes[taken..]);
            return;
        }
        self.begun.extend_from_slice(bytes);
        let taken = each_line(&self.begun, &mut take);
        self.begun.drain(..taken);
    }
}

/// Messages of one stream as they are asked for, one after the other.
#[cfg(feature = "peers")]
#[derive(Debug, Default)]
pub(crate) struct FramedMessages {
    unframe: Unframe,
    ready: VecDeque<Bytes>,
}

#[cfg(feature = "peers")]
impl FramedMessages {
    /// Takes the next bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.unframe.add(bytes, |message| self.ready.push_back(Bytes::copy_from_slice(message)));
    }

    /// The next message that is whole.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        self.ready.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_any_cut() {
        let lines: Vec<Vec<u8>> = [0_usize, 1, 100, 300].iter().map(|length| vec![7; *length]).collect();
        let mut framed = Vec::new();
        lines.iter().for_each(|line| frame(line, &mut framed));
        for piece in [1, 2, 3, 50, 101, 1_000] {
            let (mut unframe, mut got) = (Unframe::default(), Vec::new());
            framed.chunks(piece).for_each(|bytes| unframe.add(bytes, |line| got.push(line.to_vec())));
            assert_eq!(got, lines, "in pieces of {piece}");
        }
    }
}
