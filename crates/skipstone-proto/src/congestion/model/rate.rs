//! The delivery rate: samples (draft-cheng-iccrg-delivery-rate-estimation) and the greatest recent one.

use crate::delivery::DeliveryStamp;
use crate::time::Time;

/// Counts delivered bytes and keeps the greatest rate of the last one to two windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeliveryRate {
    /// Bytes acknowledged so far, wrapping.
    delivered: u32,
    /// The time at which the last of them were delivered, in wrapping microseconds.
    delivered_at: u32,
    /// The time at which the most recently acknowledged packet left, in wrapping microseconds.
    first_sent_at: u32,
    /// Bytes per second: of this window, and of the one before.
    best: [u32; 2],
    window_from: Time,
    /// The same over a longer time.
    lasting: [u32; 2],
    lasting_from: Time,
    train: AckTrain,
}

/// A packet train: packets sent together, whose acknowledgements show by their spacing the rate of the bottleneck.
#[derive(Clone, Copy, Debug)]
struct AckTrain {
    /// Their sending time, in wrapping microseconds.
    sent_at: u32,
    /// The times at which the first packet, and the last one so far, were acknowledged.
    first_at: u32,
    last_at: u32,
    /// Bytes acknowledged after the first.
    bytes: u32,
    /// Bytes per second, smoothed over the trains; 0 before the first.
    rate: u32,
}

/// Packets sent within this many microseconds count as sent together.
const TOGETHER_US: u32 = 50;
/// Packets that one acknowledgement covers may have arrived over this long.
const HELD_TOGETHER_US: u32 = 2_000;
/// Approximate length of a train's first datagram, which does not count.
const DATAGRAM_BYTES: u32 = 1_500;
/// Bytes after the first of a train that is long enough for an estimate.
const TRAIN_BYTES_MIN: u32 = 2_000;

impl DeliveryRate {
    pub(super) const fn new() -> Self {
        DeliveryRate {
            delivered: 0,
            delivered_at: 0,
            first_sent_at: 0,
            best: [0; 2],
            window_from: Time::ZERO,
            lasting: [0; 2],
            lasting_from: Time::ZERO,
            train: AckTrain { sent_at: 1 << 31, first_at: 0, last_at: 0, bytes: 0, rate: 0 },
        }
    }

    /// The stamp of a packet that is sent now. After a pause the measurement starts again.
    pub(super) fn on_sent(&mut self, now: Time, is_first_in_flight: bool) -> DeliveryStamp {
        if is_first_in_flight {
            self.delivered_at = micros(now);
            self.first_sent_at = micros(now);
        }
        DeliveryStamp { delivered: self.delivered, delivered_at: self.delivered_at, first_sent_at: self.first_sent_at }
    }

    /// `bytes` were acknowledged; the newest of the packets left at `sent_at` with this stamp. The last argument has
    /// how long a window is, and how long a lasting one.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        bytes: u32,
        sent_at: Time,
        stamp: DeliveryStamp,
        rtt_min_us: u32,
        [window_us, lasting_us]: [u64; 2],
    ) {
        self.train.on_ack(micros(now), bytes, micros(sent_at));
        self.delivered = self.delivered.wrapping_add(bytes);
        self.delivered_at = micros(now);
        self.first_sent_at = micros(sent_at);
        if stamp == DeliveryStamp::default() {
            return;
        }
        if now.since(self.window_from).as_micros() as u64 > window_us {
            self.best = [0, self.best[0]];
            self.window_from = now;
        }
        if now.since(self.lasting_from).as_micros() as u64 > lasting_us {
            self.lasting = [0, self.lasting[0]];
            self.lasting_from = now;
        }
        let sending = micros(sent_at).wrapping_sub(stamp.first_sent_at);
        let arriving = micros(now).wrapping_sub(stamp.delivered_at);
        // It cannot be shorter than a round trip; a compressed run of acknowledgements would look like a fast path.
        let span = sending.max(arriving).max(rtt_min_us).max(1);
        let delivered = u64::from(self.delivered.wrapping_sub(stamp.delivered));
        let rate = delivered * 1_000_000 / u64::from(span);
        let rate = u32::try_from(rate).unwrap_or(u32::MAX);
        self.best[0] = self.best[0].max(rate);
        self.lasting[0] = self.lasting[0].max(rate);
    }

    /// The rate that the spacing of acknowledgements promises, in bytes per second; 0 before the first measurement.
    pub(super) fn promised(&self) -> u64 {
        u64::from(self.train.rate)
    }

    /// The greatest rate of a longer time, in bytes per second.
    pub(super) fn lasting(&self) -> u64 {
        u64::from(self.lasting[0].max(self.lasting[1]))
    }

    /// The greatest recent rate, in bytes per second; 0 before the first sample.
    pub(super) fn best(&self) -> u64 {
        u64::from(self.best[0].max(self.best[1]))
    }
}

impl AckTrain {
    fn on_ack(&mut self, now: u32, bytes: u32, sent_at: u32) {
        if sent_at.wrapping_sub(self.sent_at) <= TOGETHER_US {
            self.bytes = self.bytes.saturating_add(bytes);
            self.last_at = now;
            return;
        }
        let span = match self.last_at.wrapping_sub(self.first_at) {
            0 => HELD_TOGETHER_US,
            span => span,
        };
        if self.bytes >= TRAIN_BYTES_MIN {
            let rate = (u64::from(self.bytes) * 1_000_000 / u64::from(span)).min(u64::from(u32::MAX)) as u32;
            self.rate = if self.rate == 0 { rate } else { self.rate - self.rate / 4 + rate / 4 };
        }
        *self = AckTrain { sent_at, first_at: now, last_at: now, bytes: bytes.saturating_sub(DATAGRAM_BYTES), ..*self };
    }
}

/// Enough for differences of up to 71 minutes.
fn micros(time: Time) -> u32 {
    time.as_micros() as u32
}
