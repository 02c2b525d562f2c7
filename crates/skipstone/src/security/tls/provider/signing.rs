//! The server's signature in a handshake.

use crate::security::backend::rand::SystemRandom;
use crate::security::ecdsa::EcdsaKey;
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
        let key = EcdsaKey::load(&key).ok_or_else(|| Error::General("the key is not one of ECDSA".into()))?;
        Ok(Arc::new(Shared(Arc::new(key))))
    }
}

/// One key for all handshakes of a server.
#[derive(Clone)]
struct Shared(Arc<EcdsaKey>);

impl SigningKey for Shared {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        if offered.contains(&self.0.scheme) { Some(Box::new(self.clone())) } else { None }
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

impl Signer for Shared {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let signed = self.0.pair.sign(&SystemRandom::new(), message);
        signed.map(|signature| signature.as_ref().to_vec()).map_err(|_| Error::General("signing failed".into()))
    }

    fn scheme(&self) -> SignatureScheme {
        self.0.scheme
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("scheme", &self.0.scheme).finish_non_exhaustive()
    }
}
