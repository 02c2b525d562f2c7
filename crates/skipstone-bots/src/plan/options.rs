//! What a script asks for by `skipstone.options`; the command line overrides it.

use super::stages::Stage;
use skipstone_lab::units::Threshold;
use std::time::Duration;

/// What a script asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptOptions {
    /// How many bots.
    pub(crate) clients: Option<u32>,
    /// How long they run, the ramp included.
    pub(crate) duration: Option<Duration>,
    /// Over how long they begin.
    pub(crate) ramp: Option<Duration>,
    /// The number of bots over time, instead of the three above.
    pub(crate) stages: Vec<Stage>,
    /// Conditions on the result.
    pub(crate) thresholds: Vec<Threshold>,
}
