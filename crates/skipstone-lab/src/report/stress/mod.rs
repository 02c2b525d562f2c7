//! The output of a stress run: its JSON result, how that is judged, the table at the end and the view while it runs.

pub mod chronicle;
pub mod evidence;
#[cfg(test)]
mod example;
pub mod judge;
pub mod live;
pub mod machine_sums;
pub mod merge_agents;
pub mod result;
pub mod roster;
pub mod table;
