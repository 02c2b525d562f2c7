//! The clients with the worst latencies of a run, as receivers.

use serde::{Deserialize, Serialize};

use super::latency_steps::LatencySteps;

/// A client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorstClient {
    /// As people find it in the run.
    pub name: String,
    /// Lines that it received.
    pub delivered: u64,
    /// In ms, as those that follow.
    pub p50: Option<f64>,
    /// The latest hundredth of them took longer.
    pub p99: Option<f64>,
    /// The latest.
    pub max: Option<f64>,
}

const WORST_MAX: usize = 10;

impl WorstClient {
    /// Ten of these at most, the latest first.
    pub fn all<'a>(clients: impl Iterator<Item = (String, &'a LatencySteps)>) -> Vec<WorstClient> {
        let of = |(name, steps): (String, &LatencySteps)| WorstClient {
            name,
            delivered: steps.count(),
            p50: steps.quantile_ms(0.5),
            p99: steps.quantile_ms(0.99),
            max: steps.longest_ms(),
        };
        let mut all: Vec<WorstClient> = clients.filter(|(_, steps)| steps.count() > 0).map(of).collect();
        WorstClient::keep_worst(&mut all);
        all
    }

    /// Leaves the ten that the latest hundredth of what they received makes the worst, in this order.
    pub fn keep_worst(all: &mut Vec<WorstClient>) {
        let key = |client: &WorstClient| (client.p99.unwrap_or_default(), client.max.unwrap_or_default());
        all.sort_by(|one, other| key(other).partial_cmp(&key(one)).unwrap_or(std::cmp::Ordering::Equal));
        all.truncate(WORST_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_all_parts_are_the_worst_overall() {
        let clients: Vec<LatencySteps> = (0..40_u64)
            .map(|number| {
                let mut steps = LatencySteps::default();
                (0..number % 7 * 50).for_each(|line| steps.record(1_000 + line + number * 29 % 40 * 200));
                steps
            })
            .collect();
        let named = |from: usize, to: usize| (from..to).map(|at| (format!("client {at}"), &clients[at]));
        let whole = WorstClient::all(named(0, 40));
        let mut parts: Vec<WorstClient> = [(0, 11), (11, 12), (12, 40)]
            .into_iter()
            .flat_map(|(from, to)| WorstClient::all(named(from, to)))
            .collect();
        WorstClient::keep_worst(&mut parts);
        assert_eq!(parts, whole);
        assert_eq!(whole.len(), 10);
        assert!(whole.is_sorted_by(|one, other| one.p99 >= other.p99), "{whole:?}");
        assert!(whole.iter().all(|client| client.delivered > 0), "those who received nothing have no latency");
    }
}
