//! The server's signature in a handshake.

use crate::security::private_key::PrivateKey;
use rustls::crypto::KeyProvider;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};
use std::fmt;
use std::sync::Arc;

/// Loads private keys for rustls.
#[derive(Debug)]
pub(super) struct Keys;

impl KeyProvider for Keys {
    fn load_private_key(&self, key: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        let key =
            PrivateKey::load(&key).ok_or_else(|| Error::General("the key is of no kind that signs here".into()))?;
        Ok(Arc::new(Shared(Arc::new(key))))
    }
}

/// One key for all handshakes of a server.
struct Shared(Arc<PrivateKey>);

/// The key in one handshake.
struct Chosen {
    key: Arc<PrivateKey>,
    scheme: SignatureScheme,
}

impl SigningKey for Shared {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let scheme = self.0.choose_scheme(offered)?;
        Some(Box::new(Chosen { key: Arc::clone(&self.0), scheme }))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl Signer for Chosen {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.key.sign(self.scheme, message).ok_or_else(|| Error::General("signing failed".into()))
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("algorithm", &self.0.algorithm()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chosen").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}
