//! Reads a recording of flows. The file is any file: what is no recording is refused, and one that was cut off is read
//! up to its last whole entry.

use super::entry::{END, ENTRY_BYTES, EntryHead, FULL, FlowEvent, FlowId, MAGIC, VERSION};
use std::ops::Range;
use std::time::Duration;

/// A recording in memory.
#[derive(Clone, Debug, Default)]
pub struct FlowRecording {
    /// The server's address, as the relay was told it.
    pub server: String,
    /// In the order of time.
    pub entries: Vec<FlowEntry>,
    /// Packets that are missing because the disk was too slow.
    pub missed: u64,
    /// Why it is not complete, in words.
    pub cut: Option<&'static str>,
    bytes: Vec<u8>,
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowEntry {
    /// Whose it is.
    pub flow: FlowId,
    /// What happened.
    pub event: FlowEvent,
    /// When, since the recording began.
    pub at: Duration,
    span: Range<usize>,
}

impl FlowEntry {
    /// How many bytes it carries.
    pub fn size(&self) -> usize {
        self.span.len()
    }
}

/// What is read into memory at most.
const FILE_BYTES_MAX: u64 = 4 << 30;
const SERVER_AT: usize = MAGIC.len() + 4;

impl FlowRecording {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is none that this version knows: one sentence.
    pub fn read(path: &str) -> Result<FlowRecording, String> {
        let cannot = |why: String| format!("cannot read the recording {path}: {why}");
        let size = std::fs::metadata(path).map_err(|error| cannot(error.to_string()))?.len();
        if size > FILE_BYTES_MAX {
            return Err(cannot(format!("{size} bytes are more than {FILE_BYTES_MAX}")));
        }
        let bytes = std::fs::read(path).map_err(|error| cannot(error.to_string()))?;
        FlowRecording::of(bytes).map_err(cannot)
    }

    /// Whether a file begins as a recording of flows does.
    pub fn is_one(path: &str) -> bool {
        use std::io::Read;
        let mut head = [0; MAGIC.len()];
        std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *MAGIC
    }

    fn of(bytes: Vec<u8>) -> Result<FlowRecording, String> {
        if !bytes.starts_with(MAGIC) {
            return Err("it is no recording by `netem relay --record`".into());
        }
        let number = |at: usize| bytes.get(at..at + 2).map(|two| u16::from_le_bytes([two[0], two[1]]));
        let cut = || "it ends within its header".to_owned();
        let version = number(MAGIC.len()).ok_or_else(cut)?;
        if version != VERSION {
            return Err(format!("its version is {version}, and this tool knows version {VERSION}"));
        }
        let end = SERVER_AT + usize::from(number(MAGIC.len() + 2).ok_or_else(cut)?);
        let server = String::from_utf8_lossy(bytes.get(SERVER_AT..end).ok_or_else(cut)?).into_owned();
        let cut = Some("its program was killed, or its disk was full");
        let mut recording = FlowRecording { server, cut, ..FlowRecording::default() };
        recording.take(&bytes, end);
        recording.bytes = bytes;
        Ok(recording)
    }

    fn take(&mut self, bytes: &[u8], mut at: usize) {
        while let Some(head) = bytes.get(at..).and_then(<[u8]>::first_chunk::<ENTRY_BYTES>).map(EntryHead::decode) {
            let span = at + ENTRY_BYTES..at + ENTRY_BYTES + head.length;
            let Some(payload) = bytes.get(span.clone()) else { return };
            at = span.end;
            if head.event == END {
                self.cut = (payload.first() == Some(&FULL)).then_some("it reached its limit of bytes");
                let missed = payload.get(1..).and_then(<[u8]>::first_chunk::<8>);
                self.missed = missed.map_or(0, |missed| u64::from_le_bytes(*missed));
                return;
            }
            if let Some((flow, event)) = head.known() {
                self.entries.push(FlowEntry { flow, event, at: head.at, span });
            }
        }
    }

    /// The bytes of an entry of this recording.
    pub fn bytes(&self, entry: &FlowEntry) -> &[u8] {
        &self.bytes[entry.span.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_recording::{FlowProtocol, FlowRecorder};

    const FLOW: FlowId = FlowId { number: 3, protocol: FlowProtocol::Udp };

    fn recorded(bytes_max: u64) -> Vec<u8> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().to_str().expect("a path in UTF-8");
        let recorder = FlowRecorder::begin(path, "127.0.0.1:9000", bytes_max).expect("it can be written");
        for number in 0..10_u8 {
            let event = if number % 2 == 0 { FlowEvent::Up } else { FlowEvent::Down };
            recorder.record_at(Duration::from_millis(number.into()), FLOW, event, &[number; 82]);
        }
        drop(recorder);
        std::fs::read(path).expect("it was written")
    }

    #[test]
    fn what_was_recorded_is_read() {
        let recording = FlowRecording::of(recorded(1 << 20)).expect("a recording");
        assert_eq!((recording.server.as_str(), recording.cut, recording.missed), ("127.0.0.1:9000", None, 0));
        assert_eq!(recording.entries.len(), 10);
        for (number, entry) in recording.entries.iter().enumerate() {
            assert_eq!((entry.flow, entry.at.as_millis() as usize, entry.size()), (FLOW, number, 82));
            assert_eq!(recording.bytes(entry), [number as u8; 82]);
        }
    }

    #[test]
    fn a_recording_keeps_its_limit_and_says_so() {
        let recording = FlowRecording::of(recorded(350)).expect("a recording");
        assert_eq!(recording.entries.len(), 3, "of 100 bytes each");
        assert_eq!(recording.cut, Some("it reached its limit of bytes"));
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let whole = recorded(1 << 20);
        for length in 0..whole.len() {
            let cut = FlowRecording::of(whole[..length].to_vec());
            assert!(cut.is_err() == (length < SERVER_AT + 14), "{length}");
            assert!(cut.is_err() || cut.is_ok_and(|cut| cut.cut.is_some()), "{length}");
            let mut changed = whole.clone();
            changed[length] ^= 0xff;
            drop(FlowRecording::of(changed));
        }
        assert!(FlowRecording::of(b"a text".to_vec()).unwrap_err().contains("netem relay --record"));
        let mut newer = whole;
        newer[MAGIC.len()] = 9;
        assert!(FlowRecording::of(newer).unwrap_err().contains("version is 9"));
    }
}
