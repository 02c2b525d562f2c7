//! What scripts measure: trends, rates, counters, gauges and checks, by name. Each worker has its own; they merge
//! exactly at the end.

mod moments;
mod trend;

pub(crate) use trend::Trend;

use moments::Moments;
use skipstone_lab::report::bots::{MetricFigures, SlowTime, TrendCurve};
use std::collections::BTreeMap;
use thiserror::Error;

/// The times of answers to requests of HTTP, in milliseconds.
pub(crate) const HTTP_TIMES: &str = "http_ms";
/// The share of requests of HTTP without an answer, or with a status of 400 and more.
pub(crate) const HTTP_FAILED: &str = "http_failed";

/// The metrics of a worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics {
    metrics: Vec<Metric>,
    by_name: BTreeMap<String, MetricId>,
    /// Of trends in milliseconds, by their ids.
    moments: Vec<Moments>,
}

/// A metric of a [`Metrics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MetricId(usize);

impl MetricId {
    /// As scripts hold it.
    pub(crate) fn place(self) -> usize {
        self.0
    }

    /// The one that a script holds.
    pub(crate) fn of_place(place: usize) -> Self {
        MetricId(place)
    }
}

/// The kinds of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
#[display(rename_all = "lowercase")]
pub(crate) enum MetricKind {
    /// A distribution, such as of times.
    Trend,
    /// The share of occasions on which something held.
    Rate,
    /// A sum.
    Counter,
    /// The value that something has now.
    Gauge,
    /// Like a rate, of something that should always hold.
    Check,
}

/// Why a metric was refused: one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub(crate) struct MetricRefused(String);

#[derive(Clone, Debug)]
struct Metric {
    name: String,
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    Trend(Box<Trend>),
    Share { kind: MetricKind, held: u64, failed: u64 },
    Counter(f64),
    Gauge(Option<Gauge>),
}

#[derive(Clone, Copy, Debug)]
struct Gauge {
    at: f64,
    last: f64,
    least: f64,
    most: f64,
}

impl Metrics {
    /// The metric of that name, which is new or of the same kind.
    ///
    /// # Errors
    /// The name is taken by another kind, or is none; or there are too many.
    pub(crate) fn register(&mut self, name: &str, kind: MetricKind) -> Result<MetricId, MetricRefused> {
        if let Some(id) = self.by_name.get(name) {
            let own = self.metrics[id.0].value.kind();
            return if own == kind {
                Ok(*id)
            } else {
                Err(MetricRefused(format!("{name:?} is a {own} already: give the {kind} another name")))
            };
        }
        if !is_name(name) {
            return Err(MetricRefused(format!(
                "{name:?} is no name of a metric: it has 1 to {NAME_MAX} letters, digits and underscores, and begins \
                 with a letter"
            )));
        }
        if self.metrics.len() >= METRICS_MAX {
            return Err(MetricRefused(format!("there are {METRICS_MAX} metrics already, the most that a run has")));
        }
        let id = MetricId(self.metrics.len());
        self.metrics.push(Metric { name: name.to_owned(), value: Value::new(kind) });
        self.by_name.insert(name.to_owned(), id);
        Ok(id)
    }

    /// Records a value: of a trend, a counter or a gauge the number, of a rate or a check 0 for no and else yes. `at`
    /// is the time in seconds.
    ///
    /// # Errors
    /// The number cannot be recorded.
    pub(crate) fn record(&mut self, id: MetricId, value: f64, at: f64) -> Result<(), MetricRefused> {
        // Scripts hold ids, and could make one up.
        let Some(metric) = self.metrics.get_mut(id.0) else {
            return Err(MetricRefused("there is no such metric".into()));
        };
        let refused = |what: &str| Err(MetricRefused(format!("{}: {value} is {what}", metric.name)));
        if !value.is_finite() {
            return refused("no number that can be recorded");
        }
        match &mut metric.value {
            Value::Trend(_) | Value::Counter(_) if value < 0.0 => return refused("less than 0"),
            Value::Trend(trend) => {
                trend.record(value);
                if metric.name.ends_with(MILLISECONDS) {
                    self.moments.resize(self.moments.len().max(id.0 + 1), Moments::default());
                    self.moments[id.0].record(value, at);
                }
            }
            Value::Share { held, failed, .. } => *if value == 0.0 { failed } else { held } += 1,
            Value::Counter(sum) => *sum += value,
            Value::Gauge(gauge) => *gauge = Some(Gauge::joined(*gauge, Gauge::at(at, value))),
        }
        Ok(())
    }

    /// Adds all of another worker's, by name.
    pub(crate) fn merge(&mut self, other: &Metrics) {
        for metric in &other.metrics {
            // Both are of one script: kinds are the same.
            let Ok(id) = self.register(&metric.name, metric.value.kind()) else { continue };
            match (&mut self.metrics[id.0].value, &metric.value) {
                (Value::Trend(own), Value::Trend(more)) => {
                    own.merge(more);
                    let theirs = other.by_name.get(&metric.name).and_then(|id| other.moments.get(id.0));
                    if let Some(theirs) = theirs {
                        self.moments.resize(self.moments.len().max(id.0 + 1), Moments::default());
                        self.moments[id.0].merge(theirs);
                    }
                }
                (Value::Share { held, failed, .. }, Value::Share { held: more_held, failed: more_failed, .. }) => {
                    *held += more_held;
                    *failed += more_failed;
                }
                (Value::Counter(own), Value::Counter(other)) => *own += other,
                (Value::Gauge(own), Value::Gauge(Some(other))) => *own = Some(Gauge::joined(*own, *other)),
                _ => {}
            }
        }
    }

    /// The figures of all, by name, of a run of that many seconds.
    pub(crate) fn figures(&self, seconds: f64) -> BTreeMap<String, MetricFigures> {
        self.metrics.iter().map(|metric| (metric.name.clone(), metric.value.figures(seconds))).collect()
    }
}

impl Metrics {
    /// The distributions of trends in milliseconds that have values, by name.
    pub(crate) fn curves(&self) -> Vec<TrendCurve> {
        let named = self.by_name.iter().filter(|(name, _)| name.ends_with(MILLISECONDS));
        let curve = |(name, id): (&String, &MetricId)| match &self.metrics[id.0].value {
            Value::Trend(trend) if trend.count() > 0 => Some(TrendCurve::new(name, &trend.steps())),
            _ => None,
        };
        named.filter_map(curve).collect()
    }

    /// When trends in milliseconds were far slower than usual: the worst of these times, in order.
    pub(crate) fn slow_times(&self) -> Vec<SlowTime> {
        let of = |(at, moments): (usize, &Moments)| moments.slow_times(&self.metrics[at].name);
        let mut times: Vec<SlowTime> = self.moments.iter().enumerate().flat_map(of).collect();
        times.sort_by(|one, other| other.worst_ms.total_cmp(&one.worst_ms));
        times.truncate(SLOW_TIMES_MAX);
        times.sort_by(|one, other| one.from_s.total_cmp(&other.from_s));
        times
    }
}

impl Value {
    fn new(kind: MetricKind) -> Self {
        match kind {
            MetricKind::Trend => Value::Trend(Box::default()),
            MetricKind::Rate | MetricKind::Check => Value::Share { kind, held: 0, failed: 0 },
            MetricKind::Counter => Value::Counter(0.0),
            MetricKind::Gauge => Value::Gauge(None),
        }
    }

    fn kind(&self) -> MetricKind {
        match self {
            Value::Trend(_) => MetricKind::Trend,
            Value::Share { kind, .. } => *kind,
            Value::Counter(_) => MetricKind::Counter,
            Value::Gauge(_) => MetricKind::Gauge,
        }
    }

    fn figures(&self, seconds: f64) -> MetricFigures {
        match self {
            Value::Trend(trend) => trend.figures(),
            Value::Share { kind, held, failed } => share_figures(*kind, *held, *failed),
            Value::Counter(sum) => {
                MetricFigures::Counter { sum: *sum, sum_per_s: (seconds > 0.0).then(|| sum / seconds) }
            }
            Value::Gauge(gauge) => MetricFigures::Gauge {
                last: gauge.map(|gauge| gauge.last),
                min: gauge.map(|gauge| gauge.least),
                max: gauge.map(|gauge| gauge.most),
            },
        }
    }
}

impl Gauge {
    fn at(at: f64, value: f64) -> Self {
        Gauge { at, last: value, least: value, most: value }
    }

    fn joined(own: Option<Self>, other: Self) -> Self {
        let Some(own) = own else { return other };
        let later = if own.at > other.at { own } else { other };
        Gauge { least: own.least.min(other.least), most: own.most.max(other.most), ..later }
    }
}

fn share_figures(kind: MetricKind, held: u64, failed: u64) -> MetricFigures {
    let all = held + failed;
    let share = (all > 0).then(|| held as f64 / all as f64);
    match kind {
        MetricKind::Check => MetricFigures::Check { passed: held, failed, share },
        _ => MetricFigures::Rate { yes: held, no: failed, share },
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.len() <= NAME_MAX && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_part)
}

/// How the name of a trend of times ends.
const MILLISECONDS: &str = "_ms";
/// Times that a result tells.
const SLOW_TIMES_MAX: usize = 20;
const NAME_MAX: usize = 64;
const METRICS_MAX: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(kind: MetricKind, values: &[f64]) -> Metrics {
        let mut metrics = Metrics::default();
        let id = metrics.register("it", kind).expect("a name");
        for (at, value) in values.iter().enumerate() {
            metrics.record(id, *value, at as f64).expect("recorded");
        }
        metrics
    }

    #[test]
    fn metrics_of_workers_merge_exactly() {
        let values: Vec<f64> = (0..1000).map(|step| f64::from(step * step % 977)).collect();
        for kind in [MetricKind::Trend, MetricKind::Rate, MetricKind::Counter, MetricKind::Gauge, MetricKind::Check] {
            let whole = recorded(kind, &values);
            let mut merged = recorded(kind, &values[..400]);
            let mut rest = Metrics::default();
            rest.register("another", MetricKind::Counter).expect("a name");
            let id = rest.register("it", kind).expect("a name");
            values[400..].iter().enumerate().for_each(|(at, value)| {
                rest.record(id, *value, (400 + at) as f64).expect("recorded");
            });
            merged.merge(&rest);
            assert_eq!(merged.figures(2.0)["it"], whole.figures(2.0)["it"], "{kind}");
        }
    }

    #[test]
    fn a_name_has_one_kind() {
        let mut metrics = recorded(MetricKind::Trend, &[]);
        assert!(metrics.register("it", MetricKind::Trend).is_ok());
        let why = metrics.register("it", MetricKind::Gauge).expect_err("taken").to_string();
        assert!(why.contains("trend already"), "{why}");
        for name in ["", "1st", "two words", "a.b", &"x".repeat(65)] {
            assert!(metrics.register(name, MetricKind::Trend).is_err(), "{name}");
        }
    }

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        let mut metrics = recorded(MetricKind::Trend, &[]);
        let id = metrics.register("it", MetricKind::Trend).expect("a trend");
        for value in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(metrics.record(id, value, 0.0).is_err(), "{value}");
        }
        let gauge = metrics.register("height", MetricKind::Gauge).expect("a gauge");
        assert!(metrics.record(gauge, -1.0, 0.0).is_ok());
    }
}
