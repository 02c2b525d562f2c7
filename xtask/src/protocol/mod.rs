//! The protocol: its bytes, its costs, its simulated runs, and whether its tests notice changes.

pub(crate) mod fuzz;
pub(crate) mod instructions;
pub(crate) mod mutants;
pub(crate) mod swarm;
pub(crate) mod vectors;
pub(crate) mod wireshark;
