//! Where a result goes: JSON into a file or to standard output, its table to whoever reads along.

use std::fs::File;
use std::io::Write;

use serde::Serialize;

use crate::stress::output;

/// Where the JSON goes.
pub(crate) enum Sink {
    Nowhere,
    StandardOutput,
    File(String, File),
}

impl Sink {
    /// Opened before the run, so that a wrong path is found at once.
    pub(crate) fn open(path: Option<&str>) -> Result<Sink, String> {
        match path {
            None => Ok(Sink::Nowhere),
            Some("-") => Ok(Sink::StandardOutput),
            Some(path) => {
                let file = File::create(path).map_err(|error| format!("cannot write --json {path}: {error}"))?;
                Ok(Sink::File(path.to_owned(), file))
            }
        }
    }

    /// Prints the table, or the JSON in its place; writes the JSON into its file; and says what is wrong, a sentence each.
    pub(crate) fn show(self, result: &impl Serialize, table: &str, reasons: &[String]) -> Result<(), String> {
        let json = || serde_json::to_string_pretty(result).expect("a result has only text keys") + "\n";
        match self {
            Sink::Nowhere => output::print(table),
            Sink::StandardOutput => output::print(json()),
            Sink::File(path, mut file) => {
                output::print(table);
                let written = file.write_all(json().as_bytes());
                written.map_err(|error| format!("cannot write --json {path}: {error}"))?;
            }
        }
        reasons.iter().for_each(output::complain);
        Ok(())
    }
}
