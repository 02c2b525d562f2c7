//! The parsers of unauthenticated bytes on HTTP/3 streams, for the fuzz targets.

use super::QuicGuests;
use super::capsules::Capsules;
use super::guest::Stage;
use super::records::RecordReader;
use super::request::{PageRules, RequestVerdict, judge};

/// The result of the bytes of a request so far, by a server's rules: `None` if more are needed, else the length of a
/// granted request, or the refusal.
pub fn http3_request(bytes: &[u8]) -> Option<Result<usize, &'static str>> {
    let rules = PageRules::new(&["https://game.example".into()], &["game.example".into()]);
    match judge(bytes, &rules) {
        RequestVerdict::Incomplete => None,
        RequestVerdict::Granted { bytes } => Some(Ok(bytes)),
        RequestVerdict::Refused(_) => Some(Err("refused")),
        RequestVerdict::Malformed => Some(Err("malformed")),
    }
}

/// How a session's CONNECT stream ends, if its bytes are cut into pieces of this length: `None` for nothing yet, else
/// the reason of a close, or the protocol error.
pub fn http3_capsules(bytes: &[u8], piece_bytes: usize) -> Option<Result<String, &'static str>> {
    let mut capsules = Capsules::default();
    for piece in bytes.chunks(piece_bytes.max(1)) {
        match capsules.handle(piece) {
            Ok(None) => {}
            Ok(Some(close)) => return Some(Ok(close.reason)),
            Err(_) => return Some(Err("a capsule that cannot be")),
        }
    }
    None
}

/// The datagrams on a stream of the session whose bytes are cut into pieces of this length, and whether it ends with an
/// invalid length.
pub fn http3_datagrams(bytes: &[u8], piece_bytes: usize) -> (Vec<Vec<u8>>, bool) {
    let (mut records, mut whole) = (RecordReader::default(), Vec::new());
    let is_broken = bytes.chunks(piece_bytes.max(1)).any(|piece| records.handle(piece, &mut whole).is_err());
    (whole.iter().map(|datagram| datagram.to_vec()).collect(), is_broken)
}

/// What a server holds for the streams of one WebTransport client that no connection is charged for.
pub struct HeldForStranger {
    /// Whether the server accepted its session.
    pub has_session: bool,
    /// Open streams.
    pub streams: usize,
    /// Bytes of incomplete or early data.
    pub incomplete_bytes: usize,
}

impl QuicGuests {
    /// Of each client that has no connection, or none any more.
    pub(in crate::driver) fn held_for_strangers(&self) -> Vec<HeldForStranger> {
        let strangers = self.guests.values().filter(|guest| guest.stage != Stage::Connected);
        let held = strangers.map(|guest| HeldForStranger {
            has_session: guest.session.is_open(),
            streams: guest.session.stream_count(),
            incomplete_bytes: guest.session.kept_bytes(),
        });
        held.collect()
    }
}
