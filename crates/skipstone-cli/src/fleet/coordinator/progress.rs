//! One view of all agents while they run.

use super::party::Party;
use crate::stress::view::Figures;
use skipstone_lab::measure::latency::LatencyCounts;
use skipstone_lab::report::stress::live::{Phase, RecentLatency, Snapshot};
use std::time::Duration;

/// The figures of all agents that told some.
pub(super) fn merged(party: &Party, phase: Phase, elapsed: Duration, duration: Duration, offered: f64) -> Snapshot {
    let figures: Vec<Figures> = party
        .agents
        .iter()
        .filter_map(|agent| {
            let progress = agent.state.as_ref()?.1.progress.clone()?;
            serde_json::from_value(progress).ok()
        })
        .collect();
    let sum = |of: fn(&Figures) -> u64| figures.iter().map(of).sum::<u64>();
    let rate = |of: fn(&Figures) -> f64| figures.iter().map(of).sum::<f64>();
    let mut recent = LatencyCounts::default();
    figures.iter().filter_map(|figures| figures.latencies.as_ref()).for_each(|counts| recent.add(counts));
    let latency = recent.latency();
    let latency = (latency.count() > 0).then(|| RecentLatency {
        p50_ms: latency.quantile_ms(0.5),
        p99_ms: latency.quantile_ms(0.99),
        max_ms: latency.max_ms(),
    });
    let ready = |of: fn(&crate::stress::lead::Ready) -> u64| {
        party.agents.iter().filter_map(|agent| agent.ready()).map(of).sum::<u64>()
    };
    Snapshot {
        phase,
        elapsed,
        duration,
        clients_asked: party.roster.clients().into(),
        clients_connected: sum(|figures| figures.clients_connected).max(ready(|ready| ready.connected)),
        clients_dropped: sum(|figures| figures.clients_dropped),
        offered_per_second: if phase == Phase::Running { offered } else { 0.0 },
        sent_per_second: rate(|figures| figures.sent_per_second),
        delivered_per_second: rate(|figures| figures.delivered_per_second),
        delivered: sum(|figures| figures.delivered),
        missing: sum(|figures| figures.missing),
        latency,
        server: None,
        redundancy: Default::default(),
        drops: Vec::new(),
        paths_changed: 0,
        generator_cpu_percent: figures
            .iter()
            .filter_map(|figures| figures.cpu_percent)
            .reduce(|one, other| one + other),
        latest_send_ms: figures.iter().map(|figures| figures.latest_send_ms).fold(0.0, f64::max),
        late_sends: sum(|figures| figures.late_sends),
    }
}
