//! A handle's record of its peers: the state of each connection according to the events that the application has
//! polled, and the members of each group. The roster decides at the call whether a message can be accepted, without
//! asking the driver.
//!
//! The driver may be ahead of the roster: a connection may have ended while its `Closed` event waits to be polled. A
//! message accepted for that connection meanwhile ends with that event, which the application then sees.

use crate::gate::Gate;
use crate::recipients::Recipients;
use crate::send_error::{PeerError, SendRefusal};
use skipstone_proto::{ChannelRule, DeliveryMode, Overflow, Settings};
use skipstone_proto::{Event, Group, InboundRule, PeerId};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// All peers of a handle.
#[derive(Debug)]
pub(crate) struct Roster {
    /// Indexed by a peer's index.
    places: Vec<Place>,
    /// Number of connected members of each group, everyone included.
    sizes: BTreeMap<Group, usize>,
    /// The server's settings, which its clients follow.
    settings: Arc<Settings>,
    inbound: Arc<[InboundRule]>,
}

/// A place for a peer, reused after the previous peer's connection has ended.
#[derive(Debug, Default)]
struct Place {
    /// Generation of the last peer in this place; `None` if there was none.
    generation: Option<u32>,
    standing: Standing,
    known: Option<Box<Known>>,
}

/// Record of a peer whose connection has not ended.
#[derive(Debug, Default)]
struct Known {
    /// The client's address, if this side is the server.
    remote: Option<SocketAddr>,
    /// Settings that the client received, if this side is not the server.
    settings: Option<Arc<Settings>>,
    groups: Vec<Group>,
    /// Gates of the channels whose rule is to refuse messages that do not fit.
    gates: Vec<(u16, Arc<Gate>)>,
}

/// State of a connection, according to the events that the application has polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// The place is free: no connection yet, or an ended one.
    #[default]
    Over,
    /// A client waits for the application's decision.
    Waiting,
    /// The client was accepted, or this side connects.
    Connecting,
    Connected,
    /// The application closed the connection.
    Closing,
}

/// Data that accompanies an accepted message to the driver.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// Counts the messages that wait on a channel whose rule is to refuse.
    pub(crate) gate: Option<Arc<Gate>>,
}

impl Roster {
    pub(crate) fn new(settings: Arc<Settings>, inbound: Arc<[InboundRule]>) -> Self {
        Roster { places: Vec::new(), sizes: BTreeMap::new(), settings, inbound }
    }

    /// This side connects to a peer.
    pub(crate) fn connecting(&mut self, peer: PeerId) {
        self.enter(peer, Standing::Connecting);
    }

    /// Updates the state before the application receives this event.
    pub(crate) fn on_event(&mut self, event: &Event) {
        match event {
            Event::Requested { peer, remote, .. } => {
                self.enter(*peer, Standing::Waiting);
                self.on_address(*peer, *remote);
            }
            Event::PathChanged { peer, path } => self.on_address(*peer, path.remote),
            Event::Connected { peer, settings, .. } => self.on_connected(*peer, settings),
            Event::Closed { peer, .. } => self.on_closed(*peer),
            _ => {}
        }
    }

    fn enter(&mut self, peer: PeerId, standing: Standing) {
        let index = peer.index as usize;
        if self.places.len() <= index {
            self.places.resize_with(index + 1, Place::default);
        }
        self.places[index] = Place { generation: Some(peer.generation), standing, known: Some(Box::default()) };
    }

    fn on_address(&mut self, peer: PeerId, remote: SocketAddr) {
        if let Ok(Place { known: Some(known), .. }) = self.place(peer) {
            known.remote = Some(remote);
        }
    }

    fn on_connected(&mut self, peer: PeerId, settings: &Arc<Settings>) {
        let Ok(place) = self.place(peer) else { return };
        let is_closing = place.standing == Standing::Closing;
        place.standing = if is_closing { Standing::Closing } else { Standing::Connected };
        let Some(known) = &mut place.known else { return };
        known.settings = Some(Arc::clone(settings));
        let groups = known.groups.clone();
        if !is_closing {
            self.count(Group::EVERYONE, 1);
            groups.into_iter().for_each(|group| self.count(group, 1));
        }
    }

    fn on_closed(&mut self, peer: PeerId) {
        self.on_closing(peer);
        if let Ok(place) = self.place(peer) {
            place.standing = Standing::Over;
            place.known = None;
        }
    }

    /// The application closes a connection, which belongs to no group from now on.
    fn on_closing(&mut self, peer: PeerId) {
        let Ok(place) = self.place(peer) else { return };
        let was = core::mem::replace(&mut place.standing, Standing::Closing);
        let groups = place.known.as_mut().map(|known| core::mem::take(&mut known.groups)).unwrap_or_default();
        if was == Standing::Connected {
            self.count(Group::EVERYONE, -1);
            groups.into_iter().for_each(|group| self.count(group, -1));
        }
    }

    /// Whether a message can be accepted; if so, its [`Admitted`].
    pub(crate) fn admit(&mut self, peer: PeerId, channel: u16, bytes: usize) -> Result<Admitted, SendRefusal> {
        self.check_direction(channel)?;
        let own = Arc::clone(&self.settings);
        let place = self.place(peer).map_err(|error| match error {
            PeerError::UnknownPeer => SendRefusal::UnknownPeer,
            _ => SendRefusal::NotConnected,
        })?;
        let Some(known) = place.known.as_mut().filter(|_| place.standing == Standing::Connected) else {
            return Err(SendRefusal::NotConnected);
        };
        let settings = known.settings.clone().unwrap_or(own);
        let rule = rule_of(&settings, channel, bytes)?;
        if rule.overflow != Overflow::Refuse {
            return Ok(Admitted { gate: None });
        }
        let gate = known.gate(channel);
        if !gate.admits(rule, bytes) {
            return Err(SendRefusal::QueueFull);
        }
        Ok(Admitted { gate: Some(gate) })
    }

    fn check_direction(&self, channel: u16) -> Result<(), SendRefusal> {
        let may_send = InboundRule::let_server_send(&self.inbound, channel);
        if may_send { Ok(()) } else { Err(SendRefusal::WrongDirection { channel }) }
    }

    /// Number of peers for which a broadcast to this group can be accepted.
    pub(crate) fn admit_broadcast(&self, to: &Recipients, channel: u16, bytes: usize) -> Result<usize, SendRefusal> {
        self.check_direction(channel)?;
        rule_of(&self.settings, channel, bytes)?;
        let members = self.sizes.get(&to.group).copied().unwrap_or(0);
        Ok(members - to.left_out().iter().filter(|peer| self.is_member(**peer, to.group)).count())
    }

    /// The application accepts a client.
    pub(crate) fn accept(&mut self, peer: PeerId) -> Result<(), PeerError> {
        let place = self.place(peer)?;
        match place.standing {
            Standing::Waiting => {
                place.standing = Standing::Connecting;
                Ok(())
            }
            Standing::Over | Standing::Closing => Err(PeerError::Over),
            Standing::Connecting | Standing::Connected => Err(PeerError::NotWaiting),
        }
    }

    /// The application ends a connection, or refuses a client.
    pub(crate) fn close(&mut self, peer: PeerId) -> Result<(), PeerError> {
        self.place_in_use(peer)?;
        self.on_closing(peer);
        Ok(())
    }

    /// Closes all peers.
    pub(crate) fn close_all(&mut self) {
        let peers: Vec<PeerId> = self.open_peers().collect();
        peers.into_iter().for_each(|peer| self.on_closing(peer));
    }

    /// Adds a peer to a group. False if it is a member already.
    pub(crate) fn join(&mut self, peer: PeerId, group: Group) -> Result<bool, PeerError> {
        if group == Group::EVERYONE {
            return Err(PeerError::EveryoneIsKept);
        }
        let place = self.place_in_use(peer)?;
        let is_connected = place.standing == Standing::Connected;
        let known = place.known.get_or_insert_default();
        if known.groups.contains(&group) {
            return Ok(false);
        }
        known.groups.push(group);
        if is_connected {
            self.count(group, 1);
        }
        Ok(true)
    }

    /// Removes a peer from a group. False if the peer is not a member.
    pub(crate) fn leave(&mut self, peer: PeerId, group: Group) -> Result<bool, PeerError> {
        if group == Group::EVERYONE {
            return Err(PeerError::EveryoneIsKept);
        }
        let place = self.place_in_use(peer)?;
        let is_connected = place.standing == Standing::Connected;
        let known = place.known.get_or_insert_default();
        let Some(at) = known.groups.iter().position(|joined| *joined == group) else { return Ok(false) };
        known.groups.swap_remove(at);
        if is_connected {
            self.count(group, -1);
        }
        Ok(true)
    }

    /// Checks that a peer's connection has not ended.
    pub(crate) fn check(&mut self, peer: PeerId) -> Result<(), PeerError> {
        self.place_in_use(peer).map(|_| ())
    }

    /// Peers whose `Closed` event the application has not polled.
    pub(crate) fn open_peers(&self) -> impl Iterator<Item = PeerId> + '_ {
        let open = self.places.iter().enumerate().filter(|(_, place)| place.standing != Standing::Over);
        open.filter_map(|(index, place)| Some(PeerId { index: index as u32, generation: place.generation? }))
    }

    /// Peers to which a broadcast to this group goes.
    pub(crate) fn members(&self, group: Group) -> impl Iterator<Item = PeerId> + '_ {
        let members = self.places.iter().enumerate().filter(move |(_, place)| place.is_member(group));
        members.filter_map(|(index, place)| Some(PeerId { index: index as u32, generation: place.generation? }))
    }

    /// Whether a broadcast to this group goes to a peer.
    fn is_member(&self, peer: PeerId, group: Group) -> bool {
        self.peek(peer).is_some_and(|place| place.is_member(group))
    }

    /// The address of a client whose connection has not ended.
    pub(crate) fn remote(&self, peer: PeerId) -> Option<SocketAddr> {
        self.peek(peer)?.known.as_ref()?.remote
    }

    /// The place of its current peer.
    fn peek(&self, peer: PeerId) -> Option<&Place> {
        self.places.get(peer.index as usize).filter(|place| place.generation == Some(peer.generation))
    }

    /// A channel's delivery mode, as far as this side knows.
    pub(crate) fn mode(&self, peer: Option<PeerId>, channel: u16) -> Option<DeliveryMode> {
        let place = peer.and_then(|peer| self.places.get(peer.index as usize));
        let theirs = place.and_then(|place| place.known.as_ref()?.settings.as_deref());
        theirs.unwrap_or(&self.settings).rule(channel).map(|rule| rule.mode)
    }

    fn count(&mut self, group: Group, change: isize) {
        let size = self.sizes.entry(group).or_default();
        *size = size.saturating_add_signed(change);
        if *size == 0 {
            self.sizes.remove(&group);
        }
    }

    /// The place of a peer that the application knows, whether its connection has ended or not.
    fn place(&mut self, peer: PeerId) -> Result<&mut Place, PeerError> {
        let place = self.places.get_mut(peer.index as usize).ok_or(PeerError::UnknownPeer)?;
        let generation = place.generation.ok_or(PeerError::UnknownPeer)?;
        match generation.wrapping_sub(peer.generation) {
            0 => Ok(place),
            // A later peer uses the place.
            age if age < u32::MAX / 2 => Err(PeerError::Over),
            _ => Err(PeerError::UnknownPeer),
        }
    }

    fn place_in_use(&mut self, peer: PeerId) -> Result<&mut Place, PeerError> {
        let place = self.place(peer)?;
        match place.standing {
            Standing::Over | Standing::Closing => Err(PeerError::Over),
            _ => Ok(place),
        }
    }
}

impl Place {
    fn is_member(&self, group: Group) -> bool {
        let mut known = self.known.iter();
        self.standing == Standing::Connected
            && (group == Group::EVERYONE || known.any(|known| known.groups.contains(&group)))
    }
}

impl Known {
    fn gate(&mut self, channel: u16) -> Arc<Gate> {
        let at = self.gates.binary_search_by_key(&channel, |(of, _)| *of).unwrap_or_else(|at| {
            self.gates.insert(at, (channel, Arc::default()));
            at
        });
        Arc::clone(&self.gates[at].1)
    }
}

/// The rule of a channel, if it accepts a message of this length.
fn rule_of(settings: &Settings, channel: u16, bytes: usize) -> Result<&ChannelRule, SendRefusal> {
    let rule = settings.rule(channel).ok_or(SendRefusal::NoSuchChannel { channel })?;
    let bytes_max = settings.message_bytes_max.min(rule.queue_bytes_max) as usize;
    if bytes > bytes_max {
        return Err(SendRefusal::TooLong { bytes, bytes_max });
    }
    Ok(rule)
}
