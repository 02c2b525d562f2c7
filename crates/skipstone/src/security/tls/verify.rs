//! The client's rules ([`Verifier`]) in the form that rustls needs. Errors keep the text of the rules.

use crate::security::verify::{Untrusted, Verifier};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use std::sync::Arc;

/// The client's rules, and the signature algorithms that the client accepts.
#[derive(Debug)]
pub(super) struct Rules {
    verifier: Arc<Verifier>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Rules {
    pub(super) fn new(verifier: Arc<Verifier>, algorithms: WebPkiSupportedAlgorithms) -> Self {
        Rules { verifier, algorithms }
    }
}

impl ServerCertVerifier for Rules {
    /// The rules contain the server's name; the name that rustls passes is a placeholder.
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let checked = self.verifier.check(certificate, chain);
        checked.map_err(untrusted).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

fn untrusted(why: Untrusted) -> Error {
    Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(why))))
}

/// Text of a rustls error, for users.
pub(super) fn reason(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(CertificateError::Other(OtherError(why))) => why.to_string(),
        error => format!("the encrypted handshake failed: {error}"),
    }
}
