//! All settings, on all cores.

use std::sync::atomic::AtomicBool;

use skipstone::RedundancyMode;

use super::judge::{Judgement, PlayedSetting, judge};
use super::pool::Pool;
use super::setting::Setting;
use crate::compare::contender::Contender;
use crate::compare::simulation::Stopped;
use crate::compare::transport::Transport;
use crate::measure::in_order::work_in_order;
use crate::units::Mode;

/// How each setting is run.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    pub(super) minutes: f64,
    pub(super) loss_seeds: u64,
    pub(super) peers: Vec<Transport>,
}

/// A setting with all that was found.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) setting: Setting,
    pub(super) played: PlayedSetting,
    pub(super) judgement: Judgement,
}

/// Runs all seeds; `on_found` is called for each, in their order.
pub(super) fn play(
    seeds: std::ops::Range<u64>,
    extent: &Extent,
    threads: usize,
    stop: &AtomicBool,
    on_found: impl FnMut(Finding) + Send,
) {
    work_in_order(seeds, threads, |seed| find(seed, extent, stop), on_found);
}

fn find(seed: u64, extent: &Extent, stop: &AtomicBool) -> Result<Finding, Stopped> {
    let setting = Setting::of(seed, extent.minutes);
    let own = |mode| Contender { transport: Transport::Skipstone, mode: Some(Mode(mode)), external: None };
    let contenders = [RedundancyMode::Off, RedundancyMode::Lean, RedundancyMode::Adaptive].map(own);
    let run = |contender| Pool::run(contender, &setting.condition, extent.loss_seeds, stop);
    let [off, lean, adaptive] = contenders.map(run);
    let [as_off, as_lean, as_adaptive] = contenders;
    let (off, lean, adaptive) = (off?.figures(as_off), lean?.figures(as_lean), adaptive?.figures(as_adaptive));
    let played = PlayedSetting { off, lean, adaptive, peers: peers(&setting, extent, stop)? };
    let judgement = judge(&setting, &played);
    Ok(Finding { setting, played, judgement })
}

fn peers(setting: &Setting, extent: &Extent, stop: &AtomicBool) -> Result<Vec<super::pool::SweepFigures>, Stopped> {
    let takes_part = |peer: &&Transport| setting.why_not(**peer).is_none();
    let run = |peer: &Transport| {
        let contender = Contender { transport: *peer, mode: None, external: None };
        let pool = Pool::run(contender, &setting.of_peers, extent.loss_seeds, stop)?;
        Ok(pool.figures(contender))
    };
    extent.peers.iter().filter(takes_part).map(run).collect()
}
