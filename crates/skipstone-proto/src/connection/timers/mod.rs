//! Timers of a connection: `state` holds those that belong to no mechanism, `due` finds the earliest of all, `expire`
//! handles them.

mod due;
mod expire;
mod state;

pub(super) use state::{INCOMPLETE_MAX, MergeTimer, Timers};
