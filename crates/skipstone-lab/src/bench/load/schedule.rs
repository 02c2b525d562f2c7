//! The schedule of lines, fixed before the first line is sent.

use super::evidence::Clientele;
use crate::units::Rate;

/// The schedule of lines, since the epoch. Clients are spread over the interval unevenly, so that no number of them
/// keeps step with the server's ticks.
#[derive(Debug, Clone)]
pub(super) struct LoadSchedule {
    epoch_ns: u64,
    rate: Rate,
    /// When clients are due in each interval, as a share of it, and their numbers in this process.
    turns: Vec<(f64, u32)>,
    next: (u64, usize),
}

impl LoadSchedule {
    /// The turns of some clients, numbered across all processes.
    pub(super) fn new(epoch_ns: u64, rate: Rate, who: Clientele) -> Self {
        let golden = (5_f64.sqrt() - 1.0) / 2.0;
        let share = |client: u32| (f64::from(who.first + client) * golden).fract();
        let mut turns: Vec<(f64, u32)> = (0..who.count).map(|client| (share(client), client)).collect();
        turns.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { epoch_ns, rate, turns, next: (0, 0) }
    }

    /// The next line: when, and whose.
    pub(super) fn due(&self) -> (u64, u32) {
        let (share, client) = self.turns[self.next.1];
        let due = self.rate.due(self.next.0) + self.rate.interval().mul_f64(share);
        (self.epoch_ns + due.as_nanos() as u64, client)
    }

    pub(super) fn advance(&mut self) {
        let (round, turn) = self.next;
        self.next = if turn + 1 < self.turns.len() { (round, turn + 1) } else { (round + 1, 0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dues(who: Clientele) -> Vec<(u64, u32)> {
        let mut schedule = LoadSchedule::new(1_000, "2/s".parse().unwrap(), who);
        let turns = 3 * who.count;
        (0..turns)
            .map(|_| {
                let (due_ns, client) = schedule.due();
                schedule.advance();
                (due_ns, who.first + client)
            })
            .collect()
    }

    #[test]
    fn a_divided_load_has_the_same_send_times_as_an_undivided_one() {
        let mut whole = dues(Clientele { first: 0, count: 10, of: 10 });
        let parts = [(0, 3), (3, 3), (6, 4)].map(|(first, count)| dues(Clientele { first, count, of: 10 }));
        let mut parts = parts.concat();
        whole.sort_unstable();
        parts.sort_unstable();
        assert_eq!(parts, whole);
    }
}
