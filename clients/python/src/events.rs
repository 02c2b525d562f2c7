//! Events, each with its own class for `match` statements.

use crate::modes::{ClosedBy, Why};
use crate::settings::Settings;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// A connection, as the server's application knows it. Never used for another one.
#[pyclass(eq, ord, hash, frozen, get_all, from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PeerId {
    /// The place in the server; used again after the connection has ended.
    index: u32,
    /// The number of earlier connections with this index.
    generation: u32,
}

#[pymethods]
impl PeerId {
    #[new]
    fn new(index: u32, generation: u32) -> Self {
        PeerId { index, generation }
    }

    fn __str__(&self) -> String {
        self.library().to_string()
    }

    fn __repr__(&self) -> String {
        format!("PeerId({}, {})", self.index, self.generation)
    }
}

impl PeerId {
    pub(crate) fn of(peer: skipstone::PeerId) -> Self {
        PeerId { index: peer.index, generation: peer.generation }
    }

    pub(crate) fn library(self) -> skipstone::PeerId {
        skipstone::PeerId { index: self.index, generation: self.generation }
    }
}

/// A client requests a connection: answer with `accept` or `refuse`.
#[pyclass(frozen, get_all)]
pub(crate) struct Requested {
    /// The client.
    peer: PeerId,
    /// The client's token: up to 1,024 bytes of the application's own.
    token: Py<PyBytes>,
    /// The client's address, as `host:port`.
    remote: String,
}

/// The connection is established: messages can be sent.
#[pyclass(frozen, get_all)]
pub(crate) struct Connected {
    /// The peer.
    peer: PeerId,
    /// The server's settings, which hold for both sides.
    settings: Py<Settings>,
}

/// A message arrived.
#[pyclass(frozen, get_all)]
pub(crate) struct Message {
    /// The sender.
    peer: PeerId,
    /// On which channel.
    channel: u16,
    /// The message.
    payload: Py<PyBytes>,
    /// How many seconds late the message is, because it was lost at first; usually 0.
    age: f64,
}

/// A message was acknowledged. Only on channels with receipts.
#[pyclass(frozen, get_all)]
pub(crate) struct Acknowledged {
    /// The peer that has received the message.
    peer: PeerId,
    /// The message, as `send` called it.
    id: u64,
    /// The message's channel.
    channel: u16,
}

/// An accepted message will not be sent (or not again).
#[pyclass(frozen, get_all)]
pub(crate) struct GivenUp {
    /// The peer that does not get it.
    peer: PeerId,
    /// The message, as `send` called it.
    id: u64,
    /// The message's channel.
    channel: u16,
    /// Why.
    why: Why,
}

/// A client's address changed. The connection continues.
#[pyclass(frozen, get_all)]
pub(crate) struct PathChanged {
    /// The client.
    peer: PeerId,
    /// The client's new address, as `host:port`.
    remote: String,
}

/// The connection ended. Exactly one for each connection, and the last of its events.
#[pyclass(frozen, get_all)]
pub(crate) struct Closed {
    /// The peer.
    peer: PeerId,
    /// Which side ended it, and the reason.
    close: Py<Close>,
}

/// How a connection ended.
#[pyclass(frozen, get_all)]
pub(crate) struct Close {
    /// The side that ended it.
    by: ClosedBy,
    /// Below 1,000 the application's own, else one of the `CODE_` constants.
    code: u64,
    /// The reason as text; what is not UTF-8 is replaced.
    reason: String,
    /// The reason as received.
    reason_bytes: Py<PyBytes>,
}

/// Adds to each event its positional patterns and its text.
macro_rules! shown {
    ($($class:ident($($field:ident),*))*) => {
        $(#[pymethods]
        impl $class {
            #[classattr]
            #[pyo3(name = "__match_args__")]
            fn match_args(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
                PyTuple::new(py, [$(stringify!($field)),*])
            }

            fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
                let fields = [$(format!("{}={}", stringify!($field), slf.getattr(stringify!($field))?.repr()?)),*];
                Ok(format!("{}({})", stringify!($class), fields.join(", ")))
            }
        })*
    };
}

shown! {
    Requested(peer, token, remote)
    Connected(peer, settings)
    Message(peer, channel, payload, age)
    Acknowledged(peer, id, channel)
    GivenUp(peer, id, channel, why)
    PathChanged(peer, remote)
    Closed(peer, close)
    Close(by, code, reason)
}

/// The Python object of an event; `None` for a kind that this module does not know yet.
pub(crate) fn event(py: Python<'_>, event: skipstone::Event) -> PyResult<Option<Py<PyAny>>> {
    let peer = PeerId::of(event.peer());
    let object = match event {
        skipstone::Event::Requested { token, remote, .. } => {
            let token = PyBytes::new(py, &token).unbind();
            Py::new(py, Requested { peer, token, remote: remote.to_string() })?.into_any()
        }
        skipstone::Event::Connected { settings, .. } => {
            let settings = Py::new(py, Settings::of(&settings))?;
            Py::new(py, Connected { peer, settings })?.into_any()
        }
        skipstone::Event::Message { channel, payload, age, .. } => {
            let payload = PyBytes::new(py, &payload).unbind();
            Py::new(py, Message { peer, channel, payload, age: age.as_secs_f64() })?.into_any()
        }
        skipstone::Event::Acknowledged { id, channel, .. } => {
            Py::new(py, Acknowledged { peer, id: id.0, channel })?.into_any()
        }
        skipstone::Event::GivenUp { id, channel, why, .. } => {
            Py::new(py, GivenUp { peer, id: id.0, channel, why: Why::of(why) })?.into_any()
        }
        skipstone::Event::PathChanged { path, .. } => {
            Py::new(py, PathChanged { peer, remote: path.remote.to_string() })?.into_any()
        }
        skipstone::Event::Closed { close, .. } => {
            let reason_bytes = PyBytes::new(py, &close.reason).unbind();
            let reason = close.reason_text().into_owned();
            let close = Py::new(py, Close { by: ClosedBy::of(close.by), code: close.code, reason, reason_bytes })?;
            Py::new(py, Closed { peer, close })?.into_any()
        }
        _ => return Ok(None),
    };
    Ok(Some(object))
}
