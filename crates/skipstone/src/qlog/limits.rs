//! The limits of a log, and its status.

/// Limits of a [`Qlog`](crate::Qlog).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QlogLimits {
    /// Total bytes of all files, at which the log stops. A packet takes 150 to 400 bytes.
    pub bytes_max: u64,
    /// Greatest number of files, one for each accepted or local client; later connections have none.
    pub files_max: u32,
    /// Whether the endpoints wait for a disk that is too slow, which those in virtual time can do. Otherwise the log
    /// stops.
    pub waits_for_disk: bool,
}

impl Default for QlogLimits {
    fn default() -> Self {
        QlogLimits { bytes_max: 256 << 20, files_max: 1_000, waits_for_disk: false }
    }
}

/// Status of a [`Qlog`](crate::Qlog).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QlogStatus {
    /// Connections that have a file.
    pub files: u32,
    /// Connections without a file, because the limit was reached, or the system allows no more open files.
    pub left_out: u64,
    /// Bytes of all files, including those still to be written.
    pub bytes: u64,
    /// Why nothing more is written; `None` while the log continues.
    pub stopped: Option<String>,
}
