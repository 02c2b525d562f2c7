//! The settings of a key-value store.

use std::time::Duration;

/// How a store is made, if there is none of its name. One that exists keeps its own settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvSettings {
    /// Servers of the cluster that hold it: 1, 3 or 5. A server alone holds 1.
    pub replicas: usize,
    /// Entries that were not written for this long vanish. Watches do not report that.
    pub age_max: Option<Duration>,
    /// How long a call of the store is tried before it is answered with
    /// [`KvOutcome::Unavailable`](super::answer::KvOutcome::Unavailable) or
    /// [`KvOutcome::Unknown`](super::answer::KvOutcome::Unknown). An election in a cluster takes up to 8 s.
    pub answer_within: Duration,
}

impl Default for KvSettings {
    fn default() -> KvSettings {
        KvSettings { replicas: 1, age_max: None, answer_within: Duration::from_secs(12) }
    }
}
