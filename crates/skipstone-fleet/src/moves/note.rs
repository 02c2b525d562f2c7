//! What nodes tell each other about moves.

use crate::directory::NodeName;
use bytes::Bytes;
use skipstone::MoveId;

/// A move of the fleet: the node that began it, and its number there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoveOrigin {
    /// The node that the player is to leave.
    pub node: NodeName,
    /// Its number for the move.
    pub id: MoveId,
}

/// A message from node to node. Any may be lost, or come twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// Keep a place for this player.
    Reserve { player: Bytes },
    /// There is a place: the client comes to this address with this token.
    Reserved { address: String, token: Bytes },
    /// There is no place.
    Refused { why: String },
    /// The player's state.
    Player { state: Bytes },
    /// The move has ended, and the player stayed.
    Cancelled,
}

/// A note with the move that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) origin: MoveOrigin,
    pub(crate) note: Note,
}

impl Letter {
    /// A kind, the origin's id, its node's name with its length, and up to two fields with theirs.
    pub(crate) fn encode(&self) -> Bytes {
        let (kind, fields): (u8, [&[u8]; 2]) = match &self.note {
            Note::Reserve { player } => (0, [player, b""]),
            Note::Reserved { address, token } => (1, [address.as_bytes(), token]),
            Note::Refused { why } => (2, [why.as_bytes(), b""]),
            Note::Player { state } => (3, [state, b""]),
            Note::Cancelled => (4, [b"", b""]),
        };
        let mut encoded = vec![kind];
        encoded.extend_from_slice(&self.origin.id.0.to_be_bytes());
        for field in [self.origin.node.as_str().as_bytes(), fields[0], fields[1]] {
            encoded.extend_from_slice(&u32::try_from(field.len()).unwrap_or(u32::MAX).to_be_bytes());
            encoded.extend_from_slice(field);
        }
        encoded.into()
    }

    /// Nothing if the bytes are no letter, or one of a later version.
    pub(crate) fn decode(encoded: &Bytes) -> Option<Letter> {
        let (kind, rest) = encoded.split_first()?;
        let (id, mut rest) = rest.split_first_chunk::<8>()?;
        let mut field = || {
            let (length, behind) = rest.split_first_chunk::<4>()?;
            let (field, behind) = behind.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
            rest = behind;
            Some(encoded.slice_ref(field))
        };
        let (node, first, second) = (field()?, field()?, field()?);
        if !rest.is_empty() {
            return None;
        }
        let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).ok();
        let origin = MoveOrigin { node: NodeName::new(&text(&node)?).ok()?, id: MoveId(u64::from_be_bytes(*id)) };
        let note = match kind {
            0 => Note::Reserve { player: first },
            1 => Note::Reserved { address: text(&first)?, token: second },
            2 => Note::Refused { why: text(&first)? },
            3 => Note::Player { state: first },
            4 => Note::Cancelled,
            _ => return None,
        };
        Some(Letter { origin, note })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_round_trip_and_other_bytes_are_none() {
        let origin = MoveOrigin { node: NodeName::new("n1").unwrap(), id: MoveId(7) };
        let notes = [
            Note::Reserve { player: Bytes::from_static(b"zoe") },
            Note::Reserved { address: "a:1".into(), token: Bytes::from_static(&[1, 2]) },
            Note::Refused { why: "full".into() },
            Note::Player { state: vec![9; 65_536].into() },
            Note::Cancelled,
        ];
        for note in notes {
            let letter = Letter { origin: origin.clone(), note };
            let encoded = letter.encode();
            assert_eq!(Letter::decode(&encoded), Some(letter));
            for end in (0..encoded.len()).step_by(1 + encoded.len() / 50) {
                assert_eq!(Letter::decode(&encoded.slice(..end)), None);
            }
            assert_eq!(Letter::decode(&[&encoded[..], &[0]].concat().into()), None);
        }
    }
}
