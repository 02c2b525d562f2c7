//! Packet events in qlog's JSON text sequences, a file for each connection (feature `qlog`):
//! draft-ietf-quic-qlog-main-schema-04 and draft-ietf-quic-qlog-quic-events-03, version 0.3, with events of our own
//! under `skipstone:`.
//!
//! `schema` has the records, `log` converts the protocol's events into records, `orders` is the queue to the writing
//! thread in `disk`, which writes into `open_files`.

mod disk;
mod limits;
mod log;
mod open_files;
mod orders;
mod schema;
#[cfg(test)]
mod tests;

use disk::Disk;
pub use limits::{QlogLimits, QlogStatus};
use log::EndpointLog;
use orders::lock;
use skipstone_proto::PacketLog;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Writes packet events into a directory: each connection has a file, which qvis opens. Pass it as
/// [`ServerConfig::packet_log`](crate::ServerConfig::packet_log) or the corresponding field of clients and pools. The
/// files contain no payload and no token.
///
/// A thread of its own writes; an error there ends the log, never the game. Dropping the last clone, and all endpoints
/// that use it, completes the files.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use skipstone::{Qlog, QlogLimits, ServerConfig};
///
/// # let folder = std::env::temp_dir().join(format!("skipstone-qlog-doc-{}", std::process::id()));
/// let qlog = Qlog::create(&folder, QlogLimits::default())?;
/// let mut config = ServerConfig::new("127.0.0.1:0".parse()?);
/// config.packet_log = Some(qlog.endpoint("server"));
/// # drop(skipstone::Server::start(config)?);
/// if let Some(why) = qlog.status().stopped {
///     eprintln!("the log of packets stopped: {why}");
/// }
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Qlog {
    disk: Arc<Mutex<Disk>>,
    /// In virtual time: the time since 1970 at which all clocks show zero.
    zero: Option<Duration>,
}

impl Qlog {
    /// Creates the directory if it does not exist, and begins. Existing files stay.
    ///
    /// # Errors
    /// The system refuses the directory, a file in it, or a thread.
    pub fn create(directory: impl AsRef<Path>, limits: QlogLimits) -> io::Result<Self> {
        Ok(Qlog { disk: Arc::new(Mutex::new(Disk::start(directory.as_ref(), limits)?)), zero: None })
    }

    /// The same log for endpoints that are driven in virtual time, by one clock, whose zero is now. Without this the
    /// files have the machine's time, in which the two ends of a connection would not agree.
    pub fn in_virtual_time(self) -> Self {
        Qlog { zero: Some(log::since_1970()), ..self }
    }

    /// The log of one endpoint (a server with all its shards, a client, or a pool), whose files' names begin with this
    /// name.
    pub fn endpoint(&self, name: &str) -> Arc<dyn PacketLog> {
        Arc::new(EndpointLog::new(Arc::clone(&self.disk), name, self.zero))
    }

    /// The status of the log.
    pub fn status(&self) -> QlogStatus {
        lock(&self.disk).status()
    }
}
