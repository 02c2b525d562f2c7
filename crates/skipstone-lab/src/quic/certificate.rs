//! The certificate of all QUIC servers of the measurements, and the TLS configuration of its servers and clients.

use std::sync::Arc;

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The name in the certificate.
pub(crate) const NAME: &str = "skipstone.test";
fn certificate() -> CertificateDer<'static> {
    CertificateDer::from_slice(include_bytes!("certificate/certificate.der"))
}

/// The TLS configuration of any QUIC server in this crate.
pub(crate) fn server_crypto() -> Arc<QuicServerConfig> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(&include_bytes!("certificate/key.der")[..]));
    let builder = rustls::ServerConfig::builder_with_provider(provider());
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("TLS 1.3 is there");
    let config = builder.with_no_client_auth().with_single_cert(vec![certificate()], key).expect("a good certificate");
    Arc::new(config.try_into().expect("a suite for first packets"))
}

/// The TLS configuration of any client of such a server.
pub(crate) fn client_crypto() -> Arc<QuicClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate()).expect("a good certificate");
    let builder = rustls::ClientConfig::builder_with_provider(provider());
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("TLS 1.3 is there");
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    Arc::new(config.try_into().expect("a suite for first packets"))
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
