//! The thread that writes the files, and the limits of all of them.

use super::limits::{QlogLimits, QlogStatus};
use super::open_files::OpenFiles;
use super::orders::{Order, OrderReader, OrderRefusal, Orders, WAITING_BYTES_MAX};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

/// The end at which records are handed over.
#[derive(Debug)]
pub(super) struct Disk {
    limits: QlogLimits,
    orders: Arc<Orders>,
    failure: Arc<OnceLock<String>>,
    thread: Option<JoinHandle<()>>,
    files: u32,
    left_out: Arc<AtomicU64>,
    bytes: u64,
    /// Why it ended, if it did.
    end: Option<String>,
}

impl Disk {
    pub(super) fn start(directory: &Path, limits: QlogLimits) -> io::Result<Disk> {
        fs::create_dir_all(directory)?;
        // A directory in which no file can be created is an error at the start.
        let trial = directory.join(format!(".skipstone-qlog-{}", std::process::id()));
        File::create(&trial)?;
        fs::remove_file(trial)?;
        let (orders, left_out) = (Arc::<Orders>::default(), Arc::default());
        let failure = Arc::<OnceLock<String>>::default();
        let (queue, told) = (orders.reader(), Arc::clone(&failure));
        let mut open_files = OpenFiles::new(directory, Arc::clone(&left_out));
        let thread = std::thread::Builder::new().name("skipstone-qlog".into()).spawn(move || {
            if let Err(error) = write(queue, &mut open_files) {
                let _ = told.set(format!("it cannot be written: {error}"));
            }
        })?;
        Ok(Disk { limits, orders, failure, thread: Some(thread), files: 0, left_out, bytes: 0, end: None })
    }

    pub(super) fn status(&self) -> QlogStatus {
        let stopped = self.end.as_ref().or(self.failure.get()).cloned();
        QlogStatus { files: self.files, left_out: self.left_out.load(Ordering::Relaxed), bytes: self.bytes, stopped }
    }

    /// The number of a file for one more connection; `None` if it gets none.
    pub(super) fn begin(&mut self) -> Option<u32> {
        if self.end.is_some() {
            return None;
        }
        if self.files >= self.limits.files_max {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.files += 1;
        Some(self.files)
    }

    /// Hands records over, and waits for the disk only if it may. `None` if nothing is written any more.
    pub(super) fn write(&mut self, order: Order) -> Option<()> {
        let bytes = order.records.len();
        if self.bytes + bytes as u64 > self.limits.bytes_max {
            self.finish(format!("it has the {} bytes that it may have", self.limits.bytes_max));
        }
        if self.end.is_some() {
            return None;
        }
        if self.limits.waits_for_disk {
            self.orders.wait_for_room(bytes);
        }
        match self.orders.push(order) {
            Ok(()) => {
                self.bytes += bytes as u64;
                return Some(());
            }
            Err(OrderRefusal::Full) => {
                self.finish(format!("the disk is too slow: {} MiB wait for it", WAITING_BYTES_MAX >> 20));
            }
            Err(OrderRefusal::Over) => {
                let failure = self.failure.get().cloned();
                self.finish(failure.unwrap_or_else(|| "it cannot be written".into()));
            }
        }
        None
    }

    fn finish(&mut self, sentence: String) {
        self.end.get_or_insert(sentence);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.orders.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Writes until no order follows.
fn write(queue: OrderReader, files: &mut OpenFiles) -> io::Result<()> {
    for order in queue {
        files.append(&order)?;
    }
    Ok(())
}
