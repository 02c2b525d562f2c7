//! One bottleneck, and how each line-up shares it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::bottleneck::Bottleneck;
use super::judge::SharedLink;
use super::line_up::LINE_UPS;
use super::play;
use crate::compare::simulation::Stopped;

/// A bottleneck, and how each line-up shared it.
pub(super) struct FairnessFinding {
    pub(super) seed: u64,
    pub(super) bottleneck: Bottleneck,
    pub(super) shares: Vec<SharedLink>,
}

/// Runs each line-up.
pub(super) fn find(seed: u64, together: Duration, stop: &AtomicBool) -> Result<FairnessFinding, Stopped> {
    let bottleneck = Bottleneck::of(seed);
    let share = |line_up| {
        let carried = play::play(line_up, &bottleneck, together, seed, stop)?;
        Ok(SharedLink::of(&carried, line_up, &bottleneck))
    };
    let shares: Result<Vec<SharedLink>, Stopped> = LINE_UPS.iter().map(share).collect();
    Ok(FairnessFinding { seed, bottleneck, shares: shares? })
}
