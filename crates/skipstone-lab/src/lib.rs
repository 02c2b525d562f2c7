//! The measurements of Skipstone: `compare` runs one plan with every transport in a simulator, `bench` measures what a
//! server costs over sockets, `netem` puts a bad network between real programs, and all share with the tool's `stress`
//! how things are measured, judged and shown. Builds without the feature `experiments` have only what they share.
//!
//! Imports point down: `bench, fairness, sweep > compare > netem, recording > flow_recording > report > measure, quic,
//! resilience > child, framing, open_files, signals, socket_error, units, workload > left_out > clean`.

#[cfg(feature = "experiments")]
pub mod bench;
pub mod child;
pub mod clean;
#[cfg(feature = "experiments")]
pub mod compare;
#[cfg(feature = "experiments")]
pub mod fairness;
pub mod flow_recording;
#[cfg(feature = "experiments")]
mod framing;
pub mod left_out;
pub mod measure;
pub mod natural;
#[cfg(feature = "experiments")]
pub mod netem;
pub mod open_files;
#[cfg(all(feature = "experiments", feature = "peers"))]
mod quic;
#[cfg(feature = "experiments")]
pub mod recording;
pub mod report;
pub mod resilience;
pub mod signals;
#[cfg(feature = "experiments")]
mod socket_error;
#[cfg(feature = "experiments")]
pub mod sweep;
#[cfg(all(test, feature = "experiments"))]
mod tests;
pub mod units;
pub mod workload;
