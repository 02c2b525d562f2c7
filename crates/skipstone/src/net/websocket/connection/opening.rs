//! From a TCP stream to frames: connecting, and the HTTP handshake of either side.

use std::io;

use tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};

use super::super::handshake::{HEAD_BYTES_MAX, Head, Verdict, judge_request, judge_response};
use super::super::{MESSAGE_BYTES_MAX, WsCloseReason};
use super::{CONTROL_BYTES_MAX, Phase, WsConnection};

impl WsConnection {
    pub(super) fn check_connected(&mut self) {
        let Phase::Connecting { key } = &mut self.phase else {
            return;
        };
        if !matches!(self.tcp.take_error(), Ok(None)) {
            return self.end(WsCloseReason::Lost);
        }
        match self.tcp.peer_addr() {
            Ok(_) => self.phase = Phase::Response { head: Head::default(), key: std::mem::take(key) },
            Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
            Err(_) => self.end(WsCloseReason::Lost),
        }
    }

    /// Reads until the head is complete, refused, or nothing more has come.
    pub(super) fn pump_handshake(&mut self) {
        let mut buffer = [0; 2048];
        loop {
            let head = match &mut self.phase {
                Phase::Request(head, _) | Phase::Response { head, .. } => head,
                _ => return,
            };
            match self.turn.read(&mut self.tcp, &mut buffer) {
                Ok(0) => return self.end(WsCloseReason::Lost),
                Ok(count) => head.append(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => return self.end(WsCloseReason::Lost),
            }
            debug_assert!(head.bytes().len() <= HEAD_BYTES_MAX + buffer.len(), "the verdict bounds the head");
            let (verdict, role) = match &mut self.phase {
                Phase::Request(head, origins) => (judge_request(head, origins), Role::Server),
                Phase::Response { head, key } => (judge_response(head, key), Role::Client),
                _ => return,
            };
            match verdict {
                Verdict::Incomplete => {}
                Verdict::Upgraded { answer, rest } => self.open(role, &answer, rest),
                Verdict::Refused { answer, reason } => {
                    self.outgoing.append(answer);
                    self.begin_closing(reason);
                    self.phase = Phase::Draining { peer_may_send: true, is_shut: false };
                }
            }
        }
    }

    fn open(&mut self, role: Role, answer: &[u8], rest: Vec<u8>) {
        // Only control frames pass through tungstenite's own write buffer, at once (write_buffer_size 0).
        let config = WebSocketConfig::default()
            .read_buffer_size(self.options.read_buffer_bytes)
            .write_buffer_size(0)
            .max_write_buffer_size(CONTROL_BYTES_MAX)
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        self.outgoing.append(answer);
        self.deadline = None;
        self.phase = Phase::Frames(Box::new(WebSocketContext::from_partially_read(rest, role, Some(config))));
    }
}
