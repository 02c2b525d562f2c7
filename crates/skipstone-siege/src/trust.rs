//! TLS for attackers, which accept any certificate, and for the decoy, which has its own.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme};
use std::sync::Arc;

/// A client that believes any certificate, and keeps no tickets.
pub(crate) fn client() -> ClientConfig {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("ring has TLS 1.3");
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody)).with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    config
}

/// A server with a new certificate.
pub(crate) fn server() -> ServerConfig {
    let key = rcgen::KeyPair::generate().expect("there is entropy");
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a good name");
    let certificate = params.self_signed(&key).expect("it is made").der().clone();
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("ring has TLS 1.3");
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    builder.with_no_client_auth().with_single_cert(vec![certificate], key).expect("the key is the certificate's")
}

#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}
