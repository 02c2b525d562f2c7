//! A client that its server can move, and what waits meanwhile: its own reliable messages for the decision, the other
//! server's for the end of this one (WIRE.md section 8.2).

use crate::channel::{GivenUp, MessageId, Submission};
use crate::connection::event::{Event, PeerId};
use crate::moves::{ClientMoves, MoveAction};
use crate::time::Time;
use crate::wire::settings::Settings;
use std::collections::VecDeque;
use std::sync::Arc;

/// Between the two connections of a client and its application. The caller hands over the events of each connection,
/// does what [`Crossing::poll_action`] says, and asks [`Crossing::route`] about each message that is to be sent.
#[derive(Debug)]
pub struct Crossing {
    moves: ClientMoves,
    settings: Arc<Settings>,
    channel: u16,
    /// Reliable messages that wait for the decision, by channel.
    held: VecDeque<(u16, Submission)>,
    held_bytes: u64,
    /// What the application may have: of the present server, and the other one's unreliable messages.
    ready: VecDeque<Event>,
    /// Events of the other server that wait for the end of this one.
    late: VecDeque<Event>,
    /// Of the events that wait.
    waiting_bytes: u64,
    /// Of messages, and of events.
    bytes_max: u64,
}

/// Where a message belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// To the present server.
    Here,
    /// To the other server, which the client has chosen.
    There,
    /// It waits for the decision: [`Crossing::hold`].
    Held,
    /// Nowhere: the channel is not the application's.
    Refused,
}

impl Crossing {
    /// Of a connection with these settings; `None` if its server moves no clients. `bytes_max` bounds the messages that
    /// wait, and the events that wait, each with 128 bytes more than its payload.
    pub fn new(settings: &Arc<Settings>, bytes_max: u64) -> Option<Self> {
        Some(Crossing {
            moves: ClientMoves::default(),
            settings: Arc::clone(settings),
            channel: settings.moves_channel()?,
            held: VecDeque::new(),
            held_bytes: 0,
            ready: VecDeque::new(),
            late: VecDeque::new(),
            waiting_bytes: 0,
            bytes_max,
        })
    }

    /// The channel on which servers and clients speak about moves.
    pub fn channel(&self) -> u16 {
        self.channel
    }

    /// Whether a move is under way.
    pub fn is_moving(&self) -> bool {
        self.moves.is_moving()
    }

    /// Whether the other server's events have room to wait. Without room the caller leaves them in its connection.
    pub fn has_room(&self) -> bool {
        self.waiting_bytes < self.bytes_max
    }

    /// When [`Crossing::on_time`] is due.
    pub fn poll_timeout(&self) -> Time {
        self.moves.poll_timeout()
    }

    /// Time has passed.
    pub fn on_time(&mut self, now: Time) {
        self.moves.on_time(now);
    }

    /// The connection to the other server could not begin, or the application ends the client: one that has not chosen
    /// yet stays where it is.
    pub fn stay(&mut self) {
        self.moves.on_closed_there();
    }

    /// An event of the present server, as far as it is the application's now. Others wait in
    /// [`Crossing::poll_event`].
    pub fn on_event_here(&mut self, event: Event, now: Time) -> Option<Event> {
        match event {
            Event::Message { channel, payload, .. } if channel == self.channel => {
                self.moves.on_message_here(&payload, now);
                None
            }
            event if event.is_receipt_on(self.channel) => None,
            Event::Settled { .. } => {
                self.moves.on_settled_here();
                None
            }
            Event::Closed { .. } if self.moves.on_closed_here(now) => None,
            Event::Closed { peer, .. } => {
                self.lose_held(peer);
                self.push_ready(event);
                None
            }
            event => Some(event),
        }
    }

    /// An event of the other server.
    pub fn on_event_there(&mut self, event: Event, now: Time) {
        match event {
            Event::Connected { settings, .. } if self.can_play_by(&settings) => self.moves.on_connected_there(),
            // A server with other channels cannot take this client's messages.
            Event::Connected { .. } => self.moves.on_closed_there(),
            Event::Message { channel, payload, .. } if channel == self.channel => {
                self.moves.on_message_there(&payload, now);
            }
            Event::Closed { .. } if !self.moves.is_leaving() => self.moves.on_closed_there(),
            event if event.is_receipt_on(self.channel) => {}
            Event::Message { channel, .. } if !self.is_reliable(channel) => self.push_ready(event),
            event => {
                self.waiting_bytes += bytes_of(&event);
                self.late.push_back(event);
            }
        }
    }

    /// What to do next. What the other server sent can be polled once it is the present one, and is forgotten if it is
    /// not chosen.
    pub fn poll_action(&mut self) -> Option<MoveAction> {
        let action = self.moves.poll_action()?;
        match action {
            MoveAction::Finish => self.ready.append(&mut self.late),
            MoveAction::Stay => {
                let forgotten: u64 = self.late.drain(..).map(|event| bytes_of(&event)).sum();
                self.waiting_bytes -= forgotten;
            }
            _ => {}
        }
        Some(action)
    }

    /// The next event for the application that waited.
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.ready.pop_front()?;
        self.waiting_bytes -= bytes_of(&event);
        Some(event)
    }

    /// Whether there is one.
    pub fn has_events(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Where a message on this channel belongs.
    pub fn route(&self, channel: u16) -> Route {
        match channel {
            _ if channel == self.channel => Route::Refused,
            _ if self.moves.is_leaving() => Route::There,
            _ if self.moves.holds_reliable() && self.is_reliable(channel) => Route::Held,
            _ => Route::Here,
        }
    }

    /// Keeps a message until the client has chosen.
    ///
    /// # Errors
    /// The message, if there is no room for it.
    pub fn hold(&mut self, channel: u16, message: Submission) -> Result<(), Submission> {
        let bytes = WAITING_BYTES + message.payload.len() as u64;
        if self.held_bytes + bytes > self.bytes_max {
            return Err(message);
        }
        self.held_bytes += bytes;
        self.held.push_back((channel, message));
        Ok(())
    }

    /// The messages that were held back, in order: now they are to be sent.
    pub fn take_held(&mut self) -> VecDeque<(u16, Submission)> {
        self.held_bytes = 0;
        std::mem::take(&mut self.held)
    }

    /// The number and payload bytes of the messages of a channel that are held back.
    pub fn held(&self, channel: u16) -> (u64, u64) {
        let held = self.held.iter().filter(|(one, _)| *one == channel);
        held.fold((0, 0), |(count, bytes), (_, message)| (count + 1, bytes + message.payload.len() as u64))
    }

    /// A message that was held back cannot be sent.
    pub fn give_up(&mut self, peer: PeerId, id: MessageId, channel: u16, why: GivenUp) {
        self.push_ready(Event::GivenUp { peer, id, channel, why });
    }

    /// The client has lost its server, and what was held with it: `Closed` covers it where there are no receipts.
    fn lose_held(&mut self, peer: PeerId) {
        for (channel, message) in self.take_held() {
            if self.settings.rule(channel).is_some_and(|rule| rule.receipts) {
                self.give_up(peer, message.id, channel, GivenUp::Closed);
            }
        }
    }

    fn push_ready(&mut self, event: Event) {
        self.waiting_bytes += bytes_of(&event);
        self.ready.push_back(event);
    }

    fn can_play_by(&self, there: &Settings) -> bool {
        there.channels == self.settings.channels && there.moves_channel == self.settings.moves_channel
    }

    fn is_reliable(&self, channel: u16) -> bool {
        self.settings.rule(channel).is_some_and(|rule| rule.mode.is_reliable())
    }
}

fn bytes_of(event: &Event) -> u64 {
    WAITING_BYTES + if let Event::Message { payload, .. } = event { payload.len() as u64 } else { 0 }
}

/// Approximate bytes of a message or event that waits, without its payload.
const WAITING_BYTES: u64 = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::event::{Close, ClosedBy};
    use crate::moves::{MoveId, MoveMessage, Stayed};
    use crate::time::Duration;
    use crate::wire::settings::{ChannelRule, DeliveryMode};
    use bytes::Bytes;

    const CHAT: u16 = 0;
    const POSITIONS: u16 = 1;
    const MOVES: u16 = 2;
    const PEER: PeerId = PeerId { index: 0, generation: 0 };
    const ID: MoveId = MoveId(7);

    fn settings(moves_channel: u16) -> Arc<Settings> {
        let rule = |channel, mode| ChannelRule::new(channel..=channel, mode);
        let channels = vec![
            rule(CHAT, DeliveryMode::ReliableOrdered),
            rule(POSITIONS, DeliveryMode::Unreliable),
            ChannelRule::new(MOVES..=u16::MAX, DeliveryMode::ReliableOrdered),
        ];
        Arc::new(Settings { moves_channel: moves_channel.into(), channels, ..Settings::default() })
    }

    fn message(channel: u16, text: &[u8]) -> Event {
        Event::Message { peer: PEER, channel, payload: Bytes::copy_from_slice(text), age: Duration::ZERO }
    }

    /// A client that was asked to move, and is connected to a server with this channel of moves.
    fn connected(bytes_max: u64, there: u16) -> Crossing {
        let mut crossing = Crossing::new(&settings(MOVES), bytes_max).expect("it has a channel of moves");
        let order = MoveMessage::Move { id: ID, destination: "b:1", token: b"" }.encode();
        assert_eq!(crossing.on_event_here(message(MOVES, &order), Time::ZERO), None);
        assert!(matches!(crossing.poll_action(), Some(MoveAction::Connect { .. })));
        crossing.on_event_there(Event::Connected { peer: PEER, settings: settings(there) }, Time::ZERO);
        crossing
    }

    fn welcome(crossing: &mut Crossing) {
        crossing.on_event_here(Event::Settled { peer: PEER }, Time::ZERO);
        crossing.on_event_there(message(MOVES, &MoveMessage::Welcome(ID).encode()), Time::ZERO);
        assert!(actions(crossing).contains(&MoveAction::Switch));
    }

    fn actions(crossing: &mut Crossing) -> Vec<MoveAction> {
        std::iter::from_fn(|| crossing.poll_action()).collect()
    }

    fn texts(crossing: &mut Crossing) -> Vec<String> {
        let text = |event| match event {
            Event::Message { payload, .. } => String::from_utf8_lossy(&payload).into_owned(),
            other => format!("{other:?}"),
        };
        std::iter::from_fn(|| crossing.poll_event()).map(text).collect()
    }

    fn submission(bytes: usize) -> Submission {
        Submission { payload: vec![0; bytes].into(), id: MessageId(1), age: Duration::ZERO }
    }

    #[test]
    fn the_other_servers_reliable_messages_come_behind_the_end_of_this_one() {
        let mut crossing = connected(1_000, MOVES);
        welcome(&mut crossing);
        crossing.on_event_there(message(CHAT, b"late"), Time::ZERO);
        crossing.on_event_there(message(POSITIONS, b"at once"), Time::ZERO);
        assert_eq!(texts(&mut crossing), ["at once"]);
        let own = message(CHAT, b"of here");
        assert_eq!(crossing.on_event_here(own.clone(), Time::ZERO), Some(own));
        let close = Close { by: ClosedBy::Peer, code: 0, reason: Bytes::new() };
        assert_eq!(crossing.on_event_here(Event::Closed { peer: PEER, close }, Time::ZERO), None);
        assert_eq!(actions(&mut crossing), [MoveAction::Finish]);
        assert_eq!(texts(&mut crossing), ["late"]);
        assert_eq!(crossing.waiting_bytes, 0);
    }

    #[test]
    fn the_other_server_may_end_before_the_caller_knows_that_it_is_the_present_one() {
        let mut crossing = connected(1_000, MOVES);
        welcome(&mut crossing);
        let close = Close { by: ClosedBy::Peer, code: 0, reason: Bytes::new() };
        assert_eq!(crossing.on_event_here(Event::Closed { peer: PEER, close: close.clone() }, Time::ZERO), None);
        let end = Event::Closed { peer: PEER, close };
        crossing.on_event_there(end.clone(), Time::ZERO);
        assert_eq!(actions(&mut crossing), [MoveAction::Finish]);
        assert_eq!(crossing.poll_event(), Some(end));
    }

    #[test]
    fn a_server_that_was_not_chosen_says_nothing() {
        let mut crossing = connected(1_000, MOVES);
        crossing.on_event_there(message(CHAT, b"too early"), Time::ZERO);
        crossing.on_event_here(message(MOVES, &MoveMessage::Cancel(ID).encode()), Time::ZERO);
        assert!(actions(&mut crossing).contains(&MoveAction::Stay));
        assert_eq!((texts(&mut crossing).len(), crossing.waiting_bytes), (0, 0));
    }

    #[test]
    fn a_server_with_another_channel_of_moves_is_refused() {
        let mut crossing = connected(1_000, MOVES + 1);
        let stayed = MoveAction::SendHere(MoveMessage::Stayed(ID, Stayed::Refused).encode());
        assert_eq!(actions(&mut crossing), [stayed, MoveAction::Stay]);
    }

    #[test]
    fn reliable_messages_wait_for_the_decision_and_have_a_bound() {
        let mut crossing = connected(1_000, MOVES);
        let routes = |crossing: &Crossing| [CHAT, POSITIONS, MOVES].map(|channel| crossing.route(channel));
        assert_eq!(routes(&crossing), [Route::Held, Route::Here, Route::Refused]);
        assert_eq!(crossing.hold(CHAT, submission(700)), Ok(()));
        assert_eq!(crossing.hold(CHAT, submission(100)), Err(submission(100)));
        assert_eq!((crossing.held(CHAT), crossing.held(POSITIONS)), ((1, 700), (0, 0)));
        welcome(&mut crossing);
        assert_eq!(routes(&crossing), [Route::There, Route::There, Route::Refused]);
        assert_eq!(crossing.take_held(), [(CHAT, submission(700))]);
        assert_eq!(crossing.hold(CHAT, submission(700)), Ok(()), "there is room again");
    }

    #[test]
    fn events_that_wait_leave_no_room_for_more() {
        let mut crossing = connected(1_000, MOVES);
        crossing.on_event_there(message(CHAT, &[0; 800]), Time::ZERO);
        assert!(crossing.has_room());
        crossing.on_event_there(message(POSITIONS, &[0; 800]), Time::ZERO);
        assert!(!crossing.has_room());
        assert_eq!(texts(&mut crossing).len(), 1);
        assert!(crossing.has_room());
    }
}
