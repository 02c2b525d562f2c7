//! The subjects of thresholds: every row, by transport and mode; and `median`, `worst` and `best` over the seeds, as in
//! `skipstone.lean.median.max<=50`.

use super::contender::Contender;
use super::row::{CompareFigures, CompareRow, Summary};
use super::validity::{Validity, ValidityLevel};
use crate::report::format::counted;
use crate::report::rows::{self, Subject, by_name};
use crate::report::{ThresholdResult, Verdict};
use crate::units::Threshold;

/// Whether thresholds name figures of transports that take part; checked before a run.
pub(crate) fn check(thresholds: &[Threshold], contenders: &[Contender]) -> Result<(), String> {
    let row = |contender: &Contender| CompareRow {
        transport: contender.name(),
        mode: contender.mode.map(|mode| mode.to_string()),
        ..CompareRow::default()
    };
    let rows: Vec<CompareRow> = contenders.iter().map(row).collect();
    let names: Vec<String> = contenders.iter().map(|contender| contender.to_string().replace(' ', ".")).collect();
    let figures = by_name(&CompareFigures::default());
    rows::check(thresholds, &subjects(&rows, &Summary::of(&rows)), &names, &figures, &TIMES)
}

/// How every row and summary did, and why one did not.
pub(crate) fn judge(
    thresholds: &[Threshold],
    rows: &[CompareRow],
    summaries: &[Summary],
) -> (Vec<ThresholdResult>, Vec<String>) {
    rows::judge(thresholds, &subjects(rows, summaries), &TIMES)
}

/// A transport that never connects has failed, whatever the plan requires.
pub(crate) fn never_connected(summaries: &[Summary]) -> Vec<String> {
    let reason = |summary: &Summary| {
        let name =
            [Some(summary.transport), summary.mode.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let under = under(summary.condition.as_deref());
        format!("{name} never connected in {}{under}.", counted(summary.never_connected as u64, "run"))
    };
    summaries.iter().filter(|summary| summary.never_connected > 0).map(reason).collect()
}

/// A transport that connected and delivered nothing has failed, too: it has no latency to judge.
pub(crate) fn delivered_nothing(rows: &[CompareRow]) -> Vec<String> {
    let is_empty = |row: &&CompareRow| {
        let (sent, delivered) = (row.figures.sent.unwrap_or(0), row.figures.delivered.unwrap_or(0));
        row.figures.connect.is_some() && sent > 0 && delivered == 0
    };
    let reason = |row: &CompareRow| {
        let subject = subject(row.transport, row.mode.as_deref(), None, &row.figures).of;
        format!("{subject} seed {} delivered nothing{}.", row.seed, under(row.condition.as_deref()))
    };
    rows.iter().filter(is_empty).map(reason).collect()
}

/// The verdict and its reasons: a broken transport or a missed threshold fails the run, unless the figures reflect the
/// machine and not the transports.
pub(crate) fn verdict(
    is_whole: bool,
    broken: Vec<String>,
    missed: Vec<String>,
    validity: &Validity,
) -> (Verdict, Vec<String>) {
    let is_machine = broken.is_empty() && validity.level == ValidityLevel::Unsound;
    let mut reasons = [broken, missed].concat();
    let verdict = Verdict::of_rows("comparison", is_whole, &mut reasons);
    if verdict == Verdict::Fail && is_machine {
        reasons.insert(0, format!("The figures reflect the machine: {}.", validity.because));
        return (Verdict::Invalid, reasons);
    }
    (verdict, reasons)
}

fn subjects(rows: &[CompareRow], summaries: &[Summary]) -> Vec<Subject> {
    let of_row = |row: &CompareRow| {
        let subject = subject(row.transport, row.mode.as_deref(), None, &row.figures);
        Subject { of: format!("{} seed {}{}", subject.of, row.seed, under(row.condition.as_deref())), ..subject }
    };
    let of_summary = |summary: &Summary| {
        let all = [("median", &summary.median), ("worst", &summary.worst), ("best", &summary.best)];
        all.map(|(over, figures)| {
            let subject = subject(summary.transport, summary.mode.as_deref(), Some(over), figures);
            Subject { of: subject.of + &under(summary.condition.as_deref()), ..subject }
        })
    };
    rows.iter().map(of_row).chain(summaries.iter().flat_map(of_summary)).collect()
}

fn under(condition: Option<&str>) -> String {
    condition.map_or(String::new(), |name| format!(" under {name}"))
}

fn subject(transport: &str, mode: Option<&str>, over: Option<&'static str>, figures: &CompareFigures) -> Subject {
    let labels: Vec<String> = [Some(transport), mode, over].into_iter().flatten().map(str::to_owned).collect();
    Subject { of: labels.join(" "), labels, over, figures: by_name(figures) }
}

/// Figures that are in ms.
const TIMES: [&str; 14] = [
    "p50",
    "p99",
    "p998",
    "p9999",
    "max",
    "connect",
    "queue_delay_p50",
    "queue_delay_p95",
    "queue_delay_max",
    "p99_calm",
    "p998_calm",
    "max_calm",
    "longest_stall",
    "link_lateness_p99",
];

#[cfg(test)]
mod tests {
    use super::super::transport::Transport;
    use super::*;
    use crate::units::Mode;

    fn row(transport: &'static str, mode: Option<&str>, seed: u64, p998: f64) -> CompareRow {
        let figures = CompareFigures { p998: Some(p998), bytes_per_payload: Some(1.5), ..CompareFigures::default() };
        CompareRow {
            transport,
            mode: mode.map(str::to_owned),
            plan: "p".into(),
            seed,
            figures,
            ..CompareRow::default()
        }
    }

    fn missed(threshold: &str) -> Vec<String> {
        let rows = [
            row("skipstone", Some("lean"), 1, 40.0),
            row("skipstone", Some("lean"), 2, 44.0),
            row("skipstone", Some("adaptive"), 1, 21.0),
            row("kcp-fec", None, 1, 98.0),
        ];
        let thresholds = [threshold.parse().unwrap()];
        let (results, reasons) = judge(&thresholds, &rows, &Summary::of(&rows));
        assert_eq!(results.iter().filter(|result| !result.passed).count(), reasons.len());
        results.into_iter().filter(|result| !result.passed).filter_map(|result| result.of).collect()
    }

    #[test]
    fn a_threshold_applies_to_every_row_that_it_names() {
        assert_eq!(missed("p998<24ms"), ["skipstone lean seed 1", "skipstone lean seed 2", "kcp-fec seed 1"]);
        assert_eq!(missed("skipstone.p998<=40"), ["skipstone lean seed 2"]);
        assert_eq!(missed("skipstone.adaptive.p998<0.024s"), Vec::<String>::new());
        assert_eq!(missed("skipstone.lean.worst.p998<44"), ["skipstone lean worst"]);
        assert_eq!(missed("skipstone.adaptive.p99.8<21ms"), ["skipstone adaptive seed 1"]);
        assert_eq!(missed("skipstone.lean.worst.p99.8<=44ms"), Vec::<String>::new());
        assert_eq!(missed("kcp-fec.bytes_per_payload<2"), Vec::<String>::new());
        assert_eq!(missed("kcp-fec.max<2"), ["kcp-fec seed 1"], "what was not measured keeps to nothing");
    }

    #[test]
    fn a_transport_that_connects_and_delivers_nothing_has_failed() {
        let of = |connect, delivered| {
            let mut row = row("kcp", None, 3, 20.0);
            (row.figures.connect, row.figures.sent, row.figures.delivered) = (connect, Some(9), delivered);
            delivered_nothing(&[row])
        };
        assert_eq!(of(Some(20.0), Some(0)), ["kcp seed 3 delivered nothing."]);
        assert!(of(Some(20.0), Some(1)).is_empty() && of(None, Some(0)).is_empty(), "or it never connected");
    }

    #[test]
    fn a_threshold_missed_on_a_busy_machine_makes_the_run_invalid() {
        let of = |level, broken: &[&str], missed: &[&str]| {
            let validity = Validity { level, because: "31% stalled".into() };
            let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            verdict(true, all(broken), all(missed), &validity)
        };
        let (found, reasons) = of(ValidityLevel::Unsound, &[], &["missed"]);
        assert_eq!((found, reasons[0].as_str()), (Verdict::Invalid, "The figures reflect the machine: 31% stalled."));
        assert_eq!(of(ValidityLevel::Doubtful, &[], &["missed"]).0, Verdict::Fail);
        assert_eq!(of(ValidityLevel::Unsound, &["never connected"], &["missed"]).0, Verdict::Fail);
        assert_eq!(of(ValidityLevel::Unsound, &[], &[]).0, Verdict::Pass);
    }

    #[test]
    fn unknown_names_are_refused_before_the_run() {
        let contenders =
            Contender::all(&[Transport::Skipstone, Transport::Kcp], Some(&[Mode(skipstone::RedundancyMode::Lean)]));
        let error = |text: &str| check(&[text.parse().unwrap()], &contenders).unwrap_err();
        assert!(error("p98<5").contains("did you mean p99?"));
        assert!(error("quinn.p998<5").contains("\"quinn\" does not take part; there are skipstone.lean, kcp"));
        assert!(error("skipstone.off.p998<5").contains("skipstone.off"));
        assert!(error("bytes_per_payload<5ms").contains("not measured in ms"));
        for good in [
            "p998<24ms",
            "skipstone.lean.median.max<50",
            "kcp.lost==0",
            "queue_delay_p95<=60ms",
            "p99.99<40ms",
            "useful>=97.5%",
            "kcp.link_share>=30%",
        ] {
            check(&[good.parse().unwrap()], &contenders).unwrap();
        }
    }
}
