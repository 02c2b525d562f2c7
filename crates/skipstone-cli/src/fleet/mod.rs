//! Runs on several machines, over NATS: `agent` waits on each, `stress --fleet` and `bots --fleet` lead them from
//! anywhere. And the commands of a fleet's operator, in [`operator`].
//!
//! ```text
//! stress --fleet ──call, enlist, start──> NATS ──> agent ──stdin──> stress --part, bots --part
//!    merged result <──── state each half second, evidence in pieces on demand ────┘
//! ```
//! NATS delivers at most once, so nothing depends on a single message: orders are requests that are repeated until they
//! are answered, agents publish their whole state again and again, and evidence lies on the agents' disks until it is
//! asked for.

mod agent;
#[cfg(feature = "bots")]
mod bots_part;
mod coordinator;
mod load;
mod operator;
mod order;
mod talk;

pub(crate) use agent::{AgentArguments, run as run_agent};
#[cfg(feature = "bots")]
pub(crate) use bots_part::run as play_bots;
#[cfg(feature = "bots")]
pub(crate) use coordinator::lead_bots;
pub(crate) use coordinator::run as lead;
pub(crate) use operator::{FleetCommand, run as operate};
