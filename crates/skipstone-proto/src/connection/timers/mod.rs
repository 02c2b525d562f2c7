//! Timers of a connection: `state` has those that belong to no mechanism, `due` the earliest of all, `expire` what
//! follows.

mod due;
mod expire;
mod state;

pub(super) use state::{INCOMPLETE_MAX, MergeTimer, Timers};
