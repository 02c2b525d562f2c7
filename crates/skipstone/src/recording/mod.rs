//! Recordings of an application's traffic: the time, length, channel and peer of each message, never its content. An
//! application passes a [`TrafficRecorder`] to its server or client; [`RecordingReader`] reads the file, whose bytes
//! `entry` describes.

mod entry;
mod reader;
mod recorder;

pub use entry::{RecordedEvent, RecordedMessage, RecordingEnd, RecordingSide};
pub use reader::{RecordingError, RecordingReader};
pub use recorder::{RecordingStatus, TrafficRecorder};

#[cfg(test)]
mod tests;
