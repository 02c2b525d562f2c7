//! The output of a run of scripted bots: its JSON result, how that is judged, the table at the end.

mod judge;
mod metric;
mod result;
mod table;

pub use judge::{check_thresholds, judge};
pub use metric::MetricFigures;
pub use result::{BotCounts, BotsResult, Fault, MessageCounts, SCHEMA_VERSION, ScriptCost, WireCounts};
pub use table::table;
