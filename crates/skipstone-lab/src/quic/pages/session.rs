//! A client's WebTransport session in a QUIC connection: HTTP/3 as far as it takes (WIRE.md section 7.2).

use bytes::{BufMut, Bytes, BytesMut};
use quinn_proto::{Connection, Dir, Event, ReadError, StreamEvent, StreamId};
use web_transport_proto::{ConnectError, ConnectRequest, ConnectResponse, Settings, StreamUni};

/// The state of the session.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The stream of the request, which carries the session.
    connect: Option<StreamId>,
    answer: Vec<u8>,
    is_granted: bool,
    end: Option<String>,
}

/// Begins each datagram: the session is in the connection's first stream.
const QUARTER_STREAM_ID: u8 = 0;

impl Session {
    /// Whether datagrams may be sent.
    pub(super) fn is_open(&self) -> bool {
        self.is_granted && self.end.is_none()
    }

    /// The reason for which the session is over, if it is.
    pub(super) fn end(&self) -> Option<&str> {
        self.end.as_deref()
    }

    pub(super) fn handle_events(&mut self, quic: &mut Connection) {
        while let Some(event) = quic.poll() {
            match event {
                Event::Connected => self.begin(quic),
                Event::ConnectionLost { reason } => self.over(&reason.to_string()),
                Event::Stream(StreamEvent::Readable { id }) if Some(id) == self.connect => self.read(quic, id),
                _ => {}
            }
        }
    }

    /// Sends one datagram; one that does not fit is dropped, as a browser does.
    pub(super) fn send(&mut self, quic: &mut Connection, content: &[u8]) {
        let mut datagram = BytesMut::with_capacity(1 + content.len());
        datagram.put_u8(QUARTER_STREAM_ID);
        datagram.put_slice(content);
        let _ = quic.datagrams().send(datagram.freeze(), true);
    }

    /// The content of the next datagram.
    pub(super) fn receive(&mut self, quic: &mut Connection) -> Option<Bytes> {
        loop {
            let mut datagram = quic.datagrams().recv()?;
            if datagram.first() == Some(&QUARTER_STREAM_ID) {
                return Some(datagram.split_off(1));
            }
        }
    }

    /// Settings, the two streams that HTTP/3 wants, and the request.
    fn begin(&mut self, quic: &mut Connection) {
        let (mut settings, mut request) = (Vec::new(), Vec::new());
        let mut all = Settings::default();
        all.enable_webtransport(1);
        all.encode(&mut settings);
        let url = url::Url::parse("https://localhost/").expect("a URL");
        ConnectRequest::new(url).encode(&mut request).expect("it is short");
        open(quic, Dir::Uni, &settings);
        for kind in [StreamUni::QPACK_ENCODER, StreamUni::QPACK_DECODER] {
            let mut bytes = Vec::new();
            kind.encode(&mut bytes);
            open(quic, Dir::Uni, &bytes);
        }
        self.connect = open(quic, Dir::Bi, &request);
    }

    fn read(&mut self, quic: &mut Connection, id: StreamId) {
        let mut stream = quic.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        let is_over = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.answer.extend_from_slice(&chunk.bytes),
                Err(ReadError::Blocked) => break false,
                Ok(None) | Err(ReadError::Reset(_)) => break true,
            }
        };
        let _ = chunks.finalize();
        match ConnectResponse::decode(&mut &self.answer[..]) {
            Ok(_) => self.is_granted = true,
            Err(ConnectError::UnexpectedEnd) => {}
            Err(error) => self.over(&error.to_string()),
        }
        if is_over {
            self.over("the server closed the session");
        }
    }

    fn over(&mut self, reason: &str) {
        self.end.get_or_insert_with(|| reason.to_owned());
    }
}

/// Opens a stream and writes to it.
fn open(quic: &mut Connection, dir: Dir, bytes: &[u8]) -> Option<StreamId> {
    let id = quic.streams().open(dir)?;
    let _ = quic.send_stream(id).write(bytes);
    Some(id)
}
