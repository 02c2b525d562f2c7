//! What a connection does so that losses need not be waited for. The code itself lives in `fec`; here it meets packets.
//!
//! Channels whose rules name the same mode are a class: `class` plans its bursts, `repairs` follow them, `repeats` go in
//! front of the next ones, `copies` follow retransmissions. `recovered` is the receiving side. What is spent
//! is the connection's.

mod class;
mod copies;
mod recovered;
mod repairs;
mod repeats;

use crate::channel::classes::{self, ClassId};
use crate::redundancy::budget::Budget;
use crate::redundancy::fec::Decoder;
use crate::time::{Duration, Time};
use crate::wire::datagram::HEADER_BYTES;
use crate::wire::frame::LATE_BYTES_MAX;
use crate::wire::redundancy::RedundancyMode;
use crate::wire::settings::Settings;
use class::Class;
pub(super) use copies::CopyCount;
use copies::Retransmission;
pub(super) use repairs::write_repair;
pub(super) use repeats::{note_repeatable, write_repeats};

/// The redundancy of one connection, both directions.
#[derive(Debug)]
pub(super) struct Redundant {
    /// At least one.
    classes: Vec<Class>,
    budget: Budget,
    decoder: Option<Box<Decoder>>,
    retransmission: Retransmission,
}

/// Repairs and copies are a part of the round-trip time apart, and not more than this.
const SPACING_MAX: Duration = Duration::from_millis(5);
const SPACING_MIN: Duration = Duration::from_millis(1);

impl Redundant {
    pub(super) fn new(settings: &Settings) -> Self {
        Redundant {
            classes: classes::modes(settings).into_iter().map(Class::new).collect(),
            budget: Budget::new(settings.redundancy.budget_percent),
            decoder: None,
            retransmission: Retransmission::default(),
        }
    }

    fn class(&self, id: ClassId) -> &Class {
        &self.classes[usize::from(id)]
    }

    fn class_mut(&mut self, id: ClassId) -> &mut Class {
        &mut self.classes[usize::from(id)]
    }

    /// Whether all channels get repairs as soon as the path loses anything.
    pub(super) fn is_adaptive(&self) -> bool {
        self.classes.iter().all(|class| class.mode == RedundancyMode::Adaptive)
    }

    /// The peer sends repairs no more: what was kept for them goes.
    pub(super) fn forget_kept(&mut self) {
        self.decoder = None;
    }

    /// A packet with new messages left, which are so many of its bytes: redundancy may cost its share of them.
    pub(super) fn earn(&mut self, bytes: usize) {
        self.budget.earn(bytes as u64);
    }

    /// Whether packets of this class hold messages of those before them.
    pub(super) fn repeats(&self, class: ClassId) -> bool {
        self.class(class).repeats.is_some()
    }

    /// When a repair is due that keeps its distance.
    pub(super) fn due(&self) -> Time {
        self.classes.iter().map(|class| class.repairs.due()).min().unwrap_or(Time::NEVER)
    }

    /// Whether a repair is due.
    pub(super) fn has_repairs(&self, now: Time) -> bool {
        self.classes.iter().any(|class| class.repairs.are_due(now))
    }

    /// Whether new messages of a class wait for the repairs that are due: those of other classes are few and were to
    /// leave before; of its own, those of a block, because what follows belongs to another.
    pub(super) fn repairs_come_first(&self, now: Time, next: ClassId) -> bool {
        let mut due = self.classes.iter().enumerate().filter(|(_, class)| class.repairs.are_due(now));
        due.any(|(id, class)| id != usize::from(next) || class.has_blocks())
    }

    /// Whether the repair that is next shall repeat the acknowledgement of its burst.
    pub(super) fn repeats_ack(&self, now: Time) -> bool {
        self.classes.iter().find(|class| class.repairs.are_due(now)).is_some_and(|class| class.repairs.repeat_ack)
    }

    /// Bytes that packets leave free, so that repairs of them fit into a datagram.
    pub(super) fn reserve(&self, class: Option<ClassId>) -> usize {
        let has_repairs = match class {
            Some(class) => self.class(class).encoder.is_some(),
            None => self.classes.iter().any(|class| class.encoder.is_some()),
        };
        if has_repairs { crate::redundancy::fec::encoder::EXTRA_BYTES } else { 0 }
    }

    /// Repairs that are due cannot leave, because the path is full: it needs none then.
    pub(super) fn drop_repairs_due(&mut self, now: Time) {
        for class in self.classes.iter_mut().filter(|class| class.repairs.are_due(now)) {
            class.repairs.clear();
        }
    }

    /// Repairs leave at the pace of everything else.
    pub(super) fn defer_repairs(&mut self, until: Time) {
        self.classes.iter_mut().for_each(|class| class.repairs.defer(until));
    }
}

/// Room beside the messages of a packet for the frame that says their age (LATE, WIRE.md section 4.5).
pub(super) const AGE_ROOM: usize = LATE_BYTES_MAX;
/// What each packet adds to its frames: header and number. The seal comes on top.
pub(super) const PACKET_BYTES: usize = HEADER_BYTES + 2;
