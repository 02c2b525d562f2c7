//! Writes a recording. The application's thread only fills a buffer; a thread of its own writes to the disk, and an
//! error there ends the recording, never the game.

use super::entry::{ENTRY_BYTES_MAX, MAGIC, RecordedEvent, RecordedMessage, RecordingEnd, RecordingSide, VERSION};
use skipstone_proto::{DeliveryMode, Event};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Records the time and length of each message sent and received, for
/// [`Server::record_traffic`](crate::Server::record_traffic) and
/// [`Client::record_traffic`](crate::Client::record_traffic). The file contains no payload, address or token. Dropping
/// the recorder completes the file.
#[derive(Debug)]
pub struct TrafficRecorder {
    began: Instant,
    /// The time of the previous entry, in whole µs since the beginning.
    last: Duration,
    entries: Vec<u8>,
    handed: Instant,
    has_head: bool,
    /// Bytes of the file, including those that wait.
    bytes: u64,
    bytes_max: u64,
    messages: u64,
    /// Channels whose mode is in the file.
    channels: BTreeSet<u16>,
    disk: Option<Disk>,
    /// Why it ended, if it did.
    end: Option<String>,
}

/// Status of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordingStatus {
    /// Messages that were recorded, each broadcast once.
    pub messages: u64,
    /// Bytes of the file, including those still to be written.
    pub bytes: u64,
    /// Why nothing more is recorded; `None` while the recording continues.
    pub stopped: Option<String>,
}

/// The thread that writes.
#[derive(Debug)]
struct Disk {
    chunks: SyncSender<Vec<u8>>,
    failure: Arc<OnceLock<String>>,
    thread: JoinHandle<()>,
}

/// Bytes that are written at once.
const CHUNK_BYTES: usize = 16 << 10;
/// Fewer are written after this time.
const CHUNK_TIME: Duration = Duration::from_secs(1);
/// With `CHUNK_BYTES`, 1 MiB may wait for the disk.
const CHUNKS_MAX: usize = 64;
/// The head, and space for the last entry.
const FILE_BYTES_MIN: u64 = 64 + ENTRY_BYTES_MAX as u64;

impl TrafficRecorder {
    /// Creates the file, replacing one of this name, and begins. At `bytes_max` the recording stops; a message takes 4
    /// to 10 bytes. Dropping the recorder waits for the disk.
    ///
    /// # Errors
    /// The system refuses the file or a thread.
    pub fn create(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Self> {
        let file = File::create(path)?;
        let now = Instant::now();
        Ok(TrafficRecorder {
            began: now,
            last: Duration::ZERO,
            entries: Vec::with_capacity(CHUNK_BYTES + ENTRY_BYTES_MAX),
            handed: now,
            has_head: false,
            bytes: 0,
            bytes_max: bytes_max.max(FILE_BYTES_MIN),
            messages: 0,
            channels: BTreeSet::new(),
            disk: Some(Disk::start(file)?),
            end: None,
        })
    }

    /// The status of the recording.
    pub fn status(&self) -> RecordingStatus {
        let failure = self.disk.as_ref().and_then(|disk| disk.failure.get());
        let stopped = self.end.as_ref().or(failure).cloned();
        RecordingStatus { messages: self.messages, bytes: self.bytes, stopped }
    }

    /// Writes the head. Peers that are connected already follow.
    pub(crate) fn begin(&mut self, side: RecordingSide) {
        if !std::mem::replace(&mut self.has_head, true) {
            self.entries.extend_from_slice(MAGIC);
            self.entries.extend_from_slice(&[VERSION, side as u8]);
            self.bytes += self.entries.len() as u64;
        }
    }

    /// The application took an event; `mode` gives a channel's delivery mode.
    pub(crate) fn on_event(&mut self, event: &Event, mode: impl FnOnce(u16) -> Option<DeliveryMode>) {
        let peer = event.peer().index;
        match event {
            Event::Connected { .. } => self.on_connected(peer),
            Event::Message { channel, payload, .. } => {
                let message = RecordedMessage { peer, channel: *channel, bytes: payload.len() as u64 };
                self.on_received(message, mode(*channel));
            }
            Event::Closed { .. } => self.on_closed(peer),
            _ => {}
        }
    }

    pub(crate) fn on_connected(&mut self, peer: u32) {
        self.note(RecordedEvent::Connected { peer });
    }

    pub(crate) fn on_closed(&mut self, peer: u32) {
        self.note(RecordedEvent::Closed { peer });
    }

    /// A message was accepted from the application.
    pub(crate) fn on_sent(&mut self, message: RecordedMessage, mode: Option<DeliveryMode>) {
        self.on_message(message.channel, mode, RecordedEvent::Sent(message));
    }

    /// The application took a message.
    pub(crate) fn on_received(&mut self, message: RecordedMessage, mode: Option<DeliveryMode>) {
        self.on_message(message.channel, mode, RecordedEvent::Received(message));
    }

    /// A message was accepted for all peers.
    pub(crate) fn on_broadcast(&mut self, channel: u16, bytes: u64, mode: Option<DeliveryMode>) {
        self.on_message(channel, mode, RecordedEvent::Broadcast { channel, bytes });
    }

    fn on_message(&mut self, channel: u16, mode: Option<DeliveryMode>, event: RecordedEvent) {
        if let Some(mode) = mode
            && self.end.is_none()
            && self.channels.insert(channel)
        {
            self.note(RecordedEvent::Channel { channel, mode });
        }
        if self.note(event) {
            self.messages += 1;
        }
    }

    /// False if the recording has ended.
    fn note(&mut self, event: RecordedEvent) -> bool {
        if self.end.is_some() {
            return false;
        }
        if self.bytes + 2 * ENTRY_BYTES_MAX as u64 > self.bytes_max {
            self.finish(RecordingEnd::Full, format!("it has the {} bytes that it may have", self.bytes_max));
            return false;
        }
        self.put(event);
        let is_due = self.entries.len() >= CHUNK_BYTES || self.handed.elapsed() >= CHUNK_TIME;
        if is_due && let Err(sentence) = self.hand_over() {
            self.finish(RecordingEnd::Behind, sentence);
        }
        true
    }

    fn put(&mut self, event: RecordedEvent) {
        let now = Duration::from_micros(self.began.elapsed().as_micros() as u64);
        let before = self.entries.len();
        event.encode(now.saturating_sub(self.last), &mut self.entries);
        self.bytes += (self.entries.len() - before) as u64;
        self.last = now.max(self.last);
    }

    /// Passes the entries to the disk's thread, and never waits for it.
    fn hand_over(&mut self) -> Result<(), String> {
        let Some(disk) = &self.disk else { return Ok(()) };
        if let Some(failure) = disk.failure.get() {
            return Err(failure.clone());
        }
        let next = Vec::with_capacity(CHUNK_BYTES + ENTRY_BYTES_MAX);
        let chunk = std::mem::replace(&mut self.entries, next);
        self.handed = Instant::now();
        disk.chunks.try_send(chunk).map_err(|refused| match refused {
            TrySendError::Full(chunk) => {
                // The file ends after the data that waits for the disk.
                self.bytes -= chunk.len() as u64;
                "the disk is too slow: 1 MiB waits for it".into()
            }
            TrySendError::Disconnected(_) => {
                disk.failure.get().cloned().unwrap_or_else(|| "it cannot be written".into())
            }
        })
    }

    fn finish(&mut self, end: RecordingEnd, sentence: String) {
        if self.end.is_none() {
            self.put(RecordedEvent::End(end));
            self.end = Some(sentence);
        }
    }
}

impl Drop for TrafficRecorder {
    fn drop(&mut self) {
        self.finish(RecordingEnd::Complete, String::new());
        let Some(Disk { chunks, thread, .. }) = self.disk.take() else { return };
        // No game waits any more. A disk that failed accepts nothing.
        let _ = chunks.send(std::mem::take(&mut self.entries));
        drop(chunks);
        let _ = thread.join();
    }
}

impl Disk {
    fn start(file: File) -> io::Result<Disk> {
        let (chunks, queue) = sync_channel(CHUNKS_MAX);
        let failure = Arc::new(OnceLock::new());
        let told = Arc::clone(&failure);
        let thread = std::thread::Builder::new().name("skipstone-record".into()).spawn(move || {
            if let Err(error) = write(file, &queue) {
                let _ = told.set(format!("it cannot be written: {error}"));
            }
        })?;
        Ok(Disk { chunks, failure, thread })
    }
}

/// Runs until the recorder is gone. A chunk of which only a part could be written is removed, so that the file ends
/// with a complete entry.
fn write(mut file: File, queue: &Receiver<Vec<u8>>) -> io::Result<()> {
    let mut written = 0;
    for chunk in queue {
        if let Err(error) = file.write_all(&chunk) {
            // A device has no length.
            let _ = file.set_len(written);
            return Err(error);
        }
        written += chunk.len() as u64;
    }
    Ok(())
}
