//! Reads a recording event by event, in constant memory. A truncated or damaged file is an error with its offset.

use super::entry::{MAGIC, NUMBER_BYTES_MAX, RecordedEvent, RecordingSide, VERSION};
use skipstone_proto::Duration;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// The events of a recording, each with its time since the recording began. After an error nothing follows.
///
/// A file that ends after a complete entry without [`RecordedEvent::End`] is from a program that was killed: its
/// entries are correct.
#[derive(Debug)]
pub struct RecordingReader<R = BufReader<File>> {
    file: R,
    side: RecordingSide,
    offset: u64,
    at: Duration,
    is_over: bool,
}

/// Why a recording is unreadable.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordingError {
    /// The system refuses the file.
    Io(io::Error),
    /// The file does not begin like a recording.
    NotARecording,
    /// A version that this program does not know.
    Version(u8),
    /// The file ends within an entry that begins at this byte.
    Cut(u64),
    /// The entry that begins at this byte is invalid.
    Damaged(u64),
}

impl std::fmt::Display for RecordingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RecordingError::Io(error) => write!(f, "{error}"),
            RecordingError::NotARecording => write!(f, "it is no recording of traffic"),
            RecordingError::Version(version) => {
                write!(f, "it is a recording of version {version}, and this program reads version {VERSION}")
            }
            RecordingError::Cut(offset) => write!(f, "it is cut off: the entry at byte {offset} is not whole"),
            RecordingError::Damaged(offset) => write!(f, "it is damaged: there is no such entry as at byte {offset}"),
        }
    }
}

impl std::error::Error for RecordingError {}

impl RecordingReader {
    /// Opens a file.
    ///
    /// # Errors
    /// The system refuses the file, or it does not begin like a recording.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        RecordingReader::new(BufReader::new(File::open(path).map_err(RecordingError::Io)?))
    }
}

impl<R: Read> RecordingReader<R> {
    /// Reads the head of a recording.
    ///
    /// # Errors
    /// It cannot be read, or does not begin like a recording.
    pub fn new(mut file: R) -> Result<Self, RecordingError> {
        let mut head = [0; MAGIC.len() + 2];
        match file.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(RecordingError::NotARecording),
            Err(error) => return Err(RecordingError::Io(error)),
        }
        let [magic @ .., version, side] = head;
        if magic != *MAGIC {
            return Err(RecordingError::NotARecording);
        }
        let side = match (version, side) {
            (VERSION, 0) => RecordingSide::Server,
            (VERSION, 1) => RecordingSide::Client,
            (VERSION, _) => return Err(RecordingError::Damaged(0)),
            _ => return Err(RecordingError::Version(version)),
        };
        Ok(RecordingReader { file, side, offset: head.len() as u64, at: Duration::ZERO, is_over: false })
    }

    /// The side whose traffic was recorded.
    pub fn side(&self) -> RecordingSide {
        self.side
    }

    /// The next byte; `None` at the end of the file.
    fn byte(&mut self) -> Result<Option<u8>, RecordingError> {
        let mut byte = [0];
        loop {
            match self.file.read(&mut byte) {
                Ok(0) => return Ok(None),
                Ok(_) => {
                    self.offset += 1;
                    return Ok(Some(byte[0]));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(RecordingError::Io(error)),
            }
        }
    }

    fn number(&mut self, begin: u64) -> Result<u64, RecordingError> {
        let mut number = 0_u64;
        for place in 0..NUMBER_BYTES_MAX {
            let byte = self.byte()?.ok_or(RecordingError::Cut(begin))?;
            let part = u64::from(byte & 0x7F);
            let shifted = part << (7 * place);
            if shifted >> (7 * place) != part {
                return Err(RecordingError::Damaged(begin));
            }
            number |= shifted;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(RecordingError::Damaged(begin))
    }

    fn entry(&mut self) -> Result<Option<(Duration, RecordedEvent)>, RecordingError> {
        let begin = self.offset;
        let Some(kind) = self.byte()? else { return Ok(None) };
        let damaged = RecordingError::Damaged(begin);
        let Some(count) = RecordedEvent::fields_of(kind) else { return Err(damaged) };
        let since_last = Duration::from_micros(self.number(begin)?);
        let mut fields = [0; 3];
        for field in &mut fields[..count] {
            *field = self.number(begin)?;
        }
        let Some(at) = self.at.checked_add(since_last).filter(|at| *at <= LENGTH_MAX) else { return Err(damaged) };
        let event = RecordedEvent::decode(kind, &fields[..count]).ok_or(damaged)?;
        self.at = at;
        Ok(Some((at, event)))
    }
}

/// Ten years: a greater number is damage.
const LENGTH_MAX: Duration = Duration::from_secs(10 * 366 * 86_400);

impl<R: Read> Iterator for RecordingReader<R> {
    type Item = Result<(Duration, RecordedEvent), RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let entry = self.entry();
        self.is_over = matches!(entry, Err(_) | Ok(None | Some((_, RecordedEvent::End(_)))));
        entry.transpose()
    }
}
