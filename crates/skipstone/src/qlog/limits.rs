//! How much may be written, and how much was.

/// How much a [`Qlog`](crate::Qlog) may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QlogLimits {
    /// Bytes of all files together, at which the log stops. A packet takes 150 to 400 bytes.
    pub bytes_max: u64,
    /// Files, one for each client that is let in, or that connects from here; later connections have none.
    pub files_max: u32,
    /// Whether the endpoints wait for a disk that is too slow, as those in virtual time can. Otherwise the log stops.
    pub waits_for_disk: bool,
}

impl Default for QlogLimits {
    fn default() -> Self {
        QlogLimits { bytes_max: 256 << 20, files_max: 1_000, waits_for_disk: false }
    }
}

/// How a [`Qlog`](crate::Qlog) gets on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QlogStatus {
    /// Connections that have a file.
    pub files: u32,
    /// Connections without a file, because there are as many as there may be, or the system has no room for open files.
    pub left_out: u64,
    /// Bytes of all files, those that are still to be written included.
    pub bytes: u64,
    /// Why nothing more is written; `None` while it goes on.
    pub stopped: Option<String>,
}
