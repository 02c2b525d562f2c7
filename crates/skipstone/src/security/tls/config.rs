//! The configurations of rustls: TLS 1.3 alone, two suites, two groups, no resumption.

use super::provider::provider;
use super::verify::Rules;
use crate::security::identity::Identity;
use crate::security::verify::Verifier;
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::{ClientConfig, ServerConfig};
use std::sync::Arc;

/// The application protocol (RFC 7301), so that a server of another protocol refuses the handshake.
const ALPN: &[u8] = b"skipstone/1";

/// A server's side; `None` if TLS has no use for its certificate.
pub(crate) fn server_config(identity: &Identity) -> Option<Arc<ServerConfig>> {
    server_config_by(provider().clone(), identity)
}

/// The same with another provider.
pub(super) fn server_config_by(provider: Arc<CryptoProvider>, identity: &Identity) -> Option<Arc<ServerConfig>> {
    let chain = identity.chain().map(|der| CertificateDer::from(der.to_vec())).collect();
    let key = PrivateKeyDer::try_from(identity.key().to_vec()).ok()?;
    let builder = ServerConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).ok()?;
    let mut config = builder.with_no_client_auth().with_single_cert(chain, key).ok()?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Some(config.into())
}

/// A client's side, for one server.
pub(crate) fn client_config(verifier: Arc<Verifier>) -> Arc<ClientConfig> {
    client_config_by(provider().clone(), verifier)
}

/// The same with another provider.
pub(super) fn client_config_by(provider: Arc<CryptoProvider>, verifier: Arc<Verifier>) -> Arc<ClientConfig> {
    let rules = Rules::new(verifier, provider.signature_verification_algorithms);
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("the provider has suites of it");
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(rules)).with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    // A server has one certificate and needs no server name, which would disclose the client's target.
    config.enable_sni = false;
    config.into()
}
