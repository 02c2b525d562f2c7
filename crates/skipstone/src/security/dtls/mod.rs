//! DTLS 1.2 and 1.3 (dimpl) below the protocol. WIRE.md section 7.1.
//!
//! `records` checks datagrams before dimpl gets them, `config` has the configuration that all sessions of a role share,
//! `session` is one end of a session: handshake, records in and out. Without the feature `dtls` there are no sessions,
//! and `absent` takes the place of `session`.

#[cfg(all(feature = "dtls", feature = "__tls"))]
mod config;
#[cfg(all(feature = "dtls", feature = "__tls"))]
mod records;
#[cfg_attr(not(all(feature = "dtls", feature = "__tls")), path = "absent.rs")]
mod session;
mod version;

#[cfg(all(feature = "dtls", feature = "__tls"))]
pub(crate) use records::{Hello, client_hello, is_sealed};
#[cfg(all(feature = "dtls", feature = "__tls"))]
pub(crate) use session::DtlsServer;
pub(crate) use session::{DtlsSession, DtlsTrust};
pub use version::DtlsVersion;

#[cfg(all(test, feature = "dtls", feature = "__tls"))]
mod tests;
