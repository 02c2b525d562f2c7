//! `serve --record`: the server's traffic in a file.

use skipstone::{Server, TrafficRecorder};
use skipstone_lab::report::{output, replace};
use skipstone_lab::units::Size;
use std::fs;
use std::path::Path;

/// Flags of the recording.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RecordingFlags {
    /// Record the time, size, channel and client of each message, without contents, for `record show` and `compare`. An
    /// existing recording is kept: a new one, including one after a restart, has the next number in its name, such as
    /// game.2.rec
    #[arg(long, value_name = "FILE")]
    record: Option<String>,
    /// Size at which the recording stops
    #[arg(long, value_name = "BYTES", default_value = "64MiB", requires = "record")]
    record_max: Size,
}

impl RecordingFlags {
    /// Whether the file can be created, if one is requested.
    pub(super) fn check(&self) -> Result<(), String> {
        let Some(path) = &self.record else { return Ok(()) };
        let path = unused(path);
        replace::check(path.as_ref()).map_err(|error| format!("cannot write --record {path}: {error}"))
    }

    /// Creates the file, if one is requested, and prints its name.
    pub(super) fn begin(&self, server: &mut Server) -> Result<Option<Watch>, String> {
        let Some(path) = &self.record else { return Ok(None) };
        let Size::Bytes(bytes_max) = self.record_max else {
            return Err("--record-max is a number of bytes, such as 64MiB".into());
        };
        let unused = unused(path);
        if unused != *path {
            output::complain(format_args!("skipstone serve: {path} is a recording already: this one is {unused}"));
        }
        let recorder = TrafficRecorder::create(&unused, bytes_max as u64);
        server.record_traffic(recorder.map_err(|error| format!("cannot write --record {unused}: {error}"))?);
        Ok(Some(Watch { path: unused, has_told: false }))
    }
}

/// The name, or the next numbered one, of which no file with content exists.
fn unused(path: &str) -> String {
    let is_taken = |path: &str| fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0);
    if !is_taken(path) {
        return path.to_owned();
    }
    let mut names = (2..).map(|number| numbered(path, number));
    names.find(|name| !is_taken(name)).expect("names do not end")
}

/// `game.2.rec` of `game.rec`.
fn numbered(path: &str, number: u64) -> String {
    let path = Path::new(path);
    let extension = path.extension().map_or(number.to_string(), |end| format!("{number}.{}", end.to_string_lossy()));
    path.with_extension(extension).to_string_lossy().into_owned()
}

/// Reports once that a recording has stopped.
#[derive(Debug)]
pub(super) struct Watch {
    path: String,
    has_told: bool,
}

impl Watch {
    pub(super) fn tell(&mut self, server: &Server) {
        if self.has_told {
            return;
        }
        let Some(status) = server.traffic_recording() else { return };
        if let Some(why) = status.stopped {
            self.has_told = true;
            let (path, messages) = (&self.path, status.messages);
            output::complain(format_args!(
                "skipstone serve: the recording {path} stopped after {messages} messages: {why}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_recording_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let named = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        assert_eq!(unused(&named("game.rec")), named("game.rec"));
        for name in ["game.rec", "game.2.rec", "plain"] {
            fs::write(folder.path().join(name), "a recording").expect("written");
        }
        fs::write(folder.path().join("empty.rec"), "").expect("written");
        assert_eq!(unused(&named("game.rec")), named("game.3.rec"));
        assert_eq!(unused(&named("plain")), named("plain.2"));
        assert_eq!(unused(&named("empty.rec")), named("empty.rec"));
        assert_eq!(unused("/dev/full"), "/dev/full");
    }
}
