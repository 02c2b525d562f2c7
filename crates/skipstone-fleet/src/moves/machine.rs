//! The moves of one node, in both directions: a state machine that takes time, letters and what clients say, and gives
//! letters, orders and events.

use super::arrival::Arrivals;
use super::departure::Departures;
use super::note::{Letter, MoveOrigin, Note};
use super::output::{MoveNotice, MoveOrder, MoveRefusal, Output};
use super::settings::MoveSettings;
use crate::directory::NodeName;
use bytes::Bytes;
use skipstone::{Event, MoveStage, PeerId};
use std::time::Duration;

/// A node's moves. All calls take `now`: the time since any moment, by one monotonic clock of this process.
#[derive(Debug)]
pub struct Moves {
    departures: Departures,
    arrivals: Arrivals,
    output: Output,
    invalid: u64,
}

impl Moves {
    /// No moves yet.
    pub fn new(settings: MoveSettings) -> Moves {
        Moves {
            departures: Departures::new(settings.clone()),
            arrivals: Arrivals::new(settings),
            output: Output::default(),
            invalid: 0,
        }
    }

    /// Begins to move a player to another node, which learns `player` of it.
    ///
    /// # Errors
    /// The client cannot be moved now.
    pub fn begin(&mut self, peer: PeerId, to: NodeName, player: Bytes, now: Duration) -> Result<(), MoveRefusal> {
        self.departures.begin(peer, to, player, now, &mut self.output)
    }

    /// Hands a player over that is [ready](MoveNotice::Ready). [`MoveNotice::Left`] or [`MoveNotice::Stayed`] follows.
    ///
    /// # Errors
    /// The player is not ready, or its state too long. The move is cancelled if it is not handed over in time.
    pub fn hand_over(&mut self, peer: PeerId, state: Bytes, now: Duration) -> Result<(), MoveRefusal> {
        self.departures.hand_over(peer, state, now, &mut self.output)
    }

    /// Keeps a place for a player that another node [asked](MoveNotice::Asked) for. `address` is this node's, as
    /// clients reach it, and `token` a secret of 16 random bytes at least, for this one client.
    ///
    /// # Errors
    /// The move was answered, or has ended.
    pub fn admit(&mut self, origin: &MoveOrigin, address: &str, token: Bytes) -> Result<(), MoveRefusal> {
        self.arrivals.admit(origin, address, token, &mut self.output)
    }

    /// Has no place for a player.
    pub fn refuse(&mut self, origin: &MoveOrigin, why: &str) {
        self.arrivals.refuse(origin, why, &mut self.output);
    }

    /// Takes an event of the server, or gives it back if it is the application's.
    pub fn handle_event(&mut self, event: Event, now: Duration) -> Option<Event> {
        match &event {
            Event::Requested { peer, token, .. } if self.arrivals.on_requested(*peer, token) => {
                self.output.orders.push_back(MoveOrder::Accept(*peer));
                return None;
            }
            Event::Connected { peer, .. } if self.arrivals.on_connected(*peer, &mut self.output) => return None,
            Event::Closed { peer, .. } => {
                self.departures.on_closed(*peer, &mut self.output);
                if self.arrivals.on_closed(*peer) {
                    return None;
                }
            }
            Event::Move { peer, stage } => {
                self.on_stage(*peer, *stage, now);
                return None;
            }
            _ => {}
        }
        Some(event)
    }

    /// Takes a letter of another node.
    pub fn handle_letter(&mut self, encoded: &Bytes, now: Duration) {
        let Some(Letter { origin, note }) = Letter::decode(encoded) else {
            self.invalid += 1;
            return;
        };
        match note {
            Note::Reserve { player } => self.arrivals.on_reserve(origin, player, now, &mut self.output),
            Note::Player { state } => self.arrivals.on_state(&origin, state, &mut self.output),
            Note::Cancelled => self.arrivals.on_cancelled(&origin, &mut self.output),
            Note::Reserved { address, token } => {
                self.departures.on_reserved(&origin, address, token, now, &mut self.output);
            }
            Note::Refused { why } => self.departures.on_refused(&origin, why, &mut self.output),
        }
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.departures.advance(now, &mut self.output);
        self.arrivals.advance(now, &mut self.output);
    }

    /// The next letter, and the node that it goes to.
    pub fn poll_letter(&mut self) -> Option<(NodeName, Bytes)> {
        self.output.letters.pop_front().map(|(to, letter)| (to, letter.encode()))
    }

    /// What the server is to do next.
    pub fn poll_order(&mut self) -> Option<MoveOrder> {
        self.output.orders.pop_front()
    }

    /// What happened next.
    pub fn poll_notice(&mut self) -> Option<MoveNotice> {
        self.output.notices.pop_front()
    }

    /// Moves under way, from and to this node.
    pub fn under_way(&self) -> (usize, usize) {
        (self.departures.len(), self.arrivals.len())
    }

    /// Letters that were none.
    pub fn invalid_letters(&self) -> u64 {
        self.invalid
    }

    fn on_stage(&mut self, peer: PeerId, stage: MoveStage, now: Duration) {
        match stage {
            MoveStage::Able => self.departures.on_able(peer),
            MoveStage::Ready(id) => self.departures.on_ready(peer, id, now, &mut self.output),
            MoveStage::Stayed(id, why) => self.departures.on_stayed(peer, id, why, &mut self.output),
            MoveStage::Left(id) => self.departures.on_left(peer, id, &mut self.output),
            MoveStage::Arrived(id) if self.arrivals.on_arrived(peer, id, &mut self.output) => {
                self.departures.on_able(peer);
            }
            _ => {}
        }
    }
}
