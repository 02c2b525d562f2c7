//! What a run is made of.

use crate::plan::Life;
use crate::script::ScriptFolder;
use skipstone_lab::units::Allowed;
use std::time::Duration;

/// What is run.
#[derive(Clone, Debug)]
pub(crate) struct RunPlan {
    /// The script.
    pub(crate) script: ScriptFolder,
    /// Where the bots connect, in place of what the script says.
    pub(crate) url: Option<String>,
    /// The bots and their times.
    pub(crate) lives: Vec<Life>,
    /// How long the run lasts.
    pub(crate) duration: Duration,
    /// Of all random choices.
    pub(crate) seed: u64,
    /// Servers to which the bots may connect; any, if there is no such list.
    pub(crate) allowed: Option<Vec<Allowed>>,
    /// Threads.
    pub(crate) workers: usize,
}
