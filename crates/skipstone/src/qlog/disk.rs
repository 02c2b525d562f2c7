//! The thread that writes the files, the queue before it, and the limits.

use super::limits::{QlogLimits, QlogStatus};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

/// The end of the queue at which records are handed over.
#[derive(Debug)]
pub(super) struct Disk {
    limits: QlogLimits,
    orders: Option<SyncSender<Order>>,
    failure: Arc<OnceLock<String>>,
    thread: Option<JoinHandle<()>>,
    files: u32,
    left_out: u64,
    bytes: u64,
    /// Why it ended, if it did.
    end: Option<String>,
}

/// What the thread is to do with a file.
enum Order {
    Begin { file: u32, name: String },
    Write { file: u32, records: Vec<u8> },
    End { file: u32 },
}

/// Bytes that are written at once.
pub(super) const CHUNK_BYTES: usize = 16 << 10;
/// With `CHUNK_BYTES`, about 4 MiB may wait for the disk.
const ORDERS_MAX: usize = 256;

/// A driver that panicked has left a whole state: each record is added at once.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    pub(super) fn start(directory: &Path, limits: QlogLimits) -> io::Result<Disk> {
        fs::create_dir_all(directory)?;
        // Whether files can be made there is better known now.
        let trial = directory.join(format!(".skipstone-qlog-{}", std::process::id()));
        File::create(&trial)?;
        fs::remove_file(trial)?;
        let (orders, queue) = sync_channel(ORDERS_MAX);
        let failure = Arc::new(OnceLock::new());
        let (told, directory) = (Arc::clone(&failure), directory.to_path_buf());
        let thread = std::thread::Builder::new().name("skipstone-qlog".into()).spawn(move || {
            if let Err(error) = write(&directory, &queue) {
                let _ = told.set(format!("it cannot be written: {error}"));
            }
        })?;
        Ok(Disk {
            limits,
            orders: Some(orders),
            failure,
            thread: Some(thread),
            files: 0,
            left_out: 0,
            bytes: 0,
            end: None,
        })
    }

    pub(super) fn status(&self) -> QlogStatus {
        let stopped = self.end.as_ref().or(self.failure.get()).cloned();
        QlogStatus { files: self.files, left_out: self.left_out, bytes: self.bytes, stopped }
    }

    /// Begins a file for one more connection, and returns its number; `None` if it gets none.
    pub(super) fn begin(&mut self, name: &str) -> Option<u32> {
        if self.files >= self.limits.files_max {
            self.left_out += 1;
            return None;
        }
        let file = self.files;
        self.order(Order::Begin { file, name: name.to_owned() })?;
        self.files += 1;
        Some(file)
    }

    /// Hands records over, and never waits for the disk. `None` if nothing is written any more.
    pub(super) fn write(&mut self, file: u32, records: Vec<u8>) -> Option<()> {
        let bytes = records.len() as u64;
        if self.bytes + bytes > self.limits.bytes_max {
            self.finish(format!("it has the {} bytes that it may have", self.limits.bytes_max));
        }
        self.order(Order::Write { file, records })?;
        self.bytes += bytes;
        Some(())
    }

    /// A file gets no more records.
    pub(super) fn end(&mut self, file: u32) {
        let _ = self.order(Order::End { file });
    }

    fn order(&mut self, order: Order) -> Option<()> {
        if self.end.is_some() {
            return None;
        }
        let orders = self.orders.as_ref()?;
        let handed = match self.limits.waits_for_disk {
            true => orders.send(order).map_err(|refused| TrySendError::Disconnected(refused.0)),
            false => orders.try_send(order),
        };
        match handed {
            Ok(()) => Some(()),
            Err(TrySendError::Full(_)) => {
                self.finish(format!("the disk is too slow: {} MiB wait for it", (ORDERS_MAX * CHUNK_BYTES) >> 20));
                None
            }
            Err(TrySendError::Disconnected(_)) => {
                let failure = self.failure.get().cloned();
                self.finish(failure.unwrap_or_else(|| "it cannot be written".into()));
                None
            }
        }
    }

    fn finish(&mut self, sentence: String) {
        self.end.get_or_insert(sentence);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A file that is being written.
pub(super) struct LogFile {
    pub(super) file: File,
    pub(super) written: u64,
}

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

/// Until nobody hands anything over any more.
fn write(directory: &Path, queue: &Receiver<Order>) -> io::Result<()> {
    let mut open: BTreeMap<u32, LogFile> = BTreeMap::new();
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    for order in queue {
        match order {
            Order::Begin { file, name } => {
                let number = numbers.entry(name.clone()).or_default();
                open.insert(file, LogFile { file: create(directory, &name, number)?, written: 0 });
            }
            Order::Write { file, records } => {
                let Some(file) = open.get_mut(&file) else { continue };
                file.append(&records)?;
            }
            Order::End { file } => drop(open.remove(&file)),
        }
    }
    Ok(())
}

/// The next file of this name that is not there yet.
fn create(directory: &Path, name: &str, number: &mut u32) -> io::Result<File> {
    loop {
        *number += 1;
        let path: PathBuf = directory.join(format!("{name}-{number}.sqlog"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return opened.map_err(|error| io::Error::other(format!("{}: {error}", path.display()))),
        }
    }
}
