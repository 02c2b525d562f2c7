//! A run on several machines, whoever carries words between them: what the coordinator sends, what each machine plays
//! and keeps, and how that becomes one result.
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
