//! Samples the server, its log four times a second and its figures once a second, and notifies the viewers.

use crate::client_figures::{PacketLoss, rtt_ms};
use crate::console::{Reply, SessionId};
use crate::dashboard::client_row::ClientSample;
use crate::dashboard::feed::{Intake, unix_ms};
use crate::dashboard::frame::{Counters, Frame, percentiles};
use crate::dashboard::log_ring::Numbered;
use crate::dashboard::mean_loss::mean_loss;
use crate::dashboard::state::DashboardState;
use crate::dashboard::stress::StressView;
use skipstone_lab::measure::process::Probe;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::MissedTickBehavior;

/// Samples until the runtime ends.
pub(super) async fn sample(state: Arc<DashboardState>, intake: Intake) {
    let mut sampler = Sampler::new(state, intake);
    let mut turns = tokio::time::interval(TURN);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for turn in 0_u64.. {
        turns.tick().await;
        sampler.take_lines();
        sampler.look_at_stress();
        if turn.is_multiple_of(TURNS_PER_FRAME) {
            sampler.look();
        }
    }
}

struct Sampler {
    state: Arc<DashboardState>,
    intake: Intake,
    probe: Probe,
    before: Option<Counters>,
    shown: Option<StressView>,
}

impl Sampler {
    fn new(state: Arc<DashboardState>, intake: Intake) -> Self {
        Sampler { state, intake, probe: Probe::of_self(), before: None, shown: None }
    }

    /// Takes the new lines, up to the number that one event carries.
    fn take_lines(&self) {
        let mut new: Vec<Numbered> = Vec::new();
        let mut log = self.state.log.lock();
        new.extend(self.intake.lines.try_iter().take(LINES_PER_TURN).map(|line| log.push(line)));
        drop(log);
        if !new.is_empty() {
            self.send("log", &new);
        }
    }

    fn look_at_stress(&mut self) {
        let now = Instant::now();
        let mut desk = self.state.stress.lock();
        let command = desk.poll(now);
        let view = desk.view(now);
        drop(desk);
        if let Some(command) = command {
            let commands = Arc::clone(&self.state.commands);
            tokio::task::spawn_blocking(move || -> Reply { commands.run(SessionId::DASHBOARD, &command) });
        }
        if self.shown.as_ref() != Some(&view) {
            self.send("stress", &view);
            self.shown = Some(view);
        }
    }

    fn look(&mut self) {
        let state = &self.state;
        let overviews = state.statistics.overviews();
        let mut rtts: Vec<f64> = overviews.iter().filter_map(|(_, seen)| rtt_ms(seen)).collect();
        let mut carriers = BTreeMap::new();
        let mut queued_bytes = 0;
        for (_, seen) in &overviews {
            *carriers.entry(seen.path.carrier.name).or_default() += 1;
            queued_bytes += seen.depth.bytes;
        }
        *state.clients.lock() = overviews.iter().map(|(peer, seen)| ClientSample::new(*peer, seen)).collect();
        let counters = self.counters();
        let guests = state.meters.roster.counts();
        let mut frame = Frame {
            t: unix_ms(),
            up_s: state.meters.began.elapsed().as_secs(),
            clients: guests.all(),
            stress_clients: guests.stress,
            stress_waiting: guests.waiting,
            stress_told: guests.told,
            carriers,
            rtt_ms: percentiles(&mut rtts),
            packet_loss_percent: mean_loss(overviews.iter().map(|(_, seen)| PacketLoss::of(seen))),
            slowest_tick_ms: state.meters.take_slowest().as_secs_f64() * 1e3,
            queued_bytes,
            overflows: counters.stats.queue_overflows,
            drops: counters.stats.drops.total(),
            log_skipped: state.meters.skipped(),
            ..Frame::default()
        };
        if let Some(before) = self.before.replace(counters) {
            counters.rates_since(&before, &mut frame);
            let json = json(&frame);
            state.history.lock().push(Arc::clone(&json));
            state.streams.send("frame", json);
        }
        *state.frame.lock() = frame;
    }

    fn counters(&self) -> Counters {
        let (state, at) = (&self.state, Instant::now());
        Counters {
            at,
            stats: state.statistics.stats(),
            lines: state.meters.lines(),
            ticks: state.meters.ticks(),
            process: self.probe.sample(),
            own_cpu: own_cpu(),
        }
    }

    fn send(&self, name: &'static str, value: &impl serde::Serialize) {
        self.state.streams.send(name, json(value));
    }
}

fn json(value: &impl serde::Serialize) -> Arc<str> {
    serde_json::to_string(value).expect("its keys are text").into()
}

/// CPU time of this thread, where the system reports it.
fn own_cpu() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

const TURN: Duration = Duration::from_millis(250);
const TURNS_PER_FRAME: u64 = 4;
/// Each line has at most 1,000 bytes.
const LINES_PER_TURN: usize = 1000;
