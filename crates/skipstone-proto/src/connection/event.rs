//! Events that the application receives from its connections, and their queue.

mod queue;

use crate::channel::{GivenUp, MessageId};
use crate::moves::MoveStage;
use crate::path::Path;
use crate::time::Duration;
use crate::wire::settings::Settings;
use bytes::Bytes;
use core::net::SocketAddr;
pub(crate) use queue::{EntryCost, EventQueue};
use std::sync::Arc;

/// The application's id of a connection. Never reused for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId {
    /// Place in the endpoint; reused after the connection has ended.
    pub index: u32,
    /// Number of connections that had this place before.
    pub generation: u32,
}

impl core::fmt::Display for PeerId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

/// An event of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A client requests a connection with this token. Answer with `accept` or `refuse`.
    Requested {
        /// The client.
        peer: PeerId,
        /// The client's token: up to 1,024 bytes of the application's own.
        token: Bytes,
        /// The client's address, which is validated.
        remote: SocketAddr,
    },
    /// The connection is established: messages can be sent.
    Connected {
        /// The peer.
        peer: PeerId,
        /// The server's settings, which apply to both sides; on a server's side, the client's own limits replace them
        /// where those are lower.
        settings: Arc<Settings>,
    },
    /// A message arrived.
    Message {
        /// The sender.
        peer: PeerId,
        /// Its channel.
        channel: u16,
        /// The message.
        payload: Bytes,
        /// How much later than planned the message arrived, because it was lost before; usually zero. An application
        /// that forwards or answers the message passes this age on with `send_aged`.
        age: Duration,
    },
    /// A message was acknowledged: the peer's endpoint has received it. Only on channels with receipts.
    Acknowledged {
        /// The peer that received the message.
        peer: PeerId,
        /// The message.
        id: MessageId,
        /// Its channel.
        channel: u16,
    },
    /// An accepted message will not be sent (again). Always reported on reliable channels, on unreliable ones only with
    /// receipts. Messages that are still open when their connection ends are reported one by one only with receipts:
    /// `Closed` covers all of them.
    GivenUp {
        /// The peer that does not receive it.
        peer: PeerId,
        /// The message.
        id: MessageId,
        /// Its channel.
        channel: u16,
        /// The reason.
        why: GivenUp,
    },
    /// No reliable message waits for an acknowledgement any more: the answer to `settle`.
    Settled {
        /// The peer that has received all of them.
        peer: PeerId,
    },
    /// A client said how far its move to or from this server is. Only on servers that move clients.
    Move {
        /// The client.
        peer: PeerId,
        /// How far the move is.
        stage: MoveStage,
    },
    /// A client's address changed, and the new address is validated. The connection continues.
    PathChanged {
        /// The client.
        peer: PeerId,
        /// The client's new path.
        path: Path,
    },
    /// The connection ended. Exactly one per connection, and the last of its events.
    Closed {
        /// The peer.
        peer: PeerId,
        /// The side that ended the connection, and the reason.
        close: Close,
    },
}

impl Event {
    /// The connection that the event belongs to.
    pub fn peer(&self) -> PeerId {
        match self {
            Event::Requested { peer, .. }
            | Event::Connected { peer, .. }
            | Event::Message { peer, .. }
            | Event::Acknowledged { peer, .. }
            | Event::GivenUp { peer, .. }
            | Event::Settled { peer }
            | Event::Move { peer, .. }
            | Event::PathChanged { peer, .. }
            | Event::Closed { peer, .. } => *peer,
        }
    }

    /// Whether it tells the fate of a message on this channel.
    pub fn is_receipt_on(&self, own: u16) -> bool {
        matches!(self, Event::Acknowledged { channel, .. } | Event::GivenUp { channel, .. } if *channel == own)
    }

    /// The same, mutable, for a caller that uses other ids for peers.
    pub fn peer_mut(&mut self) -> &mut PeerId {
        match self {
            Event::Requested { peer, .. }
            | Event::Connected { peer, .. }
            | Event::Message { peer, .. }
            | Event::Acknowledged { peer, .. }
            | Event::GivenUp { peer, .. }
            | Event::Settled { peer }
            | Event::Move { peer, .. }
            | Event::PathChanged { peer, .. }
            | Event::Closed { peer, .. } => peer,
        }
    }
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// The side that ended the connection.
    pub by: ClosedBy,
    /// See [`code`]; below 1,000 the application's own.
    pub code: u64,
    /// For people; up to 512 bytes.
    pub reason: Bytes,
}

impl Close {
    /// The reason as text.
    pub fn reason_text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.reason)
    }
}

/// The side that ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBy {
    /// This side's application, or this side's rules.
    Local,
    /// The peer.
    Peer,
    /// Neither side: the peer stopped answering, or its carrier broke.
    Nobody,
}

/// Close codes of the protocol. WIRE.md section 8.
pub mod code {
    close_codes! {
        /// Closed by the application without a code of its own.
        NONE = 0;
        /// The server shuts down.
        SHUTDOWN = 1_000;
        /// The application refused the client.
        REFUSED = 1_001;
        /// The application removed the peer.
        KICKED = 1_002;
        /// A channel's queue was full, and its rule is to disconnect.
        QUEUE_OVERFLOW = 1_003;
        /// The peer violated the protocol.
        PROTOCOL = 1_004;
        /// The server is full, or the client's network has its maximum number of players.
        FULL = 1_005;
        /// The handshake timed out (local: never sent).
        HANDSHAKE_TIMEOUT = 1_006;
        /// Nothing arrived for the idle timeout (local).
        IDLE_TIMEOUT = 1_007;
        /// The carrier was lost: the stream that carried the connection broke (local).
        CARRIER_LOST = 1_008;
        /// Client and server have no protocol version in common (local).
        NO_COMMON_VERSION = 1_009;
        /// The encrypted handshake failed, for example because of an untrusted certificate (local, or in REFUSE).
        SECURITY = 1_010;
        /// No common suite: one side requires encryption and the other has none (in REFUSE).
        NO_COMMON_SUITE = 1_011;
        /// The server's name has no address, or none of its addresses can be reached (local).
        UNREACHABLE = 1_012;
        /// The server restarts; the reason says when and where to connect again (WIRE.md section 8.1).
        ///
        /// It begins with the time in milliseconds, and the place if that is elsewhere: `retry=200..800 at=HOST:PORT`.
        /// Each client waits for a random time of that range.
        RESTART = 1_013;
        /// The peer made this side hold more memory than allowed, or the most of all peers when memory was short.
        MEMORY = 1_016;
    }
}
