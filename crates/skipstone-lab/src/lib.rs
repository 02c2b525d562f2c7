//! The measurements of Skipstone: `compare` runs one plan with every transport in a simulator, `bench` measures what a
//! server costs over sockets, `netem` puts a bad network between real programs, and all share with the tool's `stress` how
//! things are measured, judged and shown.
//!
//! Imports point down: `bench, sweep > compare > netem, recording > report > measure, resilience > child, open_files, peers,
//! signals, units, workload > clean`.

pub mod bench;
pub mod child;
pub mod clean;
pub mod compare;
pub mod measure;
pub mod natural;
pub mod netem;
pub mod open_files;
mod peers;
pub mod recording;
pub mod report;
pub mod resilience;
pub mod signals;
pub mod sweep;
#[cfg(test)]
mod tests;
pub mod units;
pub mod workload;
