//! `--qlog`: the packet events of connections, a file for each.

use skipstone::{Qlog, QlogLimits};
use skipstone_lab::report::output;
use skipstone_lab::units::Size;

/// Flags of the packet log.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct QlogFlags {
    /// Write the packet events of each native connection into a file in this directory, as qlog JSON, which qvis opens;
    /// without message contents. Existing files stay
    #[arg(long, value_name = "DIR")]
    pub(crate) qlog: Option<String>,
    /// Total size of these files at which the log stops
    #[arg(long, value_name = "BYTES", default_value = "256MiB", requires = "qlog")]
    pub(crate) qlog_max: Size,
}

impl QlogFlags {
    /// Begins, if a log is requested.
    pub(crate) fn begin(&self) -> Result<Option<Qlog>, String> {
        let Some(folder) = &self.qlog else { return Ok(None) };
        let Size::Bytes(bytes_max) = self.qlog_max else {
            return Err("--qlog-max is a number of bytes, such as 256MiB".into());
        };
        let limits = QlogLimits { bytes_max: bytes_max as u64, ..QlogLimits::default() };
        let qlog = Qlog::create(folder, limits);
        qlog.map(Some).map_err(|error| format!("cannot write into --qlog {folder}: {error}"))
    }

    /// The same flags for a run's own server.
    pub(crate) fn words(&self) -> Vec<String> {
        let Some(folder) = &self.qlog else { return Vec::new() };
        ["--qlog", folder, "--qlog-max", &self.qlog_max.to_string()].map(str::to_owned).into()
    }
}

/// Reports once that a log has stopped.
#[derive(Debug)]
pub(crate) struct QlogWatch {
    command: &'static str,
    qlog: Qlog,
    has_told: bool,
}

impl QlogWatch {
    pub(crate) fn new(command: &'static str, qlog: Qlog) -> Self {
        QlogWatch { command, qlog, has_told: false }
    }

    pub(crate) fn tell(&mut self) {
        if self.has_told {
            return;
        }
        let status = self.qlog.status();
        if let Some(why) = status.stopped {
            self.has_told = true;
            let (command, files) = (self.command, status.files);
            output::complain(format_args!(
                "skipstone {command}: the log of packets (--qlog) stopped, with {files} files: {why}"
            ));
        }
    }
}
