//! Databases of a game server: its records, the benchmark of them, and their recording while the server
//! runs.
//!
//! ```text
//! tool > bench, commands, recorder > draw > database, statements > migrations, session > account, runtime, url
//!      > dialect, error, tls > value
//! ```

mod account;
mod bench;
mod commands;
mod database;
mod dialect;
mod draw;
mod error;
mod migrations;
mod percent;
mod progress;
mod recorder;
mod runtime;
mod secret;
mod session;
mod statements;
mod timing;
mod tls;
mod tool;
mod url;
mod value;

pub use recorder::{Began, Ended, Recorder, RecorderStats};
pub use tool::{Credentials, DbArguments, run, run_line, run_line_json};
pub use url::DatabaseUrl;
