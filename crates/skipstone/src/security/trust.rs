//! The servers that a client trusts; `verify` checks a server's certificate.

use super::fingerprint::Fingerprint;
use std::fmt;

/// The servers that a client trusts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Trust {
    /// Servers whose certificate was signed by an authority that the system trusts, for the name in the URL. Needs the
    /// feature `native-roots`. By DTLS a server sends one certificate and no chain, so the authority must have signed
    /// it directly: a certificate of a public authority has intermediates, and is refused. Use TLS, pin the
    /// certificate, or trust the certificate that signed it ([`Trust::Ca`]).
    #[default]
    System,
    /// Servers whose certificate was signed by one of these authorities, given as PEM text, for the name in the URL. By
    /// DTLS the authority must have signed the certificate directly: for a public authority this is the intermediate,
    /// the second certificate in the server's `fullchain.pem`.
    Ca(String),
    /// The one server whose certificate has this fingerprint, whatever its name and age.
    Pinned(Fingerprint),
    /// Any server, and any attacker on the path: only for tests on a local machine.
    DangerouslyAnything,
}

/// Why a client's trust cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustError {
    /// The PEM text with the authorities cannot be parsed.
    Unreadable(String),
    /// There is no certificate in the PEM text.
    NoAuthority,
    /// This program was built without the feature `native-roots`, so it cannot ask the system ([`Trust::System`]).
    NoSystem,
    /// This program was built without encryption: with neither of the features `ring` and `aws-lc`.
    NoEncryption,
    /// No certificate can have the URL's host as its name.
    NoName(String),
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrustError::Unreadable(why) => write!(f, "the certificates of the authorities cannot be read: {why}"),
            TrustError::NoAuthority => f.write_str(
                "there is no certificate of an authority (a PEM file has them between lines of BEGIN and END \
                 CERTIFICATE)",
            ),
            TrustError::NoSystem => f.write_str(
                "this program cannot ask the system whom to trust: put the fingerprint that the server prints behind \
                 the URL (#sha256=...), give the certificate of an authority, or build the library with its feature \
                 native-roots",
            ),
            TrustError::NoEncryption => f.write_str(
                "this program was built without encryption: build the library with its feature ring or aws-lc, or use \
                 skip+plain:// on a network that is trusted",
            ),
            TrustError::NoName(host) => write!(f, "'{host}' is not a name or address that a certificate can have"),
        }
    }
}

impl std::error::Error for TrustError {}
