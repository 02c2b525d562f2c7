//! The exceptions. Their texts are the library's own, with cause and remedy; programs decide by their attributes.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use skipstone::{PeerError as Peer, SendRefusal};

create_exception!(skipstone, SkipstoneError, PyException, "The base of all exceptions of this module.");
create_exception!(
    skipstone,
    StartError,
    SkipstoneError,
    "A server or a client could not be started: a setting, a URL, a certificate, a port."
);
create_exception!(
    skipstone,
    SendError,
    SkipstoneError,
    "A message was not accepted. `reason` says why in a word, `payload` is the message."
);
create_exception!(
    skipstone,
    PeerError,
    SkipstoneError,
    "A request about a peer was refused. `reason` says why in a word."
);
create_exception!(skipstone, ClosedError, SkipstoneError, "The server or client was shut down or closed before.");
create_exception!(
    skipstone,
    BusyError,
    SkipstoneError,
    "Another thread is in a call of this server or client at this moment."
);

pub(crate) fn start_error(error: impl std::fmt::Display) -> PyErr {
    StartError::new_err(error.to_string())
}

pub(crate) fn send_error(py: Python<'_>, error: &skipstone::SendError) -> PyErr {
    let raised = SendError::new_err(error.to_string());
    let reason = match error.reason {
        SendRefusal::UnknownPeer => "unknown_peer",
        SendRefusal::NotConnected => "not_connected",
        SendRefusal::NoSuchChannel { .. } => "no_such_channel",
        SendRefusal::WrongDirection { .. } => "wrong_direction",
        SendRefusal::TooLong { .. } => "too_long",
        SendRefusal::QueueFull => "queue_full",
        SendRefusal::DriverBusy => "driver_busy",
        SendRefusal::DriverGone => "driver_gone",
        _ => "other",
    };
    let value = raised.value(py);
    let attributes =
        value.setattr("reason", reason).and_then(|()| value.setattr("payload", PyBytes::new(py, &error.payload)));
    attributes.err().unwrap_or(raised)
}

pub(crate) fn peer_error(py: Python<'_>, error: Peer) -> PyErr {
    let raised = PeerError::new_err(error.to_string());
    let reason = match error {
        Peer::UnknownPeer => "unknown_peer",
        Peer::Over => "over",
        Peer::NotWaiting => "not_waiting",
        Peer::EveryoneIsKept => "everyone_is_kept",
        Peer::CodeTooLarge => "code_too_large",
        Peer::MergingTooLong => "merging_too_long",
        Peer::DriverBusy => "driver_busy",
        Peer::DriverGone => "driver_gone",
        _ => "other",
    };
    raised.value(py).setattr("reason", reason).err().unwrap_or(raised)
}
