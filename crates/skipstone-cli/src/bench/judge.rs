//! Thresholds on rows. `p99<40ms` holds for every row; names before it narrow it down: `skipstone.p99<40ms`,
//! `skipstone.600.ratio<=0.4`, `1000.passed==1`.

use serde_json::{Value, json};

use super::plan::Plan;
use super::row::{Figures, Row};
use crate::report::format::thousands;
use crate::report::rows::ThresholdResult;
use crate::units::nearest::nearest;
use crate::units::threshold::Threshold;
use crate::units::transport_name::Named;

/// Whom and what a threshold is about.
#[derive(Debug, PartialEq, Eq)]
struct Scope<'a> {
    transport: Option<&'a str>,
    clients: Option<u32>,
    figure: &'a str,
}

impl Scope<'_> {
    fn holds(&self, transport: &str, clients: u32) -> bool {
        self.transport.is_none_or(|name| name == transport) && self.clients.is_none_or(|number| number == clients)
    }
}

fn scope(path: &str) -> Scope<'_> {
    let mut names: Vec<&str> = path.split('.').collect();
    let figure = names.pop().unwrap_or_default();
    let clients = names.last().and_then(|name| name.parse().ok());
    if clients.is_some() {
        names.pop();
    }
    Scope { transport: names.first().copied(), clients, figure }
}

/// Whether thresholds name figures of those who take part: to be asked before a run.
pub(super) fn check(thresholds: &[Threshold], plan: &Plan) -> Result<(), String> {
    for threshold in thresholds {
        let complain = |cause: String| Err(format!("--threshold {threshold}: {cause}"));
        let scope = scope(threshold.path());
        let mut trials = plan.trials().into_iter();
        if plan.search.is_none() && !trials.any(|trial| scope.holds(trial.transport.name(), trial.clients)) {
            let names: Vec<&str> = plan.transports.iter().map(|transport| transport.name()).collect();
            return complain(format!(
                "nobody of that name, or with so many clients, takes part; there are {}",
                names.join(", ")
            ));
        }
        let names = figure_names();
        if !names.iter().any(|name| name == scope.figure) {
            let meant = nearest(scope.figure, names.iter().map(String::as_str));
            let meant = meant.map_or(String::new(), |name| format!("; did you mean {name}?"));
            return complain(format!("a row has no \"{}\"{meant} It has {}", scope.figure, names.join(", ")));
        }
        // A unit that does not suit the figure is found with any value.
        if let Err(error) = threshold.about(full_name(scope.figure)).evaluate(&document(&filled())) {
            return complain(error.to_string());
        }
    }
    Ok(())
}

/// How every row did, and why one did not.
pub(super) fn judge(thresholds: &[Threshold], rows: &[Row]) -> (Vec<ThresholdResult>, Vec<String>) {
    let (mut results, mut reasons) = (Vec::new(), Vec::new());
    for threshold in thresholds {
        let scope = scope(threshold.path());
        for row in rows.iter().filter(|row| scope.holds(row.transport, row.clients)) {
            let of = format!("{} with {} clients", row.name(), thousands(row.clients.into()));
            let outcome = threshold.about(full_name(scope.figure)).evaluate(&document(&values(row)));
            let (passed, actual) = match &outcome {
                Ok(outcome) => (outcome.passed, Some(outcome.actual)),
                Err(_) => (false, None),
            };
            if !passed {
                let was = actual.map_or("was not measured".into(), |actual| format!("is {actual:.3}"));
                reasons.push(format!("The threshold {threshold} was missed: {} of {of} {was}.", scope.figure));
            }
            results.push(ThresholdResult { expression: threshold.to_string(), of, passed, actual });
        }
    }
    (results, reasons)
}

/// The figures of a row; that it passed is 1.
fn values(row: &Row) -> Value {
    let mut all = serde_json::to_value(row.figures).expect("figures have only text keys");
    all["passed"] = json!(u8::from(row.passed));
    all
}

/// Figures where their names say their units, so that `24ms` is understood.
fn document(all: &Value) -> Value {
    json!({ "latency_ms": all, "other": all })
}

fn full_name(figure: &str) -> String {
    format!("{}.{figure}", if TIMES.contains(&figure) { "latency_ms" } else { "other" })
}

fn figure_names() -> Vec<String> {
    let filled = filled();
    filled.as_object().into_iter().flat_map(|all| all.keys().cloned()).collect()
}

/// Every figure has a value.
fn filled() -> Value {
    let mut all = serde_json::to_value(Figures::default()).expect("figures have only text keys");
    all["passed"] = json!(0);
    all.as_object_mut().into_iter().flat_map(|all| all.values_mut()).for_each(|value| *value = json!(0));
    all
}

/// Figures that are in ms.
const TIMES: [&str; 8] = ["p50", "p99", "p999", "max", "connect", "close", "latest_send", "slowest_tick"];

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(threshold: &str) -> Vec<String> {
        let row = |transport, clients, p99, passed| Row {
            transport,
            variant: None,
            clients,
            rate: 1.0,
            passed,
            reasons: Vec::new(),
            rounds: 1,
            figures: Figures { p99: Some(p99), ..Figures::default() },
        };
        let rows = [row("tcp", 200, 20.0, true), row("skipstone", 200, 30.0, true), row("skipstone", 600, 50.0, false)];
        let (results, reasons) = judge(&[threshold.parse().unwrap()], &rows);
        assert_eq!(results.iter().filter(|result| !result.passed).count(), reasons.len());
        results.into_iter().filter(|result| !result.passed).map(|result| result.of).collect()
    }

    #[test]
    fn a_threshold_holds_for_all_that_it_names() {
        assert_eq!(missed("p99<=0.03s"), ["skipstone with 600 clients"]);
        assert_eq!(missed("skipstone.p99<30ms"), ["skipstone with 200 clients", "skipstone with 600 clients"]);
        assert_eq!(missed("skipstone.200.p99<40ms"), Vec::<String>::new());
        assert_eq!(missed("200.passed==1"), Vec::<String>::new());
        assert_eq!(missed("passed==1"), ["skipstone with 600 clients"]);
        assert_eq!(missed("tcp.ratio<1"), ["tcp with 200 clients"], "what was not measured keeps to nothing");
    }
}
