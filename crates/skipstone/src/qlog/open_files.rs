//! The files of the log, of which few are open at a time: descriptors are for the sockets of the game.

use super::orders::Order;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The files that were created, and how many of them are open.
pub(super) struct OpenFiles {
    directory: PathBuf,
    open_max: usize,
    /// How a file is opened; tests replace it by a system without room.
    open_file: fn(&OpenOptions, &Path) -> io::Result<File>,
    /// Paths by number; `None` for connections that are not logged.
    paths: BTreeMap<u32, Option<PathBuf>>,
    /// How many files there are, by the prefix of their names.
    counts: BTreeMap<Arc<str>, u32>,
    /// The least recently written is the first.
    open: Vec<(u32, LogFile)>,
    left_out: Arc<AtomicU64>,
}

/// A file that is being written.
pub(super) struct LogFile {
    pub(super) file: File,
    pub(super) written: u64,
}

/// Files that are open at a time.
const OPEN_MAX: usize = 64;

impl LogFile {
    /// Records of which only a part could be written are taken back, so that the file ends with a whole one.
    pub(super) fn append(&mut self, records: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all(records) {
            // A device has no length.
            let _ = self.file.set_len(self.written);
            return Err(error);
        }
        self.written += records.len() as u64;
        Ok(())
    }
}

impl OpenFiles {
    /// Files in this directory. Connections without a file, because the system has no room, are counted in `left_out`.
    pub(super) fn new(directory: &Path, left_out: Arc<AtomicU64>) -> Self {
        OpenFiles {
            directory: directory.to_path_buf(),
            open_max: OPEN_MAX,
            open_file: |options, path| options.open(path),
            paths: BTreeMap::new(),
            counts: BTreeMap::new(),
            open: Vec::new(),
            left_out,
        }
    }

    /// Writes records at the end of their file. The first ones make it.
    pub(super) fn append(&mut self, order: &Order) -> io::Result<()> {
        match self.file(order)? {
            Some(file) => file.append(&order.records),
            None => Ok(()),
        }
    }

    /// The file of an order; `None` if its connection is left out.
    fn file(&mut self, order: &Order) -> io::Result<Option<&mut LogFile>> {
        if let Some(at) = self.open.iter().position(|(file, _)| *file == order.file) {
            self.open[at..].rotate_left(1);
            return Ok(self.open.last_mut().map(|(_, file)| file));
        }
        let opened = match self.paths.get(&order.file) {
            None => self.create(order),
            Some(None) => return Ok(None),
            Some(Some(path)) => {
                let path = path.clone();
                self.open(OpenOptions::new().append(true), &path)
            }
        };
        match opened {
            Ok(file) => {
                let written = file.metadata()?.len();
                self.open.push((order.file, LogFile { file, written }));
                Ok(self.open.last_mut().map(|(_, file)| file))
            }
            // A file that existed before and is now missing or unusable was changed from outside: it is left out, and
            // that is no error of ours.
            Err(error) if is_out_of_files(&error) || self.paths.contains_key(&order.file) => {
                self.paths.insert(order.file, None);
                self.left_out.fetch_add(1, Ordering::Relaxed);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Makes the next file of this name that is not there yet.
    fn create(&mut self, order: &Order) -> io::Result<File> {
        loop {
            let count = self.counts.entry(Arc::clone(&order.name)).or_default();
            *count += 1;
            let path = self.directory.join(format!("{}-{count}.sqlog", order.name));
            match self.open(OpenOptions::new().append(true).create_new(true), &path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) if is_out_of_files(&error) => return Err(error),
                Err(error) => return Err(io::Error::other(format!("{}: {error}", path.display()))),
                Ok(file) => {
                    self.paths.insert(order.file, Some(path));
                    return Ok(file);
                }
            }
        }
    }

    /// Opens a file, in place of another if there are enough, or the system has no room for more.
    fn open(&mut self, options: &OpenOptions, path: &Path) -> io::Result<File> {
        if self.open.len() >= self.open_max {
            self.open.remove(0);
        }
        loop {
            match (self.open_file)(options, path) {
                Err(error) if is_out_of_files(&error) && !self.open.is_empty() => drop(self.open.remove(0)),
                opened => return opened,
            }
        }
    }
}

/// EMFILE, ENFILE.
fn is_out_of_files(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(name: &str, change: impl FnOnce(&mut OpenFiles)) -> (PathBuf, u64) {
        let folder = std::env::temp_dir().join(format!("skipstone-open-files-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("it can be made");
        let left_out = Arc::new(AtomicU64::new(0));
        let mut files = OpenFiles { open_max: 2, ..OpenFiles::new(&folder, Arc::clone(&left_out)) };
        change(&mut files);
        for records in ["a", "b", "c"] {
            for file in 0..3 {
                let order = Order { file, name: "x".into(), records: records.into() };
                files.append(&order).expect("it goes on");
                assert!(files.open.len() <= 2);
            }
        }
        (folder, left_out.load(Ordering::Relaxed))
    }

    #[test]
    fn three_files_are_complete_with_two_open_at_a_time() {
        let (folder, left_out) = play("few", |_| {});
        for number in 1..=3 {
            let text = std::fs::read_to_string(folder.join(format!("x-{number}.sqlog"))).expect("it was written");
            assert_eq!(text, "abc");
        }
        assert_eq!(left_out, 0);
        std::fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    #[cfg(unix)]
    fn without_free_file_descriptors_connections_are_skipped() {
        let full = |_: &OpenOptions, _: &Path| Err(io::Error::from_raw_os_error(libc::EMFILE));
        let (folder, left_out) = play("none", |files| files.open_file = full);
        assert_eq!(left_out, 3);
        std::fs::remove_dir_all(folder).expect("it is ours");
    }
}
