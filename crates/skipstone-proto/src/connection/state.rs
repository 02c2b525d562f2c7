//! The state of one connection, and its setters and getters.

use super::client_handshake::ClientHandshake;
use super::close::Ending;
use super::event::PeerId;
use super::identity::{ConnectionIds, Identity, Side};
use super::packet_log::AttachedLog;
use super::path_state::{PathState, controller};
use super::receive::Receiving;
use super::redundancy::Redundant;
use super::server_time::TimeExchange;
use super::stats::Stats;
use super::terms::Terms;
use super::timers::Timers;
use super::transmit::Sending;
use crate::channel::channels::Channels;
use crate::channel::classes::Classes;
use crate::congestion::{Bandwidth, Congestion};
use crate::path::Path;
use crate::security::Security;
use crate::time::Time;
use crate::wire::settings::{Merging, Settings};
use skipstone_prefetch::{Step, prefetch};
use std::sync::Arc;

/// State of a connection: see the diagram in `connection/mod.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionState {
    Hello,
    Opening,
    Requested,
    Established,
    Lingering,
    Closing,
    Drained,
    Dead,
}

/// How a connection counts towards the limits of its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// A client that the application has not accepted yet.
    Newcomer,
    /// An established connection, or a client's own that is on its way.
    Player,
    /// A connection that is closing, or closed and answering late packets.
    Leaver,
}

/// One connection. Its state is grouped by purpose; each group has its own file.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(super) identity: Identity,
    pub(super) state: ConnectionState,
    /// A client's handshake state, until the server accepts the client.
    pub(super) handshake: Option<Box<ClientHandshake>>,
    /// State of the close that is in progress.
    pub(super) ending: Option<Box<Ending>>,
    pub(super) timers: Timers,
    pub(super) terms: Terms,
    pub(super) security: Security,
    pub(super) path: PathState,
    pub(super) receiving: Receiving,
    pub(super) sending: Sending,
    pub(super) channels: Channels,
    pub(super) redundancy: Redundant,
    pub(super) time: TimeExchange,
    pub(super) stats: Stats,
    pub(super) log: Option<AttachedLog>,
}

impl Connection {
    /// The parts that both sides begin with.
    pub(super) fn new(
        identity: Identity,
        state: ConnectionState,
        path: Path,
        security: Security,
        settings: Arc<Settings>,
        timers: Timers,
    ) -> Self {
        Connection {
            identity,
            state,
            handshake: None,
            ending: None,
            timers,
            security,
            path: PathState::new(path, settings.datagram_bytes_max),
            receiving: Receiving::default(),
            sending: Sending::default(),
            channels: Channels::new(settings.window_bytes, Classes::new(&settings)),
            redundancy: Redundant::new(&settings),
            time: TimeExchange::default(),
            terms: Terms::new(settings, identity.side),
            stats: Stats::default(),
            log: None,
        }
    }

    pub(crate) fn peer(&self) -> PeerId {
        self.identity.peer
    }

    pub(crate) fn is_server(&self) -> bool {
        self.identity.is_server()
    }

    pub(crate) fn side(&self) -> Side {
        self.identity.side
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path.current
    }

    pub(crate) fn ids(&self) -> ConnectionIds {
        self.identity.ids
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.terms.settings
    }

    /// Prefetches the data that the connection points to, or the data that this points to. The connection itself is in
    /// the caches.
    pub(crate) fn prefetch(&self, step: Step) {
        match (&self.security, step) {
            (Security::Session(session), Step::Beyond) => session.prefetch(),
            (Security::Session(session), _) => prefetch(&**session),
            (Security::Plain(_), _) => {}
        }
        self.channels.prefetch(step);
        if step == Step::Pointees {
            self.sending.ledger.prefetch();
        }
    }

    pub(crate) fn stats_mut(&mut self) -> &mut Stats {
        &mut self.stats
    }

    /// Chooses the controller of a connection that has sent nothing yet. A reliable carrier has its own.
    pub(crate) fn set_congestion(&mut self, congestion: Congestion) {
        if !self.path.current.carrier.is_reliable {
            let datagram_bytes_max = self.terms.settings.datagram_bytes_max;
            self.path.congestion = controller(congestion, &self.path.current.carrier, datagram_bytes_max);
            self.sending.ledger.set_lateness(self.path.current.carrier.lateness);
        }
    }

    /// Limits the rate of sending to the peer, in bytes per second with IP headers.
    pub(crate) fn set_bandwidth(&mut self, bytes_per_second: Option<u64>) {
        self.sending.bandwidth = bytes_per_second.map(|rate| Box::new(Bandwidth::new(rate)));
    }

    /// Until this time, messages wait for this connection's share of the endpoint's bandwidth.
    pub(crate) fn hold_until(&mut self, until: Time) {
        (self.sending.held_until, self.sending.is_held) = (until, false);
    }

    /// Whether messages wait only for this connection's share of the endpoint's bandwidth.
    pub(crate) fn is_held(&self) -> bool {
        self.sending.is_held
    }

    /// Sets the merging. Messages that wait for the old merging to end leave at once.
    pub(crate) fn set_merging(&mut self, merging: Merging) {
        self.terms.merging = merging;
        self.terms.is_merging_own = true;
        if self.channels.has_new() {
            self.timers.merge.end(Time::ZERO);
        }
    }

    /// How the connection counts towards the limits of its endpoint.
    pub(crate) fn standing(&self) -> Standing {
        match self.state {
            ConnectionState::Requested => Standing::Newcomer,
            ConnectionState::Closing | ConnectionState::Drained | ConnectionState::Dead => Standing::Leaver,
            ConnectionState::Hello
            | ConnectionState::Opening
            | ConnectionState::Established
            | ConnectionState::Lingering => Standing::Player,
        }
    }

    /// Whether the connection has given its `Closed` event.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.state, ConnectionState::Drained | ConnectionState::Dead)
    }

    /// Whether the connection can be removed.
    pub(crate) fn is_dead(&self) -> bool {
        self.state == ConnectionState::Dead
    }

    /// Whether this is a server's side whose client has not sent CONNECT yet.
    pub(crate) fn is_unasked(&self) -> bool {
        self.state == ConnectionState::Requested && !self.is_requested()
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, ConnectionState::Established | ConnectionState::Lingering)
    }
}
