//! The cost of a run per second, for its report.

use super::generator::Generator;
use super::outcome::sum;
use skipstone::Stats;
use skipstone_lab::measure::process::{Probe, Sample};
use skipstone_lab::report::stress::chronicle::CostPoint;
use std::time::{Duration, Instant};

/// Samples both processes and the wire. Without a report it does nothing.
pub(super) struct CostMeter {
    server: Option<Probe>,
    own: Probe,
    before: Option<Moment>,
}

struct Moment {
    at: Instant,
    server: Option<Sample>,
    own: Option<Sample>,
    wire: Stats,
}

/// Reading the counters of thousands of clients takes a while.
const EVERY: Duration = Duration::from_secs(1);

impl CostMeter {
    pub(super) fn new(server: Option<Probe>, generator: &mut Generator<'_>) -> Self {
        let mut meter = CostMeter { server, own: Probe::of_self(), before: None };
        if generator.proof.chronicle.is_some() {
            meter.before = Some(meter.now(generator));
        }
        meter
    }

    /// Adds a point to the report if a second has passed.
    pub(super) fn look(&mut self, generator: &mut Generator<'_>) {
        let Some(before) = self.before.take_if(|before| before.at.elapsed() >= EVERY) else { return };
        let now = self.now(generator);
        let span = now.at - before.at;
        let cpu = |before: &Option<Sample>, now: &Option<Sample>| {
            Some(now.as_ref()?.since(before.as_ref()?, span).cpu_percent)
        };
        let rate = |before: u64, now: u64| now.saturating_sub(before) as f64 / span.as_secs_f64();
        let point = CostPoint {
            at: (now.at - generator.epoch).as_secs_f64(),
            server_cpu: cpu(&before.server, &now.server),
            generator_cpu: cpu(&before.own, &now.own),
            sent_bytes: rate(before.wire.sent.ip_bytes, now.wire.sent.ip_bytes),
            received_bytes: rate(before.wire.received.ip_bytes, now.wire.received.ip_bytes),
        };
        generator.proof.chronicle.iter_mut().for_each(|chronicle| chronicle.on_cost(point));
        self.before = Some(now);
    }

    fn now(&self, generator: &mut Generator<'_>) -> Moment {
        Moment {
            at: Instant::now(),
            server: self.server.as_ref().and_then(Probe::sample),
            own: self.own.sample(),
            wire: sum(&generator.stats_by_carrier()),
        }
    }
}
