//! A release and its parts: what every file in this folder knows. Which parts there are is in `parts`.

use std::path::{Path, PathBuf};

use crate::machine::process;
use crate::machine::tree::Tree;

/// What is being released, and where its files go.
pub(crate) struct Release {
    /// The version of every artifact, without a `v`.
    pub(crate) version: String,
    /// The commit.
    pub(crate) revision: String,
    /// The time of every file in every archive.
    pub(crate) time: CommitTime,
    /// The folder of the artifacts, and of nothing else.
    pub(crate) dist: PathBuf,
    /// The folder for everything in between, below cargo's target folder.
    pub(crate) work: PathBuf,
}

/// The commit's time, in UTC.
pub(crate) struct CommitTime {
    /// Seconds since 1970.
    pub(crate) epoch: u64,
    /// `2026-11-28T01:02:03Z`.
    pub(crate) iso_8601: String,
    /// `Sat, 28 Nov 2026 01:02:03 +0000`, as in letters and in Debian's change logs.
    pub(crate) rfc_2822: String,
}

impl Release {
    /// An empty folder with that name for a part's files. An earlier run's are removed.
    pub(crate) fn stage(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.work.join("stage").join(name);
        // It may not exist.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// The place of an artifact.
    pub(crate) fn artifact(&self, name: &str) -> PathBuf {
        self.dist.join(name)
    }

    /// One that no commit has.
    #[cfg(test)]
    pub(crate) fn for_tests(work: PathBuf) -> Self {
        let time = CommitTime { epoch: 0, iso_8601: "1970-01-01T00:00:00Z".into(), rfc_2822: String::new() };
        Self { version: "0.1.0".into(), revision: "0".repeat(40), time, dist: work.join("dist"), work }
    }

    /// A program that must give the same bytes on every machine and on every day.
    pub(crate) fn command(&self, program: &str, tree: &Tree) -> std::process::Command {
        let mut command = process::command(program, tree);
        self.steady(&mut command);
        command
    }

    /// The variables by which programs leave out time, place and language.
    pub(crate) fn steady(&self, command: &mut std::process::Command) {
        command.env("SOURCE_DATE_EPOCH", self.time.epoch.to_string()).env("ZERO_AR_DATE", "1");
        command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC");
    }
}

/// A part of the release: what `--only` names.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Makes the part's artifacts in `dist`, and returns them.
    pub(crate) make: fn(&Release, &Tree) -> Result<Vec<PathBuf>, String>,
    /// Installs the part's artifacts where nothing is, and uses them.
    pub(crate) check: fn(&Release, &Tree) -> Result<Checked, String>,
}

/// The outcome of a check that found no fault.
pub(crate) enum Checked {
    /// What was tried, in one line.
    Passed(String),
    /// Why it could not be tried here, and the remedy.
    Skipped(String),
}

/// Writes a file, and the folders above it.
pub(crate) fn write(to: &Path, text: impl AsRef<[u8]>) -> Result<(), String> {
    make_folder_of(to)?;
    std::fs::write(to, text).map_err(|error| format!("{}: {error}", to.display()))
}

/// Copies a file with its permissions, and makes the folders above it.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    make_folder_of(to)?;
    std::fs::copy(from, to).map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

fn make_folder_of(path: &Path) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}
