//! `serve --record`: the server's traffic in a file.

use skipstone::{Server, TrafficRecorder};
use skipstone_lab::report::output;
use skipstone_lab::units::Size;

/// Flags of the recording.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RecordingFlags {
    /// Record when how many bytes go to and from whom, on which channel, for `record show` and `compare`; no contents
    #[arg(long, value_name = "FILE")]
    record: Option<String>,
    /// Bytes of the recording, at which it stops
    #[arg(long, value_name = "BYTES", default_value = "64MiB", requires = "record")]
    record_max: Size,
}

impl RecordingFlags {
    /// Makes the file, if one is asked for.
    pub(super) fn begin(&self, server: &mut Server) -> Result<(), String> {
        let Some(path) = &self.record else { return Ok(()) };
        let Size::Bytes(bytes_max) = self.record_max else {
            return Err("--record-max is a number of bytes, such as 64MiB".into());
        };
        let recorder = TrafficRecorder::create(path, bytes_max as u64);
        server.record_traffic(recorder.map_err(|error| format!("cannot write --record {path}: {error}"))?);
        Ok(())
    }
}

/// Says once that a recording has stopped.
#[derive(Debug, Default)]
pub(super) struct Watch {
    has_told: bool,
}

impl Watch {
    pub(super) fn tell(&mut self, flags: &RecordingFlags, server: &Server) {
        if self.has_told {
            return;
        }
        let (Some(path), Some(status)) = (&flags.record, server.traffic_recording()) else { return };
        if let Some(why) = status.stopped {
            self.has_told = true;
            let messages = status.messages;
            output::complain(format_args!(
                "skipstone serve: the recording {path} stopped after {messages} messages: {why}"
            ));
        }
    }
}
