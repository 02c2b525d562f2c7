//! Encryption: a server's certificates, the servers that a client trusts, TLS behind the protocol's `Session` trait, and TLS
//! and DTLS beneath the protocol.
//!
//! `identity` has a certificate and its key, from `pem` or made by `self_signed`, `certificates` those that a running server
//! shows, `verify` checks a server's certificate, `suites` offers `tls`, which seals packets; `dtls` has the sessions of the
//! carrier, `quic` what WebTransport's carrier asks for.

#[cfg(feature = "__tls")]
mod backend;
#[cfg(feature = "__tls")]
mod certificates;
mod dtls;
#[cfg(feature = "__tls")]
mod ecdsa;
mod fingerprint;
#[cfg(feature = "__tls")]
mod identity;
mod identity_error;
#[cfg(all(feature = "self-signed", feature = "__tls"))]
mod kept_file;
#[cfg(feature = "__tls")]
mod key_file;
#[cfg(feature = "__tls")]
mod pem;
#[cfg(feature = "__tls")]
mod private_key;
#[cfg(all(feature = "webtransport", feature = "__tls"))]
mod quic;
#[cfg(all(test, feature = "self-signed", feature = "__tls"))]
mod resident;
#[cfg(all(feature = "self-signed", feature = "__tls"))]
mod self_signed;
#[cfg(feature = "__tls")]
mod suites;
#[cfg(feature = "__tls")]
mod tls;
mod trust;
#[cfg(feature = "__tls")]
mod verify;

#[cfg(feature = "__tls")]
pub use certificates::{CertificateEvent, CertificateStats};
#[cfg(feature = "__tls")]
pub(crate) use certificates::{CertificateWatch, Certificates};
pub use dtls::DtlsVersion;
#[cfg(all(feature = "dtls", feature = "__tls"))]
pub(crate) use dtls::{DtlsServer, Hello, client_hello, is_sealed};
pub(crate) use dtls::{DtlsSession, DtlsTrust};
pub use fingerprint::{Fingerprint, FingerprintError};
#[cfg(feature = "__tls")]
pub use identity::Identity;
pub use identity_error::IdentityError;
#[cfg(all(feature = "webtransport", feature = "__tls"))]
pub(crate) use quic::QuicServer;
pub use trust::{Trust, TrustError};

use skipstone_proto::Suites;
use std::sync::Arc;

/// Encryption of a server's clients: native ones, and those that come by TLS over TCP.
#[derive(Clone, Debug)]
pub struct Security {
    #[cfg(feature = "__tls")]
    certificates: Option<Arc<Certificates>>,
    allows_plain: bool,
}

#[cfg(feature = "__tls")]
impl Security {
    /// Encrypted, with this certificate.
    pub fn with(identity: Identity) -> Self {
        Security::with_all([identity])
    }

    /// Encrypted, with several certificates: a client that names a server (SNI, by TLS over TCP) is shown the first that is
    /// for the name, the others the first of all, whose fingerprint native clients pin.
    ///
    /// # Panics
    /// There is no certificate: [`Security::plain`] has none.
    pub fn with_all(identities: impl IntoIterator<Item = Identity>) -> Self {
        let certificates = Certificates::new(identities.into_iter().map(Arc::new).collect());
        Security { certificates: Some(certificates), allows_plain: false }
    }

    /// Encrypted, with certificate and key from PEM files, which are read again when they change: new handshakes use the
    /// new certificate within five seconds, and a file that cannot be used leaves the last good one in place
    /// ([`Server::poll_certificate_event`](crate::Server::poll_certificate_event)).
    ///
    /// # Errors
    /// As [`Identity::from_files`].
    pub fn from_files(
        certificate: impl AsRef<std::path::Path>,
        key: Option<&std::path::Path>,
    ) -> Result<Self, IdentityError> {
        Identity::from_files(certificate, key).map(Security::with)
    }

    /// Encrypted, with a certificate of its own that lasts as long as the server: clients are told its fingerprint.
    ///
    /// # Errors
    /// As [`Identity::self_signed`].
    #[cfg(feature = "self-signed")]
    pub fn self_signed() -> Result<Self, IdentityError> {
        Identity::self_signed().map(Security::with)
    }

    /// Encrypted, with a certificate of its own that is made on the first start and kept in this file.
    ///
    /// # Errors
    /// As [`Identity::self_signed_kept_in`].
    #[cfg(feature = "self-signed")]
    pub fn self_signed_kept_in(path: impl AsRef<std::path::Path>) -> Result<Self, IdentityError> {
        Identity::self_signed_kept_in(path).map(Security::with)
    }

    /// Encrypted, with a certificate and key from PEM texts, which may be the same.
    ///
    /// # Errors
    /// As [`Identity::from_pem`].
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        Identity::from_pem(certificate, key).map(Security::with)
    }

    /// The certificates that the library made for this run, and their keys, as PEM: for the process that follows this one
    /// ([`Identity::from_handover`]), so that clients and pages that know their fingerprints come back. `None` if a file keeps them
    /// ([`Security::self_signed_kept_in`]), or they come from elsewhere. Anybody who reads this text can pass for the server.
    #[cfg(feature = "self-signed")]
    pub fn handover(&self) -> Option<String> {
        self.certificates.as_ref().and_then(|certificates| certificates.handover())
    }

    /// The certificates, which follow renewals.
    pub(crate) fn certificates(&self) -> Option<&Arc<Certificates>> {
        self.certificates.as_ref()
    }

    /// The configuration of TLS over TCP, which follows renewals.
    #[cfg_attr(not(feature = "websocket"), allow(dead_code, reason = "only streams need it"))]
    pub(crate) fn streams(&self) -> Option<Arc<rustls::ServerConfig>> {
        self.certificates.as_ref().map(|certificates| certificates.stream_config(&[tls::HTTP]))
    }

    /// What a server needs for DTLS sessions.
    #[cfg(feature = "dtls")]
    pub(crate) fn dtls(&self) -> Option<DtlsServer> {
        DtlsServer::new(self.certificates.clone()?)
    }
}

impl Security {
    /// In clear only: on a trusted network, or in a tunnel that protects by itself.
    pub fn plain() -> Self {
        Security {
            #[cfg(feature = "__tls")]
            certificates: None,
            allows_plain: true,
        }
    }

    /// The security of a server whose configuration does not set it: a certificate for this run.
    pub(crate) fn of_this_run() -> Result<Self, IdentityError> {
        #[cfg(all(feature = "self-signed", feature = "__tls"))]
        return Security::self_signed();
        #[cfg(not(all(feature = "self-signed", feature = "__tls")))]
        return Err(IdentityError::CannotMake);
    }

    /// Clients that ask for no encryption are let in too.
    pub fn allowing_plain(mut self) -> Self {
        self.allows_plain = true;
        self
    }

    /// The fingerprint that clients pin; `None` in clear.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        #[cfg(feature = "__tls")]
        return self.certificates.as_ref().map(|certificates| certificates.first().fingerprint());
        #[cfg(not(feature = "__tls"))]
        return None;
    }

    pub(crate) fn allows_plain(&self) -> bool {
        self.allows_plain
    }

    /// The suites for an endpoint without this library's sockets, such as one in a simulated network.
    pub fn suites(&self) -> Option<Arc<dyn Suites>> {
        #[cfg(feature = "__tls")]
        return self
            .certificates
            .as_ref()
            .map(|certificates| -> Arc<dyn Suites> { Arc::new(suites::ServerSuites::new(certificates)) });
        #[cfg(not(feature = "__tls"))]
        return None;
    }
}

impl Trust {
    /// The suites of a client that connects to this host with this trust.
    ///
    /// # Errors
    /// The text with the authorities ([`Trust::Ca`]) cannot be read or holds none, this build cannot ask the system
    /// for its authorities, or no certificate could be made out to this host.
    #[cfg(feature = "__tls")]
    pub fn suites(&self, host: &str) -> Result<Arc<dyn Suites>, TrustError> {
        let verifier = verify::Verifier::new(self, host)?;
        Ok(Arc::new(suites::ClientSuites::new(verifier)))
    }

    /// What a client needs for a DTLS session with this host.
    #[cfg(all(feature = "dtls", feature = "__tls"))]
    pub(crate) fn dtls(&self, host: &str, version: DtlsVersion) -> Result<DtlsTrust, TrustError> {
        Ok(DtlsTrust { verifier: Arc::new(verify::Verifier::new(self, host)?), version })
    }

    /// What a client needs for TLS over TCP with this host: the configuration, and the name to ask for.
    #[cfg(feature = "__tls")]
    #[cfg_attr(not(feature = "websocket"), allow(dead_code, reason = "only streams need it"))]
    pub(crate) fn streams(
        &self,
        host: &str,
    ) -> Result<(Arc<rustls::ClientConfig>, rustls_pki_types::ServerName<'static>), TrustError> {
        let name = rustls_pki_types::ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| TrustError::NoName(host.into()))?;
        Ok((tls::stream_client_config(Arc::new(verify::Verifier::new(self, host)?)), name))
    }

    /// Returns the error that this build has no DTLS.
    #[cfg(not(all(feature = "dtls", feature = "__tls")))]
    pub(crate) fn dtls(&self, _: &str, _: DtlsVersion) -> Result<DtlsTrust, TrustError> {
        Err(TrustError::NoEncryption)
    }

    /// Returns the error that this program was built without encryption.
    ///
    /// # Errors
    /// Always: this build has no encryption.
    #[cfg(not(feature = "__tls"))]
    pub fn suites(&self, _: &str) -> Result<Arc<dyn Suites>, TrustError> {
        Err(TrustError::NoEncryption)
    }
}
