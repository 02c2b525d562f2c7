//! Bytes on the wire by kind: payload, protocol, redundancy, headers of IP and carrier.

use serde::Serialize;
use skipstone::Flow;

/// Parts that sum to all bytes on the wire, in bytes or bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct BytesSplit {
    /// The application's messages, each counted once.
    pub(super) payload: u64,
    /// Packet headers, frames, acknowledgements, retransmissions, tags, and handshakes.
    pub(super) protocol: u64,
    /// Repairs, copies and repeats, with their headers.
    pub(super) redundancy: u64,
    /// Headers of IP and of the carrier, except redundancy's.
    pub(super) headers: u64,
}

impl BytesSplit {
    /// The counters of one direction. The redundancy of received bytes is unknown and counts as protocol.
    ///
    /// Redundancy includes its own headers: `redundant_packets` as a share of all packets gives its share of the
    /// headers.
    pub(super) fn of(flow: &Flow, redundancy: u64, redundant_packets: u64) -> BytesSplit {
        let headers = flow.ip_bytes - flow.datagram_bytes.min(flow.ip_bytes);
        let share = redundant_packets.min(flow.datagrams) as f64 / flow.datagrams.max(1) as f64;
        let headers = headers - (headers as f64 * share) as u64;
        let redundancy = redundancy.min(flow.ip_bytes - headers);
        let payload = flow.payload_bytes.min(flow.ip_bytes - headers - redundancy);
        BytesSplit { payload, protocol: flow.ip_bytes - headers - redundancy - payload, redundancy, headers }
    }

    /// Each part with its name.
    pub(super) fn parts(&self) -> [(&'static str, u64); 4] {
        [
            ("payload", self.payload),
            ("protocol", self.protocol),
            ("redundancy", self.redundancy),
            ("headers", self.headers),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_sum_to_the_bytes_on_the_wire() {
        let mut flow = Flow::default();
        (flow.datagrams, flow.payload_bytes, flow.datagram_bytes, flow.ip_bytes) = (10, 600, 1000, 1280);
        let split = BytesSplit::of(&flow, 228, 2);
        assert_eq!(split, BytesSplit { payload: 600, protocol: 228, redundancy: 228, headers: 224 });
        for redundancy in [0, 1_000_000] {
            let sum: u64 = BytesSplit::of(&flow, redundancy, 99).parts().iter().map(|(_, bytes)| bytes).sum();
            assert_eq!(sum, flow.ip_bytes);
        }
    }
}
