//! WebTransport over HTTP/3, as pages use it: channel 0 has datagrams; channel 1 a stream in both directions, which the
//! bot opens with its first message, framed as those of TCP are; channel 2 a stream for each message. Streams that the
//! server opens have a message each, on channel 2.
//!
//! ```text
//! client > entrance > quic
//! ```

mod entrance;
mod quic;
#[cfg(test)]
mod tests;

use super::connection_state::ConnectionState;
use super::row::{Carrier, Opening, ProtocolRow};
use super::tcp;
use crate::protocol::{
    Cause, Delivery, Ending, Event, Outgoing, Protocol, ProtocolCounts, ProtocolFigures, QUEUE_BYTES_MAX, SendRefused,
    SocketEnd,
};
use crate::target::{BotTarget, TargetError};
use crate::tls::TlsSettings;
use bytes::{Buf, Bytes};
use core::time::Duration;
use entrance::{Entrance, Said};
use quic::{Chunk, QuicLink, ending_of};
use quinn_proto::{Dir, Event as QuicEvent, SendDatagramError, StreamEvent, StreamId};
use skipstone_proto::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use web_transport_proto::http::{HeaderValue, header::ORIGIN};
use web_transport_proto::{ConnectRequest, StreamUni, VarInt};

pub(super) const ROW: ProtocolRow = ProtocolRow {
    scheme: "https",
    carrier: Carrier::Datagrams,
    about: "WebTransport over HTTP/3: datagrams (channel 0), one stream (1), a stream for each message (2)",
    options: &[
        ("/path", "of the session, default /"),
        ("query", "of the session, percent-encoded: query=token%3Dabc"),
        ("origin", "header of the request, as pages send it"),
        ("frame", "of the one stream: raw (default), lines, or length: a length before each message"),
        ("bytes", "with frame=length: bytes of the length, 1, 2 or 4 (default)"),
        ("order", "with frame=length: big (default) or little"),
        ("max", "longest message that the server may send (default 1048576)"),
        ("#sha256=...", "the fingerprint of the one certificate to trust, whatever its name"),
        ("trust", "system (default), or anyone: for tests on your own machine"),
        ("name", "server name to ask for (SNI) and to find in the certificate (default: the host)"),
    ],
    new: WebTransportClient::create,
};

/// A client of one session.
struct WebTransportClient {
    state: ConnectionState,
    tls: Arc<rustls::ClientConfig>,
    name: String,
    seed: u64,
    quic: Option<Box<QuicLink>>,
    entrance: Entrance,
    /// The framing of the one stream.
    framing: Box<dyn Protocol>,
    stream: Option<StreamId>,
    /// Bytes of it that flow control holds back.
    stream_rest: VecDeque<u8>,
    /// Messages with streams of their own that are not sent whole.
    messages: VecDeque<OwnStream>,
    messages_bytes: usize,
    /// Streams of the server that have not ended.
    incoming: BTreeMap<StreamId, Vec<u8>>,
    /// Those whose bytes mean nothing here.
    ignored: BTreeSet<StreamId>,
    message_max: usize,
    counts: ProtocolCounts,
    /// As QUIC had it after the last call.
    deadline: Option<Time>,
    /// When the session must be open; `None` once it is.
    open_by: Option<Time>,
}

/// A message on a stream of its own, with what goes before it.
struct OwnStream {
    id: Option<StreamId>,
    bytes: Vec<u8>,
    sent: usize,
}

impl WebTransportClient {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        let target = opening.target;
        let wrong = |why: String| TargetError::BadTarget(target.url.clone(), why);
        let settings = TlsSettings::of(target)?;
        let mut tls = rustls::ClientConfig::clone(&settings.config().map_err(wrong)?.0);
        tls.alpn_protocols = vec![b"h3".to_vec()];
        Ok(Box::new(WebTransportClient {
            state: ConnectionState::default(),
            tls: Arc::new(tls),
            name: settings.name,
            seed: opening.seed,
            quic: None,
            entrance: Entrance::new(&request(target)?).map_err(wrong)?,
            framing: (tcp::ROW.new)(opening)?,
            stream: None,
            stream_rest: VecDeque::new(),
            messages: VecDeque::new(),
            messages_bytes: 0,
            incoming: BTreeMap::new(),
            ignored: BTreeSet::new(),
            message_max: target.number("max", 1 << 20, 1..=1 << 30)? as usize,
            counts: ProtocolCounts::default(),
            deadline: None,
            open_by: None,
        }))
    }

    /// The session is over, for this reason.
    fn end(&mut self, now: Time, ending: Ending) {
        if let Some(quic) = &mut self.quic {
            quic.close(now);
        }
        self.open_by = None;
        self.state.end(ending.cause, ending.text);
    }

    fn on_said(&mut self, now: Time, said: Said) {
        match said {
            Said::Nothing => {}
            Said::Granted => {
                self.open_by = None;
                self.state.connected();
                self.framing.handle_open(now);
            }
            Said::Over(ending) => self.end(now, ending),
        }
    }

    /// Takes what QUIC has to say, then writes what it has room for.
    fn advance(&mut self, now: Time) {
        while let Some(event) = self.quic.as_mut().and_then(|quic| quic.connection.poll()) {
            match event {
                QuicEvent::Connected => {
                    let quic = self.quic.as_mut().expect("it has an event");
                    self.entrance.begin(quic);
                }
                QuicEvent::ConnectionLost { reason } => {
                    let Ending { cause, text } = ending_of(&reason);
                    self.open_by = None;
                    self.state.end(cause, text);
                }
                QuicEvent::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = self.quic.as_mut().and_then(|quic| quic.connection.streams().accept(dir)) {
                        self.incoming.insert(id, Vec::new());
                        self.read(now, id);
                    }
                }
                QuicEvent::Stream(StreamEvent::Readable { id }) => self.read(now, id),
                QuicEvent::DatagramReceived => self.take_datagrams(),
                _ => {}
            }
        }
        self.write(now);
    }

    fn take_datagrams(&mut self) {
        let Some(quic) = &mut self.quic else { return };
        while let Some(mut datagram) = quic.connection.datagrams().recv() {
            let session = self.entrance.session().map(|id| u64::from(id) / 4);
            match VarInt::decode(&mut datagram) {
                Ok(quarter) if Some(quarter.into_inner()) == session => self.state.message(DATAGRAMS, datagram),
                _ => self.counts.invalid += 1,
            }
        }
    }

    fn read(&mut self, now: Time, id: StreamId) {
        loop {
            let Some(quic) = &mut self.quic else { return };
            let chunk = quic.read(id, READ_MAX);
            let is_read = chunk.bytes.len() < READ_MAX;
            self.on_chunk(now, id, &chunk);
            if is_read || chunk.is_last {
                return;
            }
        }
    }

    fn on_chunk(&mut self, now: Time, id: StreamId, chunk: &Chunk) {
        if Some(id) == self.entrance.session() {
            let said = self.entrance.on_answer(&chunk.bytes, chunk.is_last);
            let is_granted = said == Said::Granted;
            self.on_said(now, said);
            if is_granted {
                // What came with the answer.
                let said = self.entrance.on_answer(&[], chunk.is_last);
                self.on_said(now, said);
            }
        } else if Some(id) == self.stream {
            self.framing.handle_receive(now, &chunk.bytes);
            if chunk.is_last {
                self.framing.handle_end(now, SocketEnd::Finished);
            }
            self.take_framed(now);
        } else if !self.ignored.contains(&id) {
            self.incoming.entry(id).or_default().extend(&chunk.bytes);
            self.on_incoming(now, id, chunk.is_last);
        }
        if chunk.is_last {
            self.ignored.remove(&id);
            self.incoming.remove(&id);
        }
    }

    fn take_framed(&mut self, now: Time) {
        while let Some(event) = self.framing.poll_event() {
            match event {
                Event::Connected => {}
                Event::Message { data, .. } => self.state.message(STREAM, data),
                Event::Closed(ending) if ending.cause == Cause::Malformed => self.end(now, ending),
                Event::Closed(_) => self.end(now, Ending::new(Cause::ByServer, "the server ended the stream")),
            }
        }
    }

    /// A stream that the server has opened: one of HTTP/3, or a message.
    fn on_incoming(&mut self, now: Time, id: StreamId, is_last: bool) {
        let Some(bytes) = self.incoming.get(&id) else { return };
        let mut rest = &bytes[..];
        let Ok(kind) = VarInt::decode(&mut rest) else { return };
        if id.dir() == Dir::Uni && kind == StreamUni::CONTROL.0 {
            let quic = self.quic.as_mut().expect("it has a stream");
            let said = self.entrance.on_control(quic, bytes);
            if self.entrance.session().is_some() {
                self.ignore(id);
            } else if bytes.len() > HEAD_MAX {
                self.end(now, Ending::new(Cause::Malformed, "the server's settings are too long"));
            }
            return self.on_said(now, said);
        }
        let of_session = if id.dir() == Dir::Uni { 0x54 } else { 0x41 };
        if kind.into_inner() != of_session {
            return self.ignore(id);
        }
        let Ok(session) = VarInt::decode(&mut rest) else { return };
        if self.entrance.session().map(u64::from) != Some(session.into_inner()) {
            self.counts.invalid += 1;
            return self.ignore(id);
        }
        if is_last && rest.len() <= self.message_max {
            let message = Bytes::copy_from_slice(rest);
            return self.state.message(STREAMS, message);
        }
        // One that is too long, or many that do not end.
        let held: usize = self.incoming.values().map(Vec::len).sum();
        if rest.len() > self.message_max || held > self.message_max + UNFINISHED_MAX {
            let max = self.message_max;
            let text = format!("messages on streams of more than {max} bytes");
            self.end(now, Ending::new(Cause::Malformed, text));
        }
    }

    /// Forgets a stream, whose bytes are read and dropped.
    fn ignore(&mut self, id: StreamId) {
        self.incoming.remove(&id);
        self.ignored.insert(id);
    }

    /// Writes what waits, as far as flow control allows.
    fn write(&mut self, now: Time) {
        let Some(quic) = &mut self.quic else { return };
        if let Some(id) = self.stream {
            loop {
                if self.stream_rest.is_empty() {
                    let mut chunk = Vec::new();
                    if !self.framing.poll_transmit(now, &mut chunk) {
                        break;
                    }
                    self.stream_rest.extend(chunk);
                }
                let (front, _) = self.stream_rest.as_slices();
                match quic.write(id, front) {
                    Some(0) => break,
                    Some(count) => self.stream_rest.advance(count),
                    // The server does not read the stream any more.
                    None => {
                        self.stream_rest.clear();
                        break;
                    }
                }
            }
        }
        while let Some(message) = self.messages.front_mut() {
            if message.id.is_none() {
                message.id = quic.connection.streams().open(Dir::Uni);
            }
            // Without one, the server allows no further stream now.
            let Some(id) = message.id else { return };
            match quic.write(id, &message.bytes[message.sent..]) {
                Some(count) if message.sent + count < message.bytes.len() => {
                    message.sent += count;
                    if count == 0 {
                        return;
                    }
                }
                _ => {
                    quic.finish(id);
                    self.messages_bytes -= message.bytes.len();
                    self.messages.pop_front();
                }
            }
        }
    }

    fn send_datagram(&mut self, data: &[u8]) -> Result<(), SendRefused> {
        let (Some(quic), Some(session)) = (&mut self.quic, self.entrance.session()) else {
            return Err(SendRefused::NotConnected);
        };
        let mut datagram = Vec::with_capacity(data.len() + 8);
        VarInt::from_u64(u64::from(session) / 4).expect("streams have 62 bits").encode(&mut datagram);
        let max = quic.connection.datagrams().max_size().unwrap_or(0).saturating_sub(datagram.len());
        if data.len() > max {
            return Err(SendRefused::TooLong { size: data.len(), max });
        }
        datagram.extend_from_slice(data);
        match quic.connection.datagrams().send(datagram.into(), false) {
            Ok(()) => Ok(()),
            Err(SendDatagramError::Blocked(_)) => {
                let queued = QUEUE_BYTES_MAX - quic.connection.datagrams().send_buffer_space().min(QUEUE_BYTES_MAX);
                Err(SendRefused::QueueFull { queued })
            }
            Err(_) => Err(SendRefused::Unwritable("the server takes no datagrams")),
        }
    }

    fn send_on_own_stream(&mut self, data: &[u8]) -> Result<(), SendRefused> {
        let Some(session) = self.entrance.session() else { return Err(SendRefused::NotConnected) };
        if self.messages_bytes + data.len() > QUEUE_BYTES_MAX {
            return Err(SendRefused::QueueFull { queued: self.messages_bytes });
        }
        let mut bytes = head(0x54, session);
        bytes.extend_from_slice(data);
        self.messages_bytes += bytes.len();
        self.messages.push_back(OwnStream { id: None, bytes, sent: 0 });
        Ok(())
    }

    /// Opens the one stream, unless it is open.
    fn open_stream(&mut self) -> Result<(), SendRefused> {
        let (Some(quic), Some(session)) = (&mut self.quic, self.entrance.session()) else {
            return Err(SendRefused::NotConnected);
        };
        if self.stream.is_none() {
            let id = quic.connection.streams().open(Dir::Bi);
            self.stream = Some(id.ok_or(SendRefused::Unwritable("the server allows no stream now"))?);
            self.stream_rest.extend(head(0x41, session));
        }
        Ok(())
    }
}

impl Protocol for WebTransportClient {
    fn handle_open(&mut self, now: Time) {
        self.state.connecting();
        if self.quic.is_some() {
            return;
        }
        match QuicLink::new(now, Arc::clone(&self.tls), &self.name, self.seed) {
            Ok(quic) => {
                self.quic = Some(Box::new(quic));
                self.open_by = Some(now + OPEN_MAX);
            }
            Err(why) => self.state.end(Cause::Unreachable, why),
        }
    }

    fn handle_receive(&mut self, now: Time, bytes: &[u8]) {
        if let Some(quic) = &mut self.quic {
            quic.handle_receive(now, bytes);
            self.advance(now);
        }
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.state.socket_ended(end);
    }

    fn handle_deadline(&mut self, now: Time) {
        if let Some(quic) = &mut self.quic {
            quic.handle_deadline(now);
            self.advance(now);
        }
        // QUIC itself keeps a connection alive on which nothing happens.
        if self.open_by.is_some_and(|until| until <= now) {
            self.end(now, Ending::new(Cause::TimedOut, "the server did not open a session in time"));
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.write(now);
        let Some(quic) = &mut self.quic else { return false };
        let is_sent = quic.poll_transmit(now, out);
        if !is_sent {
            self.deadline = quic.deadline();
        }
        is_sent
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.state.poll_event()
    }

    fn deadline(&self) -> Option<Time> {
        [self.deadline, self.open_by].into_iter().flatten().min()
    }

    fn send(&mut self, now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        if !self.state.is_open() {
            return Err(SendRefused::NotConnected);
        }
        let (own, name) = match message.channel {
            DATAGRAMS => (Delivery::Unreliable, "unreliable on channel 0"),
            STREAM => (Delivery::ReliableOrdered, "reliable on channel 1"),
            STREAMS => (Delivery::ReliableUnordered, "reliable-unordered on channel 2"),
            channel => return Err(SendRefused::NoChannel { channel, max: STREAMS }),
        };
        if message.delivery.is_some_and(|delivery| delivery != own) {
            return Err(SendRefused::NoDelivery(name));
        }
        match message.channel {
            DATAGRAMS => self.send_datagram(message.data),
            STREAM => {
                self.open_stream()?;
                self.framing.send(now, Outgoing { channel: 0, delivery: None, data: message.data })
            }
            _ => self.send_on_own_stream(message.data),
        }
    }

    fn close(&mut self, now: Time) {
        self.write(now);
        self.end(now, Ending::new(Cause::Closed, "closed by the bot"));
    }

    fn figures(&self) -> ProtocolFigures {
        let Some(quic) = &self.quic else { return ProtocolFigures::default() };
        let path = quic.connection.stats().path;
        let counts = ProtocolCounts { retransmitted: path.lost_packets, ..self.counts };
        ProtocolFigures { rtt: Some(quic.connection.rtt()).filter(|_| self.state.is_open()), counts }
    }
}

/// What goes before the content of a stream of the session.
fn head(kind: u32, session: StreamId) -> Vec<u8> {
    let mut bytes = Vec::new();
    VarInt::from_u32(kind).encode(&mut bytes);
    VarInt::from_u64(u64::from(session)).expect("streams have 62 bits").encode(&mut bytes);
    bytes
}

fn request(target: &BotTarget) -> Result<ConnectRequest, TargetError> {
    let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
    let path = if target.path.is_empty() { "/" } else { &target.path };
    let query = target.options.get("query").map(|query| format!("?{query}")).unwrap_or_default();
    let url = url::Url::parse(&format!("https://{host}:{}{path}{query}", target.port));
    let url = url.map_err(|error| TargetError::BadTarget(target.url.clone(), error.to_string()))?;
    let request = ConnectRequest::new(url);
    let Some(origin) = target.options.get("origin") else { return Ok(request) };
    let value = HeaderValue::from_str(origin).map_err(|error| target.bad_option("origin", error.to_string()))?;
    Ok(request.with_header(ORIGIN, value))
}

const DATAGRAMS: u16 = 0;
const STREAM: u16 = 1;
const STREAMS: u16 = 2;
/// From the first datagram to the session.
const OPEN_MAX: Duration = Duration::from_secs(10);
/// Bytes of a stream that are taken at a time.
const READ_MAX: usize = 64 << 10;
/// Bytes of messages that have begun, beside the longest.
const UNFINISHED_MAX: usize = 4 << 20;
/// Bytes before a message, and of the server's settings.
const HEAD_MAX: usize = 64 << 10;
