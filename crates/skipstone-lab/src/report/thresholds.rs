//! The outcome of thresholds.

use serde::{Deserialize, Serialize};

/// The outcome of a threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThresholdResult {
    /// As it was written.
    pub expression: String,
    /// The subject of the figure, where a result has rows: `kcp-fec seed 1`, `skipstone lean median`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Whether it was kept; never when the number was not measured.
    pub passed: bool,
    /// The number, in the result's unit; `None` when it was not measured.
    pub actual: Option<f64>,
    /// The symbol of that unit: `us`, `ms`, `s` or `%`; `None` of a count or a share.
    pub unit: Option<String>,
}

impl ThresholdResult {
    /// The number with its unit; `None` when it was not measured.
    pub(crate) fn measured(&self, digits: fn(f64) -> String) -> Option<String> {
        self.actual.map(|actual| digits(actual) + &suffix(self.unit.as_deref()))
    }
}

/// The suffix of a number in this unit.
fn suffix(unit: Option<&str>) -> String {
    match unit {
        None => String::new(),
        Some("%") => "%".into(),
        Some(unit) => format!(" {unit}"),
    }
}

/// Enough to see on which side of the limit a number lies.
pub(crate) fn three_decimals(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
