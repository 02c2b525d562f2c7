//! The size of this connection's datagrams, and how acknowledged and lost large datagrams change it.

use super::Connection;
use crate::mtu::{FLOOR_BYTES, LargeDatagram};
use crate::recovery::{Control, Record, Resolved};
use crate::time::{Duration, Time};

/// Bytes of a datagram that are accepted in any case, because a client does not know the settings before ACCEPT.
const ACCEPTED_BYTES_MIN: usize = 1_500;

impl Connection {
    /// Bytes of a packet that settings and carrier allow. The settings mean datagrams, and do not apply to a stream.
    pub(super) fn datagram_bytes_max(&self) -> u16 {
        let carrier = &self.path.current.carrier;
        if carrier.is_reliable {
            return carrier.packet_bytes_max;
        }
        carrier.packet_bytes_max.min(self.terms.sends.datagram_bytes_max - carrier.record_bytes)
    }

    /// The carrier takes packets of at most `bytes` bytes from now on.
    pub(crate) fn set_packet_bytes_max(&mut self, bytes: u16) {
        let carrier = &mut self.path.current.carrier;
        carrier.packet_bytes_max = bytes.min(carrier.datagram_bytes_max);
        self.path.mtu.on_told(carrier.packet_bytes_max);
    }

    /// Greatest size of a datagram that the peer may send, in bytes. A longer datagram is not even opened, because a
    /// session keeps room for opened datagrams, authentic or not.
    pub(crate) fn accepted_bytes(&self) -> usize {
        if self.path.current.carrier.is_reliable {
            return usize::from(self.path.current.carrier.datagram_bytes_max);
        }
        usize::from(self.terms.receives.datagram_bytes_max).max(ACCEPTED_BYTES_MIN)
    }

    /// Bytes of a datagram that may leave now.
    pub(crate) fn datagram_bytes(&self) -> u16 {
        let max = self.datagram_bytes_max();
        if self.path.current.carrier.is_reliable {
            return max;
        }
        self.path.mtu.current(max)
    }

    /// The ledger's record for a datagram of `bytes` bytes.
    pub(super) fn size_record(&self, bytes: usize) -> Option<Record> {
        let is_large = bytes > usize::from(FLOOR_BYTES) && !self.path.current.carrier.is_reliable;
        is_large.then_some(Record::Control(Control::Large(bytes as u16)))
    }

    /// Updates the MTU search with acknowledged packets.
    pub(super) fn note_sizes_acked(&mut self, resolved: &[Resolved]) {
        if !resolved.is_empty() {
            self.path.mtu.on_heard();
        }
        for Resolved { packet: number, record, .. } in resolved.iter().copied() {
            match record {
                Record::Control(Control::SizeProbe(bytes)) => {
                    self.path.mtu.on_probe_acked(LargeDatagram { number, bytes })
                }
                Record::Control(Control::Large(bytes)) => self.path.mtu.on_acked(LargeDatagram { number, bytes }),
                _ => {}
            }
        }
    }

    /// Updates the MTU search with lost packets that were recovered: a lost probe did not pass the path. Other sizes
    /// reveal nothing, because the repair was as long.
    pub(super) fn note_sizes_recovered(&mut self, resolved: &[Resolved]) {
        for Resolved { packet: number, record, .. } in resolved.iter().copied() {
            if let Record::Control(Control::SizeProbe(bytes)) = record {
                self.path.mtu.on_probe_lost(LargeDatagram { number, bytes });
            }
        }
    }

    /// Updates the MTU search with lost packets. Returns how many of the packets were probes, whose loss is no sign of
    /// congestion.
    pub(super) fn note_sizes_lost(&mut self, now: Time, resolved: &[Resolved]) -> u32 {
        let (mut probes, next, probe_timeout) =
            (0, self.sending.ledger.next(), self.path.rtt.probe_timeout(Duration::ZERO));
        for Resolved { packet: number, record, .. } in resolved.iter().copied() {
            match record {
                Record::Control(Control::SizeProbe(bytes)) => {
                    self.path.mtu.on_probe_lost(LargeDatagram { number, bytes });
                    probes += 1;
                }
                Record::Control(Control::Large(bytes)) => {
                    let is_black_hole =
                        self.path.mtu.on_lost(now, LargeDatagram { number, bytes }, next, probe_timeout);
                    self.stats.black_holes += u64::from(is_black_hole);
                }
                _ => {}
            }
        }
        probes
    }
}
