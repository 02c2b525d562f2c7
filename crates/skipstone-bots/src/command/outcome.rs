//! Makes the result from what the workers found, of this machine or of several.

use super::arguments::BotsArguments;
use super::probe::Probed;
use crate::run::{RunPlan, Tally, WorstBots};
use skipstone_lab::measure::latency::SpreadMs;
use skipstone_lab::measure::machine::{cores, this_machine};
use skipstone_lab::measure::process::Usage;
use skipstone_lab::measure::stalls::StallLog;
use skipstone_lab::report::bots::{BotCounts, BotsResult, Fault, SCHEMA_VERSION, ServerCost, WireCounts};
use skipstone_lab::report::format::rfc3339;
use skipstone_lab::report::stress::result::{Generator, Stalls};
use std::time::{Duration, SystemTime};

/// What was measured beside the bots.
pub(super) struct Measured {
    pub(super) started: SystemTime,
    pub(super) elapsed: Duration,
    pub(super) usage: Option<Usage>,
    /// Of the server's process, if it was watched.
    pub(super) server: Option<Usage>,
    pub(super) stalls: StallLog,
    pub(super) connected_at_once: u64,
}

/// The result before the run, with the figures that there will be.
pub(super) fn blank(
    arguments: &BotsArguments,
    probed: &Probed,
    seed: u64,
    bots: u64,
    duration: Duration,
) -> BotsResult {
    BotsResult {
        schema_version: SCHEMA_VERSION,
        seed,
        command: std::env::args().collect(),
        script: arguments.script.clone(),
        url: arguments.url.clone().or_else(|| probed.url.clone()),
        duration_asked_s: duration.as_secs_f64(),
        machine: this_machine(),
        bots: BotCounts { asked: bots, ..BotCounts::default() },
        metrics: probed.metrics.figures(0.0),
        ..BotsResult::default()
    }
}

/// The result, save the verdict.
pub(super) fn result(blank: &BotsResult, plan: &RunPlan, tally: &Tally, measured: &Measured) -> BotsResult {
    let seconds = measured.elapsed.as_secs_f64();
    let mut result = blank.clone();
    result.started = rfc3339(measured.started);
    result.duration_s = measured.elapsed.min(plan.duration).as_secs_f64();
    result.bots = BotCounts {
        asked: plan.lives.len() as u64,
        connected_at_once: measured.connected_at_once,
        ..BotCounts::default()
    };
    result.generator = generator(tally, measured);
    result.scripts.core_percent = if seconds > 0.0 { 100.0 * tally.in_scripts.as_secs_f64() / seconds } else { 0.0 };
    result.scripts.workers = plan.workers as u64;
    result.server = measured.server.map(|usage| ServerCost {
        cpu_percent: usage.cpu_percent,
        rss_bytes: usage.rss_bytes,
        run_queue_wait_ms: ms(usage.run_queue_wait),
    });
    let summary = measured.stalls.summary();
    result.stalls = Some(Stalls {
        count: summary.count,
        machine_count: summary.machine_count,
        longest_ms: ms(summary.longest),
        total_ms: ms(summary.total),
    });
    add_tally(&mut result, tally, seconds);
    result.worst_bots = WorstBots::of(&tally.bots).shown();
    add_stalls(&mut result, &[stall_spans(&measured.stalls)]);
    result
}

/// The figures that follow from what all workers found in that many seconds, on one machine or on several.
pub(super) fn add_tally(result: &mut BotsResult, tally: &Tally, seconds: f64) {
    result.bots = BotCounts {
        started: tally.started,
        connected: tally.connected,
        attempts: tally.attempts,
        connects: tally.connects,
        dropped: tally.dropped,
        cut_off: tally.cut_off,
        faulted: tally.faults.values().map(|(bots, _)| bots).sum(),
        ..result.bots
    };
    result.endings = tally.endings.clone();
    result.faults = faults(tally);
    let connects = &tally.connect_us;
    result.connect_ms = (connects.count() > 0).then(|| SpreadMs {
        p50: connects.quantile_ms(0.5),
        p99: connects.quantile_ms(0.99),
        max: connects.max_ms(),
    });
    result.rtt_ms = tally.rtt.figures();
    result.messages = tally.messages;
    result.wire = wire(tally);
    result.refused_sends = tally.refused.clone();
    (result.scripts.calls, result.scripts.memory_bytes) = (tally.calls, tally.memory_bytes);
    result.metrics.extend(tally.metrics.figures(seconds));
    result.slow_times = tally.metrics.slow_times();
    result.curves = tally.metrics.curve_points();
}

/// The most frequent first.
fn faults(tally: &Tally) -> Vec<Fault> {
    let fault = |(message, (bots, first)): (&String, &(u64, u32))| Fault {
        message: message.clone(),
        bots: *bots,
        first_bot: u64::from(*first),
    };
    let mut faults: Vec<Fault> = tally.faults.iter().map(fault).collect();
    faults.sort_by_key(|fault| std::cmp::Reverse(fault.bots));
    faults
}

fn wire(tally: &Tally) -> WireCounts {
    let (socket, protocol) = (&tally.socket, &tally.protocol);
    WireCounts {
        bytes_sent: socket.bytes_out,
        bytes_received: socket.bytes_in,
        sent: socket.sent,
        received: socket.received,
        unsent: socket.unsent,
        invalid: protocol.invalid,
        retransmitted: protocol.retransmitted,
        duplicates: protocol.duplicates,
        dropped: protocol.dropped,
    }
}

fn generator(tally: &Tally, measured: &Measured) -> Generator {
    let usage = measured.usage;
    Generator {
        cpu_percent: usage.map(|usage| usage.cpu_percent),
        late_sends: tally.lateness.late,
        late_sends_in_stalls: tally.lateness.in_stalls(&measured.stalls),
        planned_sends: tally.lateness.planned,
        latest_send_ms: ms(tally.lateness.latest),
        cores: cores() as u64,
        rss_bytes: usage.map(|usage| usage.rss_bytes),
        run_queue_wait_ms: usage.map(|usage| ms(usage.run_queue_wait)),
    }
}

/// A stall of a machine, in microseconds since the run began: its beginning and its end.
pub(super) type StallSpan = (u64, u64);

/// The stalls of this machine, as far as its log has room.
pub(super) fn stall_spans(stalls: &StallLog) -> Vec<StallSpan> {
    let micros = |span: Duration| span.as_micros() as u64;
    stalls.stalls().iter().map(|stall| (micros(stall.start), micros(stall.start + stall.length))).collect()
}

/// Says of each slow time how much of it lies in stalls: those of the machine that stood still for most of it.
pub(super) fn add_stalls(result: &mut BotsResult, machines: &[Vec<StallSpan>]) {
    for time in &mut result.slow_times {
        let shared = |(start, end): &StallSpan| {
            (time.until_s.min(*end as f64 / 1e6) - time.from_s.max(*start as f64 / 1e6)).max(0.0) * 1000.0
        };
        let of_each = machines.iter().map(|spans| spans.iter().map(shared).sum::<f64>());
        time.stalled_ms = of_each.fold(0.0, f64::max);
    }
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}
