//! A node that gives away all its players, at a set rate: whom to move when, and when to end.

use skipstone::PeerId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How a node gives its players away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainSettings {
    /// Moves that begin in a second, at least 1.
    pub per_second: u32,
    /// Moves at once.
    pub at_once: usize,
    /// A player whose move failed is tried again after this time.
    pub retry_after: Duration,
    /// How long it takes at most.
    pub limit: Duration,
}

impl Default for DrainSettings {
    /// 100 a second, 100 at once, another try after a second, for 60 s.
    fn default() -> DrainSettings {
        DrainSettings {
            per_second: 100,
            at_once: 100,
            retry_after: Duration::from_secs(1),
            limit: Duration::from_secs(60),
        }
    }
}

/// A drain under way. All calls take `now`: the time since any moment, by one monotonic clock of this process.
///
/// ```text
///         due        on_begun            on_gone
///  here ------> ask ----------> moving -----------> gone
///    ^           | on_failed      | on_failed
///    +-----------+----------------+
/// ```
#[derive(Debug)]
pub struct Drain {
    settings: DrainSettings,
    until: Duration,
    /// When the next move may begin.
    next: Duration,
    moving: BTreeSet<PeerId>,
    /// Players whose move failed, and when they are tried again.
    failed: BTreeMap<PeerId, Duration>,
    failures: u64,
}

/// How a drain stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrainState {
    /// Players are here, or on their way.
    UnderWay,
    /// None is.
    Empty,
    /// The time is over, and this many are here.
    TimeOver(usize),
}

impl Drain {
    /// Begins now.
    pub fn new(settings: DrainSettings, now: Duration) -> Drain {
        let (moving, failed) = (BTreeSet::new(), BTreeMap::new());
        Drain { settings, until: now + settings.limit, next: now, moving, failed, failures: 0 }
    }

    /// Players whose moves are to begin now, of those that are here. Each is to be answered with [`Drain::on_begun`],
    /// [`Drain::on_failed`] or [`Drain::on_gone`]; without an answer it is due again.
    pub fn due(&mut self, here: impl IntoIterator<Item = PeerId>, now: Duration) -> Vec<PeerId> {
        let interval = Duration::from_secs(1) / self.settings.per_second.max(1);
        // A slow tick does not make up for more than itself.
        self.next = self.next.max(now.saturating_sub(CATCH_UP_MAX));
        let mut due = Vec::new();
        for peer in here {
            if self.next > now || self.moving.len() + due.len() >= self.settings.at_once {
                break;
            }
            let waits = self.failed.get(&peer).is_some_and(|until| *until > now);
            if !waits && !self.moving.contains(&peer) {
                due.push(peer);
                self.next += interval;
            }
        }
        due
    }

    /// The player's move has begun.
    pub fn on_begun(&mut self, peer: PeerId) {
        self.failed.remove(&peer);
        self.moving.insert(peer);
    }

    /// The move did not begin, or the player has stayed.
    pub fn on_failed(&mut self, peer: PeerId, now: Duration) {
        self.moving.remove(&peer);
        self.failures += 1;
        self.failed.insert(peer, now + self.settings.retry_after);
    }

    /// The player is here no more, whatever the reason.
    pub fn on_gone(&mut self, peer: PeerId) {
        self.moving.remove(&peer);
        self.failed.remove(&peer);
    }

    /// How it stands, with this many players here or on their way.
    pub fn state(&self, here: usize, now: Duration) -> DrainState {
        match here {
            0 => DrainState::Empty,
            _ if now >= self.until => DrainState::TimeOver(here),
            _ => DrainState::UnderWay,
        }
    }

    /// Players on their way.
    pub fn moving(&self) -> usize {
        self.moving.len()
    }

    /// Moves that failed.
    pub fn failures(&self) -> u64 {
        self.failures
    }
}

/// What a tick that comes late makes up for.
const CATCH_UP_MAX: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn peers(count: u32) -> Vec<PeerId> {
        (0..count).map(|index| PeerId { index, generation: 0 }).collect()
    }

    fn drain(per_second: u32, at_once: usize) -> Drain {
        Drain::new(DrainSettings { per_second, at_once, ..DrainSettings::default() }, ms(0))
    }

    #[test]
    fn moves_begin_at_the_rate_however_ticks_come() {
        for tick in [1, 7, 16, 50, 100] {
            let (mut drain, mut here, mut begun) = (drain(50, 1_000), peers(500), 0);
            for now in (0..2_000).step_by(tick) {
                for peer in drain.due(here.clone(), ms(now)) {
                    drain.on_begun(peer);
                    drain.on_gone(peer);
                    here.retain(|other| *other != peer);
                    begun += 1;
                }
                let expected = 1 + now * 50 / 1_000;
                assert!(begun <= expected && begun + 1 >= expected, "{begun} at {now} ms, a tick of {tick}");
            }
        }
        // After a stall of a second, 100 ms are made up for.
        let mut drain = drain(50, 1_000);
        assert_eq!(drain.due(peers(500), ms(1_000)).len(), 6);
    }

    #[test]
    fn no_more_than_the_maximum_are_on_their_way_at_once() {
        let mut drain = drain(10_000, 20);
        let first = drain.due(peers(100), ms(50));
        assert_eq!(first.len(), 20);
        first.iter().for_each(|peer| drain.on_begun(*peer));
        assert_eq!(drain.due(peers(100), ms(100)), []);
        drain.on_gone(first[7]);
        let left: Vec<PeerId> = peers(100).into_iter().filter(|peer| *peer != first[7]).collect();
        assert_eq!(drain.due(left, ms(200)), [PeerId { index: 20, generation: 0 }]);
        assert_eq!(drain.moving(), 19);
    }

    #[test]
    fn a_player_whose_move_failed_is_tried_again_later_and_others_meanwhile() {
        let mut drain = drain(1_000, 1);
        let [one, other] = peers(2)[..] else { panic!("two") };
        assert_eq!(drain.due([one, other], ms(0)), [one]);
        drain.on_begun(one);
        drain.on_failed(one, ms(10));
        assert_eq!(drain.due([one, other], ms(20)), [other]);
        drain.on_failed(other, ms(20));
        assert_eq!(drain.due([one, other], ms(1_009)), []);
        assert_eq!(drain.due([one, other], ms(1_010)), [one]);
        assert_eq!(drain.failures(), 2);
    }

    #[test]
    fn it_ends_when_no_player_is_here_or_when_its_time_is_over() {
        let drain = Drain::new(DrainSettings::default(), ms(5_000));
        assert_eq!(drain.state(3, ms(5_000)), DrainState::UnderWay);
        assert_eq!(drain.state(0, ms(5_000)), DrainState::Empty);
        assert_eq!(drain.state(3, ms(64_999)), DrainState::UnderWay);
        assert_eq!(drain.state(3, ms(65_000)), DrainState::TimeOver(3));
    }
}
