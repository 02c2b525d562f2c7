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
        /// Sent once, delivered on arrival.
        Unreliable = "UNRELIABLE",
        /// Sent once, delivered only if newer than the newest delivered message.
        UnreliableSequenced = "UNRELIABLE_SEQUENCED",
        /// Each message once, in order.
        ReliableOrdered = "RELIABLE_ORDERED",
        /// Each message once, on arrival.
        ReliableUnordered = "RELIABLE_UNORDERED",
        /// The newest message is retransmitted until it arrives; older ones are never delivered after it.
        ReliableSequenced = "RELIABLE_SEQUENCED",
    }
}

closed_set! {
    /// The reaction if a channel's queue has no room for a message.
    Overflow into skipstone::Overflow {
        /// The message is refused.
        Refuse = "REFUSE",
        /// The oldest queued message is dropped.
        DropOldest = "DROP_OLDEST",
        /// The connection ends.
        Disconnect = "DISCONNECT",
    }
}

closed_set! {
    /// Which congestion controller limits the bytes in flight.
    Congestion into skipstone::Congestion {
        /// Keeps the queue short, and competes with TCP for its share.
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
        /// A background thread, so that acknowledgements do not wait for the game's tick.
        Background = "BACKGROUND",
        /// The application, by calling `poll`: for tests and single-threaded programs.
        Stepped = "STEPPED",
    }
}

closed_set! {
    /// The side that ended a connection.
    ClosedBy {
        /// This side's application, or a rule of this side.
        Local = "LOCAL",
        /// The peer.
        Peer = "PEER",
        /// Neither: the peer stopped answering, or the carrier failed.
        Nobody = "NOBODY",
    }
}

closed_set! {
    /// Why a message that was accepted is not sent (or not again).
    Why {
        /// The queue was full, and the channel refuses new messages then.
        QueueFull = "QUEUE_FULL",
        /// The queue was full, and the channel drops its oldest message then.
        Dropped = "DROPPED",
        /// A newer message of a sequenced channel replaced it.
        Superseded = "SUPERSEDED",
        /// The packet that contained it was lost, and the channel does not retransmit.
        Lost = "LOST",
        /// The client does not accept messages of this length, and the message was a broadcast's.
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
    /// A reason that this module does not know yet is reported as the end of the message's connection.
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
