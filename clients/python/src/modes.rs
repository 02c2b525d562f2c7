//! Closed sets as Python classes with constants, and the close codes.

use pyo3::prelude::*;

/// Declares a closed set: the Python class, and for one that goes into the library its conversion.
macro_rules! closed_set {
    ($(#[$about:meta])* $name:ident into $library:path { $($(#[$doc:meta])* $variant:ident = $python:literal,)* }) => {
        closed_set! { $(#[$about])* $name { $($(#[$doc])* $variant = $python,)* } }

        impl $name {
            pub(crate) fn library(self) -> $library {
                match self {
                    $($name::$variant => <$library>::$variant,)*
                }
            }
        }
    };
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $python:literal,)* }) => {
        $(#[$about])*
        #[pyclass(eq, hash, frozen, from_py_object)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum $name {
            $($(#[$doc])* #[pyo3(name = $python)] $variant,)*
        }
    };
}

closed_set! {
    /// How the messages of a channel are delivered.
    DeliveryMode into skipstone::DeliveryMode {
        /// Sent once, delivered as it comes.
        Unreliable = "UNRELIABLE",
        /// Sent once, delivered only if newer than the newest delivered.
        UnreliableSequenced = "UNRELIABLE_SEQUENCED",
        /// Each once, in order.
        ReliableOrdered = "RELIABLE_ORDERED",
        /// Each once, as it comes.
        ReliableUnordered = "RELIABLE_UNORDERED",
        /// The newest is sent until it arrives; older ones are never delivered behind it.
        ReliableSequenced = "RELIABLE_SEQUENCED",
    }
}

closed_set! {
    /// What happens to a message for which a channel's queue has no room.
    Overflow into skipstone::Overflow {
        /// The message is refused.
        Refuse = "REFUSE",
        /// The oldest in the queue makes room.
        DropOldest = "DROP_OLDEST",
        /// The connection ends.
        Disconnect = "DISCONNECT",
    }
}

closed_set! {
    /// Which congestion controller limits the bytes in flight.
    Congestion into skipstone::Congestion {
        /// Keeps the queue short, and holds its own beside TCP.
        DelayAware = "DELAY_AWARE",
        /// For an owner of the link: takes as much as several TCP flows would.
        Aggressive = "AGGRESSIVE",
        /// No limit and no pacing.
        Off = "OFF",
    }
}

closed_set! {
    /// Whether a thread in the background or the application runs the driver.
    Threading into skipstone::Threading {
        /// A thread in the background, so that acknowledgements do not wait for the game's tick.
        Background = "BACKGROUND",
        /// The application, by calling `poll`: for tests and single-threaded programs.
        Stepped = "STEPPED",
    }
}

closed_set! {
    /// The side that ended a connection.
    ClosedBy {
        /// This side's application, or this side's rules.
        Local = "LOCAL",
        /// The peer.
        Peer = "PEER",
        /// Neither: the peer stopped answering, or its carrier broke.
        Nobody = "NOBODY",
    }
}

closed_set! {
    /// Why a message that was accepted is not sent (again).
    Why {
        /// The queue was full, and the channel refuses then.
        QueueFull = "QUEUE_FULL",
        /// The queue was full, and the channel drops its oldest message then.
        Dropped = "DROPPED",
        /// A newer message of a sequenced channel took its place.
        Superseded = "SUPERSEDED",
        /// The packet that held it was lost, and the channel does not retransmit.
        Lost = "LOST",
        /// The client takes no messages of this length, and the message was a broadcast's.
        TooLong = "TOO_LONG",
        /// The connection ended first.
        Closed = "CLOSED",
    }
}

impl DeliveryMode {
    pub(crate) fn of(mode: skipstone::DeliveryMode) -> Self {
        match mode {
            skipstone::DeliveryMode::Unreliable => DeliveryMode::Unreliable,
            skipstone::DeliveryMode::UnreliableSequenced => DeliveryMode::UnreliableSequenced,
            skipstone::DeliveryMode::ReliableOrdered => DeliveryMode::ReliableOrdered,
            skipstone::DeliveryMode::ReliableUnordered => DeliveryMode::ReliableUnordered,
            skipstone::DeliveryMode::ReliableSequenced => DeliveryMode::ReliableSequenced,
        }
    }
}

impl Overflow {
    pub(crate) fn of(overflow: skipstone::Overflow) -> Self {
        match overflow {
            skipstone::Overflow::Refuse => Overflow::Refuse,
            skipstone::Overflow::DropOldest => Overflow::DropOldest,
            skipstone::Overflow::Disconnect => Overflow::Disconnect,
        }
    }
}

impl ClosedBy {
    pub(crate) fn of(by: skipstone::ClosedBy) -> Self {
        match by {
            skipstone::ClosedBy::Local => ClosedBy::Local,
            skipstone::ClosedBy::Peer => ClosedBy::Peer,
            skipstone::ClosedBy::Nobody => ClosedBy::Nobody,
        }
    }
}

impl Why {
    /// A reason that this module does not know yet is told as the end of the message's connection.
    pub(crate) fn of(why: skipstone::GivenUp) -> Self {
        match why {
            skipstone::GivenUp::QueueFull => Why::QueueFull,
            skipstone::GivenUp::Dropped => Why::Dropped,
            skipstone::GivenUp::Superseded => Why::Superseded,
            skipstone::GivenUp::Lost => Why::Lost,
            skipstone::GivenUp::TooLong => Why::TooLong,
            _ => Why::Closed,
        }
    }
}
