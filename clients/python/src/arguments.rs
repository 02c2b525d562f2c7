//! Arguments of Python calls that need more than a type: payloads, spans of time, channels.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use skipstone::Bytes;
use std::time::Duration;

/// A message or a token: anything with a buffer of bytes. It is copied once.
#[derive(Default)]
pub(crate) struct Payload(pub(crate) Bytes);

impl<'a, 'py> FromPyObject<'a, 'py> for Payload {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Payload(Bytes::copy_from_slice(bytes.as_bytes())));
        }
        let wrong = |_| {
            let kind = object.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "a message is bytes, a bytearray or a memoryview of bytes, not {kind}: text goes through .encode()"
            ))
        };
        let buffer = PyBuffer::<u8>::get(&object).map_err(wrong)?;
        Ok(Payload(buffer.to_vec(object.py())?.into()))
    }
}

/// A span of time in seconds, as Python's standard library has it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Seconds(pub(crate) Duration);

impl<'a, 'py> FromPyObject<'a, 'py> for Seconds {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let seconds: f64 = object.extract()?;
        let span = Duration::try_from_secs_f64(seconds).map_err(|_| {
            PyValueError::new_err(format!("{seconds} is no span of time: give seconds, 0 or more, as 0.05 for 50 ms"))
        })?;
        // Beyond this, deadlines overflow on some systems; no program waits for longer.
        Ok(Seconds(span.min(SPAN_MAX)))
    }
}

impl Seconds {
    /// The default time that queued messages have to arrive when a program ends.
    pub(crate) const LINGER: Seconds = Seconds(Duration::from_millis(500));
    /// The library's default time limit of a handshake.
    pub(crate) const HANDSHAKE: Seconds = Seconds(Duration::from_secs(10));
}

const SPAN_MAX: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// A close code, which has 62 bits.
pub(crate) struct Code(pub(crate) u64);

impl<'a, 'py> FromPyObject<'a, 'py> for Code {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let wrong = || PyValueError::new_err(skipstone::PeerError::CodeTooLarge.to_string());
        let code: i128 = object.extract()?;
        u64::try_from(code).ok().filter(|code| code >> 62 == 0).map(Code).ok_or_else(wrong)
    }
}
