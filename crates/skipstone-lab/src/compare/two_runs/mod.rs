//! `skipstone report A.json B.json`: two results of `compare`, and which of their differences are beyond the noise.

mod bootstrap;
mod differences;
mod read;

use serde::Serialize;

use self::differences::{Difference, differences};
use self::read::RunFile;
use crate::report::paint::style;
use crate::report::{Exit, Page, ReportFile, Sink, Style, Tone};

/// Flags of `report`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"))]
pub struct ReportArguments {
    /// A result of `compare --json`
    before: String,
    /// Another one, which is compared with it
    after: Option<String>,
    /// Write the first result's report here, as `compare --report` does
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Write the differences here as JSON, `-` for standard output in place of the table
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
        ReportFile::open(path)?.write(&name, &before.whole, "This report needs a browser with scripts.")?;
    }
    let Some(after) = &arguments.after else {
        let nothing = "with one result there is nothing to compare: name a second one, or --html FILE";
        return if arguments.html.is_some() { Ok(Exit::Pass) } else { Err(nothing.into()) };
    };
    let after = RunFile::read(after)?;
    let sink = Sink::open(arguments.json.as_deref())?;
    let found = TwoRuns { unlike: unlike(&before, &after), differences: differences(&before.run, &after.run) };
    if found.differences.is_empty() {
        return Err("the two results have no transport in common".into());
    }
    sink.show(&found, &table(&found, style()), &[])?;
    let is_worse = found.differences.iter().any(|difference| difference.is_beyond && difference.change > 0.0);
    Ok(if is_worse && arguments.fail_if_worse { Exit::Fail } else { Exit::Pass })
}

/// What two results differ by.
#[derive(Debug, Serialize)]
struct TwoRuns {
    /// In what they were not asked alike, a sentence each.
    unlike: Vec<String>,
    differences: Vec<Difference>,
}

/// What was asked differently.
fn unlike(before: &RunFile, after: &RunFile) -> Vec<String> {
    let mut all = Vec::new();
    if before.run.clock != after.run.clock {
        all.push(format!("One is {}, the other {}.", before.run.clock, after.run.clock));
    }
    for key in ["name", "minutes", "entities", "ticks_per_second", "payload_bytes", "link"] {
        let [one, other] = [&before.run.plan[key], &after.run.plan[key]];
        if one != other {
            all.push(format!("The plans differ in {key}: {one} and {other}."));
        }
    }
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
    for difference in &found.differences {
        if difference.of != subject {
            subject = &difference.of;
            page.toned(Tone::Strong, subject);
        }
        let Difference { figure, before, after, change, is_beyond, interval, .. } = difference;
        let said = match (interval, *is_beyond) {
            (Some([least, most]), true) => format!("{change:+.2}, beyond the noise ({least:+.2} to {most:+.2})"),
            (Some([least, most]), false) => format!("{change:+.2}, within the noise ({least:+.2} to {most:+.2})"),
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

const NOTE: &str = "Less is better in all figures. Percentiles: 99% intervals of the difference, by drawing blocks of at least two \
    seconds at random again and again; what happens within a block may have one cause. Maxima, bytes and CPU are judged from five \
    runs of each on. Among a hundred figures that are alike, one is beyond the noise by chance.";
