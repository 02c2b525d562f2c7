//! LiteNetLib 1, as FishNet's transport Tugboat contains it: it has no merged reliable packets, and each kind of packet
//! that 2.x numbers after them has one less. Read from FishNet 4.7.2 (commit de19b5d6), LiteNetLib/NetPacket.cs of
//! Tugboat. The rest of the client is of 2.x.

use super::packet::{MERGED, RELIABLE_MERGED};

const KIND: u8 = 0x1F;
const LENGTH: usize = 2;

/// A server's datagram with the numbers of 2.x.
pub(super) fn received(datagram: &[u8]) -> Vec<u8> {
    let mut datagram = datagram.to_vec();
    renumber(&mut datagram, MERGED - 1, |kind| if kind < RELIABLE_MERGED { kind } else { (kind + 1).min(KIND) });
    datagram
}

/// Gives a datagram that leaves the numbers of 1.
pub(super) fn renumber_sent(datagram: &mut [u8]) {
    renumber(datagram, MERGED, |kind| if kind < RELIABLE_MERGED { kind } else { kind - 1 });
}

/// Renumbers a packet, and those that are merged in it, each after its length.
fn renumber(datagram: &mut [u8], merged: u8, number: impl Fn(u8) -> u8) {
    let Some(first) = datagram.first_mut() else { return };
    let kind = *first & KIND;
    *first = *first & !KIND | number(kind);
    if kind != merged {
        return;
    }
    let mut at = 1;
    while let Some([low, high, first, ..]) = datagram.get_mut(at..) {
        *first = *first & !KIND | number(*first & KIND);
        at += LENGTH + usize::from(u16::from_le_bytes([*low, *high]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Datagrams as LiteNetLib 1 and as 2.x have them: an acknowledgement of connection 1, a fragment, a ping and an
    /// unreliable packet in one, a goodbye.
    const BOTH: [(&[u8], &[u8]); 4] = [
        (&[0x22, 5, 0, 2, 9], &[0x23, 5, 0, 2, 9]),
        (&[0x81, 5, 0, 2], &[0x81, 5, 0, 2]),
        (&[12, 3, 0, 3, 7, 0, 2, 0, 0, 12], &[13, 3, 0, 4, 7, 0, 2, 0, 0, 12]),
        (&[7, 1, 2], &[8, 1, 2]),
    ];

    #[test]
    fn kinds_of_packets_have_their_numbers_of_the_first_version() {
        for (first, second) in BOTH {
            assert_eq!(received(first), second);
            let mut sent = second.to_vec();
            renumber_sent(&mut sent);
            assert_eq!(sent, first);
        }
    }

    #[test]
    fn datagrams_that_are_cut_off_or_wrong_stay_as_long_as_they_are() {
        for datagram in [&[][..], &[12], &[12, 1], &[12, 1, 0], &[12, 0, 0, 3], &[12, 255, 255, 3], &[31]] {
            assert_eq!(received(datagram).len(), datagram.len());
        }
    }
}
