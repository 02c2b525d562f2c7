//! From a TCP stream to frames: connecting, and the HTTP handshake of either side.

use std::io;
use std::net::SocketAddr;

use tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};

use super::super::answers::text;
use super::super::frames::RawReader;
use super::super::gate::Admission;
use super::super::handshake::{HEAD_BYTES_MAX, Head, Requested, Source, Verdict, judge_request, judge_response};
use super::super::proxy_protocol::ProxyHeader;
use super::super::{StreamKind, WsCloseReason};
use super::{Admits, CONTROL_BYTES_MAX, Phase, WsConnection};

impl WsConnection {
    pub(super) fn check_connected(&mut self) {
        let Phase::Connecting { key } = &mut self.phase else {
            return;
        };
        if !matches!(self.transport.tcp.take_error(), Ok(None)) {
            return self.end(WsCloseReason::Lost);
        }
        match self.transport.tcp.peer_addr() {
            Ok(_) => {
                let key = key.take();
                self.connected(key);
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
            Err(_) => self.end(WsCloseReason::Lost),
        }
    }

    /// TCP is connected. A stream without WebSocket is open at once.
    fn connected(&mut self, key: Option<String>) {
        match key {
            Some(key) => self.phase = Phase::Response { head: Head::default(), key },
            None => self.open_raw(Vec::new()),
        }
    }

    /// Reads until the head is complete or refused, or no more bytes wait.
    pub(super) fn pump_handshake(&mut self, admits: Admits<'_>) {
        let mut buffer = [0; 2048];
        loop {
            let head = match &mut self.phase {
                Phase::Request(entrance) => &mut entrance.head,
                Phase::Response { head, .. } => head,
                _ => return,
            };
            match self.turn.read(&mut self.transport, &mut buffer) {
                Ok(0) => return self.end(WsCloseReason::Lost),
                Ok(count) => head.append(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => return self.end_broken(),
            }
            debug_assert!(head.bytes().len() <= HEAD_BYTES_MAX + buffer.len(), "the verdict bounds the head");
            self.judge(admits);
        }
    }

    /// Handles the received part of a handshake.
    fn judge(&mut self, admits: Admits<'_>) {
        if !self.take_announcement(admits) {
            return;
        }
        let is_secure = self.transport.is_secure();
        let (verdict, role) = match &mut self.phase {
            Phase::Request(entrance) => {
                let source = Source { is_secure, is_proxied: entrance.is_proxied, names_client: entrance.names_client };
                (judge_request(&mut entrance.head, &entrance.rules, source), Role::Server)
            }
            Phase::Response { head, key } => (judge_response(head, key), Role::Client),
            _ => return,
        };
        match verdict {
            Verdict::Incomplete => {}
            Verdict::Secure => self.secure(admits),
            Verdict::Raw => {
                let Phase::Request(entrance) = &mut self.phase else { return };
                let first = entrance.head.take();
                self.open_raw(first);
            }
            Verdict::Upgraded { answer, rest, request } => {
                if self.note_client(request.client.map(|address| SocketAddr::new(address, 0)), admits) {
                    self.open(role, &answer, rest, &request);
                }
            }
            Verdict::Refused { answer, reason } => self.refuse(&answer, reason),
        }
    }

    /// Removes a PROXY header, if one has arrived. False if the handshake cannot continue yet.
    fn take_announcement(&mut self, admits: Admits<'_>) -> bool {
        let Phase::Request(entrance) = &mut self.phase else { return true };
        if !entrance.may_be_announced {
            return true;
        }
        match ProxyHeader::read(entrance.head.bytes()) {
            // The first bytes of a request may look like a header.
            ProxyHeader::Incomplete => return false,
            ProxyHeader::Absent => entrance.may_be_announced = false,
            _ if !entrance.is_proxied => {
                self.refuse(&text("400 Bad Request", "", UNTRUSTED_PROXY), WsCloseReason::UntrustedProxy);
                return false;
            }
            ProxyHeader::Malformed => {
                self.refuse(b"", WsCloseReason::BadProxy);
                return false;
            }
            ProxyHeader::Complete(bytes, client) => {
                entrance.may_be_announced = false;
                entrance.head.skip(bytes);
                // Headers sent by a client of the proxy are not trusted, unless the client is a proxy, too.
                entrance.names_client = client.is_some_and(|client| entrance.rules.proxies.has(client.ip()));
                return self.note_client(client, admits);
            }
        }
        true
    }

    /// A proxy has named the client, if it knows it. False if the server denies that client: the stream ends without an
    /// answer.
    fn note_client(&mut self, client: Option<SocketAddr>, admits: Admits<'_>) -> bool {
        let Some(client) = client else { return true };
        self.peer = crate::net::address::plain(client);
        let is_admitted = admits(Admission::Client, &self.peer);
        if !is_admitted {
            self.end(WsCloseReason::Lost);
        }
        is_admitted
    }

    /// Continues within TLS.
    fn secure(&mut self, admits: Admits<'_>) {
        let Phase::Request(entrance) = &mut self.phase else { return };
        let Some(server) = entrance.rules.tls.clone() else { return self.refuse(b"", WsCloseReason::Tls) };
        if !admits(Admission::Tls, &self.peer) {
            return self.end(WsCloseReason::OverBudget);
        }
        let first = entrance.head.take();
        if self.transport.serve_tls(&server, &first).is_err() || self.transport.failure().is_some() {
            self.end(WsCloseReason::TlsFailed);
        }
    }

    fn refuse(&mut self, answer: &[u8], reason: WsCloseReason) {
        self.outgoing.append(answer);
        self.begin_closing(reason);
        self.phase = Phase::Draining { peer_may_send: true, is_shut: false };
    }

    fn open_raw(&mut self, first: Vec<u8>) {
        let is_secure = self.transport.is_secure();
        self.kind = Some(if is_secure { StreamKind::SecureRaw } else { StreamKind::Raw });
        self.deadline = None;
        self.phase = Phase::Raw(RawReader::new(first));
    }

    fn open(&mut self, role: Role, answer: &[u8], rest: Vec<u8>, request: &Requested) {
        let bytes_max = self.options.message_bytes_max;
        // Only control frames pass through tungstenite's own write buffer, at once (write_buffer_size 0).
        let config = WebSocketConfig::default()
            .read_buffer_size(self.options.read_buffer_bytes)
            .write_buffer_size(0)
            .max_write_buffer_size(CONTROL_BYTES_MAX)
            .max_message_size(Some(bytes_max))
            .max_frame_size(Some(bytes_max));
        let is_secure = self.transport.is_secure();
        self.kind = Some(if is_secure { StreamKind::SecureWebSocket } else { StreamKind::WebSocket });
        self.echoes = request.echoes;
        self.outgoing.append(answer);
        self.turn.charge_frames(&rest);
        self.deadline = None;
        self.phase = Phase::Frames(Box::new(WebSocketContext::from_partially_read(rest, role, Some(config))));
    }
}

const UNTRUSTED_PROXY: &str = "This address is none of the server's trusted proxies: no PROXY header, please.\n";
