//! The findings as people read them: a line for each bottleneck, then the breaches.

use super::finding::FairnessFinding;
use super::judge::{JAIN_MIN, SharedLink, WORST_MIN};
use super::line_up::{FlowKind, LINE_UPS, LineUp};
use crate::report::format::percent;
use crate::report::{Cell, Page, Style, Tone};

const LABEL_COLUMNS: usize = 6;
const CELL_COLUMNS: usize = 12;

/// The heads of the lines.
pub(super) fn heads(style: Style) -> String {
    let mut page = Page::new(style);
    let cells: String = LINE_UPS.iter().map(|line_up| format!("{:>CELL_COLUMNS$}", line_up.name)).collect();
    page.toned(Tone::Faint, &format!("{:<LABEL_COLUMNS$}{cells}  bottleneck", "seed"));
    page.into_text()
}

/// A bottleneck as a line.
pub(super) fn line(finding: &FairnessFinding, style: Style) -> String {
    let mut page = Page::new(style);
    let cells = LINE_UPS.iter().zip(&finding.shares).map(|(line_up, shares)| {
        let worst = (shares.worst * 100.0).round();
        let first = if line_up.is_of_ours() {
            format!("{:.2}", shares.jain)
        } else {
            format!("{:.0}", shares.means[told(line_up)] * 100.0)
        };
        let cell = Cell::right(format!("{first}/{worst}"), CELL_COLUMNS);
        if breach(line_up, shares).is_some() { cell.toned(Tone::Bad) } else { cell }
    });
    let words = Cell::right(format!("  {}", finding.bottleneck), 0);
    page.row(&finding.seed.to_string(), LABEL_COLUMNS, cells.chain([words]));
    page.into_text()
}

/// The flow whose share is shown: ours, if it has others beside it.
fn told(line_up: &LineUp) -> usize {
    line_up.flows.iter().position(|kind| *kind == FlowKind::Ours).unwrap_or(0)
}

/// Each rule, how often it was kept, and each breach; nothing of a run that was stopped before its first bottleneck.
pub(super) fn summary(findings: &[FairnessFinding], style: Style) -> String {
    let mut page = Page::new(style);
    if findings.is_empty() {
        return page.into_text();
    }
    page.blank();
    for (at, line_up) in LINE_UPS.iter().enumerate() {
        let starving = findings.iter().filter(|finding| finding.shares[at].is_starving()).count();
        let judged = if line_up.is_judged { "" } else { " (not judged)" };
        let least = findings.iter().map(|finding| finding.shares[at].worst).fold(f64::INFINITY, f64::min);
        let mut text = format!(
            "{:<12}each flow has a quarter of an equal share over any ten seconds on {} of {}{judged}; minimum {}",
            line_up.name,
            findings.len() - starving,
            findings.len(),
            percent(least * 100.0)
        );
        if line_up.is_of_ours() {
            let least = findings.iter().map(|finding| finding.shares[at].jain).fold(f64::INFINITY, f64::min);
            text += &format!("; Jain's index at least {least:.3}");
        }
        page.toned(if starving > 0 && line_up.is_judged { Tone::Bad } else { Tone::Good }, &text);
    }
    for breach in breaches(findings) {
        page.line(&breach);
    }
    page.into_text()
}

/// In words.
pub(super) fn breaches(findings: &[FairnessFinding]) -> Vec<String> {
    let of = |finding: &FairnessFinding| {
        let words = |(line_up, shares): (&LineUp, &SharedLink)| {
            let why = breach(line_up, shares)?;
            Some(format!("seed {}, {}: {why}; {}", finding.seed, line_up.name, finding.bottleneck))
        };
        LINE_UPS.iter().zip(&finding.shares).filter_map(words).collect::<Vec<_>>()
    };
    findings.iter().flat_map(of).collect()
}

fn breach(line_up: &LineUp, shares: &SharedLink) -> Option<String> {
    let worst = shares.worst * 100.0;
    match () {
        () if !line_up.is_judged => None,
        () if shares.is_starving() => {
            let (flow, second) = (shares.worst_flow + 1, shares.worst_second);
            Some(format!(
                "flow {flow} ({:?}) has {worst:.0}% of an equal share in ten seconds from second {second}; {:.0}% are required",
                line_up.flows[shares.worst_flow],
                WORST_MIN * 100.0
            ))
        }
        () if line_up.flows.len() == 4 && shares.jain < JAIN_MIN => {
            Some(format!("Jain's index is {:.3}; {JAIN_MIN} is required", shares.jain))
        }
        () => None,
    }
}
