//! Destinations of a result: its table, or its JSON, to standard output; its JSON to a file.

use std::path::PathBuf;

use serde::Serialize;

use crate::report::{output, replace};

/// Where the JSON goes.
#[derive(Debug)]
pub enum Sink {
    /// Not requested.
    Nowhere,
    /// Standard output, instead of the table.
    StandardOutput,
    /// Into a file, which the result of the run before stays in until the new one is whole.
    File(PathBuf),
}

impl Sink {
    /// Checked before the run, so that a wrong path is found at once. `-` is the standard output.
    pub fn open(path: Option<&str>) -> Result<Sink, String> {
        let path = match path {
            None => return Ok(Sink::Nowhere),
            Some("-") => return Ok(Sink::StandardOutput),
            Some(path) => path,
        };
        let file = PathBuf::from(path);
        replace::check(&file).map_err(|error| format!("cannot write --json {path}: {error}"))?;
        Ok(Sink::File(file))
    }

    /// Prints the table, or the JSON in its place; writes the JSON into its file; and says what is wrong, a sentence
    /// each.
    pub fn show(&self, result: &impl Serialize, table: &str, reasons: &[String]) -> Result<(), String> {
        let json = || serde_json::to_string_pretty(result).expect("a result has only text keys") + "\n";
        match self {
            Sink::Nowhere => output::print(table),
            Sink::StandardOutput => output::print(json()),
            Sink::File(file) => {
                output::print(table);
                let written = replace::replace(file, json().as_bytes());
                written.map_err(|error| format!("cannot write --json {}: {error}", file.display()))?;
            }
        }
        reasons.iter().for_each(output::complain);
        Ok(())
    }
}
