//! The current loss, and the usual loss of this path.

use crate::time::Time;

/// The loss of the current measuring period, and the path's usual loss, both in parts of 65,536.
#[derive(Clone, Copy, Debug)]
pub(super) struct Losses {
    acked: u32,
    lost: u32,
    from: Time,
    usual: u16,
    /// The longest recent queueing delay.
    longest: u32,
    /// Recent losses and acknowledged datagrams, halved from time to time: while the queueing delay was near its
    /// longest, and otherwise.
    at_longest: [u16; 2],
    otherwise: [u16; 2],
    counted_at: Time,
}

/// Minimum number of datagrams of a measuring period, so that a high loss is not due to chance.
const DATAGRAMS_MIN: u32 = 48;
/// Losses at the longest queue before they count as a sign of an overflow.
const OVERFLOWS_MIN: u64 = 5;
const ONE: u64 = 65_536;
/// 5%: the loss of radio paths.
const USUAL_INITIAL: u16 = 3_277;
/// 10%: more than this is never considered usual, however long it lasts.
const USUAL_MAX: u64 = 6_554;

impl Losses {
    pub(super) const fn new() -> Self {
        Losses {
            acked: 0,
            lost: 0,
            from: Time::ZERO,
            usual: USUAL_INITIAL,
            longest: 0,
            at_longest: [0; 2],
            otherwise: [0; 2],
            counted_at: Time::ZERO,
        }
    }

    /// Whether losses come when the queue is at its longest, and hardly otherwise: another flow lets the queue
    /// overflow.
    pub(super) fn follow_queue(&self) -> bool {
        let [lost, acked] = self.at_longest.map(u64::from);
        let [lost_otherwise, acked_otherwise] = self.otherwise.map(u64::from);
        lost >= OVERFLOWS_MIN && lost * acked_otherwise > 4 * (lost_otherwise + 1) * acked
    }

    /// Resets the counts of overflows.
    pub(super) fn forget_overflows(&mut self) {
        (self.at_longest, self.otherwise) = ([0; 2], [0; 2]);
    }

    /// Halves the counts, and reduces the longest delay by a quarter.
    pub(super) fn fade(&mut self) {
        self.at_longest = self.at_longest.map(|count| count / 2);
        self.otherwise = self.otherwise.map(|count| count / 2);
        self.longest = self.longest / 4 * 3;
    }

    /// Losses of one round trip count once where overflows are distinguished from random loss.
    pub(super) fn on_lost(&mut self, now: Time, bytes: u32, sent_at: Time, wait_us: u32) {
        self.lost = self.lost.saturating_add(bytes);
        if sent_at >= self.counted_at {
            self.counted_at = now;
            let lost = &mut self.side(wait_us)[0];
            *lost = lost.saturating_add(1);
        }
    }

    /// Whether a queueing delay is near the longest recent one.
    fn is_at_longest(&self, wait_us: u32) -> bool {
        wait_us > self.longest / 4 * 3
    }

    /// Whether the queue may have overflowed shortly before a packet waited this long.
    pub(super) fn may_overflow(&self, wait_us: u32) -> bool {
        wait_us > self.longest / 2
    }

    /// The counts for packets that waited this long.
    fn side(&mut self, wait_us: u32) -> &mut [u16; 2] {
        self.longest = self.longest.max(wait_us);
        if self.is_at_longest(wait_us) { &mut self.at_longest } else { &mut self.otherwise }
    }

    /// Counts acknowledged bytes. A measuring period of at least a round trip and [`DATAGRAMS_MIN`] datagrams ends
    /// before they are counted: the losses that the same acknowledgement reports are counted after this call, in the
    /// same period as these arrivals. If `tells_usual` is set, the finished period updates the path's usual loss.
    pub(super) fn on_acked(
        &mut self,
        now: Time,
        bytes: u32,
        rtt_us: u32,
        datagram: u32,
        wait_us: u32,
        tells_usual: bool,
    ) {
        let is_long = now.since(self.from).as_micros() >= u128::from(rtt_us);
        if is_long && self.acked.saturating_add(self.lost) >= DATAGRAMS_MIN * datagram {
            if tells_usual {
                let present = self.present(0).min(USUAL_MAX);
                self.usual = ((u64::from(self.usual) * 15 + present) / 16) as u16;
            }
            self.begin(now);
        }
        let acked = &mut self.side(wait_us)[1];
        *acked = acked.saturating_add((bytes / datagram).max(1) as u16);
        self.acked = self.acked.saturating_add(bytes);
    }

    /// Whether more is lost than twice the usual loss plus this percentage.
    pub(super) fn is_excessive(&self, datagram: u32, percent: u32) -> bool {
        self.present(DATAGRAMS_MIN * datagram) > 2 * u64::from(self.usual) + ONE * u64::from(percent) / 100
    }

    /// Begins a new measuring period.
    pub(super) fn begin(&mut self, now: Time) {
        (self.acked, self.lost, self.from) = (0, 0, now);
    }

    /// Loss of this measuring period, as if it had at least this many bytes.
    fn present(&self, bytes_min: u32) -> u64 {
        u64::from(self.lost) * ONE / u64::from(self.acked.saturating_add(self.lost).max(bytes_min).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 datagrams of which some are lost, each after a wait.
    fn run(fate: impl Fn(u64) -> (u32, bool)) -> Losses {
        let mut losses = Losses::new();
        for number in 0..1_000 {
            let (now, (wait, is_lost)) = (Time::from_micros(number * 10_000), fate(number));
            if is_lost {
                losses.on_lost(now, 1_200, now, wait);
            } else {
                losses.on_acked(now, 1_200, 100_000, 1_200, wait, true);
            }
        }
        losses
    }

    #[test]
    fn losses_only_at_the_longest_queue_follow_the_queue() {
        assert!(run(|number| (number as u32 % 100 * 1_000, number % 100 == 99)).follow_queue());
    }

    #[test]
    fn losses_at_random_times_do_not_follow_the_queue() {
        assert!(!run(|number| (number as u32 % 100 * 1_000, number % 19 == 0)).follow_queue());
    }

    #[test]
    fn usual_loss_is_not_excessive() {
        let mut losses = run(|number| (0, number % 20 == 0));
        for number in 0..48 {
            losses.on_lost(Time::NEVER, if number % 10 == 0 { 1_200 } else { 0 }, Time::NEVER, 0);
        }
        assert!(!losses.is_excessive(1_200, 10));
        losses.on_lost(Time::NEVER, 20 * 1_200, Time::NEVER, 0);
        assert!(losses.is_excessive(1_200, 10));
    }

    /// Whether [`Losses::is_excessive`] is ever true in 100 windows, one each 100 ms. In each window, one
    /// acknowledgement reports `arrived` datagrams as received and `lost` datagrams as lost, as after a change of the
    /// address.
    fn is_excessive_in_windows(arrived: u32, lost: u32) -> bool {
        let mut losses = Losses::new();
        (1..=100).any(|window| {
            let now = Time::from_micros(window * 100_000);
            losses.on_acked(now, arrived * 1_200, 100_000, 1_200, 0, false);
            losses.on_lost(now, lost * 1_200, now, 0);
            losses.is_excessive(1_200, 30)
        })
    }

    #[test]
    fn loss_is_excessive_relative_to_what_the_same_acks_deliver() {
        assert!(!is_excessive_in_windows(600, 40), "6% lost");
        assert!(!is_excessive_in_windows(60, 20), "25% lost");
        assert!(is_excessive_in_windows(60, 60), "half lost");
    }
}
