//! The output of a run of scripted bots: its JSON result, how that is judged, the table at the end.

mod judge;
mod limit;
mod metric;
mod report;
mod result;
mod table;

pub use judge::{check_thresholds, judge};
pub use limit::{BotsLimit, LimitTrial, limit_table};
pub use metric::MetricFigures;
pub use report::{BotsReport, RunSecond, TrendCurve};
pub use result::{
    BotCounts, BotsAgent, BotsFleet, BotsResult, Fault, MessageCounts, SCHEMA_VERSION, ScriptCost, ServerCost,
    WireCounts,
};
pub use table::table;
