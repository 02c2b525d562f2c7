//! Connection ids of QUIC that name the shard that issued them, like this protocol's own ids: a datagram of a client
//! that migrated thus finds the shard of its connection.

use quinn_proto::{ConnectionId, ConnectionIdGenerator};
use skipstone_proto::Shard;
use std::time::Duration;

/// Draws ids of one shard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identifiers(pub(super) Shard);

/// Bytes of an id, random except for the shard's bits in the first.
const ID_BYTES: usize = 8;

impl ConnectionIdGenerator for Identifiers {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut id = [0; ID_BYTES];
        getrandom::fill(&mut id).expect("the system has entropy");
        let Shard { index, bits } = self.0;
        let rest = (0xFF_u16 >> bits) as u8;
        id[0] = (id[0] & rest) | ((index << (8 - bits)) as u8);
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        ID_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// The shard that a datagram's id names; shards have this number of bits. Only packets with a short header are sure to
/// have an id that a server gave (RFC 9000, section 17.3).
pub(super) fn shard_of(datagram: &[u8], bits: u32) -> Option<u32> {
    match *datagram {
        [64..=127, first, ..] if datagram.len() > ID_BYTES => Some(u32::from(first) >> (8 - bits)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_shard_and_is_never_reused() {
        for bits in 0..=8 {
            for index in [0, 1, (1_u32 << bits) - 1] {
                let mut ids = Identifiers(Shard { index: index & ((1 << bits) - 1), bits });
                let (one, other) = (ids.generate_cid(), ids.generate_cid());
                assert_ne!(one, other);
                let datagram = [&[0x40][..], &one].concat();
                assert_eq!(shard_of(&datagram, bits), Some(ids.0.index));
            }
        }
    }

    #[test]
    fn long_headers_and_invalid_packets_name_no_shard() {
        for first in [0, 63, 128, 191, 192, 255] {
            assert_eq!(shard_of(&[first, 0xFF, 0, 0, 0, 0, 0, 0, 0], 1), None);
        }
        assert_eq!(shard_of(&[64, 0xFF, 0, 0, 0, 0, 0, 0], 1), None, "it is cut short");
        assert_eq!(shard_of(&[], 1), None);
    }
}
