//! Scripts in Luau: one VM for a worker, an environment for a bot. The VM knows the run only as a [`Host`], and owns no
//! socket, clock or thread; `watchdog` ends calls that take too long.
//!
//! ```text
//! bot > engine > { natives modules } > { data http options protobuf random } > shared
//! shared > { fault folder host memory watchdog }
//! ```

mod bot;
mod data;
mod engine;
mod fault;
mod folder;
mod host;
mod http;
mod memory;
mod modules;
mod natives;
mod options;
mod protobuf;
mod random;
mod shared;
#[cfg(test)]
mod tests;
mod watchdog;

pub(crate) use bot::{BotScript, ConnectOrder};
pub(crate) use engine::{Engine, EngineLimits};
pub(crate) use fault::ScriptFault;
pub(crate) use folder::ScriptFolder;
pub(crate) use host::Host;
pub(crate) use memory::Hoard;
pub(crate) use watchdog::Watchdog;
