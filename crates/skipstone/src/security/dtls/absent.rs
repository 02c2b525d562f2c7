//! A build without DTLS. Values of these types cannot exist.

use skipstone_proto::Time;

/// A client's configuration for a session.
#[derive(Clone, Debug)]
pub(crate) enum DtlsTrust {}

impl DtlsTrust {
    pub(crate) fn session(&self, _: Time) -> DtlsSession {
        match *self {}
    }
}

/// Why a session ended.
#[derive(Clone, Debug)]
pub(crate) struct DtlsFailure {
    pub(crate) is_untrusted: bool,
    pub(crate) reason: Box<str>,
}

#[derive(Debug)]
pub(crate) enum DtlsSession {}

impl DtlsSession {
    pub(crate) fn is_established(&self) -> bool {
        match *self {}
    }

    pub(crate) fn failure(&self) -> Option<&DtlsFailure> {
        match *self {}
    }

    pub(crate) fn handle_datagram(&mut self, _: Time, _: &[u8], _: &mut dyn FnMut(&mut [u8])) -> bool {
        match *self {}
    }

    pub(crate) fn handle_timeout(&mut self, _: Time) {
        match *self {}
    }

    pub(crate) fn poll_timeout(&self) -> Time {
        match *self {}
    }

    pub(crate) fn poll_datagram(&mut self) -> Option<Vec<u8>> {
        match *self {}
    }

    pub(crate) fn send(&mut self, _: Time, _: &[u8]) {
        match *self {}
    }

    pub(crate) fn close(&mut self, _: Time) {
        match *self {}
    }
}
