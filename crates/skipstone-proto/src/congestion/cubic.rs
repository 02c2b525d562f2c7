//! The window of a flow that competes with flows that yield to loss only: CUBIC (RFC 9438) in integers, weighted as
//! several flows.

use super::window::WINDOW_MAX;
use crate::time::Time;

/// A window that grows as CUBIC's does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cubic {
    window: u32,
    /// The number of TCP flows as which it competes.
    flows: u32,
    /// When this epoch of growth began.
    epoch: Time,
    /// The window at the last loss, in bytes: the plateau.
    plateau: u32,
    /// The time at which the window returns to the plateau, in milliseconds of the epoch.
    plateau_ms: u32,
    /// The congestion window that a Reno flow would have by now, in bytes.
    reno: u32,
}

impl Cubic {
    /// Begins to grow from `window` towards `plateau`, where the last loss occurred.
    pub(super) fn new(now: Time, window: u32, plateau: u32, datagram: u32, flows: u32) -> Self {
        // K = cbrt((W_max - cwnd) / C), C = 0.4 datagrams per second cubed, for each flow.
        let missing = u64::from(plateau.saturating_sub(window)) * 2_500_000_000 / u64::from(datagram * flows);
        let plateau = plateau.max(window);
        Cubic { window, flows, epoch: now, plateau, plateau_ms: cube_root(missing), reno: window }
    }

    pub(super) fn window(&self) -> u32 {
        self.window
    }

    /// A larger window is the least.
    pub(super) fn raise_to(&mut self, least: u32) {
        self.window = self.window.max(least);
    }

    /// `acked` bytes were acknowledged while the window was used up.
    pub(super) fn on_acked(&mut self, now: Time, acked: u32, rtt_us: u32, datagram: u32) {
        let (window, step) = (u64::from(self.window.max(datagram)), u64::from(acked) * u64::from(datagram));
        // Reno's fair share against a decrease of 0.3 is 0.53 datagrams per round trip, and 1 once the window is back
        // at the plateau.
        let per_mille = if self.reno < self.plateau { 530 } else { 1_000 };
        let growth = (step * u64::from(self.flows) * per_mille / 1_000 / window) as u32;
        self.reno = self.reno.saturating_add(growth);
        let elapsed_ms = (now.since(self.epoch).as_micros() as u64 + u64::from(rtt_us)) / 1_000;
        let apart = (elapsed_ms as i64 - i64::from(self.plateau_ms)).clamp(-1_000_000, 1_000_000);
        let above = apart.pow(3) / 1_000 * 4 / 10_000 * i64::from(datagram * self.flows) / 1_000;
        let (least, most) = (i64::from(self.window), i64::from(self.window) * 3 / 2);
        let target = (i64::from(self.plateau) + above).clamp(least, most) as u64;
        let cubic = window + (target - u64::from(self.window)).min(window / 2) * u64::from(acked) / window;
        self.window = (cubic as u32).max(self.reno).min(WINDOW_MAX);
    }

    /// The queue overflowed: the window becomes what a loss leaves, and this one is the plateau.
    pub(super) fn on_overflow(&mut self, now: Time, datagram: u32, window_min: u32) {
        let left = reduced(self.window, self.flows).max(window_min);
        *self = Cubic::new(now, left, self.window, datagram, self.flows);
    }
}

/// The window that a loss leaves: 0.7 of it for one flow (RFC 9438, section 4.6).
pub(super) fn reduced(window: u32, flows: u32) -> u32 {
    window - (u64::from(window) * 3 / (10 * u64::from(flows))) as u32
}

/// The greatest whole number whose cube is not above `value`.
fn cube_root(value: u64) -> u32 {
    let mut root = 0u64;
    for bit in (0..=20).rev() {
        let candidate = root | 1 << bit;
        if candidate.pow(3) <= value {
            root = candidate;
        }
    }
    root as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATAGRAM: u32 = 1_200;

    /// The window in datagrams after each second, acknowledged in full each 100 ms.
    fn seconds(plateau: u32, flows: u32, seconds: u64) -> Vec<u32> {
        let window = reduced(plateau * DATAGRAM, flows);
        let mut cubic = Cubic::new(Time::ZERO, window, plateau * DATAGRAM, DATAGRAM, flows);
        let mut after = Vec::new();
        for tenth in 1..=10 * seconds {
            let now = Time::from_micros(tenth * 100_000);
            cubic.on_acked(now, cubic.window(), 100_000, DATAGRAM);
            if tenth % 10 == 0 {
                after.push(cubic.window() / DATAGRAM);
            }
        }
        after
    }

    #[test]
    fn the_window_returns_to_the_plateau_after_k_seconds() {
        // K = cbrt(1000 * 0.3 / 0.4) = 9.09 s; RFC 9438, section 4.2.
        let after = seconds(1_000, 1, 12);
        assert!((990..=1_000).contains(&after[8]), "{after:?}");
        // W(t) = 0.4 * (12.1 - 9.09)^3 + 1000, a round trip ahead.
        assert!((1_008..=1_014).contains(&after[11]), "{after:?}");
    }

    #[test]
    fn a_small_window_grows_like_reno() {
        // 0.53 datagrams per round trip from 14 to 20, then one.
        let after = seconds(20, 1, 3);
        assert!((19..=20).contains(&after[0]) && (36..=41).contains(&after[2]), "{after:?}");
    }

    #[test]
    fn several_flows_reduce_less_and_grow_faster() {
        assert_eq!((reduced(1_000, 1), reduced(1_000, 3)), (700, 900));
        assert!(seconds(100, 3, 3)[2] > seconds(100, 1, 3)[2]);
    }

    #[test]
    fn a_cube_root_is_rounded_down() {
        for value in [0, 1, 7, 8, 26, 27, 999_999, 1_000_000, u64::MAX >> 1] {
            let root = u128::from(cube_root(value));
            assert!(root.pow(3) <= u128::from(value) && (root + 1).pow(3) > u128::from(value));
        }
    }
}
