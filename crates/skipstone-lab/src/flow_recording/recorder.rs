//! Writes a recording of flows. A separate thread writes, so no packet ever waits for a disk.

use super::entry::{COMPLETE, ENTRY_BYTES, FULL, FlowEvent, FlowId, encode, encode_end, header};
use crate::report::output;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A recording under way. Dropped, it is written to its end.
pub struct FlowRecorder {
    began: Instant,
    path: String,
    entries: Mutex<Option<Sender<Vec<u8>>>>,
    writer: Option<JoinHandle<()>>,
    /// Bytes that the file may still take.
    left: AtomicU64,
    bytes_max: u64,
    waiting: Arc<AtomicUsize>,
    missed: AtomicU64,
    is_full: AtomicBool,
}

/// Bytes that may wait for the disk.
const WAITING_MAX: usize = 32 << 20;
/// What an entry that waits costs beside its bytes.
const ENTRY_COST: usize = 64;

impl FlowRecorder {
    /// Begins a file, which gets at most this many bytes.
    ///
    /// # Errors
    /// It cannot be written: one sentence.
    pub fn begin(path: &str, server: &str, bytes_max: u64) -> Result<FlowRecorder, String> {
        let cannot = |error: std::io::Error| format!("cannot write the recording {path}: {error}");
        let mut file = File::create(path).map_err(cannot)?;
        file.write_all(&header(server)).map_err(cannot)?;
        let (entries, received) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let (own, name) = (Arc::clone(&waiting), path.to_owned());
        let writer = std::thread::Builder::new().name("recording".into());
        let writer = writer.spawn(move || write(&name, BufWriter::new(file), &received, &own)).map_err(cannot)?;
        Ok(FlowRecorder {
            began: Instant::now(),
            path: path.to_owned(),
            entries: Mutex::new(Some(entries)),
            writer: Some(writer),
            left: AtomicU64::new(bytes_max),
            bytes_max,
            waiting,
            missed: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
        })
    }

    /// Something happened now.
    pub fn record(&self, flow: FlowId, event: FlowEvent, bytes: &[u8]) {
        self.record_at(self.began.elapsed(), flow, event, bytes);
    }

    /// Something happened at this time since the recording began; times do not go back.
    pub fn record_at(&self, at: Duration, flow: FlowId, event: FlowEvent, bytes: &[u8]) {
        let size = (ENTRY_BYTES + bytes.len()) as u64;
        if self.is_full.load(Ordering::Relaxed) {
            return;
        }
        if self.left.load(Ordering::Relaxed) < size {
            self.is_full.store(true, Ordering::Relaxed);
            output::complain(format_args!(
                "the recording {} has its {} bytes and ends here, {:.1} s after it began; --record-bytes allows more",
                self.path,
                self.bytes_max,
                at.as_secs_f64()
            ));
            return;
        }
        if self.waiting.load(Ordering::Relaxed) + size as usize + ENTRY_COST > WAITING_MAX {
            self.missed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.left.fetch_sub(size, Ordering::Relaxed);
        self.push(encode(flow, event, at, bytes));
    }

    fn push(&self, entry: Vec<u8>) {
        self.waiting.fetch_add(entry.len() + ENTRY_COST, Ordering::Relaxed);
        let mut entries = self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // The disk is full, which was said.
        if entries.as_ref().is_some_and(|entries| entries.send(entry).is_err()) {
            *entries = None;
        }
    }
}

impl Drop for FlowRecorder {
    fn drop(&mut self) {
        let (missed, is_full) = (self.missed.load(Ordering::Relaxed), self.is_full.load(Ordering::Relaxed));
        self.push(encode_end(if is_full { FULL } else { COMPLETE }, missed, self.began.elapsed()));
        *self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        if missed > 0 {
            output::complain(format_args!("the disk was too slow: {missed} packets are missing in {}", self.path));
        }
    }
}

fn write(path: &str, mut file: BufWriter<File>, entries: &Receiver<Vec<u8>>, waiting: &AtomicUsize) {
    for entry in entries {
        let written = file.write_all(&entry);
        waiting.fetch_sub(entry.len() + ENTRY_COST, Ordering::Relaxed);
        if let Err(error) = written {
            return output::complain(format_args!("the recording {path} ends here: {error}"));
        }
    }
    if let Err(error) = file.flush() {
        output::complain(format_args!("the end of the recording {path} is missing: {error}"));
    }
}
