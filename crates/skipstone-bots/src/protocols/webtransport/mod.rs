//! WebTransport over HTTP/3, as pages use it: channel 0 has datagrams; channel 1 a stream in both directions, which the
//! bot opens with its first message, framed as those of TCP are; channel 2 a stream for each message. Streams that the
//! server opens have a message each, on channel 2.
//!
//! ```text
//! client > { entrance inbox } > outbox > quic
//! ```

mod entrance;
mod inbox;
mod outbox;
mod quic;
#[cfg(test)]
mod tests;

use super::lifecycle::Lifecycle;
use super::row::{Carrier, Opening, ProtocolRow};
use super::tcp;
use crate::protocol::{
    Cause, Delivery, Ending, Event, Outgoing, Protocol, ProtocolCounts, ProtocolFigures, SendRefused, SocketEnd,
};
use crate::target::{BotTarget, TargetError};
use crate::tls::TlsSettings;
use core::time::Duration;
use entrance::{Entrance, Said};
use inbox::{Inbox, Taken};
use outbox::Outbox;
use quic::{Chunk, DATAGRAMS_QUEUED_MAX, QuicLink, ending_of};
use quinn_proto::{Event as QuicEvent, SendDatagramError, StreamEvent, StreamId};
use skipstone_proto::Time;
use std::sync::Arc;
use web_transport_proto::http::{HeaderValue, header::ORIGIN};
use web_transport_proto::{ConnectRequest, VarInt};

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
    lifecycle: Lifecycle,
    tls: Arc<rustls::ClientConfig>,
    name: String,
    seed: u64,
    quic: Option<Box<QuicLink>>,
    entrance: Entrance,
    /// The framing of the one stream.
    framing: Box<dyn Protocol>,
    outbox: Outbox,
    inbox: Inbox,
    counts: ProtocolCounts,
    /// As QUIC had it after the last call.
    deadline: Option<Time>,
    /// When the session must be open; `None` once it is.
    open_by: Option<Time>,
}

impl WebTransportClient {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        let target = opening.target;
        let wrong = |why: String| TargetError::BadTarget(target.url.clone(), why);
        // The framing of any bytes knows no longest message; messages with streams of their own do.
        let mut framing = target.clone();
        if target.option("frame", "raw") == "raw" {
            framing.options.remove("max");
        }
        let settings = TlsSettings::of(target)?;
        let mut tls = rustls::ClientConfig::clone(&settings.config().map_err(wrong)?.0);
        tls.alpn_protocols = vec![b"h3".to_vec()];
        Ok(Box::new(WebTransportClient {
            lifecycle: Lifecycle::default(),
            tls: Arc::new(tls),
            name: settings.name,
            seed: opening.seed,
            quic: None,
            entrance: Entrance::new(&request(target)?).map_err(wrong)?,
            framing: (tcp::ROW.new)(&Opening { target: &framing, ..*opening })?,
            outbox: Outbox::default(),
            inbox: Inbox::new(target.number("max", 1 << 20, 1..=1 << 30)? as usize),
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
        self.lifecycle.end(ending.cause, ending.text);
    }

    fn on_said(&mut self, now: Time, said: Said) {
        match said {
            Said::Nothing => {}
            Said::Granted => {
                self.open_by = None;
                self.lifecycle.open();
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
                    self.lifecycle.end(cause, text);
                }
                QuicEvent::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = self.quic.as_mut().and_then(|quic| quic.connection.streams().accept(dir)) {
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
                Ok(quarter) if Some(quarter.into_inner()) == session => self.lifecycle.message(DATAGRAMS, datagram),
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
        } else if Some(id) == self.outbox.stream() {
            self.framing.handle_receive(now, &chunk.bytes);
            if chunk.is_last {
                self.framing.handle_end(now, SocketEnd::Finished);
            }
            self.take_framed(now);
        } else {
            self.on_incoming(now, id, chunk);
        }
    }

    fn take_framed(&mut self, now: Time) {
        while let Some(event) = self.framing.poll_event() {
            match event {
                Event::Connected => {}
                Event::Message { data, .. } => self.lifecycle.message(STREAM, data),
                Event::Closed(ending) if ending.cause == Cause::Malformed => self.end(now, ending),
                Event::Closed(_) => self.end(now, Ending::new(Cause::ByServer, "the server ended the stream")),
            }
        }
    }

    /// A stream that the server has opened: one of HTTP/3, or a message.
    fn on_incoming(&mut self, now: Time, id: StreamId, chunk: &Chunk) {
        match self.inbox.take(id, &chunk.bytes, chunk.is_last, self.entrance.session()) {
            Taken::Nothing => {}
            Taken::Message(message) => self.lifecycle.message(STREAMS, message),
            Taken::Invalid => self.counts.invalid += 1,
            Taken::TooLong => {
                let text = "messages on streams are longer than max: give the target a larger one";
                self.end(now, Ending::new(Cause::Malformed, text));
            }
            Taken::Control(bytes) => {
                let Some(quic) = &mut self.quic else { return };
                let said = self.entrance.on_control(quic, &bytes);
                if self.entrance.session().is_some() {
                    self.inbox.ignore(id);
                } else if bytes.len() > SETTINGS_MAX {
                    self.end(now, Ending::new(Cause::Malformed, "the server's settings are too long"));
                }
                self.on_said(now, said);
            }
        }
    }

    /// Writes what waits, as far as flow control allows.
    fn write(&mut self, now: Time) {
        if let Some(quic) = &mut self.quic {
            self.outbox.write(quic, &mut *self.framing, now);
        }
    }
}

impl Protocol for WebTransportClient {
    fn handle_open(&mut self, now: Time) {
        self.lifecycle.begin();
        if self.quic.is_some() {
            return;
        }
        match QuicLink::new(now, Arc::clone(&self.tls), &self.name, self.seed) {
            Ok(quic) => {
                self.quic = Some(Box::new(quic));
                self.open_by = Some(now + OPEN_MAX);
            }
            Err(why) => self.lifecycle.end(Cause::Unreachable, why),
        }
    }

    fn handle_receive(&mut self, now: Time, bytes: &[u8]) {
        if let Some(quic) = &mut self.quic {
            quic.handle_receive(now, bytes);
            self.advance(now);
        }
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
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
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        [self.deadline, self.open_by].into_iter().flatten().min()
    }

    fn send(&mut self, now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        if !self.lifecycle.is_open() {
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
        let (Some(quic), Some(session)) = (&mut self.quic, self.entrance.session()) else {
            return Err(SendRefused::NotConnected);
        };
        match message.channel {
            DATAGRAMS => send_datagram(quic, session, message.data),
            STREAM => {
                self.outbox.open_stream(quic, session)?;
                self.framing.send(now, Outgoing { channel: 0, delivery: None, data: message.data })
            }
            _ => self.outbox.push(session, message.data),
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
        ProtocolFigures { rtt: Some(quic.connection.rtt()).filter(|_| self.lifecycle.is_open()), counts }
    }
}

fn send_datagram(quic: &mut QuicLink, session: StreamId, data: &[u8]) -> Result<(), SendRefused> {
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
            let space = quic.connection.datagrams().send_buffer_space();
            Err(SendRefused::QueueFull { queued: DATAGRAMS_QUEUED_MAX.saturating_sub(space) })
        }
        Err(_) => Err(SendRefused::Unwritable("the server takes no datagrams")),
    }
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
/// Bytes of the server's settings.
const SETTINGS_MAX: usize = 64 << 10;
