//! The page of results that the tool writes from a run, in Markdown: what was measured, how to repeat it, a table for
//! each condition.

use std::fmt::Write;

use super::result::Comparison;
use super::row::{CompareFigures, Summary};
use super::table::heading;
use super::validity::ValidityLevel;

/// The page; ends with a line feed.
pub(crate) fn results_page(comparison: &Comparison) -> String {
    let mut page = String::from("# Results\n\n");
    let _ = writeln!(page, "Written by the tool from one run, not by hand. {}\n", about(comparison));
    let _ = writeln!(page, "```sh\n{}\n```\n", command(&comparison.command));
    let _ = writeln!(page, "{}\n", validity(comparison));
    for condition in conditions(comparison) {
        section(&mut page, comparison, condition);
    }
    let _ = writeln!(page, "{NOTE}");
    page
}

fn about(comparison: &Comparison) -> String {
    let (seeds, plan) = (comparison.seeds.len(), &comparison.plan);
    let seeds = if seeds == 1 { format!("seed {}", comparison.seeds[0]) } else { format!("medians of {seeds} seeds") };
    let machine =
        comparison.machine.as_ref().zip(comparison.started.as_ref()).map_or(String::new(), |(machine, at)| {
            format!(" {at}, {}, {} cores, {}.", machine.cpu, machine.cores, machine.kernel)
        });
    let over = comparison.over.as_ref().map_or("in virtual time".into(), |over| format!("for real, over {over}"));
    let about = plan.about.as_ref().map_or(String::new(), |about| format!(" ({about})"));
    format!("{}{about}; {seeds}, {over}.{machine}", heading(comparison))
}

fn command(words: &[String]) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_@%+=:,./-".contains(letter);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn validity(comparison: &Comparison) -> String {
    let because = &comparison.validity.because;
    match comparison.validity.level {
        ValidityLevel::Exact => format!("Validity: exact, {because}."),
        ValidityLevel::Sound => format!("Validity: sound, {because}."),
        ValidityLevel::Doubtful => format!("**Validity: doubtful**, {because}."),
        ValidityLevel::Unsound => format!("**Validity: unsound**, {because}. These figures are not usable."),
    }
}

/// The conditions that have names, or else the single one without a name.
fn conditions(comparison: &Comparison) -> Vec<Option<&str>> {
    let named = comparison.conditions.iter().map(|condition| Some(condition.name.as_str()));
    if comparison.conditions.is_empty() { vec![None] } else { named.collect() }
}

fn section(page: &mut String, comparison: &Comparison, condition: Option<&str>) {
    if let Some(name) = condition {
        let _ = writeln!(page, "## {name}\n");
    }
    let rows: Vec<&Summary> =
        comparison.summary.iter().filter(|summary| summary.condition.as_deref() == condition).collect();
    let heads: Vec<&Column> =
        COLUMNS.iter().filter(|(_, of, _)| rows.iter().any(|row| of(&row.median).is_some())).collect();
    let names = heads.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(" | ");
    let _ = writeln!(page, "| ms; bytes per payload byte | {names} |\n|---{}|", "|--:".repeat(heads.len()));
    for row in &rows {
        let cells = heads
            .iter()
            .map(|(_, of, digits)| cell(of(&row.median), *digits, rows.iter().map(|other| of(&other.median))));
        let mode = row.mode.as_ref().map_or(String::new(), |mode| format!(" {mode}"));
        let _ = writeln!(page, "| {}{mode} | {} |", row.transport, cells.collect::<Vec<_>>().join(" | "));
    }
    page.push('\n');
}

type Column = (&'static str, fn(&CompareFigures) -> Option<f64>, usize);

const COLUMNS: [Column; 10] = [
    ("p50", |row| row.p50, 1),
    ("p99", |row| row.p99, 1),
    ("p99.8", |row| row.p998, 1),
    ("max", |row| row.max, 1),
    ("calm p99.8", |row| row.p998_calm, 1),
    ("calm max", |row| row.max_calm, 1),
    ("bytes", |row| row.bytes_per_payload, 2),
    ("lost", |row| row.lost.map(|lost| lost as f64), 0),
    ("stalled, %", |row| row.stalled_share().map(|share| share * 100.0), 1),
    ("server CPU, %", |row| row.server_cpu, 1),
];

/// Bold if no transport has a smaller printed value.
fn cell(value: Option<f64>, digits: usize, all: impl Iterator<Item = Option<f64>>) -> String {
    let Some(value) = value else { return "–".into() };
    let shown = |value: f64| format!("{value:.digits$}");
    let least = all.flatten().fold(f64::INFINITY, f64::min);
    if digits > 0 && shown(value) == shown(least) { format!("**{}**", shown(value)) } else { shown(value) }
}

const NOTE: &str = "Latency is from the tick to the delivery of the echo, of every update; \"calm\" leaves out \
    samples during which the machine stalled. Bytes are IP bytes of both directions per payload byte delivered there \
    and back. Bold is the least of its column. [How it is measured](guide/netem.md), and [how your transport \
    joins](guide/others-transports.md).";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_printed_value_is_bold() {
        let all = [Some(20.04), Some(20.01), None, Some(43.0)];
        let of = |value| cell(value, 1, all.into_iter());
        assert_eq!(all.map(of), ["**20.0**", "**20.0**", "–", "43.0"]);
    }

    #[test]
    fn words_with_special_characters_are_quoted() {
        let words = ["skipstone", "compare", "--threshold", "kcp.p998<50ms"].map(str::to_owned);
        assert_eq!(command(&words), "skipstone compare --threshold 'kcp.p998<50ms'");
        assert_eq!(command(&["it's".to_owned(), String::new()]), r"'it'\''s' ''");
    }
}
