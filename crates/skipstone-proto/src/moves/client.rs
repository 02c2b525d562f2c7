//! A client's part of a move: what it hears from both servers and its clock, and what it does about it.

use super::message::{MoveId, MoveMessage, Stayed};
use crate::time::{Duration, Time};
use std::collections::VecDeque;

/// What a client is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveAction {
    /// Connect to this server with this token, while the connection here goes on.
    Connect {
        /// `HOST:PORT`.
        destination: String,
        /// The token.
        token: Vec<u8>,
    },
    /// Hold back reliable messages from now on, and report when those sent before are acknowledged.
    Settle,
    /// Send these bytes to the present server, on its channel of moves.
    SendHere(Vec<u8>),
    /// Send these bytes to the other server, on its channel of moves.
    SendThere(Vec<u8>),
    /// Send what was held back, and everything from now on, to the other server. Its reliable messages are delivered
    /// behind the last of this one.
    Switch,
    /// The other server is the present one now. Deliver what it has sent, and forget the former one.
    Finish,
    /// Close the connection to the other server. Send what was held back here.
    Stay,
}

/// The moves of a client, one after the other.
#[derive(Debug, Default)]
pub struct ClientMoves {
    phase: Phase,
    deadline: Option<Time>,
    actions: VecDeque<MoveAction>,
    /// The other server's MOVE, which waits for the end of this one as all its reliable messages do.
    early: Option<(MoveId, Vec<u8>)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    /// The connection to the other server is not established yet.
    Connecting(MoveId),
    /// Reliable messages are held back until those before were acknowledged.
    Settling(MoveId),
    /// The other server has not welcomed the client yet.
    Waiting(MoveId),
    /// The client has chosen the other server, and hears out this one.
    Leaving,
    /// This one has nothing more to say, since then. The caller does not know it before it polls
    /// [`MoveAction::Finish`]: until then both connections keep their names.
    Left(Time),
}

impl ClientMoves {
    /// The present server's message. Malformed ones are ignored, as are those that do not fit.
    pub fn on_message_here(&mut self, encoded: &[u8], now: Time) {
        match MoveMessage::decode(encoded) {
            Ok(Some(MoveMessage::Move { id, destination, token })) => self.on_move(id, destination, token, now),
            Ok(Some(MoveMessage::Cancel(id))) if self.open() == Some(id) => self.stay(Stayed::Cancelled),
            // It ended before.
            Ok(Some(MoveMessage::Cancel(id))) if self.phase == Phase::Idle => {
                let stayed = MoveMessage::Stayed(id, Stayed::Cancelled).encode();
                self.actions.push_back(MoveAction::SendHere(stayed));
            }
            _ => {}
        }
    }

    /// The other server's message. Its MOVE waits while the client hears out this server.
    pub fn on_message_there(&mut self, encoded: &[u8], now: Time) {
        let Ok(Some(message)) = MoveMessage::decode(encoded) else { return };
        match message {
            MoveMessage::Move { id, .. } if self.is_leaving() && self.early.is_none() => {
                self.early = Some((id, encoded.to_vec()));
            }
            MoveMessage::Move { id, .. } => self.stay_there(id, Stayed::Busy),
            MoveMessage::Cancel(id) if self.early.take_if(|(early, _)| *early == id).is_some() => {
                self.stay_there(id, Stayed::Cancelled);
            }
            _ => {}
        }
        let Phase::Waiting(id) = self.phase else { return };
        if message == MoveMessage::Welcome(id) {
            self.actions.push_back(MoveAction::SendThere(MoveMessage::Arrived(id).encode()));
            self.actions.push_back(MoveAction::SendHere(MoveMessage::Left(id).encode()));
            self.actions.push_back(MoveAction::Switch);
            self.enter(Phase::Leaving, Some(now + LEAVING_MAX));
        }
    }

    /// The connection to the other server is established.
    pub fn on_connected_there(&mut self) {
        if let Phase::Connecting(id) = self.phase {
            self.phase = Phase::Settling(id);
            self.actions.push_back(MoveAction::Settle);
        }
    }

    /// Every reliable message to the present server was acknowledged.
    pub fn on_settled_here(&mut self) {
        if let Phase::Settling(id) = self.phase {
            self.phase = Phase::Waiting(id);
            self.actions.push_back(MoveAction::SendHere(MoveMessage::Ready(id).encode()));
        }
    }

    /// The connection to the other server ended, or could not begin.
    pub fn on_closed_there(&mut self) {
        match self.phase {
            Phase::Idle | Phase::Leaving | Phase::Left(_) => {}
            Phase::Connecting(_) | Phase::Settling(_) | Phase::Waiting(_) => self.stay(Stayed::Refused),
        }
    }

    /// The connection to the present server ended. True if that completes a move; otherwise the client has lost its
    /// server, and the move with it.
    pub fn on_closed_here(&mut self, now: Time) -> bool {
        match self.phase {
            Phase::Idle => false,
            Phase::Leaving => {
                self.leave(now);
                true
            }
            Phase::Left(_) => true,
            Phase::Connecting(_) | Phase::Settling(_) | Phase::Waiting(_) => {
                self.enter(Phase::Idle, None);
                self.actions.push_back(MoveAction::Stay);
                false
            }
        }
    }

    /// Time has passed.
    pub fn on_time(&mut self, now: Time) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        match self.phase {
            Phase::Idle | Phase::Left(_) => self.deadline = None,
            Phase::Leaving => self.leave(now),
            Phase::Connecting(_) | Phase::Settling(_) | Phase::Waiting(_) => self.stay(Stayed::Late),
        }
    }

    /// What to do next.
    pub fn poll_action(&mut self) -> Option<MoveAction> {
        let action = self.actions.pop_front()?;
        if let (MoveAction::Finish, Phase::Left(now)) = (&action, self.phase) {
            self.enter(Phase::Idle, None);
            if let Some((_, encoded)) = self.early.take() {
                self.on_message_here(&encoded, now);
            }
        }
        Some(action)
    }

    /// When [`ClientMoves::on_time`] is due; [`Time::NEVER`] without a move.
    pub fn poll_timeout(&self) -> Time {
        self.deadline.unwrap_or(Time::NEVER)
    }

    /// Whether there is a connection to another server.
    pub fn is_moving(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// Whether reliable messages are held back.
    pub fn holds_reliable(&self) -> bool {
        matches!(self.phase, Phase::Settling(_) | Phase::Waiting(_))
    }

    /// Whether the client has chosen the other server and hears out this one.
    pub fn is_leaving(&self) -> bool {
        matches!(self.phase, Phase::Leaving | Phase::Left(_))
    }

    fn on_move(&mut self, id: MoveId, destination: &str, token: &[u8], now: Time) {
        if self.open() == Some(id) {
            return;
        }
        if self.phase != Phase::Idle {
            let busy = MoveMessage::Stayed(id, Stayed::Busy).encode();
            return self.actions.push_back(MoveAction::SendHere(busy));
        }
        self.enter(Phase::Connecting(id), Some(now + MOVE_MAX));
        self.actions.push_back(MoveAction::Connect { destination: destination.into(), token: token.into() });
    }

    /// The move that can still fail.
    fn open(&self) -> Option<MoveId> {
        match self.phase {
            Phase::Connecting(id) | Phase::Settling(id) | Phase::Waiting(id) => Some(id),
            Phase::Idle | Phase::Leaving | Phase::Left(_) => None,
        }
    }

    fn leave(&mut self, now: Time) {
        self.enter(Phase::Left(now), None);
        self.actions.push_back(MoveAction::Finish);
    }

    /// Ends a move of the other server.
    fn stay_there(&mut self, id: MoveId, why: Stayed) {
        let stayed = MoveMessage::Stayed(id, why).encode();
        let is_here_by_then = matches!(self.phase, Phase::Left(_));
        self.actions.push_back(if is_here_by_then {
            MoveAction::SendHere(stayed)
        } else {
            MoveAction::SendThere(stayed)
        });
    }

    fn stay(&mut self, why: Stayed) {
        if let Some(id) = self.open() {
            self.enter(Phase::Idle, None);
            self.actions.push_back(MoveAction::SendHere(MoveMessage::Stayed(id, why).encode()));
            self.actions.push_back(MoveAction::Stay);
        }
    }

    fn enter(&mut self, phase: Phase, deadline: Option<Time>) {
        (self.phase, self.deadline) = (phase, deadline);
    }
}

/// How long the other server may take until it welcomes the client.
const MOVE_MAX: Duration = Duration::from_secs(10);
/// How long the server that is left may take for its last messages.
const LEAVING_MAX: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: MoveId = MoveId(7);
    const NEXT: MoveId = MoveId(8);

    /// A client that has chosen the other server, and hears out this one.
    fn leaving() -> ClientMoves {
        let mut moves = ClientMoves::default();
        let order = MoveMessage::Move { id: LEFT, destination: "b:1", token: b"" }.encode();
        moves.on_message_here(&order, Time::ZERO);
        moves.on_connected_there();
        moves.on_settled_here();
        moves.on_message_there(&MoveMessage::Welcome(LEFT).encode(), Time::ZERO);
        assert!(moves.is_leaving());
        while moves.poll_action().is_some() {}
        moves
    }

    fn move_on(moves: &mut ClientMoves) {
        let order = MoveMessage::Move { id: NEXT, destination: "c:1", token: b"next" };
        moves.on_message_there(&order.encode(), Time::ZERO);
    }

    #[test]
    fn a_move_by_the_other_server_waits_for_the_end_of_the_first() {
        for by_time in [false, true] {
            let mut moves = leaving();
            move_on(&mut moves);
            assert_eq!(moves.poll_action(), None);
            let now = Time::ZERO + LEAVING_MAX;
            match by_time {
                true => moves.on_time(now),
                false => assert!(moves.on_closed_here(now)),
            }
            assert_eq!(moves.poll_action(), Some(MoveAction::Finish));
            let connect = MoveAction::Connect { destination: "c:1".into(), token: b"next".to_vec() };
            assert_eq!((moves.poll_action(), moves.poll_timeout()), (Some(connect), now + MOVE_MAX));
        }
    }

    #[test]
    fn a_move_by_the_other_server_may_come_before_the_caller_knows_of_the_end() {
        for is_cancelled in [false, true] {
            let mut moves = leaving();
            assert!(moves.on_closed_here(Time::ZERO));
            move_on(&mut moves);
            if is_cancelled {
                moves.on_message_there(&MoveMessage::Cancel(NEXT).encode(), Time::ZERO);
            }
            assert!(moves.is_leaving(), "what is sent now belongs there");
            assert_eq!(moves.poll_action(), Some(MoveAction::Finish));
            let next = match is_cancelled {
                true => MoveAction::SendHere(MoveMessage::Stayed(NEXT, Stayed::Cancelled).encode()),
                false => MoveAction::Connect { destination: "c:1".into(), token: b"next".to_vec() },
            };
            assert_eq!((moves.poll_action(), moves.poll_action()), (Some(next), None));
            assert_eq!(moves.is_moving(), !is_cancelled);
        }
    }

    #[test]
    fn a_move_that_waits_can_be_cancelled_and_a_second_one_finds_the_client_busy() {
        let mut moves = leaving();
        move_on(&mut moves);
        move_on(&mut moves);
        let stayed = |why| Some(MoveAction::SendThere(MoveMessage::Stayed(NEXT, why).encode()));
        assert_eq!(moves.poll_action(), stayed(Stayed::Busy));
        moves.on_message_there(&MoveMessage::Cancel(NEXT).encode(), Time::ZERO);
        assert_eq!(moves.poll_action(), stayed(Stayed::Cancelled));
        assert!(moves.on_closed_here(Time::ZERO));
        assert_eq!((moves.poll_action(), moves.poll_action()), (Some(MoveAction::Finish), None));
    }
}
