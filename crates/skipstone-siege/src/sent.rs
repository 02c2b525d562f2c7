//! The reports of attackers.

use serde::{Deserialize, Serialize};

/// The traffic of an attack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Bytes above TCP and TLS, or in datagrams.
    pub bytes: u64,
    /// Streams, sessions or players that began.
    pub openings: u64,
    /// Connections that the other side closed.
    pub closes: u64,
    /// How long it took.
    pub seconds: f64,
}
