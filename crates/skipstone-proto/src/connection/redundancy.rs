//! What a connection does so that losses need not be waited for: repair packets after each burst, copies of what is late,
//! and on the other side the packets that repairs make again. The code itself lives in `fec`.

use super::stats::Drop;
use super::{Connection, Context, State};
use crate::channel::packet::Packet;
use crate::fec::policy::Burst;
use crate::fec::{Budget, Decoder, Encoder, Plan, Policy};
use crate::loss::LossEstimate;
use crate::time::{Duration, Time};
use crate::wire::datagram::HEADER_BYTES;
use crate::wire::frame::LATE_BYTES_MAX;
use crate::wire::redundancy::{Redundancy, RedundancyMode};
use crate::wire::repair::Repair;

/// The redundancy of one connection, both directions.
#[derive(Debug)]
pub(super) struct Redundant {
    mode: RedundancyMode,
    policy: Policy,
    budget: Budget,
    encoder: Option<Box<Encoder>>,
    decoder: Option<Box<Decoder>>,
    /// The burst that is being written.
    burst: Option<Plan>,
    repairs: Repairs,
    /// What waits to be sent again was to leave then.
    late_since: Time,
    /// How many copies shall follow the next packet with content that is sent again.
    copies: u8,
}

/// Repairs that are to be sent.
#[derive(Clone, Copy, Debug)]
struct Repairs {
    now: usize,
    later: usize,
    later_at: Time,
    /// The burst began with an acknowledgement, which its repairs repeat.
    repeat_ack: bool,
}

/// Losses in a row, on average, from which on the second repair of a burst keeps away from the first.
const BURSTY: f32 = 1.3;
/// Repairs and copies are a part of the round-trip time apart, and not more than this.
const SPACING_MAX: Duration = Duration::from_millis(5);
const SPACING_MIN: Duration = Duration::from_millis(1);
const COPIES_PER_RTT: u32 = 5;
const REPAIRS_PER_RTT: u32 = 10;
/// The share of late content that may be lost in all of its copies.
const COPIES_LOST_MAX: f32 = 5e-5;
const COPIES_MIN: u8 = 2;
const COPIES_MAX: u8 = 5;

impl Redundant {
    pub(super) fn new(redundancy: Redundancy) -> Self {
        Redundant {
            mode: redundancy.mode,
            policy: Policy::default(),
            budget: Budget::new(redundancy.budget_percent),
            encoder: None,
            decoder: None,
            burst: None,
            repairs: Repairs { now: 0, later: 0, later_at: Time::NEVER, repeat_ack: false },
            late_since: Time::NEVER,
            copies: 0,
        }
    }

    /// When a repair is due that keeps its distance.
    pub(super) fn due(&self) -> Time {
        if self.repairs.later > 0 { self.repairs.later_at } else { Time::NEVER }
    }

    /// Whether a repair is due.
    pub(super) fn has_repairs(&self, now: Time) -> bool {
        self.repairs.now > 0 || self.due() <= now
    }

    /// Whether new messages wait for the repairs: those that follow belong to another block.
    pub(super) fn repairs_come_first(&self) -> bool {
        matches!(self.mode, RedundancyMode::Fixed { .. })
    }

    /// Whether repairs shall repeat the acknowledgement of their burst.
    pub(super) fn repeats_ack(&self, now: Time) -> bool {
        self.repairs.repeat_ack && self.has_repairs(now)
    }

    /// Bytes that packets leave free, so that repairs of them fit into a datagram.
    pub(super) fn reserve(&self) -> usize {
        if self.encoder.is_some() { crate::fec::encoder::EXTRA_BYTES } else { 0 }
    }

    /// Whether what is late goes out in packets of its own, and in copies.
    pub(super) fn sends_copies(&self) -> bool {
        self.mode != RedundancyMode::Off
    }

    /// What waits to be sent again was to leave at `born`, and shall have so many copies after the next.
    pub(super) fn on_late(&mut self, born: Time, copies: u8) {
        self.late_since = self.late_since.min(born);
        self.copies = self.copies.max(copies);
    }

    /// How late the content is that waits to be sent again, in ms.
    pub(super) fn age_ms(&self, now: Time) -> u16 {
        if self.late_since == Time::NEVER {
            return 0;
        }
        u16::try_from(now.since(self.late_since).as_millis()).unwrap_or(u16::MAX)
    }

    /// On a path that is full, repairs would only take the place of what they repair.
    fn begin_burst(&mut self, losses: &LossEstimate, burst: &Burst, yields: bool) -> Plan {
        self.policy.update(losses);
        let plan = if yields { burst.unprotected() } else { self.policy.plan(losses, burst) };
        if plan.repairs > 0 {
            self.encoder.get_or_insert_default().begin_burst();
            self.repairs.repeat_ack = false;
        } else if !self.policy.is_active() {
            self.encoder = None;
            self.drop_repairs();
        }
        plan
    }

    /// Repairs that are due cannot leave, because the path is full: it needs none then.
    pub(super) fn drop_repairs_due(&mut self, now: Time) {
        if self.has_repairs(now) {
            self.drop_repairs();
        }
    }

    /// Repairs leave at the pace of everything else.
    pub(super) fn defer_repairs(&mut self, until: Time) {
        self.repairs.later += core::mem::take(&mut self.repairs.now);
        self.repairs.later_at = if self.repairs.later > 0 { self.repairs.later_at.max(until) } else { Time::NEVER };
    }

    fn drop_repairs(&mut self) {
        self.repairs.now = 0;
        self.repairs.later = 0;
    }
}

impl Connection {
    /// How many times late content goes out, the first time included, so that hardly any is lost every time.
    pub(super) fn copy_count(&self) -> u8 {
        if !self.redundancy.sends_copies() {
            return 1;
        }
        let losses = self.ledger.losses();
        let independent = (COPIES_LOST_MAX.ln() / losses.rate().clamp(1e-6, 0.5).ln()).ceil() as u8;
        // Where repairs leave, those of the next burst are copies of a kind.
        if self.is_repairing() {
            return independent.saturating_sub(1).clamp(COPIES_MIN, COPIES_MAX);
        }
        let in_a_row = (losses.burst_length() - 1.0).round() as u8;
        independent.clamp(COPIES_MIN, COPIES_MAX).saturating_add(in_a_row).min(COPIES_MAX)
    }

    /// A part of the round-trip time, by which copies, or repairs of one burst, are apart.
    fn spacing(&self, per_rtt: u32) -> Duration {
        (self.rtt.smoothed() / per_rtt).clamp(SPACING_MIN, SPACING_MAX)
    }

    /// How long a packet may wait for a repair that keeps its distance.
    pub(super) fn repair_grace(&self) -> Duration {
        if self.is_bursty() && self.is_repairing() { self.spacing(REPAIRS_PER_RTT) } else { Duration::ZERO }
    }

    /// Whether repairs leave as a rule.
    fn is_repairing(&self) -> bool {
        self.redundancy.mode == RedundancyMode::Adaptive && self.redundancy.encoder.is_some()
    }

    /// Whether losses come in bursts, so that repairs of one burst had better not leave together.
    fn is_bursty(&self) -> bool {
        self.ledger.losses().burst_length() >= BURSTY
    }

    /// New messages are about to leave: makes the plan for their burst, if there is none yet, and returns the size that
    /// the next packet aims at.
    pub(super) fn burst_target(&mut self, now: Time, overhead: usize, capacity: usize) -> usize {
        if self.redundancy.mode != RedundancyMode::Adaptive || self.path.carrier.is_reliable {
            return usize::MAX;
        }
        let (messages, bytes) = self.lanes.new_size();
        let plan = match self.redundancy.burst {
            Some(plan) => plan,
            None => {
                let packet_overhead = overhead + usize::from(self.path.carrier.overhead_bytes);
                let burst = Burst { messages, bytes, packet_overhead, packet_bytes_max: capacity };
                let yields = self.congestion.is_congested(now);
                self.redundancy.begin_burst(self.ledger.losses(), &burst, yields)
            }
        };
        let packets = plan.packets.saturating_sub(1).max(1);
        self.redundancy.burst = Some(Plan { packets, ..plan });
        if plan.repairs == 0 || plan.packets <= 1 { usize::MAX } else { bytes.div_ceil(plan.packets) }
    }

    /// Whether more packets of a burst follow.
    pub(super) fn is_in_burst(&self) -> bool {
        self.redundancy.burst.is_some_and(|plan| plan.repairs > 0)
    }

    /// A packet with new messages left; `content` is what of it a repair covers.
    pub(super) fn on_source(&mut self, now: Time, number: u64, content: core::ops::Range<usize>, datagram: &[u8]) {
        let redundancy = &mut self.redundancy;
        let bytes = datagram.len() as u64 + u64::from(self.path.carrier.overhead_bytes);
        redundancy.budget.earn(bytes);
        if let RedundancyMode::Fixed { .. } = redundancy.mode {
            redundancy.encoder.get_or_insert_default();
        }
        if let Some(encoder) = &mut redundancy.encoder
            && !content.is_empty()
        {
            encoder.on_source(number, &datagram[content]);
        }
        match redundancy.mode {
            RedundancyMode::Fixed { sources, repairs } => {
                let is_full = redundancy.encoder.as_ref().is_some_and(|encoder| encoder.sources() >= sources.into());
                if is_full {
                    redundancy.repairs.now = repairs.into();
                }
            }
            _ if !self.lanes.has_new() => self.end_burst(now),
            _ => {}
        }
    }

    /// Everything new has left: what remains are the repairs.
    fn end_burst(&mut self, now: Time) {
        let Some(plan) = self.redundancy.burst.take() else { return };
        let is_bursty = self.is_bursty();
        let spacing = self.spacing(REPAIRS_PER_RTT);
        let repairs = &mut self.redundancy.repairs;
        let now_count = if is_bursty { plan.repairs.div_ceil(2) } else { plan.repairs };
        *repairs = Repairs { now: now_count, later: plan.repairs - now_count, later_at: now + spacing, ..*repairs };
    }

    /// Whether a burst that begins now says again what was acknowledged last, because the peer may not know.
    pub(super) fn repeats_ack(&self) -> bool {
        let redundancy = &self.redundancy;
        let is_first = redundancy.burst.is_none() && redundancy.sends_copies();
        is_first && redundancy.policy.is_active() && self.received.is_unconfirmed()
    }

    /// A packet of a burst left, with or without an acknowledgement.
    pub(super) fn note_burst_packet(&mut self, has_ack: bool) {
        self.redundancy.repairs.repeat_ack |= has_ack && self.redundancy.burst.is_some();
    }

    /// Whether the first copies of what is late, and of what it is answered with, are to be followed by more.
    pub(super) fn plan_copies(&mut self, now: Time, number: u64, resent: bool, bytes: usize) {
        let fresh = self.copy_count() - 1;
        let spacing = self.spacing(COPIES_PER_RTT);
        let redundancy = &mut self.redundancy;
        let wanted = if resent { redundancy.copies } else { fresh };
        if !redundancy.sends_copies() || wanted == 0 || self.congestion.is_congested(now) {
            return;
        }
        let cost = bytes as u64 + u64::from(self.path.carrier.overhead_bytes);
        if redundancy.budget.spend(cost) {
            self.stats.redundancy.copies_sent += 1;
            self.stats.redundancy.bytes_sent += cost;
            self.ledger.copies().push(now, spacing, number, wanted);
        }
    }

    /// Nothing waits to be sent again any more.
    pub(super) fn on_nothing_late(&mut self) {
        self.redundancy.late_since = Time::NEVER;
        self.redundancy.copies = 0;
    }

    /// Copies of late content are due.
    pub(super) fn send_copies(&mut self, cx: &mut Context<'_>) {
        while let Some(copy) = self.ledger.copies().pop_due(cx.now) {
            self.ledger.copy(copy.packet, &mut cx.scratch.resolved);
            self.take_back(cx, copy.further, crate::channel::lanes::Lanes::on_doubted);
        }
    }

    /// The repair came in the packet with this number, and covers no packet below 0.
    pub(super) fn on_repair(&mut self, number: u64, repair: &Repair<'_>) {
        let Ok(covers) = repair.covers(number) else { return };
        let received = &self.received;
        let decoder = self.redundancy.decoder.get_or_insert_default();
        decoder.on_repair(repair.index, covers, repair.symbol, |number| !received.is_new(number));
    }

    /// A packet came whose frames, without acknowledgements, a later repair may cover.
    pub(super) fn keep_for_repairs(&mut self, number: u64, content: &[u8]) {
        if let Some(decoder) = &mut self.redundancy.decoder {
            decoder.on_source(number, content);
            if decoder.is_idle() {
                self.redundancy.decoder = None;
            }
        }
    }

    /// Takes the packets that repairs have made again, as if they had come.
    pub(super) fn take_repaired(&mut self, cx: &mut Context<'_>) {
        while let Some(repaired) = self.redundancy.decoder.as_mut().and_then(|decoder| decoder.poll_repaired()) {
            let is_open = matches!(self.state, State::Established | State::Lingering);
            if !is_open || !self.received.is_new(repaired.number) {
                continue;
            }
            let Ok(summary) = self.check(repaired.number, &repaired.content) else {
                self.stats.drops.count(Drop::BadRepair);
                continue;
            };
            self.stats.redundancy.packets_repaired += 1;
            let age = self.received.on_repaired(cx.now, repaired.number).max(summary.age);
            self.apply(cx, repaired.number, &repaired.content, age);
        }
        if let Some(decoder) = &mut self.redundancy.decoder {
            self.stats.drops.count_many(Drop::BadRepair, decoder.take_lies() as u32);
        }
    }
}

/// Writes a repair, if one is due and the packet holds nothing but acknowledgements. True if it did.
pub(super) fn write_repair(
    now: Time,
    redundancy: &mut Redundant,
    packet: &mut Packet<'_>,
    overhead: usize,
    is_last_chance: bool,
) -> bool {
    if !redundancy.has_repairs(now) {
        return false;
    }
    let Some(encoder) = &mut redundancy.encoder else {
        redundancy.drop_repairs();
        return false;
    };
    let bytes = (encoder.repair_len() + packet.writer.len() + overhead) as u64;
    let fits = packet.room() >= encoder.repair_len();
    if fits && redundancy.budget.allows(bytes) && encoder.write_repair(packet.number, &mut packet.writer) {
        redundancy.budget.spend(bytes);
        match redundancy.repairs.now.checked_sub(1) {
            Some(rest) => redundancy.repairs.now = rest,
            None => redundancy.repairs.later -= 1,
        }
        let is_last = redundancy.repairs.now + redundancy.repairs.later == 0;
        if is_last && matches!(redundancy.mode, RedundancyMode::Fixed { .. }) {
            encoder.begin_block();
        } else if is_last {
            encoder.on_repairs_sent();
        }
        return true;
    }
    if fits || is_last_chance {
        if let RedundancyMode::Fixed { .. } = redundancy.mode {
            encoder.begin_block();
        }
        redundancy.drop_repairs();
    }
    false
}

/// What must find room beside the messages of a packet that is late.
pub(super) const LATE_ROOM: usize = LATE_BYTES_MAX;
/// What each packet adds to its frames: header and number. The seal comes on top.
pub(super) const PACKET_BYTES: usize = HEADER_BYTES + 2;
