//! Authenticates a server for a client: by the fingerprint of its certificate, or by the authority that signed the
//! certificate for the server's name.

use super::backend::CERTIFICATE_SIGNATURES;
use super::fingerprint::{Fingerprint, fingerprint_of};
use super::trust::{Trust, TrustError};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, TrustAnchor, UnixTime};
use std::fmt;

/// Checks the certificate of one server.
pub(crate) struct Verifier {
    rule: Rule,
    host: String,
}

enum Rule {
    Pinned(Fingerprint),
    Signed(Vec<TrustAnchor<'static>>, ServerName<'static>),
    Anything,
}

impl Verifier {
    /// Creates the check for the server with this name or address.
    pub(crate) fn new(trust: &Trust, host: &str) -> Result<Self, TrustError> {
        let rule = match trust {
            Trust::Pinned(fingerprint) => Rule::Pinned(*fingerprint),
            Trust::DangerouslyAnything => Rule::Anything,
            Trust::Ca(pem) => {
                let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
                let found = found.map_err(|error| TrustError::Unreadable(error.to_string()))?;
                if found.is_empty() {
                    return Err(TrustError::NoAuthority);
                }
                let anchors: Result<Vec<_>, _> = found.iter().map(anchor).collect();
                Rule::Signed(anchors.map_err(|error| TrustError::Unreadable(error.to_string()))?, name(host)?)
            }
            Trust::System => Rule::Signed(system_authorities()?, name(host)?),
        };
        Ok(Verifier { rule, host: host.into() })
    }

    /// Checks the certificate of a server, with the intermediate certificates that the server has sent, if any.
    pub(crate) fn check(&self, certificate: &[u8], chain: &[CertificateDer<'_>]) -> Result<(), Untrusted> {
        let fingerprint = fingerprint_of(certificate);
        let untrusted = |why: Why| Untrusted { why, host: self.host.clone(), fingerprint };
        match &self.rule {
            Rule::Anything => Ok(()),
            Rule::Pinned(pin) if *pin == fingerprint => Ok(()),
            Rule::Pinned(pin) => Err(untrusted(Why::OtherFingerprint(*pin))),
            Rule::Signed(anchors, name) => signed(certificate, chain, anchors, name).map_err(|error| {
                untrusted(match error {
                    // The second error: the issuer has the name of a trusted authority, but another key.
                    webpki::Error::UnknownIssuer | webpki::Error::InvalidSignatureForPublicKey => Why::UnknownIssuer,
                    webpki::Error::CertExpired { .. } => Why::Expired,
                    webpki::Error::CertNotValidYet { .. } => Why::NotYetValid,
                    webpki::Error::CertNotValidForName(_) => Why::OtherName,
                    other => Why::Other(other.to_string()),
                })
            }),
        }
    }
}

#[cfg(feature = "native-roots")]
fn system_authorities() -> Result<Vec<TrustAnchor<'static>>, TrustError> {
    // A certificate of the system that webpki cannot read is left out: it is not needed here.
    let found = rustls_native_certs::load_native_certs().certs;
    Ok(found.iter().filter_map(|der| anchor(der).ok()).collect())
}

#[cfg(not(feature = "native-roots"))]
fn system_authorities() -> Result<Vec<TrustAnchor<'static>>, TrustError> {
    Err(TrustError::NoSystem)
}

fn anchor(der: &CertificateDer<'_>) -> Result<TrustAnchor<'static>, webpki::Error> {
    webpki::anchor_from_trusted_cert(der).map(|anchor| anchor.to_owned())
}

fn name(host: &str) -> Result<ServerName<'static>, TrustError> {
    ServerName::try_from(host.to_owned()).map_err(|_| TrustError::NoName(host.into()))
}

fn signed(
    certificate: &[u8],
    chain: &[CertificateDer<'_>],
    anchors: &[TrustAnchor<'_>],
    name: &ServerName<'_>,
) -> Result<(), webpki::Error> {
    let der = CertificateDer::from(certificate);
    let parsed = webpki::EndEntityCert::try_from(&der)?;
    let usage = webpki::KeyUsage::server_auth();
    parsed.verify_for_usage(CERTIFICATE_SIGNATURES, anchors, chain, UnixTime::now(), usage, None, None)?;
    parsed.verify_is_valid_for_subject_name(name)
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match &self.rule {
            Rule::Pinned(pin) => pin.to_string(),
            Rule::Signed(anchors, _) => format!("{} authorities", anchors.len()),
            Rule::Anything => "anything".into(),
        };
        f.debug_struct("Verifier").field("host", &self.host).field("rule", &rule).finish()
    }
}

/// A server that is not trusted.
pub(crate) struct Untrusted {
    why: Why,
    host: String,
    fingerprint: Fingerprint,
}

#[derive(Debug)]
enum Why {
    OtherFingerprint(Fingerprint),
    UnknownIssuer,
    Expired,
    NotYetValid,
    OtherName,
    Other(String),
}

impl std::error::Error for Untrusted {}

/// The sentence: rustls shows its errors to other libraries by this.
impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = &self.host;
        match &self.why {
            Why::OtherFingerprint(pin) => write!(
                f,
                "the server's certificate has the fingerprint {}, and the URL wants {}: another server, a new \
                 certificate, or somebody between",
                self.fingerprint, pin
            ),
            Why::UnknownIssuer => write!(
                f,
                "nobody trusted has signed the certificate of '{host}'. If it is your server, put the fingerprint that \
                 it prints behind the URL (#sha256=...), or trust the signer's certificate (of a public authority the \
                 intermediate, for a server shows no chain)"
            ),
            Why::Expired => write!(f, "the certificate of '{host}' has expired: its operator must renew it"),
            Why::NotYetValid => {
                write!(f, "the certificate of '{host}' is not valid yet: is this machine's clock right?")
            }
            Why::OtherName => write!(f, "the server's certificate is not for '{host}': use the name that it is for"),
            Why::Other(why) => write!(f, "the certificate of '{host}' is not acceptable: {why}"),
        }
    }
}
