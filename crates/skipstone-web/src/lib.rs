//! The protocol's client as WebAssembly: what `clients/web` calls from a worker.
//!
//! Time, randomness and bytes come from the page; the module imports nothing. [`Core`] is an endpoint and its connections,
//! [`figures`] turns settings and statistics into numbers, `exports` is the one part that knows of pointers. All of it can be
//! called natively, which the tests do.

mod core;
mod exports;
pub mod figures;
mod options;
mod outcome;

pub use crate::core::{Core, Refusal};
pub use crate::options::Options;
pub use crate::outcome::Outcome;
