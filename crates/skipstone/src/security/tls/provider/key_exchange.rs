//! Diffie-Hellman on X25519 and P-256 (RFC 8446, section 7.4.2).

use crate::security::backend::agreement::{Algorithm, ECDH_P256, EphemeralPrivateKey, PublicKey, UnparsedPublicKey};
use crate::security::backend::rand::SystemRandom;
use crate::security::backend::{agree, agreement};
use rustls::crypto::{ActiveKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved};

pub(super) static X25519: Group = Group { name: NamedGroup::X25519, algorithm: &agreement::X25519 };
pub(super) static SECP256R1: Group = Group { name: NamedGroup::secp256r1, algorithm: &ECDH_P256 };

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    name: NamedGroup,
    algorithm: &'static Algorithm,
}

/// A key pair that is used once.
struct Exchange {
    group: Group,
    private: EphemeralPrivateKey,
    public: PublicKey,
}

impl SupportedKxGroup for Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let private = EphemeralPrivateKey::generate(self.algorithm, &SystemRandom::new());
        let private = private.map_err(|_| GetRandomFailed)?;
        let public = private.compute_public_key().map_err(|_| GetRandomFailed)?;
        Ok(Box::new(Exchange { group: *self, private, public }))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.name
    }
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let secret = self.group.takes(peer).then(|| {
            let peer = UnparsedPublicKey::new(self.group.algorithm, peer);
            agree(self.private, peer)
        });
        secret.flatten().ok_or_else(|| PeerMisbehaved::InvalidKeyShare.into())
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn pub_key(&self) -> &[u8] {
        self.public.as_ref()
    }

    fn group(&self) -> NamedGroup {
        self.group.name
    }
}

impl Group {
    /// Whether a public key has the one form that TLS 1.3 allows; aws-lc would accept other forms too (RFC 8446,
    /// section 4.2.8.2).
    fn takes(&self, public: &[u8]) -> bool {
        const UNCOMPRESSED: u8 = 4;
        match self.name {
            NamedGroup::X25519 => public.len() == 32,
            _ => public.first() == Some(&UNCOMPRESSED),
        }
    }
}
