//! A contender over all loss seeds of a setting, as if they were one run.

use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::noise::{ChanceRange, Lateness};
use crate::compare::condition::Condition;
use crate::compare::contender::Contender;
use crate::compare::delivery::Owed;
use crate::compare::proof::{UpdateCounts, percentile, percentile_of};
use crate::compare::simulation::{Measured, Stopped, simulate};

/// The findings of all runs together.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// Sorted, in µs.
    latencies: Vec<u32>,
    lateness: Lateness,
    queue_delays: [Vec<u32>; 2],
    /// The number of updates behind the percentiles.
    percentiles_of: usize,
    counts: UpdateCounts,
    overflowed: u64,
    ip_bytes: u64,
    ip_bytes_late: u64,
    never_connected: u64,
    gave_up: u64,
}

/// The figures of a contender in a setting. Times in ms.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct SweepFigures {
    pub(crate) contender: String,
    pub(crate) p50: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) p998: Option<f64>,
    pub(crate) p9999: Option<f64>,
    pub(crate) max: Option<f64>,
    /// Where chance leaves p99, p99.8 and p99.99: figures of two builds within it do not differ.
    pub(crate) p99_range: ChanceRange,
    pub(crate) p998_range: ChanceRange,
    pub(crate) p9999_range: ChanceRange,
    /// IP bytes of both directions per payload byte delivered, there and back.
    pub(crate) bytes_per_payload: Option<f64>,
    /// IP bytes from the third second after the first update on.
    pub(crate) ip_bytes_late: u64,
    /// Of what was sent, bulk included.
    pub(crate) delivered_share: f64,
    pub(crate) lost: u64,
    pub(crate) refused: u64,
    pub(crate) reordered: u64,
    pub(crate) duplicated: u64,
    pub(crate) corrupted: u64,
    /// Datagrams that found a queue full.
    pub(crate) overflowed: u64,
    /// In the direction where it is longer.
    pub(crate) queue_delay_p95: Option<f64>,
    /// Runs whose connection never stood.
    pub(crate) never_connected: u64,
    /// Runs that were stopped because they wanted more datagrams than a run may take.
    pub(crate) gave_up: u64,
    /// By how much percentiles may differ by chance.
    #[serde(skip)]
    pub(super) lateness: Lateness,
}

impl Pool {
    /// Runs a contender with the loss seeds from 1 on.
    pub(super) fn run(
        contender: Contender,
        condition: &Condition,
        loss_seeds: u64,
        stop: &AtomicBool,
    ) -> Result<Pool, Stopped> {
        let mut pool = Pool::default();
        for seed in 1..=loss_seeds {
            pool.add(simulate(contender, condition, seed, stop)?);
        }
        // On channels that may lose updates, a missing update counts as infinitely late.
        pool.percentiles_of = match condition.delivery_of(0).owes() {
            Owed::All => pool.latencies.len(),
            Owed::Newest | Owed::Nothing => (condition.ticks() * u64::from(condition.entities) * loss_seeds) as usize,
        };
        pool.latencies.sort_unstable();
        pool.queue_delays.iter_mut().for_each(|delays| delays.sort_unstable());
        Ok(pool)
    }

    fn add(&mut self, mut measured: Measured) {
        self.latencies.append(&mut measured.latencies);
        self.lateness.add(measured.moments);
        let delays = self.queue_delays.iter_mut().zip(&mut measured.link.queue_delays);
        delays.for_each(|(all, more)| all.append(more));
        self.counts += measured.counts;
        self.overflowed += measured.link.overflowed;
        self.ip_bytes += measured.link.ip_bytes;
        self.ip_bytes_late += measured.link.ip_bytes_late;
        self.never_connected += u64::from(measured.connect.is_none());
        self.gave_up += u64::from(measured.gave_up);
    }

    /// The figures.
    pub(super) fn figures(self, contender: Contender) -> SweepFigures {
        let latency = |basis_points| percentile_of(&self.latencies, self.percentiles_of, basis_points).map(millis);
        let range = |later| self.lateness.range(&self.latencies, later);
        let queue_delays = self.queue_delays.iter();
        let queue_delay = queue_delays.filter_map(|delays| percentile(delays, 9_500)).max();
        let counts = self.counts;
        let payload_bytes = counts.delivered_bytes * 2;
        SweepFigures {
            contender: contender.to_string(),
            p50: latency(5_000),
            p99: latency(9_900),
            p998: latency(9_980),
            p9999: latency(9_999),
            max: latency(10_000),
            p99_range: range(0.01),
            p998_range: range(0.002),
            p9999_range: range(0.000_1),
            bytes_per_payload: (payload_bytes > 0).then(|| self.ip_bytes as f64 / payload_bytes as f64),
            ip_bytes_late: self.ip_bytes_late,
            delivered_share: counts.delivered as f64 / counts.sent.max(1) as f64,
            lost: counts.lost,
            refused: counts.refused,
            reordered: counts.reordered,
            duplicated: counts.duplicated,
            corrupted: counts.corrupted,
            overflowed: self.overflowed,
            queue_delay_p95: queue_delay.map(millis),
            never_connected: self.never_connected,
            gave_up: self.gave_up,
            lateness: self.lateness,
        }
    }
}

fn millis(micros: u32) -> f64 {
    f64::from(micros) / 1e3
}
