//! The JSON result. `schema/bench.schema.json` describes it for other programs; it is derived from these types.

use serde::Serialize;

use super::limit::Limit;
use super::plan::BenchPlan;
use super::row::{Against, BenchRow};
use super::server_command::ServerCommand;
use crate::measure::machine::Machine;
use crate::report::{ThresholdResult, Verdict};

/// All that a bench found.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct Bench {
    /// Raised when a field changes its meaning.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA_VERSION)))]
    pub(crate) schema_version: u32,
    pub(crate) verdict: Verdict,
    /// Why the verdict is not pass, one sentence each.
    pub(crate) reasons: Vec<String>,
    pub(crate) preset: &'static str,
    pub(crate) machine: Machine,
    pub(crate) plan: BenchPlanWords,
    pub(crate) results: Vec<BenchRow>,
    /// The limits that were searched for.
    pub(crate) limits: Vec<Limit>,
    pub(crate) thresholds: Vec<ThresholdResult>,
}

/// The plan that was asked for.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct BenchPlanWords {
    /// Lines of each client, a second.
    pub(crate) rate: f64,
    pub(crate) line_bytes: usize,
    pub(crate) duration_s: f64,
    pub(crate) warmup_s: f64,
    pub(crate) ticks_per_second: u32,
    pub(crate) rounds: u32,
    pub(crate) network: String,
    pub(crate) server_cpu: Option<usize>,
    pub(crate) load_processes: u32,
    pub(crate) load_cpus: Vec<usize>,
    pub(crate) drive: &'static str,
    pub(crate) realtime: bool,
    /// Servers that are other programs.
    pub(crate) servers: Vec<ServerCommand>,
    /// Flags for Skipstone's loss recovery and congestion control; none: the defaults.
    pub(crate) resilience: Vec<String>,
    /// The base of the ratios.
    pub(crate) ratio_of: String,
}

impl BenchPlanWords {
    pub(crate) fn of(plan: &BenchPlan) -> Self {
        let setup = &plan.setup;
        Self {
            rate: setup.rate.map_or(0.0, |rate| rate.per_second()),
            line_bytes: setup.line_bytes,
            duration_s: setup.duration.as_secs_f64(),
            warmup_s: setup.warmup.as_secs_f64(),
            ticks_per_second: setup.ticks_per_second,
            rounds: plan.common.rounds,
            network: setup.network.to_string(),
            server_cpu: setup.server_cpu,
            load_processes: setup.load_processes,
            load_cpus: setup.load_cpus.clone(),
            drive: setup.drive.into(),
            realtime: plan.common.realtime,
            servers: setup.servers.clone(),
            resilience: setup.resilience.words(),
            ratio_of: match plan.against() {
                Against::BenchTransport(name) => name.to_owned(),
                Against::OwnServer => "this program's server".to_owned(),
                Against::FirstVariant => "the first variant".to_owned(),
            },
        }
    }
}

/// Raised when a field changes its meaning.
pub(crate) const SCHEMA_VERSION: u32 = 2;
