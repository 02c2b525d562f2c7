//! Load from bots that people script themselves, over the protocol that their game already has: `skipstone bots`.
//!
//! ```text
//! command > live, run > script > plan, metrics; run > http, socket > protocols > tls > protocol, target
//! ```

mod command;
mod http;
mod live;
mod metrics;
mod plan;
pub mod protocol;
pub mod protocols;
mod run;
mod script;
pub mod socket;
pub mod target;
mod tls;

pub use command::{
    BotsArguments, BotsEvidence, BotsOrder, BotsPart, BotsPartOrder, BotsPlace, BotsRoster, LedBots, PartSecond,
    conclude, run,
};
pub use script::{BUNDLE_BYTES_MAX, ScriptBundle};
