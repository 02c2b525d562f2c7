//! Evidence on this machine's disk: a folder for each run, the last of them.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folder of an agent.
#[derive(Debug)]
pub(super) struct Shelf {
    folder: PathBuf,
}

/// Runs that are kept.
const RUNS_MAX: usize = 20;
/// The file of a run's folder.
pub(super) const EVIDENCE: &str = "evidence.json";

impl Shelf {
    /// The folder that was asked for, or that of this agent in the user's state folder. The error is one sentence.
    pub(super) fn open(folder: Option<PathBuf>, name: &str) -> Result<Self, String> {
        let folder = folder.unwrap_or_else(|| state_folder().join("skipstone-agent").join(name));
        let written = fs::create_dir_all(&folder).and_then(|()| {
            let probe = folder.join(".writable");
            fs::write(&probe, b"")?;
            fs::remove_file(probe)
        });
        let told = |error| format!("--keep {}: evidence cannot be kept there: {error}", folder.display());
        written.map_err(told)?;
        Ok(Shelf { folder })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A new folder for a run; the oldest others go. The error is one sentence.
    pub(super) fn make_room(&self, run: &str) -> Result<PathBuf, String> {
        for old in self.runs().iter().skip(RUNS_MAX - 1) {
            let _ = fs::remove_dir_all(self.folder.join(old));
        }
        let folder = self.folder.join(run);
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// Runs whose evidence is here, the newest first.
    pub(super) fn runs(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut runs: Vec<(SystemTime, String)> = entries
            .filter_map(|entry| {
                let written = entry.path().join(EVIDENCE).metadata().and_then(|data| data.modified()).ok()?;
                Some((written, entry.file_name().into_string().ok()?))
            })
            .collect();
        runs.sort_by(|one, other| other.cmp(one));
        runs.into_iter().map(|(_, run)| run).collect()
    }

    /// A piece of a run's evidence, at most this many bytes; empty at the end. The error is one sentence.
    pub(super) fn piece(&self, run: &str, from: u64, bytes_max: usize) -> Result<Vec<u8>, String> {
        let path = self.folder.join(run).join(EVIDENCE);
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = fs::File::open(&path)?;
            file.seek(SeekFrom::Start(from))?;
            let mut piece = Vec::new();
            file.take(bytes_max as u64).read_to_end(&mut piece)?;
            Ok(piece)
        };
        read().map_err(|error| format!("no evidence of run {run}: {error}"))
    }
}

fn state_folder() -> PathBuf {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || of("HOME").map(|home| home.join(".local").join("state"));
    of("XDG_STATE_HOME").or_else(|| of("LOCALAPPDATA")).or_else(home).unwrap_or_else(|| PathBuf::from("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_read_in_pieces_and_old_runs_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::open(Some(folder.path().join("deep")), "a").unwrap();
        for run in 0..30 {
            let made = shelf.make_room(&format!("run-{run:02}")).unwrap();
            fs::write(made.join(EVIDENCE), format!("evidence {run}")).unwrap();
            let file = fs::File::options().write(true).open(made.join(EVIDENCE)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(run)).unwrap();
        }
        let runs = shelf.runs();
        assert_eq!((runs.len(), runs[0].as_str(), runs[19].as_str()), (20, "run-29", "run-10"));
        assert_eq!(shelf.piece("run-29", 0, 4).unwrap(), b"evid");
        assert_eq!(shelf.piece("run-29", 4, 400).unwrap(), b"ence 29");
        assert_eq!(shelf.piece("run-29", 400, 4).unwrap(), b"");
        assert!(shelf.piece("run-00", 0, 4).unwrap_err().contains("no evidence of run run-00"));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_refused_with_its_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Shelf::open(Some(file.path().join("x")), "a").unwrap_err();
        assert!(error.starts_with("--keep ") && error.contains("cannot be kept"), "{error}");
    }
}
