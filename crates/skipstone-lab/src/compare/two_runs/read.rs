//! A result file of `compare`: the fields that are compared, and the whole for the page.

use serde::Deserialize;
use serde_json::Value;

use crate::compare::result::SCHEMA_VERSION;
use crate::compare::series::RunSeries;

/// The content of a result file.
#[derive(Debug)]
pub(super) struct RunFile {
    pub(super) run: StoredRun,
    /// Everything in it.
    pub(super) whole: Value,
}

/// The compared fields of a result.
#[derive(Debug, Deserialize)]
pub(super) struct StoredRun {
    pub(super) plan: Value,
    pub(super) results: Vec<StoredRow>,
}

/// A row.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct StoredRow {
    pub(super) transport: String,
    pub(super) mode: Option<String>,
    pub(super) condition: Option<String>,
    pub(super) p50: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) p998: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) bytes_per_payload: Option<f64>,
    pub(super) server_cpu: Option<f64>,
    pub(super) delivered: Option<f64>,
    pub(super) lost: Option<f64>,
    pub(super) refused: Option<f64>,
    pub(super) series: RunSeries,
}

impl RunFile {
    pub(super) fn read(path: &str) -> Result<RunFile, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
        let none = |why: String| format!("{path} is not a result of `skipstone compare --json`: {why}");
        let whole: Value = serde_json::from_str(&text).map_err(|error| none(error.to_string()))?;
        let version = &whole["schema_version"];
        if *version != SCHEMA_VERSION {
            return Err(none(format!("its schema_version is {version}, but only {SCHEMA_VERSION} is supported")));
        }
        let run = StoredRun::deserialize(&whole).map_err(|error| none(error.to_string()))?;
        Ok(RunFile { run, whole })
    }
}

impl StoredRow {
    /// Whether any update came back.
    pub(super) fn has_delivered(&self) -> bool {
        self.delivered.is_some_and(|delivered| delivered > 0.0)
    }

    /// Its name, for people.
    pub(super) fn name(&self) -> String {
        let mode = self.mode.as_ref().map_or(String::new(), |mode| format!(" {mode}"));
        let condition = self.condition.as_ref().map_or(String::new(), |name| format!(" under {name}"));
        format!("{}{mode}{condition}", self.transport)
    }
}
