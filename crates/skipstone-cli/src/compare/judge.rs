//! Thresholds on rows. `p998<24ms` holds for every row; a name before it narrows it down: `skipstone.p998<24ms`,
//! `skipstone.adaptive.p998<24ms`, `kcp-fec.bytes_per_payload<3`. `median`, `worst` and `best` before the figure are over
//! the seeds: `skipstone.lean.median.max<=50`.

use serde_json::{Value, json};

use super::contender::Contender;
use super::row::{Figures, Row, Summary};
use crate::report::rows::ThresholdResult;
use crate::units::nearest::nearest;
use crate::units::threshold::Threshold;
use crate::units::transport_name::Named;

/// Whom and what a threshold is about.
#[derive(Debug, PartialEq, Eq)]
struct Scope<'a> {
    transport: Option<&'a str>,
    mode: Option<&'a str>,
    over: Over,
    figure: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    EachSeed,
    Median,
    Worst,
    Best,
}

/// Whether thresholds name figures of those who take part: to be asked before a run.
pub(crate) fn check(thresholds: &[Threshold], contenders: &[Contender]) -> Result<(), String> {
    for threshold in thresholds {
        let complain = |cause: String| format!("--threshold {threshold}: {cause}");
        let scope = scope(threshold.path());
        let takes_part = |contender: &&Contender| {
            let mode = contender.mode.map(|mode| mode.to_string());
            scope.holds(contender.transport.name(), mode.as_deref())
        };
        if !contenders.iter().any(|contender| takes_part(&contender)) {
            let names: Vec<String> = contenders.iter().map(name_of).collect();
            let who = [scope.transport, scope.mode].into_iter().flatten().collect::<Vec<_>>().join(".");
            return Err(complain(format!("\"{who}\" does not take part; there are {}", names.join(", "))));
        }
        let json = document(&Figures::default());
        let names: Vec<String> = figure_names(&json);
        if !names.iter().any(|name| name == scope.figure) {
            let meant = nearest(scope.figure, names.iter().map(String::as_str));
            let meant = meant.map_or(String::new(), |name| format!("; did you mean {name}?"));
            return Err(complain(format!("a row has no \"{}\"{meant} It has {}", scope.figure, names.join(", "))));
        }
        // A unit that does not suit the figure is found with any value.
        if let Err(error) = threshold.about(full_name(scope.figure)).evaluate(&document(&filled())) {
            return Err(complain(error.to_string()));
        }
    }
    Ok(())
}

/// How every row and summary did, and why one did not.
pub(crate) fn judge(
    thresholds: &[Threshold],
    rows: &[Row],
    summaries: &[Summary],
) -> (Vec<ThresholdResult>, Vec<String>) {
    let (mut results, mut reasons) = (Vec::new(), Vec::new());
    for threshold in thresholds {
        let scope = scope(threshold.path());
        for (of, figures) in subjects(&scope, rows, summaries) {
            let outcome = threshold.about(full_name(scope.figure)).evaluate(&document(&figures));
            let (passed, actual) = match &outcome {
                Ok(outcome) => (outcome.passed, Some(outcome.actual)),
                Err(_) => (false, None),
            };
            if !passed {
                let was = actual.map_or("was not measured".into(), |actual| format!("is {}", three_decimals(actual)));
                reasons.push(format!("The threshold {threshold} was missed: {} of {of} {was}.", scope.figure));
            }
            results.push(ThresholdResult { expression: threshold.to_string(), of, passed, actual });
        }
    }
    (results, reasons)
}

fn scope(path: &str) -> Scope<'_> {
    let mut names: Vec<&str> = path.split('.').collect();
    let figure = names.pop().unwrap_or_default();
    let over = match names.last() {
        Some(&"median") => Over::Median,
        Some(&"worst") => Over::Worst,
        Some(&"best") => Over::Best,
        _ => Over::EachSeed,
    };
    if over != Over::EachSeed {
        names.pop();
    }
    Scope { transport: names.first().copied(), mode: names.get(1).copied(), over, figure }
}

impl Scope<'_> {
    fn holds(&self, transport: &str, mode: Option<&str>) -> bool {
        self.transport.is_none_or(|name| name == transport) && self.mode.is_none_or(|name| Some(name) == mode)
    }
}

fn subjects(scope: &Scope<'_>, rows: &[Row], summaries: &[Summary]) -> Vec<(String, Figures)> {
    if scope.over == Over::EachSeed {
        let held = rows.iter().filter(|row| scope.holds(row.transport, row.mode.as_deref()));
        let name = |row: &Row| format!("{} seed {}", full(row.transport, row.mode.as_deref()), row.seed);
        return held.map(|row| (name(row), row.figures)).collect();
    }
    let held = summaries.iter().filter(|summary| scope.holds(summary.transport, summary.mode.as_deref()));
    let chosen = |summary: &Summary| match scope.over {
        Over::Median => ("median", summary.median),
        Over::Worst => ("worst", summary.worst),
        Over::Best | Over::EachSeed => ("best", summary.best),
    };
    held.map(|summary| {
        let (over, figures) = chosen(summary);
        (format!("{} {over}", full(summary.transport, summary.mode.as_deref())), figures)
    })
    .collect()
}

fn full(transport: &str, mode: Option<&str>) -> String {
    mode.map_or(transport.to_owned(), |mode| format!("{transport} {mode}"))
}

fn name_of(contender: &Contender) -> String {
    match contender.mode {
        Some(mode) => format!("{}.{mode}", contender.transport),
        None => contender.transport.to_string(),
    }
}

/// Figures where their names say their units, so that `24ms` is understood.
fn document(figures: &Figures) -> Value {
    let all = serde_json::to_value(figures).expect("figures have only text keys");
    json!({ "latency_ms": all.clone(), "other": all })
}

fn full_name(figure: &str) -> String {
    let is_time = TIMES.contains(&figure);
    format!("{}.{figure}", if is_time { "latency_ms" } else { "other" })
}

fn figure_names(document: &Value) -> Vec<String> {
    document["other"].as_object().into_iter().flat_map(|all| all.keys().cloned()).collect()
}

/// Every figure has a value.
fn filled() -> Figures {
    let Value::Object(mut all) = serde_json::to_value(Figures::default()).expect("figures have only text keys") else {
        unreachable!("figures are an object");
    };
    all.values_mut().for_each(|value| *value = json!(0));
    serde_json::from_value(Value::Object(all)).expect("all of them are numbers")
}

fn three_decimals(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Figures that are in ms.
const TIMES: [&str; 9] =
    ["p50", "p99", "p998", "p9999", "max", "connect", "queue_delay_p50", "queue_delay_p95", "queue_delay_max"];

#[cfg(test)]
mod tests {
    use super::super::contender::{Mode, Transport};
    use super::*;

    fn row(transport: &'static str, mode: Option<&str>, seed: u64, p998: f64) -> Row {
        let figures = Figures { p998: Some(p998), bytes_per_payload: Some(1.5), ..Figures::default() };
        Row {
            transport,
            mode: mode.map(str::to_owned),
            plan: "p".into(),
            entities: 1,
            loss: 0.0,
            seed,
            gave_up: false,
            figures,
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
        results.into_iter().filter(|result| !result.passed).map(|result| result.of).collect()
    }

    #[test]
    fn a_threshold_holds_for_all_that_it_names() {
        assert_eq!(missed("p998<24ms"), ["skipstone lean seed 1", "skipstone lean seed 2", "kcp-fec seed 1"]);
        assert_eq!(missed("skipstone.p998<=40"), ["skipstone lean seed 2"]);
        assert_eq!(missed("skipstone.adaptive.p998<0.024s"), Vec::<String>::new());
        assert_eq!(missed("skipstone.lean.worst.p998<44"), ["skipstone lean worst"]);
        assert_eq!(missed("kcp-fec.bytes_per_payload<2"), Vec::<String>::new());
        assert_eq!(missed("kcp-fec.max<2"), ["kcp-fec seed 1"], "what was not measured keeps to nothing");
    }

    #[test]
    fn names_that_do_not_exist_are_refused_before_the_run() {
        let contenders = Contender::all(&[Transport::Skipstone, Transport::Kcp], &[Mode::Lean]);
        let error = |text: &str| check(&[text.parse().unwrap()], &contenders).unwrap_err();
        assert!(error("p98<5").contains("did you mean p99?"));
        assert!(error("quinn.p998<5").contains("\"quinn\" does not take part; there are skipstone.lean, kcp"));
        assert!(error("skipstone.off.p998<5").contains("skipstone.off"));
        assert!(error("bytes_per_payload<5ms").contains("not measured in ms"));
        for good in ["p998<24ms", "skipstone.lean.median.max<50", "kcp.lost==0", "queue_delay_p95<=60ms"] {
            check(&[good.parse().unwrap()], &contenders).unwrap();
        }
    }
}
