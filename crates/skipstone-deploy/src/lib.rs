//! `skipstone deploy`: a new version of a game server onto the machines where it runs. Clean builds, uploads of what changed, a
//! switch in one step, a look whether it is well, and the way back.
//!
//! ```text
//! tool > deployment > { builds health } > { site stage } > { remote unit } > { bounded plan } > names
//! ```

mod bounded;
mod builds;
mod deployment;
mod health;
mod names;
mod plan;
mod remote;
mod site;
mod stage;
mod tool;
mod unit;

pub use tool::{DeployArguments, run};
