//! The two secrets of an endpoint, each from half of its seed.

use crate::security::cookie::CookieKey;
use crate::security::secret_rng::SecretRng;
use siphasher::sip::SipHasher24;
use std::hash::Hasher;

/// The two secrets, which never leave the endpoint.
#[derive(Debug)]
pub(super) struct Secrets {
    /// Random source of ids, nonces and tokens. Each shard of a server has its own.
    pub(super) rng: SecretRng,
    /// Key that creates and checks cookies. Shards of one server share it.
    pub(super) cookie_key: CookieKey,
    /// Key of the hash by which networks share a queue, so that no network can learn which others share its bucket.
    pub(super) queue_key: u64,
}

impl Secrets {
    pub(super) fn new(seed: &[u8; 32]) -> Self {
        let half = |from: usize| seed[from..from + 16].try_into().expect("half of 32 bytes");
        let mut hasher = SipHasher24::new_with_key(&half(16));
        hasher.write(b"queues");
        Secrets { rng: SecretRng::new(half(16)), cookie_key: CookieKey::new(half(0)), queue_key: hasher.finish() }
    }
}
