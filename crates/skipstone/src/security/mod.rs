//! Encryption of native connections: who a server is, whom a client trusts, and TLS and DTLS behind the protocol's seam.
//!
//! `identity` has certificates and keys, `verify` checks those of others, `suites` chooses between `tls` and `dtls`, which
//! seal; `records` looks at what comes before dimpl does.

mod dtls;
mod identity;
pub(crate) mod records;
#[cfg(test)]
mod resident;
mod suites;
mod tls;
mod verify;

pub(crate) use dtls::instant;
pub(crate) use identity::to_hex;
pub use identity::{Fingerprint, Identity, IdentityError};
pub use suites::Suite;
use suites::{ALL, ClientSuites, ServerSuites};
pub(crate) use verify::Verifier;
pub use verify::{Trust, TrustError};

use skipstone_proto::security::Suites;
use std::path::Path;
use std::sync::Arc;

/// How a server protects its native clients. WebSocket is as it is, whatever this says.
#[derive(Clone, Debug)]
pub struct Security {
    identity: Option<Arc<Identity>>,
    allows_plain: bool,
    suites: u8,
}

impl Security {
    /// Encrypted, with this certificate.
    pub fn with(identity: Identity) -> Self {
        Security { identity: Some(identity.into()), allows_plain: false, suites: ALL }
    }

    /// Encrypted, with a certificate of its own that lasts as long as the server: clients are told its fingerprint.
    pub fn self_signed() -> Result<Self, IdentityError> {
        Identity::self_signed().map(Security::with)
    }

    /// Encrypted, with a certificate of its own that is made on the first start and kept in this file.
    pub fn self_signed_kept_in(path: impl AsRef<Path>) -> Result<Self, IdentityError> {
        Identity::self_signed_kept_in(path).map(Security::with)
    }

    /// Encrypted, with a certificate and key from PEM texts, which may be the same.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        Identity::from_pem(certificate, key).map(Security::with)
    }

    /// In clear only: on a trusted network, or in a tunnel that protects by itself.
    pub fn plain() -> Self {
        Security { identity: None, allows_plain: true, suites: 0 }
    }

    /// Clients that ask for no encryption are let in too.
    pub fn allowing_plain(self) -> Self {
        Security { allows_plain: true, ..self }
    }

    /// By this suite and no other.
    pub fn only(self, suite: Suite) -> Self {
        Security { suites: suite.bit(), ..self }
    }

    /// What clients pin; `None` in clear.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.identity.as_ref().map(|identity| identity.fingerprint())
    }

    pub(crate) fn identity(&self) -> Option<Arc<Identity>> {
        self.identity.clone()
    }

    pub(crate) fn allows_plain(&self) -> bool {
        self.allows_plain
    }

    /// For an endpoint without this library's sockets, such as one in a model network.
    pub fn suites(&self) -> Option<Arc<dyn Suites>> {
        let identity = self.identity.clone()?;
        Some(Arc::new(ServerSuites::new(identity, self.suites)))
    }
}

impl Trust {
    /// What a client demands of the server at this host, by whichever suite the server likes best, or by one.
    pub fn suites(&self, host: &str, suite: Option<Suite>) -> Result<Arc<dyn Suites>, TrustError> {
        let verifier = Verifier::new(self, host)?;
        let offered = suite.map_or(ALL, Suite::bit);
        Ok(Arc::new(ClientSuites::new(verifier.into(), offered)))
    }
}
