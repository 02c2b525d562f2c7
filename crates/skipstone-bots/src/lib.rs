//! Load from bots that people script themselves, over the protocol that their game already has: `skipstone bots`.
//!
//! ```text
//! command > live, run > script > plan, metrics; run > socket > protocols > protocol, target
//! ```

mod command;
mod live;
mod metrics;
mod plan;
pub mod protocol;
pub mod protocols;
mod run;
mod script;
pub mod socket;
pub mod target;

pub use command::{BotsArguments, run};
