//! Packets of one update that share datagrams: small ones are merged, each after its length.

use super::packet::{MERGED, first_byte};
use std::collections::VecDeque;

/// Collects the packets of one update.
#[derive(Debug)]
pub(super) struct Merge<'a> {
    connection: u8,
    mtu: usize,
    merged: Vec<u8>,
    count: usize,
    datagrams: &'a mut VecDeque<Vec<u8>>,
}

/// A packet that leaves less room than this is not merged.
const ROOM_MIN: usize = 20;
const LENGTH: usize = 2;

impl<'a> Merge<'a> {
    pub(super) fn new(connection: u8, mtu: usize, datagrams: &'a mut VecDeque<Vec<u8>>) -> Self {
        Merge { connection, mtu, merged: vec![first_byte(MERGED, connection)], count: 0, datagrams }
    }

    /// Adds a packet whose first byte has no connection yet.
    pub(super) fn add(&mut self, packet: &[u8]) {
        let Some((kind, rest)) = packet.split_first() else { return };
        let first = first_byte(*kind, self.connection);
        if 1 + packet.len() + LENGTH + ROOM_MIN >= self.mtu {
            return self.datagrams.push_back([&[first], rest].concat());
        }
        if self.merged.len() + LENGTH + packet.len() > self.mtu {
            self.finish();
        }
        self.merged.extend_from_slice(&(packet.len() as u16).to_le_bytes());
        self.merged.push(first);
        self.merged.extend_from_slice(rest);
        self.count += 1;
    }

    /// Sends what has been merged; a single packet without the frame around it.
    pub(super) fn finish(&mut self) {
        let merged = core::mem::replace(&mut self.merged, vec![first_byte(MERGED, self.connection)]);
        match core::mem::take(&mut self.count) {
            0 => {}
            1 => self.datagrams.push_back(merged[1 + LENGTH..].to_vec()),
            _ => self.datagrams.push_back(merged),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(packets: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut datagrams = VecDeque::new();
        let mut merge = Merge::new(1, 64, &mut datagrams);
        packets.iter().for_each(|packet| merge.add(packet));
        merge.finish();
        datagrams.into()
    }

    #[test]
    fn small_packets_share_a_datagram() {
        assert_eq!(merged(&[&[4, 9]]), [vec![0x24, 9]]);
        assert_eq!(merged(&[&[4, 9], &[3]]), [vec![0x2D, 2, 0, 0x24, 9, 1, 0, 0x23]]);
        assert!(merged(&[]).is_empty());
    }

    #[test]
    fn large_packets_leave_alone_and_none_is_longer_than_the_mtu() {
        let datagrams = merged(&[&[1; 60], &[1; 35], &[1; 35]]);
        assert_eq!(datagrams.iter().map(Vec::len).collect::<Vec<_>>(), [60, 35, 35]);
    }
}
