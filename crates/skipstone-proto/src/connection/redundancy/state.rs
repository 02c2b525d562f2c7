//! The redundancy of one connection, both directions, and queries over all of its classes.

use super::class::Class;
use super::retransmission::Retransmission;
use crate::channel::classes::{self, ClassId};
use crate::redundancy::budget::Budget;
use crate::redundancy::fec::Decoder;
use crate::redundancy::fec::encoder::EXTRA_BYTES;
use crate::time::Time;
use crate::wire::redundancy::RedundancyMode;
use crate::wire::settings::Settings;

/// The redundancy of one connection, both directions.
#[derive(Debug)]
pub(in crate::connection) struct Redundant {
    /// At least one.
    pub(super) classes: Vec<Class>,
    pub(super) budget: Budget,
    pub(super) decoder: Option<Box<Decoder>>,
    pub(super) retransmission: Retransmission,
}

impl Redundant {
    pub(in crate::connection) fn new(settings: &Settings) -> Self {
        Redundant {
            classes: classes::modes(settings).into_iter().map(Class::new).collect(),
            budget: Budget::new(settings.redundancy.budget_percent),
            decoder: None,
            retransmission: Retransmission::default(),
        }
    }

    pub(super) fn class(&self, id: ClassId) -> &Class {
        &self.classes[usize::from(id)]
    }

    pub(super) fn class_mut(&mut self, id: ClassId) -> &mut Class {
        &mut self.classes[usize::from(id)]
    }

    /// Whether all channels get repairs as soon as the path loses anything.
    pub(in crate::connection) fn is_adaptive(&self) -> bool {
        self.classes.iter().all(|class| class.mode == RedundancyMode::Adaptive)
    }

    /// Drops the packets kept for repairs: the peer sends no more repairs.
    pub(in crate::connection) fn forget_kept(&mut self) {
        self.decoder = None;
    }

    /// Memory of the packets kept for the peer's repairs.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.decoder.as_ref().map_or(0, |decoder| decoder.memory_bytes())
    }

    /// Adds to the redundancy budget: a packet left, of which `bytes` are not repeated messages.
    pub(in crate::connection) fn earn(&mut self, bytes: usize) {
        self.budget.earn(bytes as u64);
    }

    /// Whether packets of this class repeat messages of earlier packets.
    pub(in crate::connection) fn repeats(&self, class: ClassId) -> bool {
        self.class(class).repeats.is_some()
    }

    /// Time at which the next delayed repair is due.
    pub(in crate::connection) fn due(&self) -> Time {
        self.classes.iter().map(|class| class.repairs.due()).min().unwrap_or(Time::NEVER)
    }

    /// Whether a repair is due.
    pub(in crate::connection) fn has_repairs(&self, now: Time) -> bool {
        self.classes.iter().any(|class| class.repairs.are_due(now))
    }

    /// Whether new messages of a class wait for repairs that are due: for repairs of other classes, which are few and
    /// were due before; and for repairs of a block of its own class, because the next messages belong to another block.
    pub(in crate::connection) fn repairs_come_first(&self, now: Time, next: ClassId) -> bool {
        let mut due = self.classes.iter().enumerate().filter(|(_, class)| class.repairs.are_due(now));
        due.any(|(id, class)| id != usize::from(next) || class.has_blocks())
    }

    /// Whether the next repair repeats the acknowledgement of its burst.
    pub(in crate::connection) fn repeats_ack(&self, now: Time) -> bool {
        self.classes.iter().find(|class| class.repairs.are_due(now)).is_some_and(|class| class.repairs.repeat_ack)
    }

    /// Bytes that packets leave free, so that repairs of them fit into a datagram.
    pub(in crate::connection) fn reserve(&self, class: Option<ClassId>) -> usize {
        let has_repairs = match class {
            Some(class) => self.class(class).encoder.is_some(),
            None => self.classes.iter().any(|class| class.encoder.is_some()),
        };
        if has_repairs { EXTRA_BYTES } else { 0 }
    }

    /// Drops the repairs that are due: they cannot leave, because the congestion window is full.
    pub(in crate::connection) fn drop_repairs_due(&mut self, now: Time) {
        for class in self.classes.iter_mut().filter(|class| class.repairs.are_due(now)) {
            class.repairs.clear();
        }
    }

    /// Delays repairs to the pacing of all other packets.
    pub(in crate::connection) fn defer_repairs(&mut self, until: Time) {
        self.classes.iter_mut().for_each(|class| class.repairs.defer(until));
    }
}
