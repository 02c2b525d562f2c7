//! A row of the result: one contender, one seed; and what its seeds have in common.

use serde::{Deserialize, Serialize, Serializer};

use super::condition::Condition;
use super::contender::Contender;
use super::proof::percentile;
use super::simulation::Measured;
use crate::units::transport_name::Named;

/// What one run found. Times in ms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    pub(crate) transport: &'static str,
    /// Skipstone's mode; null for others.
    pub(crate) mode: Option<String>,
    pub(crate) plan: String,
    pub(crate) entities: u16,
    /// The share of datagrams that the link loses, of 1.
    pub(crate) loss: f64,
    pub(crate) seed: u64,
    /// It wanted more datagrams than a run may take, and was stopped; what it had not delivered is lost.
    pub(crate) gave_up: bool,
    #[serde(flatten)]
    pub(crate) figures: Figures,
}

/// The numbers of a row. What was not measured is null.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) p50: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) p998: Option<f64>,
    pub(crate) p9999: Option<f64>,
    pub(crate) max: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) lost: Option<f64>,
    /// Updates, and echoes, that a full queue did not take.
    #[serde(serialize_with = "whole")]
    pub(crate) refused: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) reordered: Option<f64>,
    /// IP bytes of both directions per payload byte that was delivered, there and back.
    pub(crate) bytes_per_payload: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) sent: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) delivered: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) duplicated: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) corrupted: Option<f64>,
    pub(crate) connect: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) datagrams: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) datagrams_lost: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) datagrams_overflowed: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) ip_bytes: Option<f64>,
    /// How long datagrams waited for the link's rate towards the server.
    pub(crate) queue_delay_p50: Option<f64>,
    pub(crate) queue_delay_p95: Option<f64>,
    pub(crate) queue_delay_max: Option<f64>,
    /// Of what the link carries towards the server: the contender's bytes, headers included.
    pub(crate) link_share: Option<f64>,
    /// Of these, first copies of payload, with their headers.
    pub(crate) useful_share: Option<f64>,
    /// The same, of payload that came back before the end of sending.
    pub(crate) goodput_share: Option<f64>,
    /// As `link_share`, of flows beside.
    pub(crate) beside_share: Option<f64>,
    /// The same, of their own data that arrived.
    pub(crate) beside_goodput_share: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) resent: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) spurious: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) repaired: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) redundancy_bytes: Option<f64>,
}

/// A contender over all seeds, each figure by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub(crate) transport: &'static str,
    pub(crate) mode: Option<String>,
    /// Of an even number of seeds, the greater of the two in the middle.
    pub(crate) median: Figures,
    /// The greatest.
    pub(crate) worst: Figures,
    /// The smallest.
    pub(crate) best: Figures,
    /// How many of its runs gave up.
    pub(crate) gave_up: usize,
}

impl Row {
    pub(crate) fn new(contender: Contender, condition: &Condition, seed: u64, measured: &Measured) -> Row {
        Row {
            transport: contender.transport.name(),
            mode: contender.mode.map(|mode| mode.to_string()),
            plan: condition.plan.clone(),
            entities: condition.entities,
            loss: condition.loss(),
            seed,
            gave_up: measured.gave_up,
            figures: Figures::of(condition, measured),
        }
    }
}

impl Figures {
    fn of(condition: &Condition, measured: &Measured) -> Figures {
        let millis = |micros: u32| f64::from(micros) / 1e3;
        let latency = |basis_points| percentile(&measured.latencies, basis_points).map(millis);
        let count = |count: u64| Some(count as f64);
        let counts = &measured.counts;
        let payload_bytes = counts.delivered * 2 * condition.payload_bytes as u64;
        let capacity = condition.link.rate_bits_per_second.map(|rate| rate as f64 / 8.0 * seconds_counted(condition));
        let share = |bytes: u64| capacity.map(|capacity| bytes as f64 / capacity);
        let queue_delay =
            |basis_points| capacity.and_then(|_| percentile(&measured.queue_delays, basis_points)).map(millis);
        let (telemetry, carried, has_company) = (&measured.telemetry, &measured.carried, !condition.beside.is_empty());
        Figures {
            p50: latency(5_000),
            p99: latency(9_900),
            p998: latency(9_980),
            p9999: latency(9_999),
            max: latency(10_000),
            lost: count(counts.lost),
            refused: count(counts.refused),
            reordered: count(counts.reordered),
            bytes_per_payload: (payload_bytes > 0).then(|| measured.ip_bytes as f64 / payload_bytes as f64),
            sent: count(counts.sent),
            delivered: count(counts.delivered),
            duplicated: count(counts.duplicated),
            corrupted: count(counts.corrupted),
            connect: measured.connect.map(|span| span.as_micros() as f64 / 1e3),
            datagrams: count(measured.datagrams),
            datagrams_lost: count(measured.datagrams_lost),
            datagrams_overflowed: capacity.and(count(measured.datagrams_overflowed)),
            ip_bytes: count(measured.ip_bytes),
            queue_delay_p50: queue_delay(5_000),
            queue_delay_p95: queue_delay(9_500),
            queue_delay_max: queue_delay(10_000),
            link_share: share(carried.own),
            useful_share: carried.useful.and_then(share),
            goodput_share: share(carried.goodput),
            beside_share: share(carried.beside).filter(|_| has_company),
            beside_goodput_share: share(carried.beside_goodput).filter(|_| has_company),
            resent: telemetry.resent.and_then(count),
            spurious: telemetry.spurious.and_then(count),
            repaired: telemetry.repaired.and_then(count),
            redundancy_bytes: telemetry.redundancy_bytes.and_then(count),
        }
    }

    /// Every figure from those of many.
    fn each(rows: &[Figures], choose: impl Fn(Vec<f64>) -> Option<f64>) -> Figures {
        macro_rules! figures {
            ($($name:ident)*) => {
                Figures { $($name: {
                    let mut values: Vec<f64> = rows.iter().filter_map(|figures| figures.$name).collect();
                    values.sort_by(f64::total_cmp);
                    choose(values)
                }),* }
            };
        }
        figures! {
            p50 p99 p998 p9999 max lost refused reordered bytes_per_payload sent delivered duplicated corrupted connect datagrams
            datagrams_lost datagrams_overflowed ip_bytes queue_delay_p50 queue_delay_p95 queue_delay_max link_share
            useful_share goodput_share beside_share beside_goodput_share resent spurious repaired redundancy_bytes
        }
    }
}

/// For how long shares were counted.
fn seconds_counted(condition: &Condition) -> f64 {
    let counted = condition.counted();
    (counted.end - counted.start).as_secs_f64()
}

impl Summary {
    /// One for each contender, in the order of the rows.
    pub(crate) fn of(rows: &[Row]) -> Vec<Summary> {
        let mut summaries = Vec::new();
        for of_one in rows.chunk_by(|one, other| (one.transport, &one.mode) == (other.transport, &other.mode)) {
            let figures: Vec<Figures> = of_one.iter().map(|row| row.figures).collect();
            summaries.push(Summary {
                transport: of_one[0].transport,
                mode: of_one[0].mode.clone(),
                median: Figures::each(&figures, |values| values.get(values.len() / 2).copied()),
                worst: Figures::each(&figures, |values| values.last().copied()),
                best: Figures::each(&figures, |values| values.first().copied()),
                gave_up: of_one.iter().filter(|row| row.gave_up).count(),
            });
        }
        summaries
    }
}

/// A count, without a point.
#[expect(clippy::ref_option, reason = "serde hands it over so")]
pub(crate) fn whole<S: Serializer>(count: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    count.map(|count| count as u64).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(transport: &'static str, seed: u64, p50: f64) -> Row {
        let figures = Figures { p50: Some(p50), lost: Some(seed as f64), ..Figures::default() };
        Row { transport, mode: None, plan: "p".into(), entities: 1, loss: 0.0, seed, gave_up: false, figures }
    }

    #[test]
    fn a_summary_takes_each_figure_by_itself() {
        let rows = [row("a", 1, 9.5), row("a", 2, 7.0), row("a", 3, 8.0), row("b", 1, 1.0), row("b", 2, 2.0)];
        let summaries = Summary::of(&rows);
        let of = |figures: &Figures| (figures.p50.unwrap(), figures.lost.unwrap());
        assert_eq!(summaries.len(), 2);
        assert_eq!(
            [summaries[0].median, summaries[0].worst, summaries[0].best].map(|figures| of(&figures)),
            [(8.0, 2.0), (9.5, 3.0), (7.0, 1.0)]
        );
        assert_eq!((of(&summaries[1].median), summaries[1].median.max), ((2.0, 2.0), None));
    }

    #[test]
    fn counts_are_written_without_a_point() {
        let json = serde_json::to_value(row("a", 3, 20.0)).unwrap();
        assert_eq!((json["lost"].to_string(), json["p50"].to_string()), ("3".into(), "20.0".into()));
    }
}
