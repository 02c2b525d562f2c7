//! Code that the other transports share in the simulator and over sockets.

#[cfg(feature = "peers")]
pub(crate) mod certificate;
pub(crate) mod framing;
pub(crate) mod socket_error;
#[cfg(feature = "peers")]
pub(crate) mod webtransport;

/// IPv4 and UDP.
pub(crate) const HEADER_BYTES: usize = 28;
