//! What both sides offer: TLS 1.3 alone, two suites, two groups, no resumption.

use super::cipher::aes_128_gcm;
use super::verify::Rules;
use crate::security::identity::Identity;
use crate::security::verify::Verifier;
use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256;
use rustls::crypto::aws_lc_rs::{default_provider, kx_group};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::{ClientConfig, ServerConfig};
use std::sync::{Arc, OnceLock};

/// What the handshake is about, so that a server of something else takes no part in it.
const ALPN: &[u8] = b"skipstone/1";

/// A server's side; `None` if TLS has no use for its certificate.
pub(crate) fn server_config(identity: &Identity) -> Option<Arc<ServerConfig>> {
    let chain = identity.chain().map(|der| CertificateDer::from(der.to_vec())).collect();
    let key = PrivateKeyDer::try_from(identity.key().to_vec()).ok()?;
    let builder = ServerConfig::builder_with_provider(provider().clone());
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).ok()?;
    let mut config = builder.with_no_client_auth().with_single_cert(chain, key).ok()?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Some(config.into())
}

/// A client's side, for one server.
pub(crate) fn client_config(verifier: Arc<Verifier>) -> Arc<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(provider().clone());
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("the provider has suites of it");
    let rules = Rules::new(verifier, algorithms());
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(rules)).with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    // A server has one certificate, and whom a client looks for is nobody else's business.
    config.enable_sni = false;
    config.into()
}

/// The client's order decides, since a telephone may have no instructions for AES.
fn provider() -> &'static Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    PROVIDER.get_or_init(|| {
        let mut suites = vec![aes_128_gcm(), TLS13_CHACHA20_POLY1305_SHA256];
        if !has_aes() {
            suites.reverse();
        }
        let kx_groups = vec![kx_group::X25519, kx_group::SECP256R1];
        Arc::new(CryptoProvider { cipher_suites: suites, kx_groups, ..default_provider() })
    })
}

fn algorithms() -> WebPkiSupportedAlgorithms {
    provider().signature_verification_algorithms
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn has_aes() -> bool {
    std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(target_arch = "aarch64")]
fn has_aes() -> bool {
    std::arch::is_aarch64_feature_detected!("aes")
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
fn has_aes() -> bool {
    false
}
