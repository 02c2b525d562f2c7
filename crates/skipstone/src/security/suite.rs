//! The names of the suites, and those that this build has.

#[cfg(feature = "__tls")]
use skipstone_proto::SUITE_TLS_1_3;
#[cfg(all(feature = "dtls", feature = "__tls"))]
use skipstone_proto::{SUITE_DTLS_1_2, SUITE_DTLS_1_3};

/// A way to encrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// The handshake of TLS 1.3 (RFC 8446) as QUIC uses it, and packets of this protocol's own: the cheapest.
    Tls13,
    /// RFC 9147.
    #[cfg(feature = "dtls")]
    Dtls13,
    /// RFC 6347.
    #[cfg(feature = "dtls")]
    Dtls12,
}

#[cfg(feature = "__tls")]
impl Suite {
    pub(super) fn bit(self) -> u8 {
        match self {
            Suite::Tls13 => SUITE_TLS_1_3,
            #[cfg(feature = "dtls")]
            Suite::Dtls13 => SUITE_DTLS_1_3,
            #[cfg(feature = "dtls")]
            Suite::Dtls12 => SUITE_DTLS_1_2,
        }
    }
}

/// Every suite that this library has.
#[cfg(all(feature = "dtls", feature = "__tls"))]
pub(super) const ALL: u8 = SUITE_TLS_1_3 | SUITE_DTLS_1_2 | SUITE_DTLS_1_3;

/// The one suite of a library without DTLS.
#[cfg(all(not(feature = "dtls"), feature = "__tls"))]
pub(super) const ALL: u8 = SUITE_TLS_1_3;
