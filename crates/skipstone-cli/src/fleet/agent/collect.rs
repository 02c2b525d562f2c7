//! `skipstone agent collect`: one result of a run whose coordinator could not make it.

use super::super::coordinator::gather::{Gathered, RawEvidence};
use super::super::coordinator::no_verdict::NoVerdict;
use super::super::coordinator::{collect_from, conclusion};
use super::super::talk::is_name;
use super::shelf::EVIDENCE;
use crate::fleet_flags::NatsFlags;
use crate::stress::view::Viewer;
#[cfg(feature = "bots")]
use skipstone_bots::{BotsEvidence, BotsPlace};
use skipstone_lab::report::stress::evidence::PartEvidence;
use skipstone_lab::report::stress::judge::Ending;
use skipstone_lab::report::{Exit, ReportFile, Sink};
use skipstone_lab::signals::Signals;
use std::path::{Path, PathBuf};

/// Flags of `agent collect`.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct CollectArguments {
    /// The run, as its coordinator named it; without one, the runs that agents keep are listed
    run: Option<String>,
    /// NATS, at which the agents wait
    #[arg(long, value_name = "URL", required_unless_present = "from")]
    fleet: Option<String>,
    /// Evidence that lies on this machine: a file, or a folder in which RUN/evidence.json is; may be repeated
    #[arg(long, value_name = "PATH")]
    from: Vec<PathBuf>,
    /// Write the result to this file (with - to standard output, instead of the table)
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Write the report to this file, if the run was started with one
    #[arg(long, value_name = "FILE")]
    report: Option<String>,
    #[command(flatten)]
    nats: NatsFlags,
}

pub(super) fn run(arguments: &CollectArguments) -> Exit {
    match collect(arguments) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn collect(arguments: &CollectArguments) -> Result<Exit, Exit> {
    let bad = |sentence: String| Exit::BadConfiguration.told("agent collect", sentence);
    let invalid = |sentence: String| Exit::Invalid.told("agent collect", sentence);
    if let Some(run) = arguments.run.as_deref().filter(|run| !is_name(run)) {
        return Err(bad(format!("'{run}' is no name of a run")));
    }
    let signals = Signals::watch().map_err(bad)?;
    let sink = Sink::open(arguments.json.as_deref()).map_err(bad)?;
    let report = arguments.report.as_deref().map(ReportFile::open).transpose().map_err(bad)?;
    let mut gathered = Gathered::<RawEvidence>::default();
    for path in &arguments.from {
        gathered.evidence.extend(read(path, arguments.run.as_deref()).map_err(bad)?);
    }
    if let Some(url) = &arguments.fleet {
        let nats = arguments.nats.connect(url, "collect");
        let nats = nats.map_err(|(exit, sentence)| exit.told("agent collect", sentence))?;
        let Some(run) = &arguments.run else {
            return collect_from::list(&nats, &signals).map_err(invalid);
        };
        let found = collect_from::fetch(nats, run, &signals).map_err(invalid)?;
        gathered.lost.extend(found.lost);
        gathered.evidence.extend(found.evidence);
    }
    if gathered.evidence.is_empty() {
        let run = arguments.run.as_deref().unwrap_or("any run");
        return Err(invalid(format!(
            "no agent keeps evidence of {run}; `skipstone agent collect --fleet URL` lists the runs there are"
        )));
    }
    let shown = conclude(gathered, (report, sink));
    shown.map_err(|(exit, sentence)| exit.told("agent collect", sentence))
}

fn conclude(gathered: Gathered<RawEvidence>, place: (Option<ReportFile>, Sink)) -> Result<Exit, NoVerdict> {
    #[cfg(feature = "bots")]
    if gathered.evidence.first().is_some_and(is_of_bots) {
        return conclude_bots(gathered, place);
    }
    let (report, sink) = place;
    let mut gathered: Gathered<PartEvidence> = gathered.read();
    // That of one agent may lie here and there.
    let mut known = Vec::new();
    gathered.evidence.retain(|piece| !known.contains(&piece.agent) && (known.push(piece.agent), true).1);
    let roster = gathered.evidence.first().map(|first| first.roster.clone()).unwrap_or_default();
    conclusion::show(&roster, &gathered, Ending::Completed, (report.as_ref(), &sink), Viewer::People)
}

/// Evidence of bots says so; the rest of it, which is long, is not read for this.
#[cfg(feature = "bots")]
fn is_of_bots(evidence: &RawEvidence) -> bool {
    #[derive(serde::Deserialize)]
    struct Kind {
        kind: Option<String>,
    }
    serde_json::from_slice::<Kind>(&evidence.json).is_ok_and(|it| it.kind.as_deref() == Some(BotsEvidence::KIND))
}

#[cfg(feature = "bots")]
fn conclude_bots(gathered: Gathered<RawEvidence>, place: (Option<ReportFile>, Sink)) -> Result<Exit, NoVerdict> {
    let (report, sink) = place;
    let Gathered { mut evidence, lost } = gathered.read::<BotsEvidence>();
    let mut known = Vec::new();
    evidence.retain(|piece| !known.contains(&piece.agent()) && (known.push(piece.agent()), true).1);
    let roster = evidence.first().map(|first| first.roster().clone()).unwrap_or_default();
    let place = BotsPlace { sink, report };
    skipstone_bots::conclude(&roster, evidence, &lost, Ending::Completed, &place)
        .map_err(|sentence| (Exit::Invalid, sentence))
}

/// The evidence at a path. The error is one sentence.
fn read(path: &Path, run: Option<&str>) -> Result<Vec<RawEvidence>, String> {
    let mut files = Vec::new();
    if path.is_dir() {
        let run = run.ok_or("--from with a folder needs the name of the run")?;
        // The folder of one agent, or the one above several.
        files.push(path.join(run).join(EVIDENCE));
        let below = std::fs::read_dir(path).into_iter().flatten().flatten();
        files.extend(below.map(|entry| entry.path().join(run).join(EVIDENCE)));
        files.retain(|file| file.is_file());
    } else {
        files.push(path.to_owned());
    }
    let open = |file: PathBuf| {
        let agent = file.display().to_string();
        let json = std::fs::read(&file).map_err(|error| format!("--from {agent}: {error}"))?;
        Ok(RawEvidence { agent, json })
    };
    files.into_iter().map(open).collect()
}
