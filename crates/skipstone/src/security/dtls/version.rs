//! The versions of DTLS.

/// A version of DTLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DtlsVersion {
    /// DTLS 1.2 (RFC 6347).
    V1_2,
    /// DTLS 1.3 (RFC 9147).
    #[default]
    V1_3,
}
