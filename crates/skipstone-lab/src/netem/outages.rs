//! Outages of relayed streams. A link loses what is sent in an outage; a stream may lose nothing, so these are
//! separate from the link, and decide only whether a stream is read.

use std::time::Duration;

use skipstone::netsim::Outage;

use super::live_path::Direction;
use super::path_settings::PathConfig;

/// The outages of each direction, in the time of its link.
pub(crate) struct Outages([Vec<Outage>; 2]);

impl Outages {
    pub(crate) fn of(config: &PathConfig) -> Outages {
        Outages([config.up.outages.clone(), config.down.outages.clone()])
    }

    /// Takes a direction down from now on.
    pub(crate) fn take_down(&mut self, direction: Direction, now: Duration, length: Duration) {
        let outages = &mut self.0[direction as usize];
        outages.retain(|outage| end(outage) > now);
        outages.push(Outage { start: now, length });
    }

    /// When a direction's current outage ends.
    pub(crate) fn down_until(&self, direction: Direction, now: Duration) -> Option<Duration> {
        let begun = self.0[direction as usize].iter().filter(|outage| outage.start <= now);
        begun.map(end).filter(|end| *end > now).max()
    }
}

fn end(outage: &Outage) -> Duration {
    outage.start.saturating_add(outage.length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_is_down_until_all_begun_outages_end() {
        let ms = Duration::from_millis;
        let mut outages = Outages([vec![Outage { start: ms(10), length: ms(5) }], Vec::new()]);
        assert_eq!(outages.down_until(Direction::Up, ms(9)), None);
        assert_eq!(outages.down_until(Direction::Up, ms(10)), Some(ms(15)));
        outages.take_down(Direction::Up, ms(12), ms(20));
        assert_eq!(outages.down_until(Direction::Up, ms(12)), Some(ms(32)));
        assert_eq!(outages.down_until(Direction::Up, ms(32)), None);
        assert_eq!(outages.down_until(Direction::Down, ms(12)), None);
    }
}
