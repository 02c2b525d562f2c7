//! How a client's connection is protected.

use crate::security::DtlsTrust;
use skipstone_proto::Protection;

/// By a suite of the protocol, or by DTLS beneath it.
#[derive(Clone, Debug)]
pub(crate) struct Protected {
    pub(crate) protection: Protection,
    pub(crate) dtls: Option<DtlsTrust>,
}
