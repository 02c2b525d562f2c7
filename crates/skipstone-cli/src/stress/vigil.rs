//! Whether a server with undelivered lines is silent, or alive without delivering them.

use super::generator::Generator;
use std::time::{Duration, Instant};

/// A server that lives acknowledges what it is sent within this time, with probes and retransmissions.
const SILENCE_MIN: Duration = Duration::from_millis(2_500);
/// Fewer datagrams may be acknowledgements, which have no answer.
const PROBES_MIN: u64 = 2;
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The traffic from the server since the last line was sent.
pub(crate) struct Vigil {
    received: u64,
    /// The number of lines sent at the time of the last received packet.
    sent: u64,
    heard: Instant,
    looked: Instant,
    /// Datagrams that the clients have sent since.
    probes: u64,
}

impl Vigil {
    pub(crate) fn new(generator: &Generator<'_>) -> Self {
        let now = Instant::now();
        let (sent, received) = generator.datagrams();
        Vigil { received, sent, heard: now, looked: now, probes: 0 }
    }

    /// Looks at the clients' counters, which takes time for each client, if it is time to.
    pub(crate) fn look(&mut self, generator: &Generator<'_>) {
        if self.looked.elapsed() < LOOK_EVERY {
            return;
        }
        self.looked = Instant::now();
        let (sent, received) = generator.datagrams();
        if received != self.received {
            (self.received, self.sent, self.heard) = (received, sent, self.looked);
        }
        // The counters of a client that has left are no longer among them.
        self.probes = sent.saturating_sub(self.sent);
    }

    /// Whether clients sent probes and retransmissions, and nothing came. Clients of a server that lives are quiet when
    /// they have nothing to say.
    pub(crate) fn is_silent(&self) -> bool {
        self.probes >= PROBES_MIN && self.looked.saturating_duration_since(self.heard) >= SILENCE_MIN
    }
}
