//! The largest datagram that the path carries: found by probing, reduced when a black hole is detected (DPLPMTUD, RFC
//! 8899).
//!
//! No probe is sent before a packet would have been larger than the proven size, and no timer runs: a connection that
//! is idle or sends little costs nothing. The connection sends the probes and reports acknowledged and lost packets.

use crate::path::Carrier;
use crate::time::{Duration, Time};

/// Nearly every path carries datagrams of this many bytes (RFC 9000, section 14).
pub(crate) const BASE_BYTES: u16 = 1_200;
/// Every IPv4 host accepts packets of 576 bytes (RFC 1122, section 3.3.2); the longest IP header and the UDP header are
/// subtracted. The same value is used with IPv6, whose paths carry 1,280 bytes: a tunnel that carries less ends no
/// connection, and one that complies has one or two round trips of smaller packets after a silence.
pub(crate) const FLOOR_BYTES: u16 = 508;
/// Every IPv6 path carries packets of this many bytes (RFC 8200, section 5), headers included.
const LEAST_IP_BYTES: u16 = 1_280;
/// The size with which a search begins on the carrier that adds the most bytes to a datagram.
pub(crate) const BASE_BYTES_MIN: u16 = base_bytes(Carrier::DTLS6.overhead_bytes);
/// The MTU of most paths, IP header included.
const LIKELY_IP_BYTES: u16 = 1_500;
/// The search ends when the largest size that passes and the smallest that does not are this close.
const STEP_BYTES: u16 = 16;
/// Number of consecutive lost probes of a size after which the size does not pass (RFC 8899, section 5.1.2).
const TRIES_MAX: u8 = 3;
/// The time until a new search for larger sizes (RFC 8899, section 5.1.1).
const RAISE_AFTER: Duration = Duration::from_secs(600);
/// The time until a new search after a black hole: not at once, because the path has probably not changed.
const SEARCH_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// The number of large datagrams lost one after the other, each sent when the one before was known to be lost, that
/// prove a black hole. Datagrams that a full queue drops are lost together and count once.
const VANISHED_MAX: u8 = 3;
/// After this many probes of a silent peer, datagrams are no longer than [`FLOOR_BYTES`]: the path may carry less than
/// assumed.
const SILENT_PROBES_MAX: u8 = 3;
/// Losses this far apart are independent: in a black hole, lost content is retransmitted and lost again.
const APART: Duration = Duration::from_secs(3);

/// The state of MTU discovery on one path.
#[derive(Clone, Debug)]
pub(crate) struct Mtu {
    /// The size that the path is assumed to carry at first, and after a black hole.
    base: u16,
    /// The size that it carries at least.
    floor: u16,
    /// The largest datagram that the path is known to carry.
    proven: u16,
    /// The smallest size that the path does not carry; `u16::MAX` if none is known.
    refused: u16,
    /// A probe of this size is in flight.
    probe: Option<u16>,
    /// Consecutive lost probes of this size.
    tries: u8,
    /// A packet would have been larger.
    is_wanted: bool,
    search_from: Time,
    /// Packets with lower numbers left along another path.
    path_from: u64,
    newest_acked: LargeDatagram,
    vanished: Vanished,
    /// Probes since anything was acknowledged.
    silent_probes: u8,
}

/// A packet that was larger than [`FLOOR_BYTES`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LargeDatagram {
    /// Its number.
    pub number: u64,
    /// Bytes of its datagram.
    pub bytes: u16,
}

/// Large packets lost while others arrive.
#[derive(Clone, Copy, Debug)]
struct Vanished {
    count: u8,
    smallest: u16,
    /// The next loss counts from this packet on.
    from: u64,
    /// Time at which the last loss was known.
    at: Time,
}

impl Vanished {
    const NONE: Vanished = Vanished { count: 0, smallest: u16::MAX, from: 0, at: Time::ZERO };
}

impl Mtu {
    /// A path whose carrier and IP add this many bytes to a datagram.
    pub(crate) fn new(overhead: u16) -> Self {
        let base = base_bytes(overhead);
        Mtu {
            base,
            floor: FLOOR_BYTES,
            proven: base,
            refused: u16::MAX,
            probe: None,
            tries: 0,
            is_wanted: false,
            search_from: Time::ZERO,
            path_from: 0,
            newest_acked: LargeDatagram::default(),
            vanished: Vanished::NONE,
            silent_probes: 0,
        }
    }

    /// The carrier has measured the path itself: it carries datagrams of this many bytes, and no search is needed.
    pub(crate) fn on_told(&mut self, bytes: u16) {
        *self = Mtu { base: bytes, floor: bytes, proven: bytes, path_from: self.path_from, ..Mtu::new(0) };
    }

    /// Bytes of a datagram, of which the settings and the carrier allow `max`.
    pub(crate) fn current(&self, max: u16) -> u16 {
        let current = match self.silent_probes {
            0 => self.proven,
            1..SILENT_PROBES_MAX => self.base.min(self.proven),
            _ => self.floor,
        };
        current.min(max)
    }

    /// A silent peer is probed: the packets' size may be the reason that they do not arrive.
    pub(crate) fn on_silence(&mut self) {
        self.silent_probes = self.silent_probes.saturating_add(1);
    }

    /// Something was acknowledged. If that needed datagrams of the least size, larger ones must be probed again.
    pub(crate) fn on_heard(&mut self) {
        if self.silent_probes >= SILENT_PROBES_MAX {
            self.fall(self.refused);
        }
        self.silent_probes = 0;
    }

    /// A packet is full: a larger one is wanted.
    pub(crate) fn on_full(&mut self) {
        self.is_wanted = true;
    }

    /// The size of the probe to send now, if one is due; `overhead` is the bytes that IP and UDP add to a datagram.
    /// Call [`Mtu::on_probe_sent`] when the probe is sent.
    pub(crate) fn poll_probe(&mut self, now: Time, max: u16, overhead: u16) -> Option<u16> {
        if !self.is_searching(now) {
            return None;
        }
        let next = self.next_size(max, LIKELY_IP_BYTES.saturating_sub(overhead));
        if next.is_none() {
            self.rest(now + RAISE_AFTER);
        }
        next
    }

    /// Whether [`Mtu::poll_probe`] may return a probe.
    pub(crate) fn is_searching(&self, now: Time) -> bool {
        self.is_wanted && self.probe.is_none() && now >= self.search_from
    }

    /// The probe left.
    pub(crate) fn on_probe_sent(&mut self, bytes: u16) {
        self.probe = Some(bytes);
    }

    /// The probe arrived.
    pub(crate) fn on_probe_acked(&mut self, probe: LargeDatagram) {
        if probe.number < self.path_from {
            return;
        }
        self.probe = self.probe.filter(|bytes| *bytes != probe.bytes);
        self.tries = 0;
        self.proven = self.proven.max(probe.bytes);
        if self.refused <= probe.bytes {
            self.refused = u16::MAX;
        }
    }

    /// The probe did not arrive, which does not indicate congestion; the probe had no content to retransmit.
    pub(crate) fn on_probe_lost(&mut self, probe: LargeDatagram) {
        if probe.number < self.path_from || self.probe != Some(probe.bytes) {
            return;
        }
        self.probe = None;
        self.tries += 1;
        if self.tries >= TRIES_MAX {
            self.tries = 0;
            self.refused = probe.bytes;
        }
    }

    /// A large packet arrived.
    pub(crate) fn on_acked(&mut self, large: LargeDatagram) {
        if large.number >= self.path_from {
            self.proven = self.proven.max(large.bytes);
        }
        if large.number >= self.newest_acked.number {
            self.newest_acked = large;
        }
        if passes_for(large.bytes, self.vanished.smallest) {
            self.forget_vanished();
        }
    }

    /// A large packet was lost, and not recovered, while a packet sent later arrived; the next will have the number
    /// `next`. Several probe timeouts, or seconds, after the previous loss, this loss is counted as the first. Returns
    /// `true` if the losses prove a black hole: from now on datagrams are small.
    pub(crate) fn on_lost(&mut self, now: Time, large: LargeDatagram, next: u64, probe_timeout: Duration) -> bool {
        if self.floor >= self.proven {
            // There is no smaller size to fall back to.
            return false;
        }
        if now.since(self.vanished.at) > APART.max(probe_timeout * 8) {
            self.forget_vanished();
        }
        let is_old = large.number < self.path_from.max(self.vanished.from) || large.bytes > self.proven;
        let is_excused = large.number < self.newest_acked.number && passes_for(self.newest_acked.bytes, large.bytes);
        if is_old || is_excused {
            return false;
        }
        let Vanished { count, smallest, .. } = self.vanished;
        self.vanished = Vanished { count: count + 1, smallest: smallest.min(large.bytes), from: next, at: now };
        let is_black_hole = self.vanished.count >= VANISHED_MAX;
        if is_black_hole && self.proven > self.base {
            *self = Mtu { path_from: next, search_from: now + SEARCH_AGAIN_AFTER, ..self.restarted() };
        } else if is_black_hole {
            let refused = self.vanished.smallest;
            *self = Mtu { path_from: next, ..self.restarted() };
            self.fall(refused);
        }
        is_black_hole
    }

    /// The loss of a probe in flight will be ignored.
    pub(crate) fn on_flight_settled(&mut self) {
        self.probe = None;
    }

    /// Packets from `next` on leave along another, unknown path.
    pub(crate) fn on_path_changed(&mut self, next: u64) {
        *self = Mtu { path_from: next, ..self.restarted() };
    }

    /// An unknown path of the same carrier.
    fn restarted(&self) -> Self {
        Mtu { base: self.base, floor: self.floor, proven: self.base, ..Mtu::new(0) }
    }

    /// The path carries the least size of every path. The search for a size between that and `refused` begins as soon
    /// as a packet is full.
    fn fall(&mut self, refused: u16) {
        if self.floor < self.proven {
            (self.proven, self.refused, self.probe, self.tries) = (self.floor, refused, None, 0);
            (self.is_wanted, self.search_from) = (false, Time::ZERO);
        }
    }

    fn forget_vanished(&mut self) {
        self.vanished = Vanished { from: self.vanished.from, ..Vanished::NONE };
    }

    fn rest(&mut self, until: Time) {
        self.is_wanted = false;
        self.refused = u16::MAX;
        self.search_from = until;
    }

    fn next_size(&self, max: u16, likely: u16) -> Option<u16> {
        let most = max.min(self.refused - 1);
        let is_bounded = self.refused <= max;
        if most <= self.proven || is_bounded && most - self.proven < STEP_BYTES {
            return None;
        }
        if let Some(first) = [self.base, likely].into_iter().find(|size| (self.proven + 1..=most).contains(size)) {
            return Some(first);
        }
        Some(if is_bounded { self.proven + (most - self.proven).div_ceil(2) } else { most })
    }
}

/// The size of datagrams with which a search begins.
const fn base_bytes(overhead: u16) -> u16 {
    let least = LEAST_IP_BYTES - overhead;
    if least < BASE_BYTES { least } else { BASE_BYTES }
}

/// Whether a path that carries `bytes` can be assumed to carry `others`: sizes are searched in such steps.
fn passes_for(bytes: u16, others: u16) -> bool {
    bytes.saturating_add(STEP_BYTES) > others
}

#[cfg(test)]
mod tests {
    use super::*;

    const UDP: u16 = 28;
    const PROBE: Duration = Duration::from_millis(100);

    /// Runs the search on a path that carries `path` bytes; returns the sizes probed.
    fn search(mtu: &mut Mtu, now: Time, max: u16, path: u16) -> Vec<u16> {
        let mut probes = Vec::new();
        mtu.on_full();
        while let Some(bytes) = mtu.poll_probe(now, max, UDP) {
            mtu.on_probe_sent(bytes);
            assert_eq!(mtu.poll_probe(now, max, UDP), None, "one at a time");
            probes.push(bytes);
            let probe = LargeDatagram { number: probes.len() as u64, bytes };
            if bytes <= path { mtu.on_probe_acked(probe) } else { mtu.on_probe_lost(probe) }
        }
        probes
    }

    #[test]
    fn one_probe_finds_the_likely_size() {
        let mut mtu = Mtu::new(UDP);
        assert_eq!(mtu.poll_probe(Time::ZERO, 1_472, UDP), None, "nobody wants more");
        assert_eq!(search(&mut mtu, Time::ZERO, 1_472, 1_472), [1_472]);
        assert_eq!(mtu.current(1_472), 1_472);
        assert_eq!(mtu.current(900), 900, "the settings allow no more");
    }

    #[test]
    fn the_measured_size_applies_to_the_carriers_next_path() {
        let mut mtu = Mtu::new(UDP);
        mtu.on_told(1_300);
        mtu.on_path_changed(5);
        assert_eq!(mtu.current(1_472), 1_300);
        (0..=SILENT_PROBES_MAX).for_each(|_| mtu.on_silence());
        assert_eq!(mtu.current(1_472), 1_300, "there is nothing smaller to try");
    }

    #[test]
    fn any_path_size_is_found_within_one_step_and_never_exceeded() {
        for max in [1_201, 1_472, 9_000, 65_507] {
            for path in (1_200..max.min(20_000)).step_by(7).chain([max]) {
                let mut mtu = Mtu::new(UDP);
                let probes = search(&mut mtu, Time::ZERO, max, path);
                let found = mtu.current(max);
                assert!(found <= path && path - found < STEP_BYTES, "{found} of {path}, {max} allowed");
                assert!(probes.len() <= 16 * usize::from(TRIES_MAX), "{probes:?}");
            }
        }
    }

    #[test]
    fn a_single_lost_probe_does_not_lower_the_size() {
        let mut mtu = Mtu::new(UDP);
        mtu.on_full();
        for number in 0..2 {
            assert_eq!(mtu.poll_probe(Time::ZERO, 1_472, UDP), Some(1_472));
            mtu.on_probe_sent(1_472);
            mtu.on_probe_lost(LargeDatagram { number, bytes: 1_472 });
        }
        assert_eq!(mtu.poll_probe(Time::ZERO, 1_472, UDP), Some(1_472));
    }

    #[test]
    fn probing_resumes_after_ten_minutes_if_there_is_demand() {
        let mut mtu = Mtu::new(UDP);
        search(&mut mtu, Time::ZERO, 1_472, 1_252);
        assert!(search(&mut mtu, Time::ZERO + Duration::from_secs(599), 1_472, 1_472).is_empty());
        assert_eq!(search(&mut mtu, Time::ZERO + Duration::from_secs(600), 1_472, 1_472), [1_472]);
    }

    #[test]
    fn consecutive_losses_of_large_packets_are_a_black_hole() {
        let mut mtu = Mtu::new(UDP);
        search(&mut mtu, Time::ZERO, 1_472, 1_472);
        let lost =
            |mtu: &mut Mtu, number, next| mtu.on_lost(Time::ZERO, LargeDatagram { number, bytes: 1_472 }, next, PROBE);
        assert!((10..20).all(|number| !lost(&mut mtu, number, 20)), "lost together: a full queue");
        assert!(!lost(&mut mtu, 20, 30));
        assert_eq!(mtu.current(1_472), 1_472);
        assert!(lost(&mut mtu, 30, 40));
        assert_eq!(mtu.current(1_472), BASE_BYTES);
        assert!(search(&mut mtu, Time::ZERO, 1_472, 1_472).is_empty(), "not at once");
    }

    #[test]
    fn losses_among_delivered_large_packets_do_not_count_as_a_black_hole() {
        let mut mtu = Mtu::new(UDP);
        search(&mut mtu, Time::ZERO, 1_472, 1_472);
        for number in (10..1_000).step_by(2) {
            mtu.on_acked(LargeDatagram { number: number + 1, bytes: 1_472 });
            assert!(!mtu.on_lost(Time::ZERO, LargeDatagram { number, bytes: 1_472 }, number + 2, PROBE));
        }
        for number in (1_000..1_100).step_by(4) {
            mtu.on_acked(LargeDatagram { number, bytes: 1_300 });
            if mtu.on_lost(Time::ZERO, LargeDatagram { number: number - 2, bytes: 1_472 }, number + 1, PROBE) {
                return;
            }
        }
        panic!("smaller ones that arrive do not excuse the largest");
    }

    #[test]
    fn nearly_equal_sizes_count_as_equal() {
        let mut mtu = Mtu::new(UDP);
        search(&mut mtu, Time::ZERO, 1_472, 1_472);
        for number in (10..1_000).step_by(2) {
            mtu.on_acked(LargeDatagram { number: number + 1, bytes: 1_460 });
            assert!(!mtu.on_lost(Time::ZERO, LargeDatagram { number, bytes: 1_472 }, number + 2, PROBE), "{number}");
        }
    }

    #[test]
    fn losses_far_apart_do_not_count_as_a_black_hole() {
        let mut mtu = Mtu::new(UDP);
        search(&mut mtu, Time::ZERO, 1_472, 1_472);
        for number in 10..100 {
            let now = Time::ZERO + Duration::from_secs(4) * number as u32;
            assert!(!mtu.on_lost(now, LargeDatagram { number, bytes: 1_472 }, number + 1, PROBE), "{number}");
        }
        let now = Time::ZERO + Duration::from_secs(1_000);
        let slow = Duration::from_secs(1);
        let found = (0..3).any(|at| {
            mtu.on_lost(now + slow * 7 * at, LargeDatagram { number: 200 + u64::from(at), bytes: 1_472 }, 0, slow)
        });
        assert!(found, "on a slow path, seven seconds are not long");
    }
}
