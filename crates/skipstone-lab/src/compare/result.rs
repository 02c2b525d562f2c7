//! The JSON result. `schema/compare.schema.json` describes it for other programs; it is derived from these types.
//! Nothing in it depends on the machine or on the moment if the clock is simulated: the same plan and seeds give the
//! same bytes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::condition::Condition;
use super::row::{CompareRow, Summary};
use super::validity::Validity;
use crate::measure::machine::Machine;
use crate::report::{ThresholdResult, Verdict};

/// All that a comparison found.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct Comparison {
    /// Raised when a field changes its meaning.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA_VERSION)))]
    pub(crate) schema_version: u32,
    pub(crate) verdict: Verdict,
    /// Why the verdict is not pass, one sentence each.
    pub(crate) reasons: Vec<String>,
    /// How it was found: `simulated`, in virtual time, or `real`.
    pub(crate) clock: &'static str,
    /// Over what the packets of a real run went; null in virtual time.
    pub(crate) over: Option<String>,
    /// Whether the figures reflect the transports, and not the machine.
    pub(crate) validity: Validity,
    /// The words that run it again.
    pub(crate) command: Vec<String>,
    /// When a real run began, in UTC.
    pub(crate) started: Option<String>,
    /// Where a real run was made.
    pub(crate) machine: Option<Machine>,
    /// The stand-in for encryption in the rows of `skipstone`; null for real runs, which encrypt.
    pub(crate) sealing: Option<&'static str>,
    pub(crate) plan: ComparePlanWords,
    /// The plan's conditions; none if it has but one.
    pub(crate) conditions: Vec<ConditionWords>,
    pub(crate) seeds: Vec<u64>,
    pub(crate) results: Vec<CompareRow>,
    pub(crate) summary: Vec<Summary>,
    pub(crate) thresholds: Vec<ThresholdResult>,
}

/// The plan that was asked for.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct ComparePlanWords {
    pub(crate) name: String,
    pub(crate) about: Option<String>,
    pub(crate) minutes: f64,
    pub(crate) entities: u16,
    pub(crate) ticks_per_second: u32,
    pub(crate) payload_bytes: usize,
    /// As they are written in a plan.
    pub(crate) link: BTreeMap<String, String>,
    /// There and back, which no update can beat, in ms.
    pub(crate) floor: f64,
}

/// One of several conditions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct ConditionWords {
    pub(crate) name: String,
    pub(crate) entities: u16,
    /// As they are written in a plan.
    pub(crate) link: BTreeMap<String, String>,
    /// There and back, which no update can beat, in ms.
    pub(crate) floor: f64,
}

impl ConditionWords {
    /// The conditions that have names.
    pub(crate) fn of(conditions: &[Condition]) -> Vec<Self> {
        let of_one = |condition: &Condition| {
            Some(Self {
                name: condition.name.clone()?,
                entities: condition.entities,
                link: condition.words.clone(),
                floor: condition.floor().as_micros() as f64 / 1e3,
            })
        };
        conditions.iter().filter_map(of_one).collect()
    }
}

impl ComparePlanWords {
    pub(crate) fn of(condition: &Condition, about: Option<&str>) -> Self {
        Self {
            name: condition.plan.clone(),
            about: about.map(str::to_owned),
            minutes: condition.lasting.as_secs_f64() / 60.0,
            entities: condition.entities,
            ticks_per_second: condition.ticks_per_second,
            payload_bytes: condition.payload_bytes,
            link: condition.words.clone(),
            floor: condition.floor().as_micros() as f64 / 1e3,
        }
    }
}

/// Raised when a field changes its meaning.
pub(crate) const SCHEMA_VERSION: u32 = 1;
