//! A token bucket that limits sending, in bytes a second.

use std::time::{Duration, Instant};

/// Fills with time, and never holds more than [`DEPTH`] of it.
#[derive(Debug)]
pub(crate) struct Bucket {
    bytes_per_second: u64,
    room: u64,
    filled_at: Instant,
}

impl Bucket {
    pub(crate) fn new(bytes_per_second: u64, now: Instant) -> Bucket {
        Bucket { bytes_per_second, room: 0, filled_at: now }
    }

    /// How many bytes may be sent now.
    pub(crate) fn room(&mut self, now: Instant) -> usize {
        let gained = bytes_in(self.bytes_per_second, now.saturating_duration_since(self.filled_at));
        if gained > 0 {
            self.room = (self.room + gained).min(bytes_in(self.bytes_per_second, DEPTH).max(1));
            self.filled_at = now;
        }
        usize::try_from(self.room).unwrap_or(usize::MAX)
    }

    /// Counts sent ones.
    pub(crate) fn take(&mut self, bytes: usize) {
        self.room = self.room.saturating_sub(bytes as u64);
    }
}

fn bytes_in(bytes_per_second: u64, span: Duration) -> u64 {
    u64::try_from(u128::from(bytes_per_second) * span.as_micros() / 1_000_000).unwrap_or(u64::MAX)
}

const DEPTH: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_bucket_limits_rate_and_burst() {
        let began = Instant::now();
        let (mut bucket, mut sent) = (Bucket::new(1_000_000, began), 0);
        for step in 0..10_000 {
            let room = bucket.room(began + Duration::from_micros(100) * step);
            bucket.take(room);
            sent += room;
        }
        assert!((999_000..=1_000_000).contains(&sent), "{sent} in a second");
        assert_eq!(bucket.room(began + Duration::from_secs(60)), 50_000);
    }
}
