//! Recordings of any game's packets, as they pass a relay: both directions of each flow with times and bytes. The file
//! (entry), who writes it (recorder) and reads it (reader); what a client did (player), and the script of a bot that
//! does the same (script).

mod entry;
mod fields;
mod player;
mod reader;
mod recorder;
mod script;

pub use entry::{FlowEvent, FlowId, FlowProtocol};
pub use player::{PlayedPacket, Player};
pub use reader::{FlowEntry, FlowRecording};
pub use recorder::FlowRecorder;
pub use script::{BotScriptFiles, files_of};
