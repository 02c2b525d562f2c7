//! The cookie that proves a client's address without state on the server. WIRE.md section 2.2.

use super::secret_rng::write_address;
use crate::time::{Duration, Time};
use crate::wire::datagram::COOKIE_BYTES;
use core::net::SocketAddr;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;

/// Creates and verifies cookies with a secret key.
#[derive(Clone)]
pub struct CookieKey {
    secret: [u8; 16],
}

/// The data that a cookie authenticates.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The address that the client sends from.
    pub remote: SocketAddr,
    /// The client's own connection id.
    pub source: u32,
    /// The client's nonce.
    pub nonce: u64,
    /// Version agreed on.
    pub version: u16,
    /// Suite agreed on.
    pub suite: u8,
    /// The client's offer as the server received it, so that an attacker on the path cannot remove anything from it.
    pub offer: &'a [u8],
}

/// The lifetime of a cookie.
pub const LIFETIME: Duration = Duration::from_secs(10);

impl CookieKey {
    /// A cookie key with this secret, which must come from the system's entropy.
    pub fn new(secret: [u8; 16]) -> Self {
        CookieKey { secret }
    }

    /// A cookie for this claim.
    pub fn bake(&self, now: Time, claim: &Claim<'_>) -> [u8; COOKIE_BYTES] {
        let issued = seconds(now);
        let mut cookie = [0; COOKIE_BYTES];
        cookie[..4].copy_from_slice(&issued.to_be_bytes());
        cookie[4..].copy_from_slice(&self.mac(issued, claim));
        cookie
    }

    /// Whether the cookie was made for this claim and is fresh.
    pub fn is_good(&self, now: Time, claim: &Claim<'_>, cookie: &[u8; COOKIE_BYTES]) -> bool {
        let age = seconds(now).wrapping_sub(issued(cookie));
        u64::from(age) <= LIFETIME.as_secs() && self.is_own(claim, cookie)
    }

    /// Whether the cookie was made for this claim, regardless of its age.
    pub fn is_own(&self, claim: &Claim<'_>, cookie: &[u8; COOKIE_BYTES]) -> bool {
        let mac = self.mac(issued(cookie), claim);
        // Without an early exit, so that the comparison time reveals nothing.
        let difference = mac.iter().zip(&cookie[4..]).fold(0, |sum, (a, b)| sum | (a ^ b));
        difference == 0
    }

    /// Whether the cookie was issued after this moment, in whole seconds.
    pub fn is_after(cookie: &[u8; COOKIE_BYTES], moment: Time) -> bool {
        moment == Time::ZERO || issued(cookie) > seconds(moment)
    }

    fn mac(&self, issued: u32, claim: &Claim<'_>) -> [u8; 16] {
        let mut hasher = SipHasher24::new_with_key(&self.secret);
        hasher.write_u32(issued);
        write_address(&mut hasher, &claim.remote);
        hasher.write_u32(claim.source);
        hasher.write_u64(claim.nonce);
        hasher.write_u16(claim.version);
        hasher.write_u8(claim.suite);
        hasher.write(claim.offer);
        hasher.finish128().as_bytes()
    }
}

fn issued(cookie: &[u8; COOKIE_BYTES]) -> u32 {
    u32::from_be_bytes([cookie[0], cookie[1], cookie[2], cookie[3]])
}

fn seconds(now: Time) -> u32 {
    (now.as_micros() / 1_000_000) as u32
}

impl core::fmt::Debug for CookieKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("CookieKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_valid_for_its_own_claim_for_ten_seconds() {
        let cookie_key = CookieKey::new([7; 16]);
        let remote = "192.0.2.1:5000".parse().expect("an address");
        let claim = Claim { remote, source: 5, nonce: 9, version: 1, suite: 1, offer: &[9, 1, 0, 1] };
        let now = Time::from_micros(50_000_000);
        let cookie = cookie_key.bake(now, &claim);
        assert!(cookie_key.is_good(now + LIFETIME, &claim, &cookie));
        assert!(!cookie_key.is_good(now + LIFETIME + Duration::from_secs(1), &claim, &cookie));
        assert!(!cookie_key.is_good(now - Duration::from_secs(1), &claim, &cookie));
        let elsewhere = "192.0.2.1:5001".parse().expect("an address");
        assert!(!cookie_key.is_good(now, &Claim { remote: elsewhere, ..claim }, &cookie));
        assert!(!cookie_key.is_good(now, &Claim { nonce: 10, ..claim }, &cookie));
        assert!(!cookie_key.is_good(now, &Claim { offer: &[1, 1, 0, 1], ..claim }, &cookie));
        assert!(!CookieKey::new([8; 16]).is_good(now, &claim, &cookie));
        let mut forged = cookie;
        forged[19] ^= 1;
        assert!(!cookie_key.is_good(now, &claim, &forged) && !cookie_key.is_own(&claim, &forged));
        assert!(cookie_key.is_own(&claim, &cookie) && !cookie_key.is_own(&Claim { source: 6, ..claim }, &cookie));
    }
}
