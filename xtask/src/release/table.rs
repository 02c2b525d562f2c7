//! The table at the end of a release: each artifact with its size, its budget and the time that its part took.

use std::path::Path;

use super::budgets;

/// A line of the table.
pub(super) struct Row {
    name: String,
    seconds: f64,
    outcome: Result<u64, String>,
}

impl Row {
    /// An artifact that was made, good or above its budget.
    pub(super) fn of(artifact: &Path, seconds: f64) -> Self {
        let name = artifact.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Row { name, seconds, outcome: budgets::check(artifact) }
    }

    /// A part that could not be made.
    pub(super) fn failed(part: &str, seconds: f64, why: String) -> Self {
        Row { name: part.into(), seconds, outcome: Err(why) }
    }

    pub(super) fn is_good(&self) -> bool {
        self.outcome.is_ok()
    }
}

/// All lines, and a last one that counts them.
pub(super) fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max("artifact".len());
    let mut text = format!("{:<width$}{:>12}{:>12}{:>9}\n", "artifact", "MB", "budget", "seconds");
    for row in rows {
        text += &match &row.outcome {
            Ok(size) => {
                let budget = budgets::of(&row.name).unwrap_or(0);
                format!(
                    "{:<width$}{:>12.3}{:>12.3}{:>9.1}\n",
                    row.name,
                    megabytes(*size),
                    megabytes(budget),
                    row.seconds
                )
            }
            Err(why) => format!("{:<width$}  FAILED after {:.1} s: {why}\n", row.name, row.seconds),
        };
    }
    let failed = rows.iter().filter(|row| !row.is_good()).count();
    text + &format!("{} artifacts, {failed} failed\n", rows.len() - failed)
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_in_the_table_with_its_reason() {
        let text = text(&[Row::failed("tool", 1.0, "no linker".into())]);
        assert!(text.contains("FAILED after 1.0 s: no linker") && text.ends_with("0 artifacts, 1 failed\n"), "{text}");
    }
}
