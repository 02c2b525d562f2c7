//! How a client's connection is protected.

use crate::net::websocket::TlsClient;
use crate::security::DtlsTrust;
use skipstone_proto::Protection;

/// By a suite of the protocol, or beneath it.
#[derive(Clone, Debug)]
pub(crate) struct Protected {
    pub(crate) protection: Protection,
    pub(crate) beneath: Beneath,
}

/// What protects beneath the protocol, if anything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beneath {
    pub(crate) dtls: Option<DtlsTrust>,
    pub(crate) tls: Option<TlsClient>,
}
