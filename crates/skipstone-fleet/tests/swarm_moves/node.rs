//! A node: its moves, and the players for which its application acts.

use crate::world::{Link, Random};
use skipstone::{Event, PeerId};
use skipstone_fleet::directory::NodeName;
use skipstone_fleet::moves::{MoveNotice, MoveSettings, Moves};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(crate) struct Node {
    pub(crate) name: NodeName,
    /// Processes so far. What was meant for an earlier one is lost.
    pub(crate) life: u64,
    pub(crate) moves: Option<Moves>,
    /// Those for which it acts.
    pub(crate) players: BTreeSet<PeerId>,
    /// What each Link is to the application.
    pub(crate) left: u64,
    pub(crate) stayed: u64,
}

impl Node {
    pub(crate) fn new(index: usize) -> Node {
        let name = NodeName::new(&format!("n{index}")).unwrap();
        Node { name, life: 0, moves: None, players: BTreeSet::new(), left: 0, stayed: 0 }
    }

    pub(crate) fn start(&mut self, random: &mut Random) {
        self.life += 1;
        self.moves = Some(Moves::new(MoveSettings::new(self.name.clone(), random.next())));
    }

    pub(crate) fn kill(&mut self) {
        self.moves = None;
        self.players.clear();
    }

    /// An event of its server. True if a client without a token of a move asks for a place.
    pub(crate) fn on_event(&mut self, event: Event, now: Duration) -> Option<Event> {
        let event = self.moves.as_mut()?.handle_event(event, now)?;
        match &event {
            Event::Connected { peer, .. } => {
                self.players.insert(*peer);
            }
            Event::Closed { peer, .. } => {
                self.players.remove(peer);
            }
            _ => {}
        }
        Some(event)
    }

    pub(crate) fn settle(&mut self, links: &BTreeMap<PeerId, Link>, random: &mut Random, now: Duration) {
        while let Some(notice) = self.moves.as_mut().and_then(|moves| moves.poll_notice()) {
            let Some(moves) = &mut self.moves else { return };
            match notice {
                MoveNotice::Asked { origin, .. } if random.chance(8) => moves.refuse(&origin, "full"),
                MoveNotice::Asked { origin, .. } => {
                    let token = random.next().to_be_bytes().to_vec();
                    moves.admit(&origin, self.name.as_str(), token.into()).expect("it was asked");
                }
                MoveNotice::Ready { peer } => {
                    assert!(self.players.remove(&peer), "only a player becomes ready");
                    if !random.chance(10) {
                        moves.hand_over(peer, vec![7; 100].into(), now).expect("it is ready");
                    }
                }
                MoveNotice::Left { peer } => {
                    self.players.remove(&peer);
                    self.left += 1;
                }
                MoveNotice::Stayed { peer, .. } => {
                    self.stayed += 1;
                    if links.get(&peer).is_some_and(|link| link.is_open_at_node) {
                        self.players.insert(peer);
                    }
                }
                MoveNotice::Arrived { peer, state, .. } => {
                    assert_eq!(state, vec![7; 100]);
                    self.players.insert(peer);
                }
                notice => panic!("{notice:?}"),
            }
        }
    }
}
