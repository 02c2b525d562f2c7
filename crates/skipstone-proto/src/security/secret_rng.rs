//! Numbers that a peer must not predict even if it has seen others of them: tokens of path challenges, connection ids,
//! nonces. SipHash-2-4 of a counter, under its own secret.

use crate::path::Path;
use core::net::{IpAddr, SocketAddr};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;

/// Generator of numbers that an attacker cannot predict.
#[derive(Clone)]
pub struct SecretRng {
    secret: [u8; 16],
    made: u64,
}

impl SecretRng {
    /// A generator whose secret is derived from this one, which must come from the system's entropy and may have other
    /// uses.
    pub fn new(secret: [u8; 16]) -> Self {
        let mut hasher = SipHasher24::new_with_key(&secret);
        hasher.write(b"mint");
        SecretRng { secret: hasher.finish128().as_bytes(), made: 0 }
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        let hasher = self.hasher();
        hasher.finish128().h1
    }

    /// A token that the peer on this path returns.
    pub fn token(&mut self, path: &Path) -> u64 {
        let mut hasher = self.hasher();
        write_address(&mut hasher, &path.remote);
        hasher.write_u32(path.socket);
        hasher.finish128().h1
    }

    fn hasher(&mut self) -> SipHasher24 {
        let mut hasher = SipHasher24::new_with_key(&self.secret);
        hasher.write_u64(self.made);
        self.made += 1;
        hasher
    }
}

/// Writes an address into the hash.
pub(super) fn write_address(hasher: &mut SipHasher24, address: &SocketAddr) {
    match address.ip() {
        IpAddr::V4(ip) => hasher.write(&ip.octets()),
        IpAddr::V6(ip) => hasher.write(&ip.octets()),
    }
    hasher.write_u16(address.port());
}

impl core::fmt::Debug for SecretRng {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SecretRng")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Carrier;

    #[test]
    fn the_same_secret_yields_the_same_numbers() {
        let path = Path { socket: 1, local: None, remote: ([192, 0, 2, 1], 5_000).into(), carrier: Carrier::UDP };
        let [mut secret_rng, mut same, mut other] = [[7; 16], [7; 16], [8; 16]].map(SecretRng::new);
        for _ in 0..10 {
            assert_eq!(secret_rng.number(), same.number());
            assert_eq!(secret_rng.token(&path), same.token(&path));
            assert_ne!(secret_rng.number(), secret_rng.number());
            other.number();
            assert_ne!(secret_rng.token(&path), other.token(&path));
            (same, other) = (secret_rng.clone(), other);
        }
    }

    #[test]
    fn a_token_is_valid_for_its_path_only() {
        let path = Path { socket: 1, local: None, remote: ([192, 0, 2, 1], 5_000).into(), carrier: Carrier::UDP };
        let secret_rng = SecretRng::new([7; 16]);
        let elsewhere = [
            Path { socket: 2, ..path },
            Path { remote: ([192, 0, 2, 2], 5_000).into(), ..path },
            Path { remote: ([192, 0, 2, 1], 5_001).into(), ..path },
        ];
        for other in elsewhere {
            assert_ne!(secret_rng.clone().token(&path), secret_rng.clone().token(&other));
        }
    }
}
