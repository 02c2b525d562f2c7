//! Streams that the server opens: those of HTTP/3, of which only the control stream means something here, and messages
//! of the session. What has not ended is bounded.

use super::outbox::{BIDIRECTIONAL, UNIDIRECTIONAL};
use bytes::Bytes;
use quinn_proto::{Dir, StreamId};
use std::collections::{BTreeMap, BTreeSet};
use web_transport_proto::{StreamUni, VarInt};

/// Streams of the server.
#[derive(Debug)]
pub(super) struct Inbox {
    /// Those that have not ended, with what has arrived of them.
    streams: BTreeMap<StreamId, Vec<u8>>,
    /// Those whose further bytes mean nothing.
    ignored: BTreeSet<StreamId>,
    message_max: usize,
}

/// What the bytes of a stream make whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Nothing yet, or nothing that matters.
    Nothing,
    /// The control stream so far, until it is ignored.
    Control(Vec<u8>),
    /// A message.
    Message(Bytes),
    /// A stream of another session.
    Invalid,
    /// More than the server may send.
    TooLong,
}

impl Inbox {
    pub(super) fn new(message_max: usize) -> Self {
        Inbox { streams: BTreeMap::new(), ignored: BTreeSet::new(), message_max }
    }

    /// Takes bytes of a stream. `session` is the open one.
    pub(super) fn take(&mut self, id: StreamId, bytes: &[u8], is_last: bool, session: Option<StreamId>) -> Taken {
        if self.ignored.contains(&id) {
            if is_last {
                self.ignored.remove(&id);
            }
            return Taken::Nothing;
        }
        let mut all = self.streams.remove(&id).unwrap_or_default();
        all.extend_from_slice(bytes);
        let taken = self.read(id, &all, is_last, session);
        let is_under_way = matches!(taken, Taken::Nothing | Taken::Control(_)) && !self.ignored.contains(&id);
        if is_under_way && !is_last {
            self.streams.insert(id, all);
        }
        // Many that do not end.
        let held: usize = self.streams.values().map(Vec::len).sum();
        if held > self.message_max + UNFINISHED_MAX { Taken::TooLong } else { taken }
    }

    /// Forgets a stream, whose bytes are read and dropped from now on.
    pub(super) fn ignore(&mut self, id: StreamId) {
        self.streams.remove(&id);
        self.ignored.insert(id);
    }

    fn read(&mut self, id: StreamId, all: &[u8], is_last: bool, session: Option<StreamId>) -> Taken {
        let mut rest = all;
        let Ok(kind) = VarInt::decode(&mut rest) else { return Taken::Nothing };
        if id.dir() == Dir::Uni && kind == StreamUni::CONTROL.0 {
            return Taken::Control(all.to_vec());
        }
        let of_session = if id.dir() == Dir::Uni { UNIDIRECTIONAL } else { BIDIRECTIONAL };
        if kind.into_inner() != u64::from(of_session) {
            self.ignore_unless(id, is_last);
            return Taken::Nothing;
        }
        let Ok(named) = VarInt::decode(&mut rest) else { return Taken::Nothing };
        if session.map(u64::from) != Some(named.into_inner()) {
            self.ignore_unless(id, is_last);
            return Taken::Invalid;
        }
        if rest.len() > self.message_max {
            return Taken::TooLong;
        }
        if is_last { Taken::Message(Bytes::copy_from_slice(rest)) } else { Taken::Nothing }
    }

    fn ignore_unless(&mut self, id: StreamId, is_last: bool) {
        if !is_last {
            self.ignore(id);
        }
    }
}

/// Bytes of messages that have begun, beside the longest.
const UNFINISHED_MAX: usize = 4 << 20;
