//! Results with rows, from `compare` and `bench`: their verdict, and thresholds on them. `p998<24ms` holds for every
//! row; names before the figure narrow it down: `skipstone.p998<24ms`, `skipstone.adaptive.median.p998<24ms`,
//! `tcp.600.ratio<=0.4`.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::Verdict;
use crate::report::thresholds::{ThresholdResult, three_decimals};
use crate::units::nearest::nearest;
use crate::units::{FigureUnit, Threshold};

/// The subject of thresholds: a row, or a summary of several rows.
pub(crate) struct Subject {
    /// Its name in sentences.
    pub(crate) of: String,
    /// The names that narrow a threshold down to it, in the order in which they are written.
    pub(crate) labels: Vec<String>,
    /// A label that a threshold must contain: summaries are selected only by name.
    pub(crate) over: Option<&'static str>,
    pub(crate) figures: Map<String, Value>,
}

/// Whether thresholds name existing figures of participants; checked before a run. `names` lists the participants, and
/// `figures` the figures of each.
pub(crate) fn check(
    thresholds: &[Threshold],
    subjects: &[Subject],
    names: &[String],
    figures: &Map<String, Value>,
    times: &[&str],
) -> Result<(), String> {
    for threshold in thresholds {
        let complain = |cause: String| Err(format!("--threshold {threshold}: {cause}"));
        let (scope, figure) = split(threshold, figures);
        let figure = figure.as_str();
        if !subjects.iter().any(|subject| subject.is_meant_by(&scope)) {
            return complain(format!("\"{}\" does not take part; there are {}", scope.join("."), names.join(", ")));
        }
        if !figures.contains_key(figure) {
            let meant = nearest(figure, figures.keys().map(String::as_str));
            let meant = meant.map_or(String::new(), |name| format!("; did you mean {name}?"));
            let names: Vec<&str> = figures.keys().map(String::as_str).collect();
            return complain(format!("a row has no \"{figure}\"{meant} It has {}", names.join(", ")));
        }
        // A unit that does not suit the figure is found with any value.
        if let Err(error) = threshold.compare(0.0, FigureUnit::of(figure, times)) {
            return complain(error.to_string());
        }
    }
    Ok(())
}

/// The verdict on all subjects, with reasons for failures.
pub(crate) fn judge(
    thresholds: &[Threshold],
    subjects: &[Subject],
    times: &[&str],
) -> (Vec<ThresholdResult>, Vec<String>) {
    let (mut results, mut reasons) = (Vec::new(), Vec::new());
    for threshold in thresholds {
        for subject in subjects {
            let (scope, figure) = split(threshold, &subject.figures);
            if !subject.is_meant_by(&scope) {
                continue;
            }
            let (figure, actual) = (figure.as_str(), subject.figures.get(&figure).and_then(Value::as_f64));
            let unit = FigureUnit::of(figure, times);
            let symbol = unit.and_then(FigureUnit::symbol).map(String::from);
            let passed = actual.is_some_and(|actual| threshold.compare(actual, unit).unwrap_or(false));
            if !passed {
                let was = actual.map_or("was not measured".into(), |actual| format!("is {}", three_decimals(actual)));
                reasons.push(format!("The threshold {threshold} was missed: {figure} of {} {was}.", subject.of));
            }
            let (expression, of) = (threshold.to_string(), Some(subject.of.clone()));
            results.push(ThresholdResult { expression, of, passed, actual, unit: symbol });
        }
    }
    (results, reasons)
}

impl Verdict {
    /// The verdict on rows. Its reasons name each failure, and an interruption of `what`.
    pub(crate) fn of_rows(what: &str, is_whole: bool, reasons: &mut Vec<String>) -> Verdict {
        let verdict = Verdict::of(!is_whole, &[], reasons);
        if verdict == Verdict::Interrupted {
            reasons.insert(0, format!("The {what} was stopped before its end."));
        }
        verdict
    }
}

/// Figures by their names.
pub(crate) fn by_name(figures: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(figures) {
        Ok(Value::Object(figures)) => figures,
        _ => unreachable!("figures are an object with text keys"),
    }
}

/// The names that narrow it down, and the figure as results name it: `p99.8` is p998, `useful` is useful_share.
fn split<'a>(threshold: &'a Threshold, figures: &Map<String, Value>) -> (Vec<&'a str>, String) {
    let mut names: Vec<&str> = threshold.path().split('.').collect();
    let mut figure = names.pop().unwrap_or_default().to_owned();
    if let Some(whole) = names.pop_if(|whole| is_percentile(whole, &figure)) {
        figure.insert_str(0, whole);
    }
    let share = format!("{figure}_share");
    if !figures.contains_key(&figure) && figures.contains_key(&share) { (names, share) } else { (names, figure) }
}

/// Whether a point in the name of a percentile was taken for one between names.
fn is_percentile(whole: &str, decimals: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    whole.strip_prefix('p').is_some_and(is_number) && is_number(decimals)
}

impl Subject {
    fn is_meant_by(&self, scope: &[&str]) -> bool {
        let mut labels = self.labels.iter();
        scope.iter().all(|name| labels.any(|label| label == name)) && self.over.is_none_or(|over| scope.contains(&over))
    }
}
