//! The packet events of Skipstone's ends, in qlog's files: two for each run.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skipstone::{PacketLog, Qlog, QlogLimits};

/// The logs of both ends; those without one have none.
#[derive(Debug, Default)]
pub(crate) struct PacketLogs {
    pub(crate) client: Option<Arc<dyn PacketLog>>,
    pub(crate) server: Option<Arc<dyn PacketLog>>,
}

/// Nothing is logged.
pub(crate) static NO_LOGS: PacketLogs = PacketLogs { client: None, server: None };

/// Where a process of a real run writes the events of its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QlogPlace {
    folder: String,
    name: String,
}

impl QlogPlace {
    pub(crate) fn new(folder: &str, run: &str) -> QlogPlace {
        QlogPlace { folder: folder.to_owned(), name: run.to_owned() }
    }

    /// Begins to write there.
    pub(crate) fn begin(&self) -> Result<Qlog, String> {
        begin_with(&self.folder, LIMITS)
    }

    pub(crate) fn logs(&self, qlog: &Qlog) -> PacketLogs {
        logs_of(qlog, &self.name)
    }
}

/// Begins to write events of virtual time, which waits for the disk.
pub(crate) fn begin(folder: &str) -> Result<Qlog, String> {
    begin_with(folder, QlogLimits { waits_for_disk: true, ..LIMITS }).map(Qlog::in_virtual_time)
}

/// Begins to write into a folder, which is made if there is none.
fn begin_with(folder: &str, limits: QlogLimits) -> Result<Qlog, String> {
    Qlog::create(Path::new(folder), limits).map_err(|error| format!("cannot write into --qlog {folder}: {error}"))
}

/// The logs of a run's ends.
pub(crate) fn logs_of(qlog: &Qlog, run: &str) -> PacketLogs {
    let end = |end: &str| Some(qlog.endpoint(&format!("{run}-{end}")));
    PacketLogs { client: end("client"), server: end("server") }
}

/// A sentence, if a log ended before its time.
pub(crate) fn failure(qlog: &Qlog) -> Option<String> {
    let status = qlog.status();
    let why = status.stopped?;
    Some(format!("the log of packets (--qlog) stopped, with {} files: {why}", status.files))
}

/// A run of an hour has about 200 MB.
const LIMITS: QlogLimits = QlogLimits { bytes_max: 1 << 30, files_max: 10_000, waits_for_disk: false };
