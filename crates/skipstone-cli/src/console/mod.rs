//! The admin console: line commands over TCP, for `telnet`, `nc` and scripts alike. The client edits its lines itself.
//! The engine only: the [`Handler`] defines the commands. RFC 854, 855 and 1143.
//!
//! ```text
//! server ─> acceptor ─> driver (a thread per session) ─> session ─> codec, line, engine_command
//! ```
//!
//! `session` and everything below it is without I/O. A session costs its client nothing but a connection, and the
//! server no more than a thread and bounded memory: one that does not read is disconnected, and delays no other session
//! until then. Clients that have sent neither a token nor a command are limited in number; new ones replace old ones
//! (`door::places`).

mod acceptor;
mod codec;
mod driver;
mod engine_command;
mod handler;
mod limits;
mod line;
mod log_queue;
mod server;
mod session;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use engine_command::ENGINE_HELP;
pub(crate) use handler::{Handler, Reply, SessionId};
pub(crate) use server::{Console, ConsoleConfig};
