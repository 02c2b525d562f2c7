//! The result of a bench, for programs and as the base of table and page.

use super::plan::Cell;
use crate::timing::Timing;
use serde::Serialize;
use skipstone_lab::report::Verdict;
use skipstone_lab::report::format::thousands;

/// A bench.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DbBench {
    pub(crate) verdict: Verdict,
    pub(crate) reasons: Vec<String>,
    /// Whether something that was to be measured is missing or failed.
    pub(crate) is_partial: bool,
    pub(crate) seed: u64,
    pub(crate) records: i64,
    pub(crate) seconds_per_cell: f64,
    /// The time to write and flush 4 KiB in the folder of the bench: the lower bound of a durable commit.
    pub(crate) flush_ms: Option<f64>,
    pub(crate) original: [OriginalFigure; 4],
    pub(crate) stages: Vec<StageResult>,
}

/// A figure of the tool that this one follows: MySQL, 50,000 records.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct OriginalFigure {
    pub(crate) work: super::plan::Work,
    pub(crate) milliseconds: f64,
}

/// One durability of one database.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StageResult {
    pub(crate) url: String,
    pub(crate) engine: &'static str,
    pub(crate) version: String,
    pub(crate) durability: &'static str,
    /// Whether a commit that returned outlives a loss of power.
    pub(crate) is_durable: bool,
    pub(crate) load_per_second: f64,
    pub(crate) bytes: u64,
    /// Rows that were compared at the end, and how many of them were wrong.
    pub(crate) rows_verified: u64,
    pub(crate) rows_wrong: u64,
    pub(crate) cells: Vec<CellResult>,
}

impl StageResult {
    /// The result of the comparison of the rows, as text. None are compared if the engine failed first.
    pub(crate) fn rows(&self) -> String {
        match (self.rows_verified, self.rows_wrong) {
            (0, _) => "rows not compared".into(),
            (compared, 0) => format!("{} rows compared, all correct", thousands(compared)),
            (compared, wrong) => format!("{} rows compared, {} WRONG", thousands(compared), thousands(wrong)),
        }
    }
}

/// One measurement.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CellResult {
    #[serde(flatten)]
    pub(crate) cell: Cell,
    /// Accounts a second, all connections together; rankings a second.
    pub(crate) per_second: f64,
    #[serde(flatten)]
    pub(crate) timing: Timing,
    pub(crate) wrong_answers: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
}

/// The mark of an incomplete result.
pub(crate) const PARTIAL: &str = "PARTIAL: some measurements failed; the reasons are listed";

/// The measurements of the original.
pub(crate) const ORIGINAL: [OriginalFigure; 4] = {
    use super::plan::Work;
    [
        OriginalFigure { work: Work::Update, milliseconds: 5.86 },
        OriginalFigure { work: Work::Seek, milliseconds: 0.18 },
        OriginalFigure { work: Work::RankUnindexed, milliseconds: 27.0 },
        OriginalFigure { work: Work::RankIndexed, milliseconds: 0.84 },
    ]
};

impl StageResult {
    /// The latency of one prepared statement over one connection.
    pub(crate) fn plain(&self, work: super::plan::Work) -> Option<&CellResult> {
        let wanted = Cell { work, asking: super::plan::Asking::Prepared, connections: 1 };
        self.cells.iter().find(|result| result.cell == wanted && result.failure.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_not_compared_are_not_reported_as_correct() {
        let mut stage = StageResult {
            url: String::new(),
            engine: "an engine",
            version: String::new(),
            durability: "none",
            is_durable: false,
            load_per_second: 0.0,
            bytes: 0,
            rows_verified: 0,
            rows_wrong: 0,
            cells: Vec::new(),
        };
        assert_eq!(stage.rows(), "rows not compared");
        stage.rows_verified = 2_000;
        assert_eq!(stage.rows(), "2,000 rows compared, all correct");
        stage.rows_wrong = 3;
        assert_eq!(stage.rows(), "2,000 rows compared, 3 WRONG");
    }
}
