//! The structures and numbers that C and Rust both see. Their layout is part of the ABI: a structure with a leading
//! `size` grows at its end, the others never change.

mod config;
mod event;
mod figures;
mod numbers;

pub use config::{SkipstoneChannel, SkipstoneClientConfig, SkipstoneInboundRule, SkipstoneLink, SkipstoneServerConfig};
pub use event::SkipstoneEvent;
pub use figures::{
    SkipstoneDriverStats, SkipstoneFlow, SkipstoneOverview, SkipstoneServerTime, SkipstoneStats, SkipstoneStatsOf1_0,
};
pub use numbers::{
    SkipstoneCloseCode, SkipstoneClosedBy, SkipstoneCongestion, SkipstoneDelivery, SkipstoneDirection,
    SkipstoneEventKind, SkipstoneGivenUp, SkipstoneLogLevel, SkipstoneOverflow, SkipstoneRedundancy, SkipstoneSecurity,
    SkipstoneStatus, SkipstoneStruct, SkipstoneThreading, SkipstoneTrust, SkipstoneViolation,
};

/// A server. 0 is invalid. The numbers of ended servers and clients are not reused.
pub type SkipstoneServer = u64;
/// A client: one connection to one server. 0 is invalid.
pub type SkipstoneClient = u64;
/// A server or a client.
pub type SkipstoneHandle = u64;
/// A connection, identified within its handle. A server never reuses the number; a client's number stays the same when
/// it reconnects.
pub type SkipstonePeer = u64;
/// A number for a set of peers. SKIPSTONE_EVERYONE contains all connected peers.
pub type SkipstoneGroup = u32;

// catalogue: version
/// The version of this interface: the major number in the upper 16 bits, the minor in the lower.
pub const SKIPSTONE_ABI_VERSION: u32 = (1 << 16) + 5;
// catalogue: end
/// The group of all connected peers, which the library keeps.
pub const SKIPSTONE_EVERYONE: SkipstoneGroup = 0;
/// A value of `merging_us`: each message is sent when it is queued.
pub const SKIPSTONE_MERGE_NOT: u64 = 0;
/// A value of `merging_us`: messages are sent at each `skipstone_flush`.
pub const SKIPSTONE_MERGE_UNTIL_FLUSH: u64 = u64::MAX;
/// A value of `merging_us` in a client's configuration: as in the server's settings.
pub const SKIPSTONE_MERGE_AS_SERVER: u64 = u64::MAX - 1;
/// Bytes of a certificate's fingerprint (SHA-256).
pub const SKIPSTONE_FINGERPRINT_BYTES: u32 = 32;
