//! The dashboard: an HTTP server for operators in the game's process, with a page of live charts, the metrics for
//! Prometheus, and a few commands. The only async code of the tool, in one thread of its own.
//!
//! ```text
//! game loop ── feed (atomics, bounded queue) ──> sampler ──> history, log, stream ──> routes ──> guard ──> listener
//! drivers ──── published snapshots ────────────────┘                                   │                      │
//! game loop <── commands, the console's way ───────────────────────────────────────────┘                     page
//! ```
//! The game loop never waits for the dashboard: if the dashboard is behind, notes of the loop are dropped and counted.

mod access;
mod bytes_split;
mod client_row;
mod clients;
mod feed;
mod frame;
mod guard;
mod history;
mod listener;
mod log_ring;
mod mean_loss;
mod metrics;
mod page;
mod refusal;
mod roster;
mod routes;
mod sampler;
mod server;
mod state;
mod stream;
mod stress;
#[cfg(test)]
mod tests;

pub(crate) use feed::{Feed, feed};
pub(crate) use roster::GuestKind;
pub(crate) use server::{Dashboard, DashboardConfig, ServerFacts};
pub(crate) use stress::AgentsLead;
