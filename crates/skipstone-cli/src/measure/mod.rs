//! What a stress run measures: the lines it sends, the proof that all arrived, latency, processes and machine stalls.
//! No sockets here; each part is fed by the run and gives plain values.

pub(crate) mod latency;
pub(crate) mod ledger;
pub(crate) mod machine;
pub(crate) mod process;
pub(crate) mod sentence;
pub(crate) mod stalls;
