//! What a database does for a game server: its records, the benchmark of them, and their recording while the server runs.
//!
//! ```text
//! tool > commands > database > session, migrations > account, dialect, error, url > secret, value
//! ```

mod account;
mod bench;
mod commands;
mod database;
mod dialect;
mod draw;
mod error;
mod migrations;
mod progress;
mod recorder;
mod secret;
mod session;
mod statements;
mod timing;
mod tool;
mod url;
mod value;

pub use recorder::{Began, Ended, Recorder, RecorderStats};
pub use tool::{Credentials, DbArguments, run, run_line};
pub use url::DatabaseUrl;
