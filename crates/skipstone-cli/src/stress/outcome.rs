//! Makes the result from the figures of the clients, the server's process and the machine.

use super::child::ServerFigures;
use super::client_drop::ClientDrop;
use super::generator::{Client, Generator};
use super::plan::Plan;
use super::server_clock::ServerClock;
use skipstone::{Scheme, Stats};
use skipstone_lab::measure::machine::this_machine;
use skipstone_lab::measure::process::Usage;
use skipstone_lab::measure::stalls::StallLog;
use skipstone_lab::report::format::{counted, rfc3339};
use skipstone_lab::report::stress::result::{
    CarrierResult, ClientCounts, Generator as GeneratorFigures, Messages, Presence, Protocol, Returns, Roaming,
    ServerResult, Side, SpreadMs, Stalls, StressResult, StressTransport, Timing, Wire,
};
use skipstone_lab::units::Carrier;
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

/// The measurements in addition to the lines.
pub(crate) struct Measured {
    pub(crate) started: SystemTime,
    /// From the first line due to the last one arrived.
    pub(crate) elapsed: Duration,
    /// How long lines were sent according to the schedule.
    pub(crate) sending: Duration,
    pub(crate) ramp: Duration,
    pub(crate) close: Duration,
    pub(crate) generator: Option<Usage>,
    pub(crate) server: Option<(Option<Usage>, Option<ServerFigures>)>,
    pub(crate) stalls: StallLog,
    /// How the process of the run's own server ended, if it did.
    pub(crate) process_ended: Option<String>,
    /// For how long the server was silent at the end, if it acknowledged nothing either.
    pub(crate) silence: Option<Duration>,
    /// Clients that had not come back before the others were closed, by reason.
    pub(crate) missing: BTreeMap<String, u64>,
    /// Counters by carrier, taken before the clients closed.
    pub(crate) stats: Vec<Stats>,
    /// The server's clock at the end, and when that was read.
    pub(crate) server_clock: Option<(Instant, ServerClock)>,
}

/// The result, save the verdict.
pub(crate) fn result(plan: &Plan, generator: &Generator<'_>, measured: &Measured) -> StressResult {
    let carriers: Vec<_> = plan.mix.iter().map(|(carrier, _)| *carrier).collect();
    let mut result = StressResult::blank(&carriers);
    if result.transport == StressTransport::UdpTls {
        result.transport = match plan.native {
            Scheme::Plain => StressTransport::UdpPlain,
            Scheme::Dtls => StressTransport::UdpDtls,
            _ => StressTransport::UdpTls,
        };
    }
    let all = findings(generator, measured, None);
    result.seed = plan.seed;
    result.command = std::env::args().collect();
    result.started = rfc3339(measured.started);
    result.duration_s = measured.sending.as_secs_f64();
    result.plan = plan.words.clone();
    result.machine = this_machine();
    let mut drops_by_reason = generator.drops.clone();
    drops_by_reason.extend(measured.missing.clone());
    result.clients = ClientCounts { drops_by_reason, ..all.clients };
    (result.messages, result.latency_ms, result.wire) = (all.messages, all.latency_ms, all.wire);
    let figures = measured.server.as_ref().and_then(|(_, figures)| figures.as_ref());
    result.server = measured.server.as_ref().map(|(usage, _)| server(*usage, figures, all.messages.delivered));
    result.protocol = Protocol {
        clients: Side::from(&sum(&measured.stats)),
        server: figures.map(|figures| figures.protocol.clone()),
    };
    result.generator = generator_figures(generator, measured);
    result.presence = presence(generator, measured);
    for (carrier, one) in result.carriers.iter_mut().enumerate() {
        *one = CarrierResult { carrier: one.carrier, ..findings(generator, measured, Some(carrier)) };
    }
    result.timing = Timing { connect_ms: all.connect_ms, ramp_ms: ms(measured.ramp), close_ms: ms(measured.close) };
    let (up, down) = generator.pool.link_stats();
    result.impairment = plan.impairments.as_ref().map(|impairments| impairments.result(&up, &down));
    result.roaming = plan.flags.roam.map(|span| Roaming {
        every_ms: ms(span.0),
        moves: generator.moves,
        path_changes: figures.map(|figures| figures.protocol.paths_changed),
        reconnects: generator.reconnects,
    });
    result.returns = generator.attendance.as_ref().map(|attendance| {
        let ((returned, longest), (back, not)) = (attendance.returns(), attendance.acknowledged());
        Returns {
            restarts: generator.restarts,
            returned,
            missing: measured.missing.values().sum(),
            longest_away_ms: ms(longest),
            lines_acknowledged: back,
            lines_unacknowledged: not,
        }
    });
    let summary = measured.stalls.summary();
    result.stalls = Some(Stalls {
        count: summary.count,
        machine_count: summary.machine_count,
        longest_ms: ms(summary.longest),
        total_ms: ms(summary.total),
    });
    result
}

/// Explanations for a reader: why clients did not connect.
pub(crate) fn explanations(result: &StressResult) -> Vec<String> {
    let drops = &result.clients.drops_by_reason;
    // The verdict states why clients were dropped.
    let unconnected = drops.iter().filter(|_| result.clients.dropped == 0).take(EXPLANATIONS_MAX);
    unconnected.map(|(why, count)| format!("{}: {why}.", counted(*count, "client"))).collect()
}

const EXPLANATIONS_MAX: usize = 3;

/// The counters of several carriers' clients.
pub(crate) fn sum<'a>(stats: impl IntoIterator<Item = &'a Stats>) -> Stats {
    let mut sum = Stats::default();
    stats.into_iter().for_each(|one| sum.add(one));
    sum
}

/// The findings of one carrier's clients, or of all.
fn findings(generator: &Generator<'_>, measured: &Measured, carrier: Option<usize>) -> CarrierResult {
    let is_own = |of: usize| carrier.is_none_or(|carrier| of == carrier);
    let own: Vec<&Client> = generator.clients.iter().filter(|client| is_own(client.carrier)).collect();
    let all_sent = generator.clients.iter().zip(&generator.sent);
    let sent = all_sent.filter(|(client, _)| is_own(client.carrier)).map(|(_, sent)| u64::from(*sent)).sum();
    let mut tally = generator.tally(carrier);
    if let Some(attendance) = &generator.attendance {
        let of = attendance.tally(|receiver| is_own(generator.clients[receiver].carrier));
        (tally.expected, tally.delivered, tally.lost) = (of.expected, of.delivered, of.lost);
    }
    let stats = (0..).zip(&measured.stats).filter(|(of, _)| is_own(*of));
    CarrierResult {
        carrier: Carrier::default(),
        clients: clients(&own),
        messages: Messages::from_tally(&tally, sent, measured.elapsed),
        latency_ms: generator.proof.latency(carrier).figures(),
        wire: wire(&sum(stats.map(|(_, stats)| stats))),
        connect_ms: spread(&own),
    }
}

fn clients(own: &[&Client]) -> ClientCounts {
    let mut clients = ClientCounts { asked: own.len() as u64, ..ClientCounts::default() };
    for client in own.iter().filter(|client| client.connected_in.is_some()) {
        clients.connected += 1;
        clients.dropped += u64::from(client.drop.is_some());
    }
    clients
}

fn presence(generator: &Generator<'_>, measured: &Measured) -> Presence {
    let deserted = generator.clients.iter().filter(|client| client.drop == Some(ClientDrop::Deserted));
    Presence {
        clients_deserted: deserted.count() as u64,
        silent_s: measured.silence.map(|silence| silence.as_secs_f64()),
        process_ended: measured.process_ended.clone(),
        lines_from_others: generator.proof.from_others,
        refused_sends_by_reason: generator.refused_sends.clone(),
    }
}

fn wire(stats: &Stats) -> Wire {
    Wire {
        datagrams_sent: stats.sent.datagrams,
        datagrams_received: stats.received.datagrams,
        bytes_sent: stats.sent.ip_bytes,
        bytes_received: stats.received.ip_bytes,
        bytes_payload: stats.sent.payload_bytes + stats.received.payload_bytes,
        overhead_percent: None,
    }
    .with_overhead()
}

fn server(usage: Option<Usage>, figures: Option<&ServerFigures>, delivered: u64) -> ServerResult {
    ServerResult {
        cpu_percent: usage.map(|usage| usage.cpu_percent),
        cpu_us_per_delivery: usage
            .filter(|_| delivered > 0)
            .map(|usage| usage.cpu.as_secs_f64() * 1e6 / delivered as f64),
        rss_bytes: usage.map(|usage| usage.rss_bytes),
        ticks_per_second: figures.map(|figures| figures.ticks_per_second),
        slowest_tick_ms: figures.map(|figures| figures.slowest_tick_ms),
        run_queue_wait_ms: usage.map(|usage| ms(usage.run_queue_wait)),
        shards: figures.map(|figures| figures.shards.clone()).unwrap_or_default(),
    }
}

fn generator_figures(generator: &Generator<'_>, measured: &Measured) -> GeneratorFigures {
    let schedule = &generator.schedule;
    let in_stalls = schedule.late.iter().filter(|(due, sent)| measured.stalls.touches(*due, *sent)).count();
    GeneratorFigures {
        cpu_percent: measured.generator.map(|usage| usage.cpu_percent),
        late_sends: schedule.late_count,
        late_sends_in_stalls: in_stalls as u64,
        planned_sends: schedule.planned,
        latest_send_ms: ms(schedule.latest),
        // One thread drives all clients, so the clients can use one core at most.
        cores: 1,
        rss_bytes: measured.generator.map(|usage| usage.rss_bytes),
        run_queue_wait_ms: measured.generator.map(|usage| ms(usage.run_queue_wait)),
    }
}

fn spread(own: &[&Client]) -> Option<SpreadMs> {
    SpreadMs::of(own.iter().filter_map(|client| client.connected_in).map(|took| took.as_micros() as u64).collect())
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}
