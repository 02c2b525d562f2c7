//! A result before there is one: every section is there, every count zero, no figure measured.

use crate::report::ServerOwner;
use crate::report::stress::result::*;
use skipstone::Stats;

impl StressResult {
    /// The owner of the server: only a local server has figures.
    pub(crate) fn server_owner(&self) -> ServerOwner {
        if self.server.is_some() { ServerOwner::ThisRun } else { ServerOwner::Another }
    }

    /// The shape of the result of a run with these carriers: to check names against, and to fill in.
    pub fn blank(carriers: &[Carrier]) -> StressResult {
        StressResult {
            schema_version: SCHEMA_VERSION,
            transport: StressTransport::of(carriers.iter().copied()),
            latency_ms: Some(LatencyMs::default()),
            server: Some(ServerResult::default()),
            presence: Presence { silent_s: Some(0.0), ..Presence::default() },
            carriers: carriers.iter().copied().map(CarrierResult::blank).collect(),
            timing: Timing { connect_ms: Some(SpreadMs::default()), ..Timing::default() },
            impairment: Some(Impairment::default()),
            protocol: Protocol { clients: none(), server: Some(none()) },
            roaming: Some(Roaming::default()),
            returns: Some(Returns::default()),
            stalls: Some(Stalls::default()),
            fleet: Some(Fleet { latency_same_agent_ms: Some(LatencyMs::default()), ..Fleet::default() }),
            ..StressResult::default()
        }
    }
}

/// Every reason to drop is named, so that thresholds can be checked against it.
fn none() -> Side {
    Side::from(&Stats::default())
}

impl CarrierResult {
    fn blank(carrier: Carrier) -> CarrierResult {
        let (latency_ms, connect_ms) = (Some(LatencyMs::default()), Some(SpreadMs::default()));
        CarrierResult { carrier, latency_ms, connect_ms, ..CarrierResult::default() }
    }
}
