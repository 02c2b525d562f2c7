//! Whether a server that owes lines is silent, or lives and does not deliver them.

use super::generator::Generator;
use std::time::{Duration, Instant};

/// A server that lives acknowledges what it is sent within this time, with probes and retransmissions.
const SILENCE_MIN: Duration = Duration::from_millis(2_500);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What came from the server since the last line was sent.
pub(crate) struct Vigil {
    datagrams: u64,
    /// The last time that anything came, or that nothing waited for an acknowledgement.
    content: Instant,
    looked: Instant,
}

impl Vigil {
    pub(crate) fn new(generator: &Generator<'_>) -> Self {
        let now = Instant::now();
        Vigil { datagrams: generator.datagrams_received(), content: now, looked: now }
    }

    /// Looks at the clients' counters, which takes time for each client, if it is time to.
    pub(crate) fn look(&mut self, generator: &Generator<'_>) {
        if self.looked.elapsed() < LOOK_EVERY {
            return;
        }
        self.looked = Instant::now();
        let datagrams = generator.datagrams_received();
        if datagrams != self.datagrams || !generator.awaits_acknowledgements() {
            (self.datagrams, self.content) = (datagrams, self.looked);
        }
    }

    /// Whether clients waited for acknowledgements all the time, and nothing came.
    pub(crate) fn is_silent(&self) -> bool {
        self.looked.saturating_duration_since(self.content) >= SILENCE_MIN
    }
}
