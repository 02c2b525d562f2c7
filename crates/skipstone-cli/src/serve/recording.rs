//! `serve --record`: the server's traffic in a file.

use super::ServeArguments;
use skipstone::{Server, TrafficRecorder};
use skipstone_lab::report::output;
use skipstone_lab::units::Size;

/// Makes the file, if one is asked for.
pub(super) fn begin(arguments: &ServeArguments, server: &mut Server) -> Result<(), String> {
    let Some(path) = &arguments.record else { return Ok(()) };
    let Size::Bytes(bytes_max) = arguments.record_max else {
        return Err("--record-max is a number of bytes, such as 64MiB".into());
    };
    let recorder = TrafficRecorder::create(path, bytes_max as u64);
    server.record_traffic(recorder.map_err(|error| format!("cannot write --record {path}: {error}"))?);
    Ok(())
}

/// Says once that a recording has stopped.
#[derive(Debug, Default)]
pub(super) struct Watch {
    has_told: bool,
}

impl Watch {
    pub(super) fn tell(&mut self, arguments: &ServeArguments, server: &Server) {
        if self.has_told {
            return;
        }
        let (Some(path), Some(status)) = (&arguments.record, server.traffic_recording()) else { return };
        if let Some(why) = status.stopped {
            self.has_told = true;
            let messages = status.messages;
            output::complain(format_args!(
                "skipstone serve: the recording {path} stopped after {messages} messages: {why}"
            ));
        }
    }
}
