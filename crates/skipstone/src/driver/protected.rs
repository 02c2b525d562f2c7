//! The encryption of a client's connection.

use crate::net::websocket::TlsClient;
use crate::security::DtlsTrust;
use skipstone_proto::Protection;

/// By a suite of the protocol, or by a layer below.
#[derive(Clone, Debug)]
pub(crate) struct Protected {
    pub(crate) protection: Protection,
    pub(crate) beneath: Beneath,
}

/// The encryption below the protocol, if any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beneath {
    pub(crate) dtls: Option<DtlsTrust>,
    pub(crate) tls: Option<TlsClient>,
}
