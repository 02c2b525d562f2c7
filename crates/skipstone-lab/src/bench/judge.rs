//! The subjects of thresholds: every row, by transport and number of clients. A row that passed has the figure `passed`
//! 1.

use serde_json::{Map, Value};

use super::plan::BenchPlan;
use super::row::BenchRow;
use crate::report::ThresholdResult;
use crate::report::format::thousands;
use crate::report::rows::{self, Subject, by_name};
use crate::units::{Named, Threshold};

/// Whether thresholds name figures of transports that take part; checked before a run.
pub(super) fn check(thresholds: &[Threshold], plan: &BenchPlan) -> Result<(), String> {
    let subject = |names: Vec<String>, clients: Vec<String>| Subject {
        of: String::new(),
        labels: [names, clients].concat(),
        over: None,
        figures: Map::new(),
    };
    let subjects: Vec<Subject> = match plan.search {
        None => {
            let trials = plan.trials().into_iter();
            trials
                .map(|trial| {
                    let names = names(trial.transport.name(), trial.server_name(&plan.setup));
                    subject(names, vec![trial.clients.to_string()])
                })
                .collect()
        }
        // A search finds out which numbers of clients there are.
        Some(bounds) => {
            let numbers: Vec<String> = (bounds.low..=bounds.high).map(|clients| clients.to_string()).collect();
            plan.transports.iter().map(|transport| subject(names(transport.name(), None), numbers.clone())).collect()
        }
    };
    let transports = plan.transports.iter().map(|transport| transport.name().to_owned());
    let all: Vec<String> = transports.chain(plan.setup.servers.iter().map(|server| server.name.clone())).collect();
    rows::check(thresholds, &subjects, &all, &figures(&BenchRow::default()), &TIMES)
}

/// How every row did, and why one did not.
pub(super) fn judge(thresholds: &[Threshold], rows: &[BenchRow]) -> (Vec<ThresholdResult>, Vec<String>) {
    let subject = |row: &BenchRow| Subject {
        of: format!("{} with {} clients", row.name(), thousands(row.clients.into())),
        labels: [names(row.transport, row.server.as_deref()), vec![row.clients.to_string()]].concat(),
        over: None,
        figures: figures(row),
    };
    let subjects: Vec<Subject> = rows.iter().map(subject).collect();
    rows::judge(thresholds, &subjects, &TIMES)
}

/// Transport and server, as thresholds name them: `skipstone.c.600.ratio`, or `c.600.ratio`.
fn names(transport: &str, server: Option<&str>) -> Vec<String> {
    [Some(transport), server].into_iter().flatten().map(str::to_owned).collect()
}

fn figures(row: &BenchRow) -> Map<String, Value> {
    let mut all = by_name(&row.figures);
    all.insert("passed".into(), u8::from(row.passed).into());
    all
}

/// Figures that are in ms.
const TIMES: [&str; 8] = ["p50", "p99", "p999", "max", "connect", "close", "latest_send", "slowest_tick"];

#[cfg(test)]
mod tests {
    use super::super::row::BenchFigures;
    use super::*;

    fn missed(threshold: &str) -> Vec<String> {
        let row = |transport, clients, p99, passed| BenchRow {
            transport,
            clients,
            rate: 1.0,
            passed,
            rounds: 1,
            figures: BenchFigures { p99: Some(p99), ..BenchFigures::default() },
            ..BenchRow::default()
        };
        let rows = [row("tcp", 200, 20.0, true), row("skipstone", 200, 30.0, true), row("skipstone", 600, 50.0, false)];
        let (results, reasons) = judge(&[threshold.parse().unwrap()], &rows);
        assert_eq!(results.iter().filter(|result| !result.passed).count(), reasons.len());
        results.into_iter().filter(|result| !result.passed).filter_map(|result| result.of).collect()
    }

    #[test]
    fn a_threshold_applies_to_every_row_that_it_names() {
        assert_eq!(missed("p99<=0.03s"), ["skipstone with 600 clients"]);
        assert_eq!(missed("skipstone.p99<30ms"), ["skipstone with 200 clients", "skipstone with 600 clients"]);
        assert_eq!(missed("skipstone.200.p99<40ms"), Vec::<String>::new());
        assert_eq!(missed("200.passed==1"), Vec::<String>::new());
        assert_eq!(missed("passed==1"), ["skipstone with 600 clients"]);
        assert_eq!(missed("tcp.ratio<1"), ["tcp with 200 clients"], "what was not measured keeps to nothing");
    }
}
