//! What the results of `bench` and `compare` have in common, which are rows: a verdict, and how rows did against thresholds.

use serde::Serialize;

use super::exit::Exit;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Pass,
    Fail,
    Interrupted,
}

/// How one row, or what sums several up, did against a threshold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ThresholdResult {
    pub(crate) expression: String,
    /// Whose figure it is: `kcp-fec seed 1`, `skipstone lean median`, `skipstone with 200 clients`.
    pub(crate) of: String,
    pub(crate) passed: bool,
    pub(crate) actual: Option<f64>,
}

impl Verdict {
    /// Of a run that came to its end or did not, and for these reasons did not pass.
    pub(crate) fn of(is_whole: bool, reasons: &[String]) -> Verdict {
        match (is_whole, reasons.is_empty()) {
            (false, _) => Verdict::Interrupted,
            (true, false) => Verdict::Fail,
            (true, true) => Verdict::Pass,
        }
    }

    pub(crate) fn exit(self) -> Exit {
        match self {
            Verdict::Pass => Exit::Pass,
            Verdict::Fail => Exit::Fail,
            Verdict::Interrupted => Exit::Interrupted,
        }
    }
}
