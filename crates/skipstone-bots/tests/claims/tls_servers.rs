//! Servers over TLS, with a certificate of their own.

use crate::servers::{ReadWrite, Running, tcp};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use std::sync::{Arc, Mutex};

/// A server over TLS.
pub(crate) struct Secure {
    pub(crate) running: Running<()>,
    /// `#sha256=...`, as clients pin it.
    pub(crate) pin: String,
    /// The names that clients have asked for.
    pub(crate) names: Arc<Mutex<Vec<Option<String>>>>,
}

/// Serves each stream within TLS, by a certificate for `localhost`.
pub(crate) fn tls(serve: impl Fn(&mut dyn ReadWrite) + Send + Sync + 'static) -> Secure {
    let key = rcgen::KeyPair::generate().expect("a key");
    let parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = parameters.self_signed(&key).expect("signed");
    let (pem, key_pem) = (certificate.pem(), key.serialize_pem());
    let identity = skipstone::Identity::from_pem(pem.as_bytes(), key_pem.as_bytes()).expect("a pair");
    let pin = format!("#sha256={}", identity.fingerprint());
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("versions").with_no_client_auth();
    let config = Arc::new(builder.with_single_cert(vec![certificate.der().clone()], key).expect("a pair"));
    let names = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&names);
    let running = tcp(move |mut stream| {
        let mut connection = ServerConnection::new(Arc::clone(&config)).expect("a good configuration");
        while connection.is_handshaking() {
            if connection.complete_io(&mut stream).is_err() {
                return;
            }
        }
        asked.lock().expect("no panic").push(connection.server_name().map(str::to_owned));
        serve(&mut Stream::new(&mut connection, &mut stream));
    });
    Secure { running, pin, names }
}
