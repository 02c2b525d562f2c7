//! Players that leave this node.

use super::note::{Letter, MoveOrigin, Note};
use super::output::{MoveFailure, MoveNotice, MoveOrder, MoveRefusal, Output};
use super::settings::MoveSettings;
use crate::directory::NodeName;
use bytes::Bytes;
use skipstone::{MoveId, PeerId, Stayed};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The moves that this node has begun.
#[derive(Debug)]
pub(super) struct Departures {
    settings: MoveSettings,
    next_id: u64,
    able: BTreeSet<PeerId>,
    under_way: BTreeMap<PeerId, Departure>,
}

#[derive(Debug)]
struct Departure {
    id: MoveId,
    to: NodeName,
    phase: Phase,
    /// When the move is cancelled.
    ends_at: Duration,
    /// When the letter of this phase is repeated.
    repeat_at: Duration,
}

#[derive(Debug)]
enum Phase {
    /// The other node has not answered. The client knows nothing yet.
    Reserving { player: Bytes },
    /// The client is on its way.
    Told,
    /// The application is asked for the player's state.
    Ready,
    /// The player was handed over. Its client decides.
    Handed { state: Bytes },
    /// The client was told to stay, if it has not left.
    Cancelling,
}

impl Departures {
    pub(super) fn new(settings: MoveSettings) -> Departures {
        let next_id = settings.first_id;
        Departures { settings, next_id, able: BTreeSet::new(), under_way: BTreeMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.under_way.len()
    }

    pub(super) fn on_able(&mut self, peer: PeerId) {
        self.able.insert(peer);
    }

    pub(super) fn begin(
        &mut self,
        peer: PeerId,
        to: NodeName,
        player: Bytes,
        now: Duration,
        output: &mut Output,
    ) -> Result<(), MoveRefusal> {
        if !self.able.contains(&peer) {
            return Err(MoveRefusal::NotAble);
        }
        if self.under_way.contains_key(&peer) {
            return Err(MoveRefusal::Busy);
        }
        if self.under_way.len() >= self.settings.moves_max {
            return Err(MoveRefusal::Full(self.settings.moves_max));
        }
        if player.len() > PLAYER_BYTES_MAX {
            return Err(MoveRefusal::TooLong { bytes: player.len(), bytes_max: PLAYER_BYTES_MAX });
        }
        self.next_id = self.next_id.wrapping_add(1);
        let id = MoveId(self.next_id);
        let phase = Phase::Reserving { player: player.clone() };
        let departure = Departure { id, to, phase, ends_at: now + RESERVE_MAX, repeat_at: now + REPEAT };
        self.send(&departure, Note::Reserve { player }, output);
        self.under_way.insert(peer, departure);
        Ok(())
    }

    pub(super) fn hand_over(
        &mut self,
        peer: PeerId,
        state: Bytes,
        now: Duration,
        output: &mut Output,
    ) -> Result<(), MoveRefusal> {
        let bytes_max = self.settings.state_bytes_max;
        if state.len() > bytes_max {
            return Err(MoveRefusal::TooLong { bytes: state.len(), bytes_max });
        }
        let Some(mut departure) = self.take(peer, |departure| matches!(departure.phase, Phase::Ready)) else {
            return Err(MoveRefusal::NotReady);
        };
        departure.phase = Phase::Handed { state: state.clone() };
        (departure.ends_at, departure.repeat_at) = (now + DECIDE_MAX, now + REPEAT);
        self.send(&departure, Note::Player { state }, output);
        self.under_way.insert(peer, departure);
        Ok(())
    }

    pub(super) fn on_reserved(
        &mut self,
        origin: &MoveOrigin,
        destination: String,
        token: Bytes,
        now: Duration,
        output: &mut Output,
    ) {
        let Some((peer, departure)) = self.of(origin) else { return };
        if matches!(departure.phase, Phase::Reserving { .. }) {
            departure.phase = Phase::Told;
            departure.ends_at = now + CONNECT_MAX;
            output.orders.push_back(MoveOrder::Move { peer, id: origin.id, destination, token });
        }
    }

    pub(super) fn on_refused(&mut self, origin: &MoveOrigin, why: String, output: &mut Output) {
        let Some((peer, departure)) = self.of(origin) else { return };
        if matches!(departure.phase, Phase::Reserving { .. }) {
            self.under_way.remove(&peer);
            output.notices.push_back(MoveNotice::Stayed { peer, failure: MoveFailure::NoPlace, why });
        }
    }

    pub(super) fn on_ready(&mut self, peer: PeerId, id: MoveId, now: Duration, output: &mut Output) {
        if let Some(departure) = self.under_way.get_mut(&peer)
            && departure.id == id
            && matches!(departure.phase, Phase::Told)
        {
            departure.phase = Phase::Ready;
            departure.ends_at = now + HAND_OVER_MAX;
            output.notices.push_back(MoveNotice::Ready { peer });
        }
    }

    pub(super) fn on_stayed(&mut self, peer: PeerId, id: MoveId, why: Stayed, output: &mut Output) {
        if let Some(departure) = self.take(peer, |departure| departure.id == id) {
            self.send(&departure, Note::Cancelled, output);
            let failure = MoveFailure::of(why);
            output.notices.push_back(MoveNotice::Stayed { peer, failure, why: failure.sentence().into() });
        }
    }

    pub(super) fn on_left(&mut self, peer: PeerId, id: MoveId, output: &mut Output) {
        if self.take(peer, |departure| departure.id == id).is_some() {
            self.able.remove(&peer);
            output.notices.push_back(MoveNotice::Left { peer });
            output.orders.push_back(MoveOrder::Part(peer));
        }
    }

    /// The connection ended, and with it what this node knows of the client's decision.
    pub(super) fn on_closed(&mut self, peer: PeerId, output: &mut Output) {
        self.able.remove(&peer);
        if let Some(departure) = self.take(peer, |_| true) {
            self.send(&departure, Note::Cancelled, output);
        }
    }

    pub(super) fn advance(&mut self, now: Duration, output: &mut Output) {
        let due: Vec<PeerId> = self
            .under_way
            .iter()
            .filter(|(_, departure)| now >= departure.ends_at || now >= departure.repeat_at)
            .map(|(peer, _)| *peer)
            .collect();
        for peer in due {
            let Some(mut departure) = self.under_way.remove(&peer) else { continue };
            if now < departure.ends_at {
                departure.repeat_at = now + REPEAT;
                match &departure.phase {
                    Phase::Reserving { player } => {
                        let player = player.clone();
                        self.send(&departure, Note::Reserve { player }, output);
                    }
                    Phase::Handed { state } => {
                        let state = state.clone();
                        self.send(&departure, Note::Player { state }, output);
                    }
                    Phase::Told | Phase::Ready | Phase::Cancelling => departure.repeat_at = Duration::MAX,
                }
                self.under_way.insert(peer, departure);
                continue;
            }
            if matches!(departure.phase, Phase::Reserving { .. }) {
                self.send(&departure, Note::Cancelled, output);
                let why = format!("the node {} did not answer in {} s", departure.to, RESERVE_MAX.as_secs());
                output.notices.push_back(MoveNotice::Stayed { peer, failure: MoveFailure::NoAnswer, why });
                continue;
            }
            // The client's answer, or the end of its connection, says where it is.
            output.orders.push_back(MoveOrder::Cancel(peer, departure.id));
            (departure.phase, departure.ends_at) = (Phase::Cancelling, Duration::MAX);
            departure.repeat_at = Duration::MAX;
            self.under_way.insert(peer, departure);
        }
    }

    fn take(&mut self, peer: PeerId, is_wanted: impl Fn(&Departure) -> bool) -> Option<Departure> {
        self.under_way.get(&peer).filter(|departure| is_wanted(departure))?;
        self.under_way.remove(&peer)
    }

    /// The departure that a letter belongs to.
    fn of(&mut self, origin: &MoveOrigin) -> Option<(PeerId, &mut Departure)> {
        let is_own = origin.node == self.settings.node;
        self.under_way
            .iter_mut()
            .find(|(_, departure)| is_own && departure.id == origin.id)
            .map(|(peer, departure)| (*peer, departure))
    }

    fn send(&self, departure: &Departure, note: Note, output: &mut Output) {
        let origin = MoveOrigin { node: self.settings.node.clone(), id: departure.id };
        output.letters.push_back((departure.to.clone(), Letter { origin, note }));
    }
}

/// Longest text about a player.
pub(super) const PLAYER_BYTES_MAX: usize = 1_024;
/// Between two letters of the same content.
const REPEAT: Duration = Duration::from_millis(250);
/// How long the other node may take to answer.
const RESERVE_MAX: Duration = Duration::from_secs(3);
/// How long the client may take to connect there. It gives up by itself after 10 s.
const CONNECT_MAX: Duration = Duration::from_secs(12);
/// How long the application may take to hand a player over.
const HAND_OVER_MAX: Duration = Duration::from_secs(2);
/// How long the client may take to decide, once its state was handed over.
const DECIDE_MAX: Duration = Duration::from_secs(5);
