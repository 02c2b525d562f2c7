//! A run on several machines: what the coordinator sends, what each machine plays and keeps, and how that becomes one
//! result. It says nothing of how messages get from one machine to another.
//!
//! ```text
//! led (script and flags) ──order, bundle──> part (bots of one machine) ──evidence──> merged (one result)
//! ```

mod evidence;
mod led;
mod merged;
mod order;
mod part;

pub use evidence::BotsEvidence;
pub use led::LedBots;
pub use merged::{BotsPlace, conclude};
pub use order::{BotsOrder, BotsRoster};
pub use part::{BotsPart, BotsPartOrder, PartSecond};
