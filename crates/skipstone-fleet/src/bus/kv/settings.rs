//! The settings of a key-value store.

use std::time::Duration;

/// How a store is made, if there is none of its name. One that exists keeps its own settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvSettings {
    /// Servers of the cluster that hold it: 1, 3 or 5. `None`: 3 of a cluster, or the server that is alone, whichever is
    /// found when the store is made.
    pub replicas: Option<usize>,
    /// Entries that were not written for this long vanish. Watches do not report that.
    pub age_max: Option<Duration>,
    /// How long a call of the store is tried before it is answered with
    /// [`KvOutcome::Unavailable`](super::answer::KvOutcome::Unavailable) or
    /// [`KvOutcome::Unknown`](super::answer::KvOutcome::Unknown). An election in a cluster takes up to 8 s.
    pub answer_within: Duration,
}

impl KvSettings {
    /// How many servers hold a store that is made now.
    pub(super) fn replicas_in(&self, cluster: Option<&str>) -> usize {
        self.replicas.unwrap_or(if cluster.is_some() { 3 } else { 1 })
    }
}

impl Default for KvSettings {
    fn default() -> KvSettings {
        KvSettings { replicas: None, age_max: None, answer_within: Duration::from_secs(12) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_that_is_found_when_the_store_is_made_holds_three_replicas() {
        let replicas = |replicas, cluster| KvSettings { replicas, ..KvSettings::default() }.replicas_in(cluster);
        assert_eq!((replicas(None, Some("local")), replicas(None, None)), (3, 1));
        assert_eq!((replicas(Some(5), Some("local")), replicas(Some(1), Some("local"))), (5, 1));
    }
}
