//! The configurations of rustls. Packets of this protocol: only TLS 1.3, two suites, two groups. TCP and QUIC: 1.2 too,
//! and the suites of browsers. No resumption.

use super::provider::{provider, stream_provider};
use super::verify::Rules;
use crate::security::identity::Identity;
use crate::security::verify::Verifier;
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ServerConfig};
use std::sync::Arc;

/// The application protocol (RFC 7301), so that a server of another protocol refuses the handshake.
const ALPN: &[u8] = b"skipstone/1";
/// The application protocol of TLS over TCP.
#[cfg_attr(not(feature = "websocket"), allow(dead_code, reason = "only streams need it"))]
pub(crate) const HTTP: &[u8] = b"http/1.1";

/// A server's side, with the certificate that this chooses for each handshake.
pub(crate) fn server_config_of(certificates: Arc<dyn ResolvesServerCert>) -> Arc<ServerConfig> {
    server_config_by(provider().clone(), certificates)
}

/// A server's configuration with another provider.
pub(super) fn server_config_by(
    provider: Arc<CryptoProvider>,
    certificates: Arc<dyn ResolvesServerCert>,
) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&TLS13]).expect("the provider has suites of it");
    finished(builder.with_no_client_auth().with_cert_resolver(certificates), &[ALPN])
}

/// A server's side over TCP or QUIC: TLS 1.2 and 1.3, with these application protocols.
pub(crate) fn stream_config(certificates: Arc<dyn ResolvesServerCert>, protocols: &[&[u8]]) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(stream_provider().clone());
    let builder = builder.with_protocol_versions(&[&TLS13, &TLS12]).expect("the provider has suites of both");
    finished(builder.with_no_client_auth().with_cert_resolver(certificates), protocols)
}

/// Without resumption: each handshake uses the current certificate, and a server keeps no state of clients that are
/// gone.
fn finished(mut config: ServerConfig, protocols: &[&[u8]]) -> Arc<ServerConfig> {
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.into()
}

/// A certificate with its chain and key in rustls' form; `None` if TLS cannot use it.
pub(crate) fn certified_key(identity: &Identity) -> Option<Arc<CertifiedKey>> {
    let chain = identity.chain().map(|der| CertificateDer::from(der.to_vec())).collect();
    let key = PrivateKeyDer::try_from(identity.key().to_vec()).ok()?;
    Some(Arc::new(CertifiedKey::new(chain, provider().key_provider.load_private_key(key).ok()?)))
}

/// A server's side with one certificate.
#[cfg(all(test, feature = "self-signed"))]
pub(crate) fn server_config(identity: &Identity) -> Option<Arc<ServerConfig>> {
    Some(server_config_of(only(identity)?))
}

/// A resolver with one certificate.
#[cfg(all(test, feature = "self-signed"))]
pub(super) fn only(identity: &Identity) -> Option<Arc<dyn ResolvesServerCert>> {
    Some(Arc::new(rustls::sign::SingleCertAndKey::from(certified_key(identity)?)))
}

/// A client's side over TCP, for one server, which the rules know by its name.
#[cfg_attr(not(feature = "websocket"), allow(dead_code, reason = "only streams need it"))]
pub(crate) fn stream_client_config(verifier: Arc<Verifier>) -> Arc<ClientConfig> {
    let provider = stream_provider().clone();
    let rules = Rules::new(verifier, provider.signature_verification_algorithms);
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&TLS13, &TLS12]).expect("the provider has suites of both");
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(rules)).with_no_client_auth();
    config.alpn_protocols = vec![HTTP.to_vec()];
    config.resumption = Resumption::disabled();
    config.into()
}

/// A client's side, for one server.
pub(crate) fn client_config(verifier: Arc<Verifier>) -> Arc<ClientConfig> {
    client_config_by(provider().clone(), verifier)
}

/// A client's configuration with another provider.
pub(super) fn client_config_by(provider: Arc<CryptoProvider>, verifier: Arc<Verifier>) -> Arc<ClientConfig> {
    let rules = Rules::new(verifier, provider.signature_verification_algorithms);
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&TLS13]).expect("the provider has suites of it");
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(rules)).with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    // A server has one certificate and needs no server name, which would disclose the client's target.
    config.enable_sni = false;
    config.into()
}
