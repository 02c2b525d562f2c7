//! The promises of the arithmetic, one module per claim.
//!
//! One program, because each program costs a link. A test that needs its own process is a program next to this folder,
//! and its first comment says why.

#[path = "../common/mod.rs"]
mod common;

mod another_implementation_agrees;
mod any_n_repairs_replace_n_sources;
mod equations_determine_their_span;
mod every_kernel_computes_the_same;
mod the_field_satisfies_its_axioms;
