//! Leads a run whose clients are on other machines: `stress --fleet`, `bots --fleet`.
//!
//! ```text
//! call ──> preflight (who is there, and fit) ──> enlist ──> start at one moment ──> watch ──> gather ──> judge
//! ```
//! An agent that is silent for 3 s is lost. Without leave (`--tolerate`) that ends the run at once: a verdict without
//! its lines would prove nothing. What the clients do is in `load.rs`, and is the agents' business.

#[cfg(feature = "bots")]
pub(super) mod bots;
mod clocks;
pub(super) mod collect_from;
pub(super) mod conclusion;
pub(super) mod gather;
mod leading;
pub(super) mod no_verdict;
mod own_agents;
mod party;
mod preflight;
mod progress;
mod stress;

#[cfg(feature = "bots")]
pub(crate) use bots::run as lead_bots;
pub(crate) use stress::run;
