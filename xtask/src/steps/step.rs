//! A step of `cargo xtask test`, and the steps that may run in parallel with it.

use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

/// One step.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Whether the step is part of `--fast`.
    pub(super) is_fast: bool,
    pub(super) lane: Lane,
    /// The steps, before it in the list, whose products it uses: it starts when all of them that were chosen have
    /// ended.
    pub(super) after: &'static [&'static str],
    pub(super) run: fn(&Tree, Extent) -> Verdict,
}

/// The steps that may run at the same time as this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// It fills the cores, and cargo locks its folder: one at a time.
    Compiles,
    /// It waits for servers, browsers and clocks: one runs in parallel with a step that compiles, two when none is
    /// left.
    Waits,
    /// It measures time: no other step runs at the same time.
    Timed,
}

/// The extent of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    Fast,
}

/// No name is longer.
pub(super) const NAME_WIDTH: usize = 14;
