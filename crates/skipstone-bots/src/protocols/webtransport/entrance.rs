//! HTTP/3's part of WebTransport (draft-ietf-webtrans-http3): the settings of both sides, the request for a session,
//! its answer, and the session's end in capsules.

use crate::protocol::{Cause, Ending};
use bytes::{Buf, Bytes};
use quinn_proto::{Dir, StreamId};
use web_transport_proto::{Capsule, CapsuleError, ConnectError, ConnectRequest, ConnectResponse};
use web_transport_proto::{Frame, Settings, SettingsError, StreamUni, VarInt};

use super::quic::QuicLink;

/// A session on its way in, and later its control.
pub(super) struct Entrance {
    request: Vec<u8>,
    /// The stream of the request, which is the session's name.
    session: Option<StreamId>,
    answer: Vec<u8>,
    is_granted: bool,
}

/// What the server said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing whole yet.
    Nothing,
    /// The session is open.
    Granted,
    /// The session is over.
    Over(Ending),
}

impl Entrance {
    pub(super) fn new(request: &ConnectRequest) -> Result<Self, String> {
        let mut bytes = Vec::new();
        request.encode(&mut bytes).map_err(|error| error.to_string())?;
        Ok(Entrance { request: bytes, session: None, answer: Vec::new(), is_granted: false })
    }

    /// The handshake of QUIC is complete: the client's own streams.
    pub(super) fn begin(&self, quic: &mut QuicLink) {
        let mut settings = Settings::default();
        settings.enable_webtransport(1);
        let mut control = Vec::new();
        settings.encode(&mut control);
        for kind in [None, Some(StreamUni::QPACK_ENCODER), Some(StreamUni::QPACK_DECODER)] {
            let mut bytes = Vec::new();
            match kind {
                None => bytes.clone_from(&control),
                Some(kind) => kind.encode(&mut bytes),
            }
            // A server that allows none will not miss them.
            if let Some(id) = quic.connection.streams().open(Dir::Uni) {
                quic.write(id, &bytes);
            }
        }
    }

    /// The server's control stream so far. Once its settings are there, the session is asked for.
    pub(super) fn on_control(&mut self, quic: &mut QuicLink, bytes: &[u8]) -> Said {
        if self.session.is_some() {
            return Said::Nothing;
        }
        match Settings::decode(&mut &bytes[..]) {
            Ok(settings) if settings.supports_webtransport() == 0 => {
                Said::Over(Ending::new(Cause::Refused, "the server speaks HTTP/3 without WebTransport"))
            }
            Ok(_) => {
                self.session = quic.connection.streams().open(Dir::Bi);
                let written = self.session.and_then(|id| quic.write(id, &self.request));
                if written == Some(self.request.len()) {
                    Said::Nothing
                } else {
                    Said::Over(Ending::new(Cause::Refused, "the server allows no stream for a session"))
                }
            }
            Err(SettingsError::UnexpectedEnd) => Said::Nothing,
            Err(error) => Said::Over(malformed(&error)),
        }
    }

    pub(super) fn session(&self) -> Option<StreamId> {
        self.session
    }

    /// Bytes of the request's stream.
    pub(super) fn on_answer(&mut self, bytes: &[u8], is_last: bool) -> Said {
        self.answer.extend_from_slice(bytes);
        if self.answer.len() > ANSWER_MAX {
            return Said::Over(Ending::new(Cause::Malformed, "the answer to the session's request is too long"));
        }
        if !self.is_granted {
            let mut rest = &self.answer[..];
            match ConnectResponse::decode(&mut rest) {
                Ok(_) => {
                    let used = self.answer.len() - rest.len();
                    self.answer.drain(..used);
                    self.is_granted = true;
                    return Said::Granted;
                }
                Err(ConnectError::UnexpectedEnd) if !is_last => return Said::Nothing,
                Err(ConnectError::WrongStatus(Some(status)) | ConnectError::ErrorStatus(status)) => {
                    return Said::Over(Ending::new(Cause::Refused, format!("HTTP {status}")));
                }
                Err(error) => return Said::Over(malformed(&error)),
            }
        }
        self.capsules(is_last)
    }

    /// What is in the frames after the answer: the session's end.
    fn capsules(&mut self, is_last: bool) -> Said {
        let mut data = Vec::new();
        let mut rest = &self.answer[..];
        while let (Ok(frame), Ok(length)) = (Frame::decode(&mut rest), VarInt::decode(&mut rest)) {
            let length = usize::try_from(length.into_inner()).unwrap_or(usize::MAX);
            let Some(payload) = rest.get(..length) else { break };
            if frame == Frame::DATA {
                data.extend_from_slice(payload);
            }
            rest.advance(length);
        }
        let mut data = Bytes::from(data);
        while !data.is_empty() {
            match Capsule::decode(&mut data) {
                Ok(Capsule::CloseWebTransportSession { code, reason }) => {
                    let colon = if reason.is_empty() { "" } else { ": " };
                    let text = format!("the server closed the session: code {code}{colon}{reason}");
                    return Said::Over(Ending::new(Cause::ByServer, text));
                }
                Ok(_) => {}
                Err(CapsuleError::UnexpectedEnd) => break,
                Err(error) => return Said::Over(malformed(&error)),
            }
        }
        if is_last { Said::Over(Ending::new(Cause::ByServer, "the server ended the session")) } else { Said::Nothing }
    }
}

fn malformed(error: &dyn std::fmt::Display) -> Ending {
    Ending::new(Cause::Malformed, format!("the server's bytes are no WebTransport: {error}"))
}

/// Bytes on the request's stream: an answer and a goodbye are short.
const ANSWER_MAX: usize = 64 << 10;
