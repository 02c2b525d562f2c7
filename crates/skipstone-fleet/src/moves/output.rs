//! What moves give: letters to other nodes, orders to the server, and what happened.

use super::note::{Letter, MoveOrigin};
use crate::directory::NodeName;
use bytes::Bytes;
use skipstone::{MoveId, PeerId, Stayed};
use std::collections::VecDeque;

/// What the node's server is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveOrder {
    /// Accept a client that came with the token of a move.
    Accept(PeerId),
    /// As [`skipstone::Server::move_client`].
    Move {
        /// The client.
        peer: PeerId,
        /// The move.
        id: MoveId,
        /// `HOST:PORT` of the other node.
        destination: String,
        /// The token for it.
        token: Bytes,
    },
    /// As [`skipstone::Server::cancel_move`].
    Cancel(PeerId, MoveId),
    /// As [`skipstone::Server::welcome`].
    Welcome(PeerId, MoveId),
    /// Close the connection of a client that has moved on, with time for its last messages.
    Part(PeerId),
    /// Close the connection of a client whose move has ended without its player.
    Dismiss(PeerId),
}

/// What happened to a player.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveNotice {
    /// Another node asks for a place: answer with [`Moves::admit`](super::Moves::admit) or
    /// [`Moves::refuse`](super::Moves::refuse).
    Asked {
        /// The move.
        origin: MoveOrigin,
        /// What the other node says about the player.
        player: Bytes,
    },
    /// The player can be handed over: stop acting for it, and call [`Moves::hand_over`](super::Moves::hand_over) with its
    /// state. The last of its messages was polled before.
    Ready {
        /// The player.
        peer: PeerId,
    },
    /// The player is another node's. [`Event::Closed`](skipstone::Event::Closed) follows.
    Left {
        /// The player.
        peer: PeerId,
    },
    /// The move has ended: the player is this node's, also if its state was handed over.
    Stayed {
        /// The player.
        peer: PeerId,
        /// Why.
        failure: MoveFailure,
        /// The same for people.
        why: String,
    },
    /// A player has come from another node. It is connected, and from now on this node's.
    Arrived {
        /// The player.
        peer: PeerId,
        /// What the other node said about it.
        player: Bytes,
        /// Its state.
        state: Bytes,
    },
}

/// Why a move that began has ended without its player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MoveFailure {
    /// The other node did not answer.
    NoAnswer,
    /// The other node has no place.
    NoPlace,
    /// The player was not handed over, or the client did not decide in time.
    Cancelled,
    /// The client could not connect to the other node.
    Unreachable,
    /// The other node did not take the player in time.
    Late,
    /// The client is being moved by another server.
    Busy,
}

impl MoveFailure {
    /// All of them.
    pub const ALL: [MoveFailure; 6] = [
        MoveFailure::NoAnswer,
        MoveFailure::NoPlace,
        MoveFailure::Cancelled,
        MoveFailure::Unreachable,
        MoveFailure::Late,
        MoveFailure::Busy,
    ];

    /// Its name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            MoveFailure::NoAnswer => "no_answer",
            MoveFailure::NoPlace => "no_place",
            MoveFailure::Cancelled => "cancelled",
            MoveFailure::Unreachable => "unreachable",
            MoveFailure::Late => "late",
            MoveFailure::Busy => "busy",
        }
    }

    pub(super) fn of(why: Stayed) -> MoveFailure {
        match why {
            Stayed::Refused => MoveFailure::Unreachable,
            Stayed::Late => MoveFailure::Late,
            Stayed::Busy => MoveFailure::Busy,
            _ => MoveFailure::Cancelled,
        }
    }

    pub(super) fn sentence(self) -> &'static str {
        match self {
            MoveFailure::NoAnswer => "the other node did not answer",
            MoveFailure::NoPlace => "the other node has no place",
            MoveFailure::Cancelled => "the move was cancelled",
            MoveFailure::Unreachable => "the client could not connect to the other node",
            MoveFailure::Late => "the other node did not take the player in time",
            MoveFailure::Busy => "the client is being moved already",
        }
    }
}

/// Why a move does not begin, or a state is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveRefusal {
    /// The client cannot be moved.
    #[error("the client does not follow moves: it lacks `reconnect`, or its library is older; close it with `at=`")]
    NotAble,
    /// The client is being moved.
    #[error("the client is being moved already")]
    Busy,
    /// It is not being moved, or was handed over.
    #[error("the client is at no point of a move at which it can be handed over")]
    NotReady,
    /// Too many moves at once.
    #[error("{0} moves are under way, which is the maximum; raise `moves_max` or begin fewer at once")]
    Full(usize),
    /// A blob is too long.
    #[error("{bytes} bytes, where {bytes_max} is the maximum")]
    TooLong {
        /// Its bytes.
        bytes: usize,
        /// The maximum.
        bytes_max: usize,
    },
    /// There is no such reservation, or it was answered.
    #[error("the move waits for no answer: it was answered, or has ended")]
    NotAsked,
}

/// Letters, orders and events that wait.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) letters: VecDeque<(NodeName, Letter)>,
    pub(super) orders: VecDeque<MoveOrder>,
    pub(super) notices: VecDeque<MoveNotice>,
}
