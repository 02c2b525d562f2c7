//! Deciding: the content of the next datagram, before a byte of it is written.

use crate::channel::classes::ClassId;
use crate::connection::close::Answer;
use crate::connection::redundancy::PACKET_BYTES;
use crate::connection::{Connection, ConnectionState};
use crate::time::Time;
use crate::wire::number::Truncated;
use crate::wire::settings::Merging;

/// The room for a datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// Greatest size of the datagram.
    pub(super) bytes: usize,
    /// Bytes that the path carries, `bytes` or more. A message that would fit into these is not fragmented only because
    /// this datagram is shorter.
    pub(super) max: usize,
    /// Length of the previous datagrams, which this one should have if more follow: a datagram that is a little too
    /// short is padded.
    pub(super) equal_to: Option<usize>,
}

/// Whether an acknowledgement that was sent before may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckRepeat {
    Allowed,
    /// The acknowledgement leaves no room for the next message or repair.
    InTheWay,
}

/// Which messages are retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetransmitScope {
    Nothing,
    /// Only repeats of classes that get copies, and no new messages, so that the copies are small.
    WithCopies,
    All,
}

/// The content of the next datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision {
    pub(super) space: Space,
    pub(super) number: Truncated,
    /// Bytes that the seal adds.
    pub(super) overhead: usize,
    /// Bytes that messages leave free, so that repairs of this packet fit into a datagram.
    pub(super) reserve: usize,
    /// CLOSE or CLOSED.
    pub(super) ending: Option<Answer>,
    pub(super) ack: bool,
    /// The acknowledgement has information that was not sent to the peer before.
    pub(super) has_ack_news: bool,
    /// A packet with an acknowledgement is ack-eliciting, because no earlier one was acknowledged.
    pub(super) asks_back: bool,
    pub(super) retransmission: RetransmitScope,
    /// How long the content that is retransmitted has been due, in ms.
    pub(super) age_ms: u16,
    /// The class whose new messages go in.
    pub(super) class: Option<ClassId>,
    /// Messages of earlier packets of the class go in front of its new ones.
    pub(super) repeats: bool,
    /// Bytes of messages after which no other is begun.
    pub(super) target: usize,
    /// A repair goes in, if nothing else asks for an acknowledgement.
    pub(super) repair: bool,
}

impl Decision {
    /// Bytes of a larger datagram for which `space` has no room.
    pub(super) fn beyond(&self) -> usize {
        self.space.max - self.space.bytes
    }
}

/// The reasons for a datagram at a moment.
#[derive(Clone, Copy, Debug)]
struct Wants {
    ack: bool,
    /// The acknowledgement must leave now.
    ack_is_due: bool,
    control: bool,
    lost: bool,
    new: bool,
    /// A repair of packets that left before.
    repair: bool,
}

/// Number of packets that may overtake one before its truncated number becomes ambiguous.
pub(in crate::connection) const OVERTAKING_MAX: u64 = 4_000;
/// A packet number has at least this many bits, so that no copy of it is taken for a later one (WIRE.md section 1).
pub(in crate::connection) const NUMBER_BITS_MIN: u8 = 14;
/// Unacknowledged packets (all hold acknowledgements only) after which one is ack-eliciting.
const UNCONFIRMED_MAX: u64 = 1_000;
/// Unconfirmed ranges of an acknowledgement after which one is ack-eliciting, or acknowledgements would grow long.
const RANGES_UNCONFIRMED_MAX: usize = 8;

impl Connection {
    /// Decides the content of the next datagram; `None` if none is due.
    #[inline]
    pub(super) fn decide(&mut self, now: Time, space: Space, repeat: AckRepeat) -> Option<Decision> {
        if !self.security.is_established() {
            return None;
        }
        let wants = self.wants(now);
        let ending = self.poll_ending(now);
        let has_reason = wants.ack_is_due || wants.control || wants.lost || wants.new || wants.repair;
        let is_due = ending.is_some() || has_reason && self.state != ConnectionState::Drained;
        if !is_due || self.identity.ids.remote == 0 {
            return None;
        }
        let retransmission = self.retransmission(wants);
        let class = self.class_of_new(now, wants, retransmission);
        let ack = wants.ack || repeat == AckRepeat::Allowed && self.repeats_last_ack(now, wants, class);
        let (ledger, overhead) = (&self.sending.ledger, self.security.overhead());
        let distance = ledger.distance() + OVERTAKING_MAX;
        let number = Truncated::with_bits_at_least(ledger.next(), distance, NUMBER_BITS_MIN);
        let reserve = self.redundancy.reserve(class);
        let capacity = space.max.saturating_sub(overhead + PACKET_BYTES + reserve);
        let target = class.map_or(usize::MAX, |class| self.burst_target(now, class, overhead + PACKET_BYTES, capacity));
        Some(Decision {
            space,
            number,
            overhead,
            reserve,
            ending,
            ack,
            has_ack_news: wants.ack,
            asks_back: self.asks_back(),
            retransmission,
            age_ms: self.redundancy.age_ms(now),
            class,
            repeats: class.is_some_and(|class| self.may_repeat(now, class)),
            target,
            repair: wants.repair,
        })
    }

    #[inline]
    fn wants(&mut self, now: Time) -> Wants {
        let is_open = matches!(self.state, ConnectionState::Established | ConnectionState::Lingering);
        let in_flight = u64::from(self.sending.ledger.bytes_in_flight());
        let has_new = is_open && self.channels.has_new() && self.is_merged(now);
        let has_room = in_flight < self.path.congestion.window() && self.sending.ledger.has_room(now);
        let own_pace = self.own_pace(now);
        let pace = own_pace.max(self.sending.held_until);
        let may_send = self.sending.pending.probes > 0 || has_room && pace <= now;
        if !has_room {
            self.redundancy.drop_repairs_due(now);
        } else if pace > now {
            self.redundancy.defer_repairs(pace);
        }
        let has_repairs = is_open && self.redundancy.has_repairs(now);
        let has_any = has_new || is_open && self.channels.has_lost() || has_repairs;
        self.sending.pace_due = if has_any && has_room && own_pace > now { own_pace } else { Time::NEVER };
        self.sending.is_held = has_any && has_room && own_pace <= now && pace > now;
        self.sending.is_limited = has_new && !may_send;
        self.receiving.received.report_missing(now);
        Wants {
            ack: self.receiving.received.has_news(),
            ack_is_due: self.receiving.received.ack_due() <= now,
            control: self.sending.pending.accept
                || self.sending.pending.connect
                || self.sending.pending.ping
                || is_open && self.time.is_due(now),
            lost: is_open && may_send && self.channels.has_lost(),
            new: has_new && may_send,
            repair: has_repairs && may_send,
        }
    }

    /// When the congestion controller and this peer's bandwidth let the next datagram leave.
    #[inline]
    fn own_pace(&self, now: Time) -> Time {
        let datagram = self.datagram_bytes();
        let pace = self.path.congestion.next_send(now, u32::from(datagram));
        match &self.sending.bandwidth {
            None => pace,
            Some(bandwidth) => pace.max(bandwidth.next_send(now, u64::from(datagram))),
        }
    }

    /// Whether new messages may leave by the merging setting.
    #[inline]
    fn is_merged(&self, now: Time) -> bool {
        self.terms.merging == Merging::Immediate || self.timers.merge.is_over(now)
    }

    #[inline]
    fn retransmission(&self, wants: Wants) -> RetransmitScope {
        match wants.lost {
            false => RetransmitScope::Nothing,
            true if self.has_lost_with_copies() => RetransmitScope::WithCopies,
            true => RetransmitScope::All,
        }
    }

    /// Whether a message waits to be retransmitted whose class gets copies.
    pub(super) fn has_lost_with_copies(&self) -> bool {
        self.channels.has_lost_of(|class| self.redundancy.sends_copies(class))
    }

    /// The class whose new messages leave, unless repairs come first.
    #[inline]
    fn class_of_new(&self, now: Time, wants: Wants, retransmission: RetransmitScope) -> Option<ClassId> {
        if !wants.new || retransmission == RetransmitScope::WithCopies {
            return None;
        }
        // New messages that wait for the peer's window are of no class, so that they do not keep repairs waiting.
        let class = self.channels.next_class()?;
        (!(wants.repair && self.redundancy.repairs_come_first(now, class))).then_some(class)
    }

    /// Whether the last acknowledgement is repeated, although it has no new information.
    #[inline]
    fn repeats_last_ack(&self, now: Time, wants: Wants, class: Option<ClassId>) -> bool {
        match class {
            Some(class) => self.repeats_ack(class),
            None => wants.repair && !wants.lost && self.redundancy.repeats_ack(now),
        }
    }

    /// A side that only sends acknowledgements must sometimes send an ack-eliciting packet, or its packet numbers would
    /// outgrow their truncated form.
    #[inline]
    fn asks_back(&self) -> bool {
        let is_standing = matches!(self.state, ConnectionState::Established | ConnectionState::Lingering);
        let ledger = &self.sending.ledger;
        is_standing
            && !ledger.is_waiting()
            && (ledger.distance() > UNCONFIRMED_MAX || self.receiving.received.range_count() > RANGES_UNCONFIRMED_MAX)
    }

    #[inline]
    fn may_repeat(&self, now: Time, class: ClassId) -> bool {
        self.redundancy.repeats(class)
            && !self.path.current.carrier.is_reliable
            && !self.path.congestion.is_congested(now)
    }
}
