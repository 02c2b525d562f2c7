//! Messages of a feed, and their bytes in the group.

use super::position::Position;
use crate::directory::NodeName;
use bytes::Bytes;

/// A message that was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedEntry {
    /// Its place.
    pub position: Position,
    /// Its content.
    pub payload: Bytes,
}

/// What a node sends to the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) process: u64,
    pub(super) number: u64,
    /// What it follows, of another node.
    pub(super) after: Option<Position>,
    /// None says only how far the node is.
    pub(super) payload: Option<Bytes>,
}

const HAS_AFTER: u8 = 1;
const HAS_PAYLOAD: u8 = 2;

impl Said {
    /// Flags, the process, the number, the position that it follows, the payload.
    pub(super) fn encode(&self) -> Bytes {
        let after = if self.after.is_some() { HAS_AFTER } else { 0 };
        let payload = if self.payload.is_some() { HAS_PAYLOAD } else { 0 };
        let mut encoded = vec![after | payload];
        encoded.extend_from_slice(&self.process.to_be_bytes());
        encoded.extend_from_slice(&self.number.to_be_bytes());
        self.after.iter().for_each(|after| after.encode(&mut encoded));
        encoded.extend_from_slice(self.payload.as_deref().unwrap_or_default());
        encoded.into()
    }

    /// Nothing if the bytes are of no feed, or of one of a later version.
    pub(super) fn decode(encoded: &Bytes) -> Option<Said> {
        let (flags, rest) = encoded.split_first()?;
        let (process, rest) = rest.split_first_chunk::<8>()?;
        let (number, mut rest) = rest.split_first_chunk::<8>()?;
        if flags & !(HAS_AFTER | HAS_PAYLOAD) != 0 {
            return None;
        }
        let after = if flags & HAS_AFTER != 0 { Some(Position::decode(&mut rest)?) } else { None };
        let payload = (flags & HAS_PAYLOAD != 0).then(|| encoded.slice_ref(rest));
        let is_whole = payload.is_some() || rest.is_empty();
        let (process, number) = (u64::from_be_bytes(*process), u64::from_be_bytes(*number));
        is_whole.then_some(Said { process, number, after, payload })
    }

    pub(super) fn position(&self, node: &NodeName) -> Position {
        Position { node: node.clone(), process: self.process, number: self.number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_return_from_their_bytes_and_other_bytes_are_none() {
        let after = Position { node: NodeName::new("n1").unwrap(), process: 3, number: 4 };
        for after in [None, Some(after)] {
            for payload in [None, Some(Bytes::new()), Some(Bytes::from_static(b"hello"))] {
                let said = Said { process: u64::MAX, number: 9, after: after.clone(), payload };
                assert_eq!(Said::decode(&said.encode()), Some(said));
            }
        }
        for wrong in [&b""[..], &[0; 16], &[0; 18], &[4; 17], &[HAS_AFTER; 17]] {
            assert_eq!(Said::decode(&Bytes::copy_from_slice(wrong)), None, "{wrong:?}");
        }
    }
}
