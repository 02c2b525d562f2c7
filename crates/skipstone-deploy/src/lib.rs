//! `skipstone deploy`: a new version of a game server onto the machines where it runs. Clean builds, uploads of what
//! changed, a switch in one step, a health check, and a rollback.
//!
//! ```text
//! tool > deployment > { builds health locked_site } > { fleet lock site stage } > { remote unit } > { bounded plan }
//!      > { captured names }
//! ```

mod bounded;
mod builds;
mod captured;
mod deployment;
mod fleet;
mod health;
mod lock;
mod locked_site;
mod names;
mod plan;
mod remote;
mod site;
mod stage;
mod tool;
mod unit;

pub use tool::{DeployArguments, run};
