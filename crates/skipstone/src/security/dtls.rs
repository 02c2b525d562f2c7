//! Time of dimpl, which implements DTLS and uses instants: the protocol's time is mapped to them from one base per process.

use skipstone_proto::{Duration, Time};
use std::sync::OnceLock;
use std::time::Instant;

/// Converts the protocol's time to dimpl's.
pub(crate) fn instant(time: Time) -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now) + Duration::from_micros(time.as_micros())
}
