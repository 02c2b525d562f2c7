//! A setting: the plan that a seed draws, the condition that it means, and which rules apply to it.

use std::time::Duration;

use skipstone::netsim::{LinkConfig, Loss};

use super::draw;
use crate::compare::condition::{Condition, Flags};
use crate::compare::delivery::{Delivery, Owed};
use crate::compare::plan::ComparePlan;
use crate::compare::transport::Transport;

/// The plan and condition that a seed draws.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) seed: u64,
    /// The plan, as `compare` reads it.
    pub(super) text: String,
    pub(super) condition: Condition,
    /// The same for peers, for which less time is enough.
    pub(super) of_peers: Condition,
    /// A description for people.
    pub(super) words: String,
}

/// Updates of a run, after which it is long enough whatever was asked for.
const UPDATES_MAX: f64 = 1_500_000.0;
const UPDATES_OF_PEERS_MAX: f64 = 300_000.0;
/// Where renet, which has no window and resends everything that waits, is not worth its time.
const RENET_RTT_MAX: Duration = Duration::from_millis(250);
const RENET_UPDATES_PER_SECOND_MAX: f64 = 2_000.0;

impl Setting {
    /// The setting for runs of at most this number of simulated minutes.
    pub(super) fn of(seed: u64, minutes: f64) -> Setting {
        let plan = |minutes: f64| {
            let text = draw::plan(seed, minutes);
            let plan =
                ComparePlan::parse("drawn", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
            let condition = Condition::from(&plan, &Flags::default());
            (condition.unwrap_or_else(|misfit| panic!("seed {seed}: {}\n{text}", misfit.sentence)), text)
        };
        let rate = updates_per_second(&plan(minutes).0);
        let lasting = |updates_max: f64| minutes.min(hundredths(updates_max / rate / 60.0));
        let (condition, text) = plan(lasting(UPDATES_MAX));
        let (of_peers, _) = plan(lasting(UPDATES_OF_PEERS_MAX));
        let words = words(&condition);
        Setting { seed, text, condition, of_peers, words }
    }

    /// Whether the application sends more than the link carries: then the delivered share counts, not the latency.
    pub(super) fn is_overloaded(&self) -> bool {
        self.condition.waiting_max.is_some()
    }

    /// Whether redundancy has nothing to do.
    pub(super) fn is_clean(&self) -> bool {
        let directions = [&self.condition.link, &self.condition.back];
        self.condition.roam_every.is_none()
            && self.condition.beside.is_empty()
            && !self.is_overloaded()
            && directions.into_iter().all(is_clean)
    }

    /// Whether all modes deliver the same updates, so that their percentiles are of the same.
    pub(super) fn delivers_all(&self) -> bool {
        self.condition.delivery_of(0).owes() == Owed::All
    }

    /// The longest queue that is kept to at p95; none where there is no rate, or another flow fills the queue.
    pub(super) fn queue_max(&self) -> Option<Duration> {
        let rate = self.slowest()?;
        let packets = Duration::from_secs_f64(PACKETS * PACKET_BITS / rate as f64);
        let bound = QUEUE_MAX.max(self.condition.round_trip() * 2).max(packets);
        self.condition.beside.is_empty().then_some(bound)
    }

    fn slowest(&self) -> Option<u64> {
        let rates = [&self.condition.link, &self.condition.back].map(|link| link.rate_bits_per_second);
        rates.into_iter().flatten().min()
    }

    /// The time between two ticks.
    pub(super) fn tick(&self) -> Duration {
        Duration::from_secs(1) / self.condition.ticks_per_second
    }

    /// Why a peer does not take part; nothing if it does.
    pub(super) fn why_not(&self, peer: Transport) -> Option<&'static str> {
        let condition = &self.condition;
        let is_slow = matches!(peer, Transport::Renet | Transport::RenetTuned)
            && (condition.round_trip() > RENET_RTT_MAX || updates_per_second(condition) > RENET_UPDATES_PER_SECOND_MAX);
        match condition.delivery_of(0) {
            Delivery::ReliableOrdered | Delivery::ReliableUnordered if self.is_overloaded() => {
                Some("bounded queues differ in their units")
            }
            Delivery::ReliableOrdered | Delivery::ReliableUnordered => match condition.roam_every {
                Some(_) if !peer.survives_moves() => Some("its connections do not move"),
                _ if is_slow => Some("it takes too long to simulate"),
                _ => None,
            },
            _ => Some("it has no such delivery"),
        }
    }
}

/// The bounds of a queue where there is nothing greater.
const QUEUE_MAX: Duration = Duration::from_millis(60);
const PACKETS: f64 = 4.0;
const PACKET_BITS: f64 = 1_500.0 * 8.0;

fn is_clean(link: &LinkConfig) -> bool {
    let lossless = match link.loss {
        Loss::None => true,
        Loss::Random(rate) | Loss::Burst { rate, .. } | Loss::Fade { rate, .. } => rate == 0.0,
    };
    lossless && link.reorder == 0.0 && link.duplicate == 0.0 && link.outages.is_empty()
}

fn updates_per_second(condition: &Condition) -> f64 {
    f64::from(condition.entities) * f64::from(condition.ticks_per_second)
}

fn hundredths(minutes: f64) -> f64 {
    (minutes * 100.0).ceil() / 100.0
}

fn words(condition: &Condition) -> String {
    let Condition { entities, payload_bytes, ticks_per_second, .. } = condition;
    let delivery = condition.delivery_of(0);
    let path = condition.words.iter().filter(|(name, _)| !HIDDEN.contains(&name.as_str()));
    let path: Vec<String> = path.map(|(name, value)| format!("{name} {value}")).collect();
    let short = if delivery == Delivery::ReliableOrdered { String::new() } else { format!(" {delivery}") };
    format!("{entities} x {payload_bytes} B at {ticks_per_second}/s{short}; {}", path.join(", "))
}

/// Said elsewhere, or the same everywhere.
const HIDDEN: [&str; 2] = ["mtu", "delivery"];
