//! How large this connection's datagrams may be, and what the fate of large ones says about the path.

use super::Connection;
use crate::mtu::{BASE_BYTES, Large};
use crate::recovery::{Control, Record, Resolved};
use crate::time::{Duration, Time};

/// Bytes of a datagram that are taken whatever the settings say, which a client does not know before ACCEPT.
const ACCEPTED_BYTES_MIN: usize = 1_500;
/// Bytes of a packet on a stream: what a tick says to one of a thousand clients, and no longer in the way of what is urgent than
/// three datagrams would be. With its frame's header it fits into 4,096 bytes, which a stream reads at once.
const STREAM_PACKET_BYTES: u16 = 4_080;

impl Connection {
    /// Bytes of a datagram that settings and carrier allow. On a stream it is no datagram: large packets cost less there, and
    /// the settings do not apply.
    pub(super) fn datagram_bytes_max(&self) -> u16 {
        let carried = self.path.carrier.datagram_bytes_max;
        if self.path.carrier.is_reliable {
            carried.min(STREAM_PACKET_BYTES)
        } else {
            carried.min(self.settings.datagram_bytes_max)
        }
    }

    /// Bytes of a datagram that the peer may send. What is longer is not even opened, for a session keeps room for what it
    /// opened, authentic or not.
    pub(crate) fn accepted_bytes(&self) -> usize {
        if self.path.carrier.is_reliable {
            return usize::from(self.path.carrier.datagram_bytes_max);
        }
        usize::from(self.settings.datagram_bytes_max).max(ACCEPTED_BYTES_MIN)
    }

    /// Bytes of a datagram that may leave now.
    pub(super) fn datagram_bytes(&self) -> u16 {
        let max = self.datagram_bytes_max();
        if self.path.carrier.is_reliable {
            return max;
        }
        self.mtu.current(max)
    }

    /// What the ledger is to remember of a datagram of so many bytes.
    pub(super) fn size_record(&self, bytes: usize) -> Option<Record> {
        let is_large = bytes > usize::from(BASE_BYTES) && !self.path.carrier.is_reliable;
        is_large.then_some(Record::Control(Control::Large(bytes as u16)))
    }

    /// Looks at what was acknowledged for what it says about sizes.
    pub(super) fn note_sizes_acked(&mut self, resolved: &[Resolved]) {
        if !resolved.is_empty() {
            self.mtu.on_heard();
        }
        for Resolved { packet: number, record, .. } in resolved.iter().copied() {
            match record {
                Record::Control(Control::SizeProbe(bytes)) => self.mtu.on_probe_acked(Large { number, bytes }),
                Record::Control(Control::Large(bytes)) => self.mtu.on_acked(Large { number, bytes }),
                _ => {}
            }
        }
    }

    /// Looks at what was lost and made again: a probe has not passed, and of other sizes it says nothing, for the repair
    /// was as long.
    pub(super) fn note_sizes_repaired(&mut self, resolved: &[Resolved]) {
        for Resolved { packet: number, record, .. } in resolved.iter().copied() {
            if let Record::Control(Control::SizeProbe(bytes)) = record {
                self.mtu.on_probe_lost(Large { number, bytes });
            }
        }
    }

    /// Looks at what was lost for what it says about sizes. Returns how many of the packets were probes, whose loss is no
    /// congestion.
    pub(super) fn note_sizes_lost(&mut self, now: Time, resolved: &[Resolved]) -> u32 {
        let (mut probes, next, probe_timeout) = (0, self.ledger.next(), self.rtt.probe_timeout(Duration::ZERO));
        for Resolved { packet: number, record, .. } in resolved.iter().copied() {
            match record {
                Record::Control(Control::SizeProbe(bytes)) => {
                    self.mtu.on_probe_lost(Large { number, bytes });
                    probes += 1;
                }
                Record::Control(Control::Large(bytes)) => {
                    let is_black_hole = self.mtu.on_lost(now, Large { number, bytes }, next, probe_timeout);
                    self.stats.black_holes += u64::from(is_black_hole);
                }
                _ => {}
            }
        }
        probes
    }
}
