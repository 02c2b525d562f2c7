//! Judges what was gathered of a stress run, and shows it as any stress run is shown.

use super::gather::Gathered;
use super::no_verdict::NoVerdict;
use crate::stress::view::Viewer;
use crate::stress::{explanations, write_report};
use skipstone_lab::report::stress::evidence::PartEvidence;
use skipstone_lab::report::stress::judge::{Ending, judge};
use skipstone_lab::report::stress::merge_agents::merge_agents;
use skipstone_lab::report::stress::roster::Roster;
use skipstone_lab::report::stress::table::table;
use skipstone_lab::report::{Exit, ReportFile, Sink, Verdict, output, paint};
use skipstone_lab::units::{Carrier, Threshold};

/// The exit code of what was shown.
pub(in super::super) fn show(
    roster: &Roster,
    gathered: &Gathered<PartEvidence>,
    ending: Ending,
    (report, sink): (Option<&ReportFile>, &Sink),
    viewer: Viewer,
) -> Result<Exit, NoVerdict> {
    let invalid = |sentence: String| (Exit::Invalid, sentence);
    let because = |sentence: String| {
        let lost: Vec<String> = gathered.lost.iter().map(|(agent, why)| format!("agent {agent}: {why}")).collect();
        if lost.is_empty() { sentence } else { format!("{sentence} ({})", lost.join("; ")) }
    };
    let (mut result, chronicle) =
        merge_agents(roster, &gathered.evidence, &gathered.lost).map_err(|sentence| invalid(because(sentence)))?;
    let thresholds: Result<Vec<Threshold>, _> =
        roster.thresholds.iter().map(|text| text.parse::<Threshold>()).collect();
    let thresholds = thresholds.map_err(|error| invalid(error.to_string()))?;
    let is_interrupted = gathered.evidence.iter().any(|piece| piece.is_interrupted);
    let ending = if is_interrupted { Ending::Interrupted } else { ending };
    judge(&mut result, &thresholds, ending);
    if result.verdict != Verdict::Pass {
        result.reasons.extend(explanations(&result));
    }
    if viewer == Viewer::Parent {
        output::say(serde_json::json!({ "result": result }));
        return Ok(result.verdict.into());
    }
    let carriers: Vec<Carrier> = roster.mix.iter().map(|(carrier, _)| *carrier).collect();
    let written = write_report(report, &carriers, chronicle.as_ref(), &result);
    let shown = sink.show(&result, &table(&result, paint::style()), &[]).and(written);
    Ok(Exit::from(result.verdict).once_kept("stress", shown))
}
