//! The bytes of an update: its entity, its number, and filler that belongs to no other update.
//!
//! ```text
//! entity 2 | sequence 4 | filler, from entity and sequence
//! ```

use bytes::Bytes;

use crate::measure::splitmix::splitmix;

/// The shortest update.
pub(crate) const BYTES_MIN: usize = 8;

/// The head of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) entity: u16,
    /// Counts the entity's updates from 0.
    pub(crate) sequence: u32,
}

impl Stamp {
    /// An update of this size in bytes.
    pub(crate) fn encode(self, bytes: usize) -> Bytes {
        let mut payload = Vec::with_capacity(bytes);
        payload.extend_from_slice(&self.entity.to_be_bytes());
        payload.extend_from_slice(&self.sequence.to_be_bytes());
        payload.extend(self.filler().take(bytes - payload.len()));
        payload.into()
    }

    /// The head of an update; `None` if it is damaged.
    pub(crate) fn decode(payload: &[u8]) -> Option<Self> {
        let (head, filler) = payload.split_at_checked(HEAD_BYTES)?;
        let stamp = Self {
            entity: u16::from_be_bytes(head[..2].try_into().ok()?),
            sequence: u32::from_be_bytes(head[2..6].try_into().ok()?),
        };
        stamp.filler().zip(filler).all(|(own, given)| own == *given).then_some(stamp)
    }

    fn filler(self) -> impl Iterator<Item = u8> {
        let mut state = u64::from(self.entity) << 32 | u64::from(self.sequence);
        std::iter::repeat_with(move || splitmix(&mut state).to_be_bytes()).flatten()
    }
}

const HEAD_BYTES: usize = 6;

/// The entity that an update names, for transports whose channels do not say.
#[cfg(feature = "peers")]
pub(crate) fn entity_of(payload: &[u8]) -> u16 {
    payload.first_chunk().map_or(u16::MAX, |bytes| u16::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_back_and_any_damage_to_the_filler_is_seen() {
        let stamp = Stamp { entity: 7, sequence: 12_345 };
        for bytes in [BYTES_MIN, 50, 400] {
            let payload = stamp.encode(bytes);
            assert_eq!((payload.len(), Stamp::decode(&payload)), (bytes, Some(stamp)));
            let mut damaged = payload.to_vec();
            *damaged.last_mut().unwrap() ^= 1;
            assert_eq!(Stamp::decode(&damaged), None);
        }
        assert_eq!(Stamp::decode(&[0; 5]), None);
    }
}
