//! Recordings of traffic, as a game's server or client makes them with the library: what is in one (`skipstone record
//! show`), and the schedule by which `compare` plays one.

pub mod command;
mod flows;
pub(crate) mod schedule;
mod summary;
