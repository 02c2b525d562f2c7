//! `skipstone stress`: hundreds of clients that send at a fixed rate, and the proof that every line arrived.
//!
//! ```text
//! plan (flags, checked) ──> generator (clients, schedule, proof) ──> outcome ──> judge ──> table, JSON, exit code
//!                           child (the server's process)   view (what is shown meanwhile)
//! ```
//! `connects` is another run: clients that connect and leave, and nothing else.

mod arguments;
mod attendance;
mod child;
mod client_drop;
mod connects;
mod costs;
mod generator;
pub(crate) mod impairment;
mod keep;
pub(crate) mod lead;
mod merging;
mod outcome;
mod pages;
mod places;
pub(crate) mod plan;
mod preset;
mod proof;
mod run;
mod server_clock;
pub(crate) mod view;
mod vigil;

pub(crate) use arguments::StressArguments;
#[cfg(feature = "fleet")]
pub(crate) use outcome::explanations;
pub(crate) use preset::{beside, demonstrate};
pub(crate) use run::run;
#[cfg(feature = "fleet")]
pub(crate) use run::{end_with_parent, write_report};
