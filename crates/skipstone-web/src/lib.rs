//! The protocol's client as WebAssembly: what `clients/web` calls from a worker.
//!
//! Time, randomness and bytes come from the page; the module has no imports. [`Core`] is a client and its
//! connections, [`figures`] converts settings and statistics to numbers, and only `exports` handles pointers. All of it
//! can be called natively, as the tests do.

mod connections;
mod core;
mod exports;
pub mod figures;
mod moving;
mod options;
mod outcome;
mod refusal;

pub use crate::core::Core;
pub use crate::options::Options;
pub use crate::outcome::Outcome;
pub use crate::refusal::Refusal;
