//! Measurements of a stress run: the lines it sends, the proof that all arrived, latency, processes and machine stalls.
//! No sockets here; each part is fed by the run and gives plain values.

#[cfg(feature = "experiments")]
pub(crate) mod chance;
#[cfg(feature = "experiments")]
pub(crate) mod in_order;
pub mod latency;
pub mod latency_steps;
pub mod ledger;
pub mod limit_search;
pub mod machine;
pub mod monotonic;
pub mod part;
pub(crate) mod pinning;
pub mod process;
pub mod sentence;
pub mod splitmix;
pub mod stalls;
pub mod worst_clients;
