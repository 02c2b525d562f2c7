//! A row of the result: one contender and one seed; and the summary over its seeds.

use std::time::Duration;

use serde::Serialize;

use super::condition::Condition;
use super::contender::Contender;
use super::proof::percentile;
use super::series::RunSeries;
use super::simulation::Measured;
use crate::report::figures::figures;

/// The findings of one run. Times in ms.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct CompareRow {
    pub(crate) transport: &'static str,
    /// Skipstone's mode; null for others.
    pub(crate) mode: Option<String>,
    pub(crate) plan: String,
    /// Which of the plan's conditions; null if it has but one.
    pub(crate) condition: Option<String>,
    pub(crate) entities: u16,
    /// The share of datagrams that the link loses, of 1.
    pub(crate) loss: f64,
    pub(crate) seed: u64,
    /// It wanted more datagrams than a run may take, and was stopped; what it had not delivered is lost.
    pub(crate) gave_up: bool,
    #[serde(flatten)]
    pub(crate) figures: CompareFigures,
    /// The run over time.
    pub(crate) series: RunSeries,
}

figures! {
    /// The numbers of a row. What was not measured is null.
    pub(crate) struct CompareFigures {
        p50: f64,
        p99: f64,
        p998: f64,
        p9999: f64,
        max: f64,
        lost: u64,
        /// Updates, and echoes, that a full queue did not take.
        refused: u64,
        reordered: u64,
        /// IP bytes of both directions per payload byte that was delivered, there and back.
        bytes_per_payload: f64,
        sent: u64,
        delivered: u64,
        duplicated: u64,
        corrupted: u64,
        connect: f64,
        datagrams: u64,
        datagrams_lost: u64,
        datagrams_overflowed: u64,
        ip_bytes: u64,
        /// How long datagrams waited for the link's rate towards the server.
        queue_delay_p50: f64,
        queue_delay_p95: f64,
        queue_delay_max: f64,
        /// Of what the link carries towards the server: the contender's bytes, headers included.
        link_share: f64,
        /// Of these, first copies of payload, with their headers.
        useful_share: f64,
        /// The same, of payload that came back before the end of sending.
        goodput_share: f64,
        /// As `link_share`, of background flows.
        beside_share: f64,
        /// The same, of their own data that arrived.
        beside_goodput_share: f64,
        resent: u64,
        spurious: u64,
        repaired: u64,
        redundancy_bytes: u64,
        /// Payload that was delivered, there and back.
        payload_bytes: u64,
        /// Headers of IP, and of UDP or TCP without options, as part of `ip_bytes`.
        header_bytes: u64,
        /// Bytes that were sent again after a loss, as the transport tells, or about as many as the messages that it
        /// sent again.
        resent_bytes: u64,
        /// CPU time of the server's process while updates were sent, in percent of a core; of real runs.
        server_cpu: f64,
        /// The same of the client's, which measures, too.
        client_cpu: f64,
        /// Of a real run: p99 without the samples that touch a stall of the machine.
        p99_calm: f64,
        /// The same of p99.8.
        p998_calm: f64,
        /// The same of the maximum.
        max_calm: f64,
        /// How many samples touch a stall.
        stalled: u64,
        /// How many runs were thrown away for one that stalled less.
        repeats: u64,
        /// How often a thread that only sleeps was woken 2 ms late or more: the machine, or others on it.
        stalls: u64,
        /// The longest of them, in ms.
        longest_stall: f64,
        /// How much later than planned the link delivered 99% of the packets, in ms.
        link_lateness_p99: f64,
    }
}

/// The findings of a real run's stall control.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stalled<'a> {
    /// Latencies in µs, sorted, without those that touch a stall.
    pub(crate) calm_us: &'a [u32],
    /// How many latencies there are in all.
    pub(crate) samples: usize,
    pub(crate) stalls: u64,
    pub(crate) longest: Duration,
    pub(crate) lateness_p99: Option<f64>,
    pub(crate) server_cpu: Option<f64>,
    pub(crate) client_cpu: Option<f64>,
}

/// A contender over all seeds, each figure by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct Summary {
    pub(crate) transport: &'static str,
    pub(crate) mode: Option<String>,
    pub(crate) condition: Option<String>,
    /// Of an even number of seeds, the greater of the two in the middle.
    pub(crate) median: CompareFigures,
    /// The greatest.
    pub(crate) worst: CompareFigures,
    /// The smallest.
    pub(crate) best: CompareFigures,
    /// How many of its runs gave up.
    pub(crate) gave_up: usize,
    /// In how many of its runs the connection never stood.
    pub(crate) never_connected: usize,
}

impl CompareRow {
    pub(crate) fn new(contender: Contender, condition: &Condition, seed: u64, measured: &Measured) -> Self {
        Self {
            transport: contender.name(),
            mode: contender.mode.map(|mode| mode.to_string()),
            plan: condition.plan.clone(),
            condition: condition.name.clone(),
            entities: condition.entities,
            loss: condition.loss(),
            seed,
            gave_up: measured.gave_up,
            figures: CompareFigures::of(contender, condition, measured),
            series: measured.series.clone(),
        }
    }
}

impl CompareFigures {
    fn of(contender: Contender, condition: &Condition, measured: &Measured) -> Self {
        let millis = |micros: u32| f64::from(micros) / 1e3;
        let latency = |basis_points| percentile(&measured.latencies, basis_points).map(millis);
        let (counts, link) = (&measured.counts, &measured.link);
        // An echo has the same payload.
        let payload_bytes = counts.delivered_bytes * if condition.is_echoed() { 2 } else { 1 };
        let capacity = condition.link.rate_bits_per_second.map(|rate| rate as f64 / 8.0 * seconds_counted(condition));
        let share = |bytes: u64| capacity.map(|capacity| bytes as f64 / capacity);
        let queue_delay =
            |basis_points| capacity.and_then(|_| percentile(&link.queue_delays[0], basis_points)).map(millis);
        let (telemetry, carried, has_company) = (&measured.telemetry, &measured.carried, !condition.beside.is_empty());
        let about = telemetry.resent.map(|messages| messages * condition.payload_bytes as u64);
        Self {
            p50: latency(5_000),
            p99: latency(9_900),
            p998: latency(9_980),
            p9999: latency(9_999),
            max: latency(10_000),
            lost: Some(counts.lost),
            refused: Some(counts.refused),
            reordered: Some(counts.reordered),
            bytes_per_payload: (payload_bytes > 0).then(|| link.ip_bytes as f64 / payload_bytes as f64),
            sent: Some(counts.sent),
            delivered: Some(counts.delivered),
            duplicated: Some(counts.duplicated),
            corrupted: Some(counts.corrupted),
            connect: measured.connect.map(|span| span.as_micros() as f64 / 1e3),
            datagrams: Some(link.datagrams),
            datagrams_lost: Some(link.lost),
            datagrams_overflowed: capacity.and(Some(link.overflowed)),
            ip_bytes: Some(link.ip_bytes),
            queue_delay_p50: queue_delay(5_000),
            queue_delay_p95: queue_delay(9_500),
            queue_delay_max: queue_delay(10_000),
            link_share: share(carried.own),
            useful_share: carried.useful.and_then(share),
            goodput_share: share(carried.goodput),
            beside_share: share(carried.beside).filter(|_| has_company),
            beside_goodput_share: share(carried.beside_goodput).filter(|_| has_company),
            resent: telemetry.resent,
            spurious: telemetry.spurious,
            repaired: telemetry.repaired,
            redundancy_bytes: telemetry.redundancy_bytes,
            payload_bytes: Some(payload_bytes),
            header_bytes: Some(link.datagrams * contender.transport.header_bytes()),
            resent_bytes: link.resent_bytes.or(about),
            ..CompareFigures::default()
        }
    }

    /// The share of the samples that touch a stall.
    pub(crate) fn stalled_share(&self) -> Option<f64> {
        Some(self.stalled? as f64 / self.delivered?.max(1) as f64)
    }

    /// Adds what a real run alone has, and takes away what only the simulator knows.
    pub(crate) fn take_stalled(&mut self, of: &Stalled<'_>) {
        let millis = |micros: u32| f64::from(micros) / 1e3;
        let calm = |basis_points| percentile(of.calm_us, basis_points).map(millis);
        *self = Self {
            p99_calm: calm(9_900),
            p998_calm: calm(9_980),
            max_calm: calm(10_000),
            stalled: Some((of.samples - of.calm_us.len()) as u64),
            stalls: Some(of.stalls),
            longest_stall: Some(of.longest.as_secs_f64() * 1e3),
            link_lateness_p99: of.lateness_p99,
            server_cpu: of.server_cpu,
            client_cpu: of.client_cpu,
            link_share: None,
            useful_share: None,
            goodput_share: None,
            ..*self
        };
    }
}

/// The time over which shares were counted.
fn seconds_counted(condition: &Condition) -> f64 {
    let counted = condition.counted();
    (counted.end - counted.start).as_secs_f64()
}

impl Summary {
    /// One for each contender, in the order of the rows.
    pub(crate) fn of(rows: &[CompareRow]) -> Vec<Self> {
        let mut summaries = Vec::new();
        let who = |row: &CompareRow| (row.transport, row.mode.clone(), row.condition.clone());
        for of_one in rows.chunk_by(|one, other| who(one) == who(other)) {
            let figures: Vec<CompareFigures> = of_one.iter().map(|row| row.figures).collect();
            summaries.push(Self {
                transport: of_one[0].transport,
                mode: of_one[0].mode.clone(),
                condition: of_one[0].condition.clone(),
                median: CompareFigures::each(&figures, |values| values.get(values.len() / 2).copied()),
                worst: CompareFigures::each(&figures, |values| values.last().copied()),
                best: CompareFigures::each(&figures, |values| values.first().copied()),
                gave_up: of_one.iter().filter(|row| row.gave_up).count(),
                never_connected: of_one.iter().filter(|row| row.figures.connect.is_none()).count(),
            });
        }
        summaries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(transport: &'static str, seed: u64, p50: f64) -> CompareRow {
        let figures = CompareFigures { p50: Some(p50), lost: Some(seed), ..CompareFigures::default() };
        CompareRow { transport, plan: "p".into(), seed, figures, ..CompareRow::default() }
    }

    #[test]
    fn a_summary_aggregates_each_figure_separately() {
        let rows = [row("a", 1, 9.5), row("a", 2, 7.0), row("a", 3, 8.0), row("b", 1, 1.0), row("b", 2, 2.0)];
        let summaries = Summary::of(&rows);
        let of = |figures: &CompareFigures| (figures.p50.unwrap(), figures.lost.unwrap());
        assert_eq!(summaries.len(), 2);
        assert_eq!(
            [summaries[0].median, summaries[0].worst, summaries[0].best].map(|figures| of(&figures)),
            [(8.0, 2), (9.5, 3), (7.0, 1)]
        );
        assert_eq!((of(&summaries[1].median), summaries[1].median.max), ((2.0, 2), None));
    }

    #[test]
    fn counts_are_printed_without_a_decimal_point() {
        let json = serde_json::to_value(row("a", 3, 20.0)).unwrap();
        assert_eq!((json["lost"].to_string(), json["p50"].to_string()), ("3".into(), "20.0".into()));
    }
}
