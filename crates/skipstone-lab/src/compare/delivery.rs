//! The delivery mode of a plan's updates, and its guarantees.

use serde::{Deserialize, Serialize};
use skipstone_proto::DeliveryMode;
use strum::Display;

/// The delivery mode of all entities' channels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Display, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Delivery {
    /// Sent once, delivered as it comes.
    Unreliable,
    /// Sent once, delivered if newer than the newest.
    UnreliableSequenced,
    /// Each update once, in order.
    #[default]
    ReliableOrdered,
    /// Each update once, in the order of arrival.
    ReliableUnordered,
    /// The newest arrives.
    ReliableSequenced,
}

impl Delivery {
    /// The delivery rule of the protocol.
    pub(crate) fn on_wire(self) -> DeliveryMode {
        match self {
            Delivery::Unreliable => DeliveryMode::Unreliable,
            Delivery::UnreliableSequenced => DeliveryMode::UnreliableSequenced,
            Delivery::ReliableOrdered => DeliveryMode::ReliableOrdered,
            Delivery::ReliableUnordered => DeliveryMode::ReliableUnordered,
            Delivery::ReliableSequenced => DeliveryMode::ReliableSequenced,
        }
    }

    /// The delivery of a protocol channel with this mode.
    pub(crate) fn of(mode: DeliveryMode) -> Self {
        match mode {
            DeliveryMode::Unreliable => Delivery::Unreliable,
            DeliveryMode::UnreliableSequenced => Delivery::UnreliableSequenced,
            DeliveryMode::ReliableOrdered => Delivery::ReliableOrdered,
            DeliveryMode::ReliableUnordered => Delivery::ReliableUnordered,
            DeliveryMode::ReliableSequenced => Delivery::ReliableSequenced,
        }
    }

    /// How much has to arrive.
    pub(crate) fn owes(self) -> Owed {
        match self {
            Delivery::ReliableOrdered | Delivery::ReliableUnordered => Owed::All,
            Delivery::ReliableSequenced => Owed::Newest,
            Delivery::Unreliable | Delivery::UnreliableSequenced => Owed::Nothing,
        }
    }

    /// Whether an update may arrive behind a newer one of its entity.
    pub(crate) fn keeps_order(self) -> bool {
        !matches!(self, Delivery::Unreliable | Delivery::ReliableUnordered)
    }
}

/// The share of the updates sent that has to arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owed {
    All,
    /// The newest update of each entity.
    Newest,
    Nothing,
}
