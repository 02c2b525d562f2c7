//! The two secrets of an endpoint, each from half of its seed.

use crate::security::cookie::CookieKey;
use crate::security::secret_rng::SecretRng;

/// The two secrets, which never leave the endpoint.
#[derive(Debug)]
pub(super) struct Secrets {
    /// Random source of ids, nonces and tokens. Each shard of a server has its own.
    pub(super) rng: SecretRng,
    /// Key that creates and checks cookies. Shards of one server share it.
    pub(super) cookie_key: CookieKey,
}

impl Secrets {
    pub(super) fn new(seed: &[u8; 32]) -> Self {
        let half = |from: usize| seed[from..from + 16].try_into().expect("half of 32 bytes");
        Secrets { rng: SecretRng::new(half(16)), cookie_key: CookieKey::new(half(0)) }
    }
}
