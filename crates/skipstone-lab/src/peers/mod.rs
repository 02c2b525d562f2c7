//! Code that the other transports share in the simulator and over sockets.

#[cfg(feature = "peers")]
pub(crate) mod certificate;
pub(crate) mod framing;

/// IPv4 and UDP.
pub(crate) const HEADER_BYTES: usize = 28;
