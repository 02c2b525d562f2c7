//! HTTP/3 on one QUIC connection, and the one WebTransport session in it: settings, streams, request, the session's
//! end. Datagrams arrive as such, or each after its length on unidirectional streams of the session; its other streams
//! are refused. QPACK streams are read and ignored, because this side announces an empty dynamic table.

use super::capsules::Capsules;
use super::config::{DATAGRAM_STREAMS_MAX, GRANTED_UNI_STREAMS_MAX};
use super::pieces::{StreamPieces, TooMany};
use super::records::RecordReader;
use super::request::{PageRules, REQUEST_BYTES_MAX, RequestVerdict, answer, judge};
use bytes::{Bytes, BytesMut};
use quinn_proto::{Connection, Dir, StreamId, VarInt};
use skipstone_proto::{Duration, Time};
use std::collections::BTreeMap;
use web_transport_proto::http::StatusCode;
use web_transport_proto::{Capsule, Frame, Setting, Settings, SettingsError, StreamUni};

/// The state of a connection above QUIC.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The client's streams that are open.
    streams: BTreeMap<StreamId, Stream>,
    /// The client's SETTINGS have arrived; before them no request is granted.
    has_settings: bool,
    /// The CONNECT stream of the session.
    connect: Option<StreamId>,
    /// The protocol's connection was accepted, and is charged for the bytes that the streams hold.
    pub(super) is_player: bool,
    /// The prefix of each datagram of the session: its id divided by four (RFC 9297, section 2.1).
    prefix: Vec<u8>,
    /// Datagrams that arrived on streams and were not taken yet.
    pub(super) came: Vec<BytesMut>,
    /// Requests and streams that were refused.
    pub(super) refused: u64,
}

/// A client's stream.
#[derive(Debug)]
struct Stream {
    inbound: Inbound,
    pieces: StreamPieces,
    /// The time at which it was opened.
    since: Time,
}

/// The kind of a stream, as far as it is known.
#[derive(Debug)]
enum Inbound {
    /// A unidirectional stream whose type is not known yet, or the control stream until its SETTINGS are complete.
    Beginning(Vec<u8>),
    /// The control stream after its SETTINGS.
    Control,
    /// A QPACK stream, or a stream of a session that has ended: its bytes are discarded.
    Ignored,
    /// A bidirectional stream whose request is not complete yet.
    Request(Vec<u8>),
    /// The CONNECT stream of the session.
    Connect(Capsules),
    /// A stream of the session that carries datagrams.
    Datagrams(RecordReader),
}

impl Inbound {
    /// Whether received bytes are kept until they are complete.
    fn is_kept(&self) -> bool {
        matches!(self, Inbound::Beginning(_) | Inbound::Request(_))
    }
}

/// Why a connection or its session ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The client closed the session, possibly with a reason.
    Closed(String),
    /// The client breaks a rule of HTTP/3: QUIC's connection ends with this code.
    Breach(u32, &'static str),
}

/// Maximum bytes of SETTINGS.
const SETTINGS_BYTES_MAX: usize = 4 << 10;
/// Maximum incomplete bytes of all streams of a client that is no player.
pub(super) const KEPT_BYTES_MAX: usize = REQUEST_BYTES_MAX + SETTINGS_BYTES_MAX;
/// Maximum memory of early pieces on a stream of a player.
const PLAYERS_EARLY_BYTES: usize = 256 << 10;
/// Bytes that are read at once.
const READ_BYTES: usize = 4 << 10;
/// Memory of a stream here and in QUIC, in addition to its bytes.
const STREAM_BYTES: usize = 1 << 10;
/// Time limit for the type of a stream.
const BEGINNING_LIFE: Duration = Duration::from_secs(3);

/// Error codes of HTTP/3 (RFC 9114, section 8.1), QPACK (RFC 9204, section 6) and WebTransport.
pub(super) const NO_ERROR: u32 = 0x100;
pub(super) const EXCESSIVE_LOAD: u32 = 0x107;
const STREAM_CREATION_ERROR: u32 = 0x103;
const CLOSED_CRITICAL_STREAM: u32 = 0x104;
const FRAME_UNEXPECTED: u32 = 0x105;
const SETTINGS_ERROR: u32 = 0x109;
const MISSING_SETTINGS: u32 = 0x10a;
const REQUEST_REJECTED: u32 = 0x10b;
/// Error code of HTTP datagrams (RFC 9297, section 5.2).
const DATAGRAM_ERROR: u32 = 0x33;
const REQUEST_INCOMPLETE: u32 = 0x10d;
const MESSAGE_ERROR: u32 = 0x10e;
const BUFFERED_STREAM_REJECTED: u32 = 0x3994_bd84;

impl Session {
    /// Whether the session was granted.
    pub(super) fn is_open(&self) -> bool {
        self.connect.is_some()
    }

    /// The prefix of each datagram.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The handshake is complete: sends this side's settings, for both of the drafts that browsers implement.
    pub(super) fn begin(&mut self, connection: &mut Connection) {
        let mut settings = Settings::default();
        settings.enable_webtransport(1);
        let mut bytes = Vec::new();
        settings.encode(&mut bytes);
        // A client that allows no stream gets no settings, and will make no request.
        if let Some(id) = connection.streams().open(Dir::Uni) {
            write(connection, id, &bytes);
        }
    }

    /// Takes the client's new streams.
    pub(super) fn on_opened(
        &mut self,
        now: Time,
        connection: &mut Connection,
        dir: Dir,
        rules: &PageRules,
    ) -> Result<(), End> {
        while let Some(id) = connection.streams().accept(dir) {
            let inbound = if dir == Dir::Uni { Inbound::Beginning(Vec::new()) } else { Inbound::Request(Vec::new()) };
            self.streams.insert(id, Stream { inbound, pieces: StreamPieces::default(), since: now });
            self.on_readable(connection, id, rules)?;
        }
        Ok(())
    }

    /// Reads a stream.
    pub(super) fn on_readable(
        &mut self,
        connection: &mut Connection,
        id: StreamId,
        rules: &PageRules,
    ) -> Result<(), End> {
        while self.streams.contains_key(&id) {
            let mut next = match read(connection, id) {
                Some(Read::Piece(offset, bytes)) => match self.push(id, offset, bytes) {
                    Ok(next) => next,
                    Err(TooMany) => {
                        self.refuse_counted(connection, id, EXCESSIVE_LOAD);
                        return Ok(());
                    }
                },
                Some(Read::Over) => return self.on_over(connection, id),
                None => break,
            };
            while let Some(bytes) = next {
                self.on_bytes(connection, id, &bytes, rules)?;
                next = self.streams.get_mut(&id).and_then(|stream| stream.pieces.pop());
            }
        }
        Ok(())
    }

    /// Adds a piece, which may have arrived early, to its stream. Before the protocol's connection is accepted, all
    /// streams together may hold [`KEPT_BYTES_MAX`]; that stays the limit for requests and streams of unknown type.
    /// After it is accepted, each other stream may hold [`PLAYERS_EARLY_BYTES`], more than a path carries while a loss
    /// is repaired, and the connection is charged for them.
    fn push(&mut self, id: StreamId, offset: u64, bytes: Bytes) -> Result<Option<Bytes>, TooMany> {
        let kept = self.kept_bytes();
        let Some(stream) = self.streams.get_mut(&id) else { return Ok(None) };
        let room = match self.is_player && !stream.inbound.is_kept() {
            true => PLAYERS_EARLY_BYTES.saturating_sub(stream.pieces.held_bytes()),
            false => KEPT_BYTES_MAX.saturating_sub(kept),
        };
        stream.pieces.push(offset, bytes, room)
    }

    /// When to call [`Session::refuse_stale`]; [`Time::NEVER`] if the type of each stream is known.
    pub(super) fn due(&self) -> Time {
        let unknown = self.streams.values().filter(|stream| stream.inbound.is_kept());
        unknown.map(|stream| stream.since + BEGINNING_LIFE).min().unwrap_or(Time::NEVER)
    }

    /// Refuses streams whose type has not arrived in time.
    pub(super) fn refuse_stale(&mut self, now: Time, connection: &mut Connection) {
        let is_stale = |stream: &Stream| stream.inbound.is_kept() && stream.since + BEGINNING_LIFE <= now;
        let stale = self.streams.iter().filter(|(_, stream)| is_stale(stream));
        let stale: Vec<StreamId> = stale.map(|(id, _)| *id).collect();
        stale.into_iter().for_each(|id| self.refuse_counted(connection, id, EXCESSIVE_LOAD));
    }

    /// The kind of an open stream.
    fn inbound(&mut self, id: StreamId) -> Option<&mut Inbound> {
        self.streams.get_mut(&id).map(|stream| &mut stream.inbound)
    }

    /// Sets the kind of a stream.
    fn settle(&mut self, id: StreamId, kind: Inbound) {
        if let Some(inbound) = self.inbound(id) {
            *inbound = kind;
        }
    }

    fn on_bytes(
        &mut self,
        connection: &mut Connection,
        id: StreamId,
        bytes: &[u8],
        rules: &PageRules,
    ) -> Result<(), End> {
        let is_kept = self.inbound(id).is_some_and(|inbound| inbound.is_kept());
        if is_kept && self.kept_bytes() + bytes.len() > KEPT_BYTES_MAX {
            self.refuse_counted(connection, id, EXCESSIVE_LOAD);
            return Ok(());
        }
        self.read_bytes(connection, id, bytes, rules)?;
        // Datagrams and capsules are only kept as far as they are incomplete.
        if self.is_player || self.kept_bytes() <= KEPT_BYTES_MAX {
            return Ok(());
        }
        if self.is_connect(id) {
            return Err(End::Breach(EXCESSIVE_LOAD, "too much that is incomplete"));
        }
        self.refuse_counted(connection, id, EXCESSIVE_LOAD);
        Ok(())
    }

    fn read_bytes(
        &mut self,
        connection: &mut Connection,
        id: StreamId,
        bytes: &[u8],
        rules: &PageRules,
    ) -> Result<(), End> {
        match self.streams.get_mut(&id).map(|stream| &mut stream.inbound) {
            Some(Inbound::Beginning(buffer)) => {
                append(buffer, bytes);
                let had_settings = self.has_settings;
                self.on_beginning(connection, id)?;
                if self.has_settings && !had_settings {
                    self.on_settings(connection, rules)?;
                }
                Ok(())
            }
            Some(Inbound::Request(buffer)) => {
                append(buffer, bytes);
                self.on_request(connection, id, rules)
            }
            Some(Inbound::Connect(capsules)) => match capsules.handle(bytes) {
                Ok(None) => Ok(()),
                Ok(Some(close)) => Err(End::Closed(close.reason)),
                Err(_) => Err(End::Breach(MESSAGE_ERROR, "a capsule that cannot be")),
            },
            Some(Inbound::Datagrams(records)) => {
                if records.handle(bytes, &mut self.came).is_err() {
                    self.refuse_counted(connection, id, DATAGRAM_ERROR);
                }
                Ok(())
            }
            Some(Inbound::Control | Inbound::Ignored) | None => Ok(()),
        }
    }

    /// Handles the beginning of a unidirectional stream, once its type is complete.
    fn on_beginning(&mut self, connection: &mut Connection, id: StreamId) -> Result<(), End> {
        let Some(Inbound::Beginning(buffer)) = self.inbound(id) else { return Ok(()) };
        let mut bytes = &buffer[..];
        let Ok(kind) = StreamUni::decode(&mut bytes) else { return Ok(()) };
        match kind {
            StreamUni::CONTROL => self.on_control(id),
            StreamUni::QPACK_ENCODER | StreamUni::QPACK_DECODER => {
                self.settle(id, Inbound::Ignored);
                Ok(())
            }
            StreamUni::WEBTRANSPORT => {
                let Ok(session) = web_transport_proto::VarInt::decode(&mut bytes) else { return Ok(()) };
                let rest = bytes.to_vec();
                self.on_datagrams(connection, id, session.into_inner(), &rest);
                Ok(())
            }
            _ => {
                // Grease (RFC 9114, section 7.2.8) does not count as a refused stream.
                self.refused += u64::from(!kind.is_grease());
                self.refuse(connection, id, STREAM_CREATION_ERROR);
                Ok(())
            }
        }
    }

    /// Handles the beginning of a session's stream, with these bytes after its head: the stream carries datagrams, if
    /// it names this session.
    fn on_datagrams(&mut self, connection: &mut Connection, id: StreamId, session: u64, bytes: &[u8]) {
        let count = self.streams.values().filter(|stream| matches!(stream.inbound, Inbound::Datagrams(_))).count();
        let is_ours = self.connect.is_some_and(|connect| u64::from(connect) == session);
        let mut records = RecordReader::default();
        let refusal = if !is_ours || count >= DATAGRAM_STREAMS_MAX {
            Some(BUFFERED_STREAM_REJECTED)
        } else {
            records.handle(bytes, &mut self.came).is_err().then_some(DATAGRAM_ERROR)
        };
        match refusal {
            None => self.settle(id, Inbound::Datagrams(records)),
            Some(code) => self.refuse_counted(connection, id, code),
        }
    }

    fn on_control(&mut self, id: StreamId) -> Result<(), End> {
        let has_other = self.streams.values().any(|stream| matches!(stream.inbound, Inbound::Control));
        let Some(Inbound::Beginning(buffer)) = self.inbound(id) else { return Ok(()) };
        if has_other {
            return Err(End::Breach(STREAM_CREATION_ERROR, "a second control stream"));
        }
        match Settings::decode(&mut &buffer[..]) {
            Ok(settings) if takes_datagrams(&settings) => {
                self.has_settings = true;
                self.settle(id, Inbound::Control);
                Ok(())
            }
            Ok(_) => Err(End::Breach(SETTINGS_ERROR, "no datagrams of HTTP/3 (RFC 9297) in the settings")),
            Err(SettingsError::UnexpectedEnd) if buffer.len() < SETTINGS_BYTES_MAX => Ok(()),
            Err(SettingsError::UnexpectedFrame(_)) => Err(End::Breach(MISSING_SETTINGS, "SETTINGS come first")),
            Err(_) => Err(End::Breach(SETTINGS_ERROR, "settings that cannot be read")),
        }
    }

    /// Requests may have arrived first.
    fn on_settings(&mut self, connection: &mut Connection, rules: &PageRules) -> Result<(), End> {
        let requests = self.streams.iter().filter(|(_, stream)| matches!(stream.inbound, Inbound::Request(_)));
        let waiting: Vec<StreamId> = requests.map(|(id, _)| *id).collect();
        waiting.into_iter().try_for_each(|id| self.on_request(connection, id, rules))
    }

    /// Handles a request that may be complete.
    fn on_request(&mut self, connection: &mut Connection, id: StreamId, rules: &PageRules) -> Result<(), End> {
        let Some(Inbound::Request(buffer)) = self.streams.get(&id).map(|stream| &stream.inbound) else { return Ok(()) };
        if Frame::decode(&mut &buffer[..]).is_ok_and(|first| first == Frame::WEBTRANSPORT) {
            self.refuse_counted(connection, id, BUFFERED_STREAM_REJECTED);
            return Ok(());
        }
        if !self.has_settings && buffer.len() < REQUEST_BYTES_MAX {
            return Ok(());
        }
        let verdict = judge(buffer, rules);
        match verdict {
            RequestVerdict::Incomplete => Ok(()),
            RequestVerdict::Malformed => Err(End::Breach(FRAME_UNEXPECTED, "no request of HTTP/3")),
            RequestVerdict::Granted { .. } if self.is_open() || !self.has_settings || !fits(connection) => {
                self.refuse_counted(connection, id, REQUEST_REJECTED);
                Ok(())
            }
            RequestVerdict::Granted { bytes } => {
                write(connection, id, &answer(StatusCode::OK));
                let mut capsules = Capsules::default();
                let behind = capsules.handle(&buffer[bytes..]);
                self.settle(id, Inbound::Connect(capsules));
                self.connect = Some(id);
                connection.set_max_concurrent_streams(Dir::Uni, VarInt::from_u32(GRANTED_UNI_STREAMS_MAX));
                web_transport_proto::VarInt::from_u32(id.index() as u32).encode(&mut self.prefix);
                match behind {
                    Ok(None) => Ok(()),
                    Ok(Some(close)) => Err(End::Closed(close.reason)),
                    Err(_) => Err(End::Breach(MESSAGE_ERROR, "a capsule that cannot be")),
                }
            }
            RequestVerdict::Refused(status) => {
                self.refused += 1;
                write(connection, id, &answer(status));
                finish(connection, id);
                self.refuse_rest(connection, id);
                Ok(())
            }
        }
    }

    /// A stream has ended, or was reset.
    fn on_over(&mut self, connection: &mut Connection, id: StreamId) -> Result<(), End> {
        match self.streams.remove(&id).map(|stream| stream.inbound) {
            Some(Inbound::Request(_)) => {
                self.refuse_counted(connection, id, REQUEST_INCOMPLETE);
                Ok(())
            }
            Some(Inbound::Control) => Err(End::Breach(CLOSED_CRITICAL_STREAM, "the control stream was closed")),
            Some(Inbound::Connect(_)) => Err(End::Closed(String::new())),
            _ => Ok(()),
        }
    }

    /// Refuses a stream, in both directions.
    fn refuse(&mut self, connection: &mut Connection, id: StreamId, code: u32) {
        self.streams.remove(&id);
        let code = VarInt::from_u32(code);
        // An error here means that the stream is already over.
        let _ = connection.recv_stream(id).stop(code);
        if id.dir() == Dir::Bi {
            let _ = connection.send_stream(id).reset(code);
        }
    }

    /// Refuses a stream, and counts that.
    fn refuse_counted(&mut self, connection: &mut Connection, id: StreamId, code: u32) {
        self.refused += 1;
        self.refuse(connection, id, code);
    }

    /// Stops reading a stream that was answered.
    fn refuse_rest(&mut self, connection: &mut Connection, id: StreamId) {
        self.streams.remove(&id);
        let _ = connection.recv_stream(id).stop(VarInt::from_u32(NO_ERROR));
    }

    /// Announces the end of the session. False if there is none.
    pub(super) fn close(&mut self, connection: &mut Connection) -> bool {
        let Some(id) = self.connect else { return false };
        let mut capsule = Vec::new();
        Capsule::CloseWebTransportSession { code: 0, reason: String::new() }.encode(&mut capsule);
        let mut frame = Vec::new();
        Frame::DATA.encode(&mut frame);
        web_transport_proto::VarInt::from_u32(capsule.len() as u32).encode(&mut frame);
        frame.extend_from_slice(&capsule);
        write(connection, id, &frame);
        finish(connection, id);
        self.give_up();
        true
    }

    /// Gives up what the streams hold, because no connection is charged for it any more. Streams are not stopped: a
    /// page would hear that before the end of its session.
    fn give_up(&mut self) {
        self.is_player = false;
        for stream in self.streams.values_mut() {
            stream.pieces.forget_early();
            if matches!(stream.inbound, Inbound::Beginning(_) | Inbound::Request(_) | Inbound::Datagrams(_)) {
                stream.inbound = Inbound::Ignored;
            }
        }
    }

    /// Memory of the client's streams here and in QUIC.
    pub(super) fn held_bytes(&self) -> usize {
        STREAM_BYTES * self.stream_count() + self.kept_bytes()
    }

    /// The number of the client's open streams.
    pub(super) fn stream_count(&self) -> usize {
        self.streams.len()
    }

    /// Bytes of incomplete or early data.
    pub(super) fn kept_bytes(&self) -> usize {
        let kept = |stream: &Inbound| match stream {
            Inbound::Beginning(buffer) | Inbound::Request(buffer) => buffer.len(),
            Inbound::Datagrams(records) => records.kept_bytes(),
            Inbound::Connect(capsules) => capsules.kept_bytes(),
            Inbound::Control | Inbound::Ignored => 0,
        };
        self.streams.values().map(|stream| kept(&stream.inbound) + stream.pieces.held_bytes()).sum()
    }

    /// Whether this stream is the one that carries the session.
    pub(super) fn is_connect(&self, id: StreamId) -> bool {
        self.connect == Some(id)
    }
}

/// Appends bytes without a reserve for more, so that a buffer takes no more memory than it is counted with.
fn append(buffer: &mut Vec<u8>, bytes: &[u8]) {
    buffer.reserve_exact(bytes.len());
    buffer.extend_from_slice(bytes);
}

/// Whether datagrams of the protocol fit: the first may have 1,024 bytes.
fn fits(connection: &mut Connection) -> bool {
    connection.datagrams().max_size().is_some_and(|bytes| bytes > PACKET_BYTES_FIRST)
}

const PACKET_BYTES_FIRST: usize = skipstone_proto::Carrier::WEBTRANSPORT.packet_bytes_max as usize;

fn takes_datagrams(settings: &Settings) -> bool {
    let is_on = |setting: &Setting| settings.get(setting).is_some_and(|value| value.into_inner() == 1);
    is_on(&Setting::ENABLE_DATAGRAM) || is_on(&Setting::ENABLE_DATAGRAM_DEPRECATED)
}

enum Read {
    /// Bytes at this offset of the stream.
    Piece(u64, Bytes),
    Over,
}

/// Received bytes of a stream that were not read; `None` if there are none now.
fn read(connection: &mut Connection, id: StreamId) -> Option<Read> {
    let mut stream = connection.recv_stream(id);
    // A stream that no longer exists has ended.
    let Ok(mut chunks) = stream.read(false) else { return Some(Read::Over) };
    let next = chunks.next(READ_BYTES);
    // Whether windows grew is irrelevant: they are announced with the next transmit in any case.
    let _ = chunks.finalize();
    match next {
        Ok(Some(chunk)) => Some(Read::Piece(chunk.offset, chunk.bytes)),
        Ok(None) | Err(quinn_proto::ReadError::Reset(_)) => Some(Read::Over),
        Err(quinn_proto::ReadError::Blocked) => None,
    }
}

/// Writes an answer, which fits into the window of a new stream; a client that grants less receives a part of it.
fn write(connection: &mut Connection, id: StreamId, bytes: &[u8]) {
    let _ = connection.send_stream(id).write(bytes);
}

fn finish(connection: &mut Connection, id: StreamId) {
    let _ = connection.send_stream(id).finish();
}
