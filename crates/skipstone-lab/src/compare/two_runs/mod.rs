//! `skipstone report A.json B.json`: two results of `compare`, and which of their differences are beyond the noise.

mod bootstrap;
mod differences;
mod read;

use serde::Serialize;
use serde_json::Value;

use self::differences::{Difference, differences, missing};
use self::read::RunFile;
use crate::report::paint::style;
use crate::report::{Exit, Page, PageKind, ReportFile, Sink, Style, Tone};

/// Flags of `report`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"))]
pub struct ReportArguments {
    /// A result of `compare --json`
    before: String,
    /// Another result to compare with it
    after: Option<String>,
    /// Write the first result's report to this file, as `compare --report` does
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Write the differences to this file as JSON, `-` for standard output instead of the table
    #[arg(long, value_name = "FILE", requires = "after")]
    json: Option<String>,
    /// Exit code 99 if anything became worse beyond the noise
    #[arg(long, requires = "after")]
    fail_if_worse: bool,
}

/// Runs as the flags say.
pub fn run(arguments: &ReportArguments) -> Exit {
    Exit::of("report", report(arguments))
}

fn report(arguments: &ReportArguments) -> Result<Exit, String> {
    let before = RunFile::read(&arguments.before)?;
    if let Some(path) = &arguments.html {
        let name = before.run.plan["name"].as_str().unwrap_or("a comparison").to_owned();
        ReportFile::open(path)?.write(
            PageKind::Comparison,
            &name,
            &before.whole,
            "This report needs a browser with scripts.",
        )?;
    }
    let Some(after) = &arguments.after else {
        let nothing = "with one result there is nothing to compare: name a second one, or --html FILE";
        return if arguments.html.is_some() { Ok(Exit::Pass) } else { Err(nothing.into()) };
    };
    let after = RunFile::read(after)?;
    let sink = Sink::open(arguments.json.as_deref())?;
    let found = TwoRuns {
        unlike: unlike(&before.whole, &after.whole),
        missing: missing(&before.run, &after.run),
        differences: differences(&before.run, &after.run),
    };
    if found.differences.is_empty() {
        return Err("the two results have no transport in common".into());
    }
    let exit = if found.is_worse() && arguments.fail_if_worse { Exit::Fail } else { Exit::Pass };
    Ok(exit.once_kept("report", sink.show(&found, &table(&found, style()), &[])))
}

/// The differences of two results.
#[derive(Debug, Serialize)]
struct TwoRuns {
    /// The differences between the two plans, one sentence each.
    unlike: Vec<String>,
    /// Contenders that delivered in the first result, and less or nothing in the second, a sentence each.
    missing: Vec<String>,
    differences: Vec<Difference>,
}

impl TwoRuns {
    fn is_worse(&self) -> bool {
        let is_worse = |difference: &Difference| difference.is_beyond && difference.change > 0.0;
        !self.missing.is_empty() || self.differences.iter().any(is_worse)
    }
}

/// The differing settings.
fn unlike(before: &Value, after: &Value) -> Vec<String> {
    let mut all = Vec::new();
    let clock = |of: &Value| of["clock"].as_str().unwrap_or_default().to_owned();
    if clock(before) != clock(after) {
        all.push(format!("One is {}, the other {}.", clock(before), clock(after)));
    }
    for key in ["name", "minutes", "entities", "ticks_per_second", "payload_bytes", "link"] {
        let [one, other] = [before, after].map(|run| &run["plan"][key]);
        if one != other {
            all.push(format!("The plans differ in {key}: {one} and {other}."));
        }
    }
    // The plan's settings come from the first condition.
    let [one, other] = [before, after].map(|run| run["conditions"].as_array().map_or(&[][..], Vec::as_slice));
    let of_name = |conditions: &'_ [Value], name: &Value| conditions.iter().position(|of| of["name"] == *name);
    for condition in one {
        let name = &condition["name"];
        let Some(at) = of_name(other, name) else {
            all.push(format!("Only the first has the condition {name}."));
            continue;
        };
        for key in ["entities", "link"] {
            let (one, other) = (&condition[key], &other[at][key]);
            if one != other {
                all.push(format!("The condition {name} differs in {key}: {one} and {other}."));
            }
        }
    }
    let new = other.iter().filter(|condition| of_name(one, &condition["name"]).is_none());
    all.extend(new.map(|condition| format!("Only the second has the condition {}.", condition["name"])));
    all
}

const NAME_COLUMNS: usize = 34;

fn table(found: &TwoRuns, style: Style) -> String {
    let mut page = Page::new(style);
    page.blank();
    for sentence in &found.unlike {
        page.toned(Tone::Doubtful, sentence);
    }
    let mut subject = "";
    for sentence in &found.missing {
        page.toned(Tone::Bad, sentence);
    }
    for difference in &found.differences {
        if difference.of != subject {
            subject = &difference.of;
            page.toned(Tone::Strong, subject);
        }
        let Difference { figure, before, after, change, is_beyond, interval, .. } = difference;
        let said = match (interval, *is_beyond) {
            (Some([least, most]), true) => format!("{change:+.2}, beyond the noise ({least:+.2} to {most:+.2})"),
            (Some([least, most]), false) => format!("{change:+.2}, within the noise ({least:+.2} to {most:+.2})"),
            (None, true) if matches!(*figure, "lost" | "refused") => format!("{change:+.2}, beyond the noise"),
            (None, true) => format!("{change:+.3}, beyond the noise (all runs of one beyond all of the other)"),
            (None, false) => format!("{change:+.3}"),
        };
        let tone = match (*is_beyond, *change > 0.0) {
            (false, _) => Tone::Faint,
            (true, true) => Tone::Bad,
            (true, false) => Tone::Good,
        };
        let name = format!("  {figure}: {before:.2} and {after:.2}");
        page.line(&format!("{name:<NAME_COLUMNS$}{}", page.paint(tone, &said)));
    }
    page.blank();
    page.note(NOTE, 100);
    page.into_text()
}

const NOTE: &str = "Less is better in all figures. Percentiles: 99% intervals of the difference, by drawing blocks of \
    at least two seconds repeatedly at random; events within a block may have one cause; differences below 1.6%, the \
    resolution of the blocks, are never beyond the noise. Maxima, bytes and CPU are judged with at least five runs of \
    each; lost and refused updates (means) too, and when there were none before. Among a hundred equal figures, one \
    is beyond the noise by chance.";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_condition_is_compared() {
        let run = |conditions: &[(&str, &str)]| {
            let condition =
                |(name, loss): &(&str, &str)| json!({ "name": name, "entities": 25, "link": { "loss": loss } });
            json!({ "clock": "real", "plan": {}, "conditions": conditions.iter().map(condition).collect::<Vec<_>>() })
        };
        let before = run(&[("calm", "0%"), ("wild", "5%"), ("old", "1%")]);
        let after = run(&[("calm", "0%"), ("wild", "9%"), ("new", "1%")]);
        assert_eq!(unlike(&before, &before), [""; 0]);
        let wild = r#"The condition "wild" differs in link: {"loss":"5%"} and {"loss":"9%"}."#;
        let only = [r#"Only the first has the condition "old"."#, r#"Only the second has the condition "new"."#];
        assert_eq!(unlike(&before, &after), [wild, only[0], only[1]]);
    }

    #[test]
    fn missing_clients_make_a_result_worse() {
        let found = |missing| TwoRuns { unlike: Vec::new(), missing, differences: Vec::new() };
        assert!(!found(Vec::new()).is_worse() && found(vec!["kcp is missing.".into()]).is_worse());
    }
}
