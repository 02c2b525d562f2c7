//! Ways to close a connection: our Close frame, the peer's, a violation of the protocol, a broken stream.

use std::io;
use std::time::Instant;

use tungstenite::Utf8Bytes;
use tungstenite::error::{Error, ProtocolError};
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;

use super::super::outgoing::{ByteQueue, Pipe};
use super::super::{WsCloseReason, WsPeerClose};
use super::{CONTROL_BYTES_MAX, Phase, WsConnection};

impl WsConnection {
    /// Closes the connection: sends a Close frame with `code` (1000 to 1003, 1007 to 1014, or 3000 to 4999) and
    /// `reason` (cut to 123 bytes), waits for the peer's, then ends. Before the handshake is complete, the connection
    /// ends without a Close frame.
    pub fn close(&mut self, code: u16, reason: &str) {
        if self.close_reason.is_some() {
            return;
        }
        match self.phase {
            Phase::Frames(_) => {
                self.begin_closing(WsCloseReason::Local);
                self.queue_close(code, reason);
                self.flush();
            }
            Phase::Raw(_) => {
                self.begin_closing(WsCloseReason::Local);
                self.phase = Phase::Draining { peer_may_send: true, is_shut: false };
                self.flush();
            }
            _ => self.end(WsCloseReason::Local),
        }
    }

    pub(super) fn on_peer_close(&mut self, frame: Option<CloseFrame>) {
        self.begin_closing(WsCloseReason::Remote);
        let frame = frame.unwrap_or(CloseFrame { code: CloseCode::Status, reason: Utf8Bytes::default() });
        self.peer_close = Some(WsPeerClose { code: frame.code.into(), reason: frame.reason.as_str().to_owned() });
    }

    pub(super) fn on_frame_error(&mut self, error: &Error) {
        match error {
            // Both Close frames were exchanged.
            Error::ConnectionClosed | Error::AlreadyClosed => {
                self.begin_closing(WsCloseReason::Remote);
                self.phase = Phase::Draining { peer_may_send: false, is_shut: false };
            }
            Error::Io(_) | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => self.end_broken(),
            Error::Utf8(_) => self.fail(WsCloseReason::Protocol, 1007, "text that is no UTF-8"),
            Error::Capacity(_) => self.fail(WsCloseReason::MessageTooLarge, 1009, "message too large"),
            _ => self.fail(WsCloseReason::Protocol, 1002, "broken frame"),
        }
    }

    /// Handles a violation of the protocol: sends a Close frame with the reason, and discards all further frames.
    fn fail(&mut self, reason: WsCloseReason, code: u16, text: &str) {
        self.begin_closing(reason);
        self.queue_close(code, text);
        self.phase = Phase::Draining { peer_may_send: true, is_shut: false };
    }

    fn queue_close(&mut self, code: u16, reason: &str) {
        let Phase::Frames(frames) = &mut self.phase else {
            return;
        };
        let reason = Utf8Bytes::from(&reason[..reason.floor_char_boundary(CLOSE_REASON_BYTES_MAX)]);
        let mut pipe = Pipe {
            transport: &mut self.transport,
            outgoing: &mut self.outgoing,
            outgoing_bytes_max: self.options.high_water_bytes + CONTROL_BYTES_MAX,
            turn: &mut self.turn,
        };
        // If the frame does not fit, the peer has not read for long: the deadline ends the connection without a Close
        // frame.
        self.may_hold_frames = true;
        let _ = frames.close(&mut pipe, Some(CloseFrame { code: code.into(), reason }));
    }

    pub(super) fn begin_closing(&mut self, reason: WsCloseReason) {
        if self.close_reason.is_none() {
            self.close_reason = Some(reason);
            self.deadline = Some(Instant::now() + self.options.close_timeout);
        }
    }

    /// The stream broke, or TLS found something wrong with it.
    pub(super) fn end_broken(&mut self) {
        let is_tls = self.transport.failure().is_some();
        self.end(if is_tls { WsCloseReason::TlsFailed } else { WsCloseReason::Lost });
    }

    pub(super) fn end(&mut self, reason: WsCloseReason) {
        self.begin_closing(reason);
        self.outgoing = ByteQueue::default();
        self.phase = Phase::Closed;
    }

    pub(super) fn discard_incoming(&mut self) {
        let mut buffer = [0; 4096];
        while let Phase::Draining { peer_may_send, .. } = &mut self.phase {
            match self.turn.read(&mut self.transport, &mut buffer) {
                Ok(0) if self.outgoing.len() > 0 => {
                    // The peer has closed its sending direction, but may still read.
                    *peer_may_send = false;
                    return;
                }
                Ok(count) if count > 0 => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                _ => self.end(WsCloseReason::Lost),
            }
        }
    }
}

/// RFC 6455 section 5.5: a control frame carries 125 bytes, two of which are the code.
const CLOSE_REASON_BYTES_MAX: usize = 123;
