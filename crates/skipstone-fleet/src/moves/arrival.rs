//! Players that come to this node.

use super::note::{Letter, MoveOrigin, Note};
use super::output::{MoveNotice, MoveOrder, MoveRefusal, Output};
use super::settings::MoveSettings;
use bytes::Bytes;
use skipstone::{MoveId, PeerId};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The moves that other nodes have begun.
#[derive(Debug)]
pub(super) struct Arrivals {
    settings: MoveSettings,
    under_way: BTreeMap<MoveOrigin, Arrival>,
    tokens: BTreeMap<Bytes, MoveOrigin>,
    guests: BTreeMap<PeerId, MoveOrigin>,
    /// The moves that ended last: a late copy of their first letter begins none.
    ended: VecDeque<MoveOrigin>,
}

#[derive(Debug)]
struct Arrival {
    player: Bytes,
    answer: Option<Note>,
    peer: Option<PeerId>,
    is_connected: bool,
    state: Option<Bytes>,
    is_welcome: bool,
    ends_at: Duration,
}

impl Arrivals {
    pub(super) fn new(settings: MoveSettings) -> Arrivals {
        Arrivals {
            settings,
            under_way: BTreeMap::new(),
            tokens: BTreeMap::new(),
            guests: BTreeMap::new(),
            ended: VecDeque::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.under_way.len()
    }

    pub(super) fn on_reserve(&mut self, origin: MoveOrigin, player: Bytes, now: Duration, output: &mut Output) {
        if let Some(known) = self.under_way.get(&origin) {
            if let Some(note) = known.answer.clone() {
                send(origin, note, output);
            }
            return;
        }
        if self.ended.contains(&origin) {
            return;
        }
        if self.under_way.len() >= self.settings.moves_max || player.len() > super::departure::PLAYER_BYTES_MAX {
            let why = format!("{} takes {} moves at once at most", self.settings.node, self.settings.moves_max);
            return send(origin, Note::Refused { why }, output);
        }
        let arrival = Arrival {
            player: player.clone(),
            answer: None,
            peer: None,
            is_connected: false,
            state: None,
            is_welcome: false,
            ends_at: now + ARRIVE_MAX,
        };
        self.under_way.insert(origin.clone(), arrival);
        output.notices.push_back(MoveNotice::Asked { origin, player });
    }

    pub(super) fn admit(
        &mut self,
        origin: &MoveOrigin,
        address: &str,
        token: Bytes,
        output: &mut Output,
    ) -> Result<(), MoveRefusal> {
        let waiting = self.under_way.get_mut(origin).filter(|arrival| arrival.answer.is_none());
        let arrival = waiting.ok_or(MoveRefusal::NotAsked)?;
        let note = Note::Reserved { address: address.into(), token: token.clone() };
        arrival.answer = Some(note.clone());
        self.tokens.insert(token, origin.clone());
        send(origin.clone(), note, output);
        Ok(())
    }

    pub(super) fn refuse(&mut self, origin: &MoveOrigin, why: &str, output: &mut Output) {
        if self.under_way.get(origin).is_some_and(|arrival| arrival.answer.is_none()) {
            self.forget(origin);
            send(origin.clone(), Note::Refused { why: why.into() }, output);
        }
    }

    /// Whether the token is that of a move. It serves once.
    pub(super) fn on_requested(&mut self, peer: PeerId, token: &Bytes) -> bool {
        let Some(origin) = self.tokens.remove(token) else { return false };
        let Some(arrival) = self.under_way.get_mut(&origin) else { return false };
        arrival.peer = Some(peer);
        self.guests.insert(peer, origin);
        true
    }

    /// Whether it is a client that comes from another node.
    pub(super) fn on_connected(&mut self, peer: PeerId, output: &mut Output) -> bool {
        let Some(origin) = self.guests.get(&peer).cloned() else { return false };
        if let Some(arrival) = self.under_way.get_mut(&origin) {
            arrival.is_connected = true;
        }
        self.welcome(&origin, output);
        true
    }

    pub(super) fn on_state(&mut self, origin: &MoveOrigin, state: Bytes, output: &mut Output) {
        if state.len() > self.settings.state_bytes_max {
            return;
        }
        if let Some(arrival) = self.under_way.get_mut(origin) {
            arrival.state.get_or_insert(state);
            self.welcome(origin, output);
        }
    }

    pub(super) fn on_cancelled(&mut self, origin: &MoveOrigin, output: &mut Output) {
        self.end(origin, output);
    }

    /// Whether a player has come.
    pub(super) fn on_arrived(&mut self, peer: PeerId, id: MoveId, output: &mut Output) -> bool {
        let Some(origin) = self.guests.get(&peer).filter(|origin| origin.id == id).cloned() else { return false };
        let Some(Arrival { player, state: Some(state), .. }) = self.forget(&origin) else { return false };
        self.guests.remove(&peer);
        output.notices.push_back(MoveNotice::Arrived { peer, player, state });
        true
    }

    /// Whether it was a client on its way, of which the application knows nothing.
    pub(super) fn on_closed(&mut self, peer: PeerId) -> bool {
        let Some(origin) = self.guests.remove(&peer) else { return false };
        self.forget(&origin);
        true
    }

    pub(super) fn advance(&mut self, now: Duration, output: &mut Output) {
        let ended = self.under_way.iter().filter(|(_, arrival)| now >= arrival.ends_at);
        let ended: Vec<MoveOrigin> = ended.map(|(origin, _)| origin.clone()).collect();
        ended.iter().for_each(|origin| self.end(origin, output));
    }

    fn welcome(&mut self, origin: &MoveOrigin, output: &mut Output) {
        if let Some(arrival) = self.under_way.get_mut(origin)
            && let Some(peer) = arrival.peer.filter(|_| arrival.is_connected && arrival.state.is_some())
            && !std::mem::replace(&mut arrival.is_welcome, true)
        {
            output.orders.push_back(MoveOrder::Welcome(peer, origin.id));
        }
    }

    fn forget(&mut self, origin: &MoveOrigin) -> Option<Arrival> {
        let arrival = self.under_way.remove(origin)?;
        self.ended.push_back(origin.clone());
        if self.ended.len() > self.settings.moves_max {
            self.ended.pop_front();
        }
        Some(arrival)
    }

    fn end(&mut self, origin: &MoveOrigin, output: &mut Output) {
        let Some(arrival) = self.forget(origin) else { return };
        if let Some(Note::Reserved { token, .. }) = arrival.answer {
            self.tokens.remove(&token);
        }
        if let Some(peer) = arrival.peer {
            // Its `Closed` is not the application's either.
            output.orders.push_back(MoveOrder::Dismiss(peer));
        }
    }
}

fn send(origin: MoveOrigin, note: Note, output: &mut Output) {
    output.letters.push_back((origin.node.clone(), Letter { origin, note }));
}

/// How long a place is kept.
const ARRIVE_MAX: Duration = Duration::from_secs(30);
