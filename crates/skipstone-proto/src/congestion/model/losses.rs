//! The current loss, and the usual loss of this path.

use crate::time::Time;

/// The loss of the current measuring period, and the path's usual loss, both in parts of 65,536.
#[derive(Clone, Copy, Debug)]
pub(super) struct Losses {
    acked: u32,
    lost: u32,
    from: Time,
    usual: u16,
}

/// Minimum number of datagrams of a measuring period, so that a high loss is not due to chance.
const DATAGRAMS_MIN: u32 = 48;
const ONE: u64 = 65_536;
/// 5%: the loss of radio paths.
const USUAL_INITIAL: u16 = 3_277;
/// 10%: more than this is never considered usual, however long it lasts.
const USUAL_MAX: u64 = 6_554;

impl Losses {
    pub(super) const fn new() -> Self {
        Losses { acked: 0, lost: 0, from: Time::ZERO, usual: USUAL_INITIAL }
    }

    /// Counts lost bytes.
    pub(super) fn on_lost(&mut self, bytes: u32) {
        self.lost = self.lost.saturating_add(bytes);
    }

    /// Counts acknowledged bytes. A measuring period of at least a round trip and [`DATAGRAMS_MIN`] datagrams ends
    /// before they are counted: the losses that the same acknowledgement reports are counted after this call, in the
    /// same period as these arrivals. If `tells_usual` is set, the finished period updates the path's usual loss.
    pub(super) fn on_acked(&mut self, now: Time, bytes: u32, rtt_us: u32, datagram: u32, tells_usual: bool) {
        let is_long = now.since(self.from).as_micros() >= u128::from(rtt_us);
        if is_long && self.acked.saturating_add(self.lost) >= DATAGRAMS_MIN * datagram {
            if tells_usual {
                let present = self.present(0).min(USUAL_MAX);
                self.usual = ((u64::from(self.usual) * 15 + present) / 16) as u16;
            }
            self.begin(now);
        }
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

    /// Loss of this measuring period, 0 to 1.
    pub(super) fn share(&self) -> f32 {
        self.present(0) as f32 / ONE as f32
    }

    /// Loss of this measuring period, as if it had at least this many bytes.
    fn present(&self, bytes_min: u32) -> u64 {
        u64::from(self.lost) * ONE / u64::from(self.acked.saturating_add(self.lost).max(bytes_min).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 datagrams of which some are lost.
    fn run(is_lost: impl Fn(u64) -> bool) -> Losses {
        let mut losses = Losses::new();
        for number in 0..1_000 {
            let now = Time::from_micros(number * 10_000);
            if is_lost(number) {
                losses.on_lost(1_200);
            } else {
                losses.on_acked(now, 1_200, 100_000, 1_200, true);
            }
        }
        losses
    }

    #[test]
    fn usual_loss_is_not_excessive() {
        let mut losses = run(|number| number % 20 == 0);
        for number in 0..48 {
            losses.on_lost(if number % 10 == 0 { 1_200 } else { 0 });
        }
        assert!(!losses.is_excessive(1_200, 10));
        losses.on_lost(20 * 1_200);
        assert!(losses.is_excessive(1_200, 10));
    }

    /// Whether [`Losses::is_excessive`] is ever true in 100 windows, one each 100 ms. In each window, one
    /// acknowledgement reports `arrived` datagrams as received and `lost` datagrams as lost, as after a change of the
    /// address.
    fn is_excessive_in_windows(arrived: u32, lost: u32) -> bool {
        let mut losses = Losses::new();
        (1..=100).any(|window| {
            let now = Time::from_micros(window * 100_000);
            losses.on_acked(now, arrived * 1_200, 100_000, 1_200, false);
            losses.on_lost(lost * 1_200);
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
