//! Recordings of an application's traffic: when how many bytes were sent and received, on which channel, by whom; never what
//! was in them. An application hands a [`TrafficRecorder`] to its server or client; [`RecordingReader`] reads the file, whose
//! bytes `entry` describes.

mod entry;
mod reader;
mod recorder;

pub use entry::{RecordedEvent, RecordedMessage, RecordingEnd, RecordingSide};
pub use reader::{RecordingError, RecordingReader};
pub use recorder::{RecordingStatus, TrafficRecorder};

#[cfg(test)]
mod tests;
