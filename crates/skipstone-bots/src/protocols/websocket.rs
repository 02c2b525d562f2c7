//! WebSocket (RFC 6455): binary or text messages, by tungstenite over a pipe in memory.

use super::lifecycle::Lifecycle;
use super::limits::Limits;
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{
    Cause, Delivery, Event, Outgoing, Protocol, ProtocolFigures, QUEUE_BYTES_MAX, STREAM_CHUNK, SendRefused, SocketEnd,
};
use crate::target::TargetError;
use skipstone_proto::Time;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use tungstenite::client::{IntoClientRequest, client_with_config};
use tungstenite::handshake::MidHandshake;
use tungstenite::handshake::client::{ClientHandshake, Request};
use tungstenite::http::HeaderValue;
use tungstenite::protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode};
use tungstenite::{Error, HandshakeError, Message, WebSocket};

pub(super) const ROW: ProtocolRow = ProtocolRow {
    scheme: "ws",
    carrier: Carrier::Stream,
    about: "WebSocket: binary or text messages",
    options: OPTIONS,
    new: WebSocketClient::create,
};

/// The options of its targets.
pub(super) const OPTIONS: &[(&str, &str)] = &[
    ("/path", "of the request, default /"),
    ("kind", "binary (default) or text: the messages that are sent; both are received"),
    ("subprotocol", "asked for in the handshake"),
    ("max", "longest message that the server may send (default 1048576)"),
    ("query", "of the request, percent-encoded: query=token%3Dabc%26room%3D7"),
    ("authorization", "header of the request, such as Bearer%20abc"),
    ("origin", "header of the request, as pages send it"),
];

/// A client over WebSocket.
struct WebSocketClient {
    lifecycle: Lifecycle,
    stage: Stage,
    is_text: bool,
}

enum Stage {
    /// The request is ready.
    New(Box<Request>, WebSocketConfig),
    Shaking(Box<MidHandshake<ClientHandshake<Pipe>>>),
    Open(Box<WebSocket<Pipe>>),
    /// Bytes that are still to be sent.
    Ended(VecDeque<u8>),
}

/// A stream in memory.
#[derive(Debug, Default)]
struct Pipe {
    incoming: VecDeque<u8>,
    outgoing: VecDeque<u8>,
}

impl WebSocketClient {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        let target = opening.target;
        let is_text = match target.option("kind", "binary") {
            "binary" => false,
            "text" => true,
            _ => return Err(target.bad_option("kind", "binary or text is needed")),
        };
        let max = target.number("max", 1 << 20, 1..=1 << 30)? as usize;
        let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
        let path = if target.path.is_empty() { "/" } else { &target.path };
        let query = target.options.get("query").map(|query| format!("?{query}")).unwrap_or_default();
        let url = format!("ws://{host}:{}{path}{query}", target.port);
        let request = url.into_client_request().map_err(|error| target.bad_option("path", error.to_string()));
        let mut request = request?;
        for (option, header) in HEADERS {
            let Some(text) = target.options.get(*option) else { continue };
            let value = HeaderValue::from_str(text).map_err(|error| target.bad_option(option, error.to_string()))?;
            request.headers_mut().insert(*header, value);
        }
        // The buffers of thousands of bots add up: tungstenite's own are 128 KiB each.
        let config = WebSocketConfig::default()
            .read_buffer_size(4 << 10)
            .write_buffer_size(0)
            .max_message_size(Some(max))
            .max_frame_size(Some(max));
        let stage = Stage::New(Box::new(request), config);
        Ok(Box::new(WebSocketClient { lifecycle: Lifecycle::default(), stage, is_text }))
    }

    fn pipe(&mut self) -> Option<&mut Pipe> {
        match &mut self.stage {
            Stage::Shaking(shaking) => Some(shaking.get_mut().get_mut()),
            Stage::Open(socket) => Some(socket.get_mut()),
            Stage::New(..) | Stage::Ended(_) => None,
        }
    }

    fn end(&mut self, cause: Cause, text: impl Into<String>) {
        let rest = self.pipe().map(|pipe| std::mem::take(&mut pipe.outgoing)).unwrap_or_default();
        self.stage = Stage::Ended(rest);
        self.lifecycle.end(cause, text);
    }

    /// Goes on with what has arrived.
    fn advance(&mut self) {
        if let Stage::Shaking(_) = self.stage {
            let Stage::Shaking(shaking) = std::mem::replace(&mut self.stage, Stage::Ended(VecDeque::new())) else {
                return;
            };
            self.shaken(shaking.handshake());
        }
        while let Stage::Open(socket) = &mut self.stage {
            // Answers to pings have no other bound.
            if socket.get_ref().outgoing.len() > 2 * QUEUE_BYTES_MAX {
                return self.end(Cause::Malformed, "the server pings, and does not read the answers");
            }
            match socket.read() {
                Ok(Message::Binary(data)) => self.lifecycle.message(0, data),
                Ok(Message::Text(text)) => self.lifecycle.message(0, bytes::Bytes::from(text)),
                Ok(Message::Close(frame)) => {
                    let _ = socket.flush();
                    let why = frame.map_or_else(|| "without a code".into(), |frame| told(&frame));
                    return self.end(Cause::ByServer, format!("the server closed: {why}"));
                }
                Ok(_) => {
                    let _ = socket.flush();
                }
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => return self.end(Cause::Malformed, error.to_string()),
            }
        }
    }

    fn shaken(
        &mut self,
        outcome: Result<
            (WebSocket<Pipe>, tungstenite::handshake::client::Response),
            HandshakeError<ClientHandshake<Pipe>>,
        >,
    ) {
        match outcome {
            Ok((socket, _)) => {
                self.stage = Stage::Open(Box::new(socket));
                self.lifecycle.open();
            }
            Err(HandshakeError::Interrupted(shaking)) => self.stage = Stage::Shaking(Box::new(shaking)),
            Err(HandshakeError::Failure(Error::Http(response))) => {
                self.lifecycle.end(Cause::Refused, format!("HTTP {}", response.status()));
            }
            Err(HandshakeError::Failure(error)) => self.lifecycle.end(Cause::Malformed, error.to_string()),
        }
    }

    fn message(&self, data: &[u8]) -> Result<Message, SendRefused> {
        if !self.is_text {
            return Ok(Message::binary(data.to_vec()));
        }
        let text = std::str::from_utf8(data).map_err(|_| SendRefused::Unwritable("a text message is UTF-8"))?;
        Ok(Message::text(text))
    }
}

impl Protocol for WebSocketClient {
    fn handle_open(&mut self, _now: Time) {
        self.lifecycle.begin();
        let Stage::New(..) = self.stage else { return };
        let Stage::New(request, config) = std::mem::replace(&mut self.stage, Stage::Ended(VecDeque::new())) else {
            return;
        };
        self.shaken(client_with_config(*request, Pipe::default(), Some(config)));
    }

    fn handle_receive(&mut self, _now: Time, bytes: &[u8]) {
        if let Some(pipe) = self.pipe() {
            pipe.incoming.extend(bytes);
            self.advance();
        }
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
    }

    fn handle_deadline(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        let waiting = match &mut self.stage {
            Stage::Ended(rest) => rest,
            _ => match self.pipe() {
                Some(pipe) => &mut pipe.outgoing,
                None => return false,
            },
        };
        let count = waiting.len().min(STREAM_CHUNK);
        out.extend(waiting.drain(..count));
        count > 0
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn is_connecting(&self) -> bool {
        self.lifecycle.is_connecting()
    }

    fn send(&mut self, _now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        let limits = Limits {
            is_open: self.lifecycle.is_open(),
            channel_max: 0,
            delivery: Some(Delivery::ReliableOrdered),
            message_bytes_max: QUEUE_BYTES_MAX,
            queued: self.pipe().map_or(0, |pipe| pipe.outgoing.len()),
        };
        limits.check(&message)?;
        let written = self.message(message.data)?;
        let Stage::Open(socket) = &mut self.stage else { return Err(SendRefused::NotConnected) };
        socket.send(written).map_err(|_| SendRefused::NotConnected)
    }

    fn close(&mut self, _now: Time) {
        if let Stage::Open(socket) = &mut self.stage {
            let _ = socket.close(Some(CloseFrame { code: CloseCode::Normal, reason: "".into() }));
            let _ = socket.flush();
        }
        self.end(Cause::Closed, "closed by the bot");
    }

    fn figures(&self) -> ProtocolFigures {
        ProtocolFigures::default()
    }
}

/// Options of the target that are headers of the request.
const HEADERS: &[(&str, &str)] =
    &[("subprotocol", "Sec-WebSocket-Protocol"), ("authorization", "Authorization"), ("origin", "Origin")];

fn told(frame: &CloseFrame) -> String {
    let (code, reason) = (u16::from(frame.code), frame.reason.as_str());
    if reason.is_empty() { format!("code {code}") } else { format!("code {code}: {reason}") }
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.incoming.is_empty() { Err(ErrorKind::WouldBlock.into()) } else { self.incoming.read(into) }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outgoing.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated;
    use super::*;
    use tungstenite::ServerHandshake;
    use tungstenite::handshake::server::NoCallback;

    /// A client and a server of tungstenite's own, joined byte by byte.
    struct Pair {
        client: Box<dyn Protocol>,
        server: Option<WebSocket<Pipe>>,
        shaking: Option<MidHandshake<ServerHandshake<Pipe, NoCallback>>>,
    }

    impl Pair {
        fn new(options: &str) -> Self {
            let mut client = simulated::client(&ROW, &format!("ws://127.0.0.1:1/game?{options}"), 1);
            client.handle_open(Time::ZERO);
            let shaking = match tungstenite::accept(Pipe::default()) {
                Err(HandshakeError::Interrupted(shaking)) => shaking,
                _ => panic!("a handshake without a request"),
            };
            let mut pair = Pair { client, server: None, shaking: Some(shaking) };
            pair.exchange(7);
            assert_eq!(pair.client.poll_event(), Some(Event::Connected));
            pair
        }

        fn exchange(&mut self, cut: usize) {
            let mut out = Vec::new();
            while self.client.poll_transmit(Time::ZERO, &mut out) {}
            match (self.shaking.take(), &mut self.server) {
                (Some(mut shaking), _) => {
                    shaking.get_mut().get_mut().incoming.extend(&out);
                    self.server = Some(shaking.handshake().unwrap_or_else(|_| panic!("the request is whole")));
                }
                (None, Some(server)) => server.get_mut().incoming.extend(&out),
                (None, None) => {}
            }
            let server = self.server.as_mut().expect("it is open");
            let back: Vec<u8> = server.get_mut().outgoing.drain(..).collect();
            back.chunks(cut).for_each(|part| self.client.handle_receive(Time::ZERO, part));
        }
    }

    #[test]
    fn messages_go_both_ways_however_the_stream_is_cut() {
        for cut in [1, 3, 1000] {
            let mut pair = Pair::new("kind=text");
            pair.client.send(Time::ZERO, Outgoing { channel: 0, delivery: None, data: b"hi" }).expect("accepted");
            pair.exchange(cut);
            let server = pair.server.as_mut().expect("open");
            assert_eq!(server.read().expect("a message"), Message::text("hi"));
            server.send(Message::binary(vec![5; 300])).expect("sent");
            server.send(Message::Ping(vec![1].into())).expect("sent");
            pair.exchange(cut);
            let Some(Event::Message { data, .. }) = pair.client.poll_event() else { panic!("no message") };
            assert_eq!(data.len(), 300);
            pair.exchange(cut);
            assert!(matches!(pair.server.as_mut().expect("open").read(), Ok(Message::Pong(_))));
        }
    }

    #[test]
    fn a_server_that_pings_and_reads_nothing_ends_the_connection() {
        let mut pair = Pair::new("");
        let server = pair.server.as_mut().expect("open");
        for _ in 0..20_000 {
            server.send(Message::Ping(vec![1; 125].into())).expect("sent");
            let pings: Vec<u8> = server.get_mut().outgoing.drain(..).collect();
            pair.client.handle_receive(Time::ZERO, &pings);
        }
        let Some(Event::Closed(ending)) = pair.client.poll_event() else { panic!("no end") };
        assert_eq!(ending.cause, Cause::Malformed, "{}", ending.text);
    }

    #[test]
    fn the_servers_code_is_told() {
        let mut pair = Pair::new("");
        let frame = CloseFrame { code: CloseCode::Library(4001), reason: "full".into() };
        pair.server.as_mut().expect("open").close(Some(frame)).expect("closed");
        pair.exchange(1);
        let Some(Event::Closed(ending)) = pair.client.poll_event() else { panic!("no end") };
        assert_eq!((ending.cause, ending.text.as_str()), (Cause::ByServer, "the server closed: code 4001: full"));
    }

    #[test]
    fn query_and_headers_of_the_target_are_in_the_request() {
        let url = "ws://127.0.0.1:1/game?query=room%3D7%26token%3Dx&authorization=Bearer%20y&origin=http://a";
        let mut client = super::super::simulated::client(&ROW, url, 1);
        client.handle_open(Time::ZERO);
        let mut out = Vec::new();
        client.poll_transmit(Time::ZERO, &mut out);
        let request = String::from_utf8_lossy(&out).to_lowercase();
        for part in ["get /game?room=7&token=x http/1.1", "authorization: bearer y", "origin: http://a"] {
            assert!(request.contains(part), "{part} in {request}");
        }
    }

    #[test]
    fn an_answer_that_is_no_handshake_ends_the_connection() {
        for (answer, cause) in [
            (&b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"[..], Cause::Refused),
            (b"SSH-2.0-OpenSSH\r\n\r\n", Cause::Malformed),
        ] {
            let mut client = simulated::client(&ROW, "ws://127.0.0.1:1", 1);
            client.handle_open(Time::ZERO);
            client.handle_receive(Time::ZERO, answer);
            let Some(Event::Closed(ending)) = client.poll_event() else { panic!("no end") };
            assert_eq!(ending.cause, cause, "{}", ending.text);
        }
    }
}
