//! The bots of one machine of a run.

use super::super::arguments::BotsArguments;
use super::super::outcome;
use super::super::prepared::{Prepared, check, prepare_share};
use super::super::show::SecondLines;
use super::super::trial::{Found, find};
use super::evidence::{BotsEvidence, FORMAT};
use super::order::BotsRoster;
use crate::plan::Life;
use crate::run::{Progress, WorstBots};
use serde::{Deserialize, Serialize};
use skipstone_lab::report::bots::RunSecond;
use skipstone_lab::report::stress::evidence::ClockEvidence;
use skipstone_lab::signals::Signals;
use skipstone_lab::units::Allowed;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Which part of which run, in the notation of `--part`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotsPartOrder {
    /// Who takes part.
    pub roster: BotsRoster,
    /// Which of them this is.
    pub agent: usize,
    /// Where the evidence goes.
    pub evidence: PathBuf,
    /// Servers to which the bots may connect.
    pub allowed: Vec<String>,
}

/// A part, ready to start.
pub struct BotsPart {
    order: BotsPartOrder,
    prepared: Prepared,
}

/// How a part stands, each second.
#[derive(Debug, Clone, Copy)]
pub struct PartSecond {
    /// What the second brought.
    pub second: RunSecond,
    /// Messages received so far.
    pub received: u64,
    /// Bots that ended by an error so far.
    pub faulted: u64,
}

impl BotsPart {
    /// Checks script and flags, and takes this machine's bots. The error is one sentence.
    pub fn prepare(arguments: &BotsArguments, order: BotsPartOrder) -> Result<Self, String> {
        let allowed: Result<Vec<Allowed>, String> = order.allowed.iter().map(|text| text.parse()).collect();
        let mut checked = check(arguments)?;
        let agents = order.roster.agents.len();
        if order.agent >= agents {
            return Err("--part: the roster has no such agent".into());
        }
        checked.lives.retain(|life| is_of(life, order.agent, agents));
        // As the coordinator named it; the copy here has another path.
        checked.blank.script.clone_from(&order.roster.script);
        let prepared = prepare_share(arguments, checked, Some(allowed?))?;
        Ok(BotsPart { order, prepared })
    }

    /// How many times its bots begin.
    pub fn lives(&self) -> u64 {
        self.prepared.plan.lives.len() as u64
    }

    /// Where the evidence goes.
    pub fn evidence_path(&self) -> &std::path::Path {
        &self.order.evidence
    }

    /// Plays it from that moment on; `tell` hears of each second. The error is one sentence.
    pub fn play(
        &self,
        epoch: Instant,
        clock: ClockEvidence,
        signals: &Signals,
        mut tell: impl FnMut(PartSecond),
    ) -> Result<BotsEvidence, String> {
        let mut on_second = |second: &RunSecond, progress: &Progress| {
            let received = progress.received.load(Ordering::Relaxed);
            tell(PartSecond { second: *second, received, faulted: progress.faulted.load(Ordering::Relaxed) });
        };
        let lines = SecondLines::Reported(&mut on_second);
        let Found { tally, measured, seconds } = find(&self.prepared, epoch, signals, lines)?;
        let result = outcome::result(&self.prepared.blank, &self.prepared.plan, &tally, &measured);
        Ok(BotsEvidence {
            kind: BotsEvidence::KIND.into(),
            format: FORMAT,
            roster: self.order.roster.clone(),
            agent: self.order.agent,
            is_interrupted: signals.is_set(),
            clock,
            worst_bots: WorstBots::of(&tally.bots),
            stalls: outcome::stall_spans(&measured.stalls),
            tally,
            result,
            seconds,
        })
    }
}

/// Bots are dealt out in turn, so that each machine has its share at any time of a ramp, and a bot that comes back is
/// on the same one.
pub(super) fn is_of(life: &Life, agent: usize, agents: usize) -> bool {
    life.number as usize % agents == agent
}
