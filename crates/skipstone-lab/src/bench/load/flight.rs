//! Lines in flight: each line that returns is followed by another.

use std::time::{Duration, Instant};

/// The clients that may send next.
#[derive(Debug)]
pub(super) struct Flight {
    in_flight: u32,
    /// When each client sent last.
    sent: Vec<Instant>,
    looked: Instant,
}

/// On lossy workloads, a client that has received nothing for this long starts again.
const RETURN_MAX: Duration = Duration::from_millis(500);

impl Flight {
    pub(super) fn new(clients: u32, in_flight: u32) -> Self {
        let now = Instant::now();
        Self { in_flight, sent: vec![now; clients as usize], looked: now }
    }

    /// Every client begins, with one turn for each line that it may have in flight.
    pub(super) fn begin(&self) -> Vec<u32> {
        (0..self.in_flight).flat_map(|_| 0..self.sent.len() as u32).collect()
    }

    /// This client sends.
    pub(super) fn note(&mut self, client: u32) {
        self.sent[client as usize] = Instant::now();
    }

    /// The clients that begin again.
    pub(super) fn stranded(&mut self) -> Vec<u32> {
        if self.looked.elapsed() < RETURN_MAX {
            return Vec::new();
        }
        self.looked = Instant::now();
        let silent = self.sent.iter().zip(0..).filter(|(sent, _)| sent.elapsed() > RETURN_MAX);
        silent.flat_map(|(_, client)| std::iter::repeat_n(client, self.in_flight as usize)).collect()
    }
}
