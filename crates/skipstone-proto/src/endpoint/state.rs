//! The state of an endpoint, and the scheduling of connections: inserted, activated, woken, removed.

use super::broadcast::Broadcast;
use super::config::Config;
use super::config_error::ConfigError;
use super::costly::Costly;
use super::directory::Directory;
use super::groups::{Group, Groups};
use super::handshake_budget::HandshakeBudget;
use super::ids::IdTable;
use super::memory_account::MemoryAccount;
use super::pending_handshakes::PendingHandshakes;
use super::population::{Counted, Population};
use super::ready::Ready;
use super::replies::Replies;
use super::secrets::Secrets;
use super::share::Share;
use super::slots::Slots;
use super::totals::Totals;
use super::wheel::Wheel;
use crate::connection::event::{EventQueue, PeerId};
use crate::connection::{Connection, Context, Scratch, Side};
use crate::path::Path;
use crate::time::Time;
use crate::wire::settings::Settings;
use std::sync::Arc;

/// All connections behind one or more sockets.
#[derive(Debug)]
pub struct Endpoint {
    pub(super) config: Config,
    /// Whether the HELLO of a newcomer is answered.
    pub(super) is_inviting: bool,
    pub(super) settings: Arc<Settings>,
    pub(super) secrets: Secrets,
    pub(super) slots: Slots,
    pub(super) directory: Directory,
    /// Players, newcomers and those who leave.
    pub(super) population: Population,
    /// Pending handshakes of encrypted suites.
    pub(super) pending_handshakes: PendingHandshakes,
    pub(super) handshake_budget: HandshakeBudget,
    pub(super) groups: Groups,
    pub(super) ready: Ready,
    /// The bandwidth limit of all connections together, if there is one.
    pub(super) share: Option<Box<Share>>,
    pub(super) broadcast: Broadcast,
    pub(super) wheel: Wheel,
    pub(super) replies: Replies,
    /// Requests that may take a signature and wait for their turn.
    pub(super) costly: Costly,
    pub(super) events: EventQueue,
    pub(super) scratch: Scratch,
    pub(super) totals: Totals,
    /// Memory that peers make this endpoint hold.
    pub(super) memory: MemoryAccount,
}

impl Endpoint {
    /// An endpoint whose every random choice follows from `seed`, which outside of tests comes from the system's
    /// entropy. Shards of one server share its first half, the secret of cookies, and nothing of the second.
    ///
    /// # Errors
    /// As [`Config::check`].
    pub fn new(config: Config, seed: [u8; 32]) -> Result<Self, ConfigError> {
        config.check()?;
        let settings = Arc::new(config.settings.clone());
        let secrets = Secrets::new(&seed);
        Ok(Endpoint {
            replies: Replies::new(secrets.queue_key),
            costly: Costly::new(secrets.queue_key),
            secrets,
            slots: Slots::default(),
            directory: Directory::new(IdTable::new(config.shard)),
            population: Population::default(),
            pending_handshakes: PendingHandshakes::default(),
            handshake_budget: HandshakeBudget::default(),
            groups: Groups::default(),
            ready: Ready::default(),
            share: config.bandwidth_max.map(|rate| Box::new(Share::new(rate))),
            broadcast: Broadcast::default(),
            wheel: Wheel::default(),
            events: EventQueue::default(),
            scratch: Scratch::default(),
            totals: Totals::default(),
            memory: MemoryAccount::default(),
            settings,
            is_inviting: true,
            config,
        })
    }

    /// Whether clients may connect.
    pub(super) fn is_server(&self) -> bool {
        cfg!(feature = "server") && self.config.is_server
    }

    /// Whether the path is a session that already carries a connection.
    pub(super) fn is_taken(&self, path: &Path) -> bool {
        path.carrier.is_bound && self.directory.by_socket.contains_key(&path.socket)
    }

    /// Inserts a new connection, so that its id and its path find it.
    pub(super) fn insert(&mut self, mut connection: Connection) {
        let (index, path) = (connection.peer().index, *connection.path());
        if let Some(merging) = self.config.merging {
            connection.set_merging(merging);
        }
        connection.set_bandwidth(self.config.bandwidth_max_per_peer);
        if path.carrier.is_bound {
            self.directory.by_socket.insert(path.socket, index);
        }
        if connection.side() == Side::Client {
            self.directory.set_client_socket(index, None, path.socket);
        }
        let counted = Counted::Nothing.follow(&connection);
        self.population.recount(Counted::Nothing, counted);
        self.slots.fill(connection, counted);
        self.activate(index);
    }

    pub(super) fn with<T>(
        &mut self,
        now: Time,
        peer: PeerId,
        act: impl FnOnce(&mut Connection, &mut Context<'_>) -> T,
    ) -> Option<T> {
        let connection = self.slots.connection(peer)?;
        let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
        let result = act(connection, cx);
        self.after(peer.index);
        Some(result)
    }

    /// Must follow any change of a connection: activates the connection, which may have something to send, or removes
    /// it if it is dead.
    pub(super) fn after(&mut self, index: u32) {
        let Some(slot) = self.slots.at(index) else { return };
        let Some(connection) = slot.connection.as_mut() else { return };
        if connection.is_dead() {
            return self.remove(index);
        }
        // WHY: pages download the compiled code, and a client has none of these.
        if cfg!(feature = "server") && slot.is_pending {
            let bytes = connection.pending_bytes();
            slot.is_pending = bytes.is_some();
            self.pending_handshakes.update(connection.peer(), bytes);
        }
        if connection.wants_id() {
            connection.provide_id(self.directory.ids.assign_spare(&mut self.secrets.rng, index));
        }
        let counted = slot.counted.follow(connection);
        if counted != slot.counted {
            let before = core::mem::replace(&mut slot.counted, counted);
            self.population.recount(before, counted);
            note_player(&mut self.handshake_budget, connection, before, counted);
        }
        self.activate(index);
        self.account(index);
    }

    pub(super) fn activate(&mut self, index: u32) {
        let Some(slot) = self.slots.at(index) else { return };
        if let Some(peer) = slot.touch(index) {
            self.ready.touched.push(peer);
        }
        if !core::mem::replace(&mut slot.is_active, true) {
            self.ready.active.push_back(index);
        }
    }

    /// Moves the connection's timer to its deadline, if that is earlier. A timer that has become too early stays as it
    /// is.
    pub(super) fn rearm(&mut self, index: u32) {
        self.rearm_from(index, Time::ZERO);
    }

    /// Like `rearm`, but not before `earliest`.
    pub(super) fn rearm_from(&mut self, index: u32, earliest: Time) {
        let Some(connection) = self.slots.connection_at(index) else { return };
        self.wheel.arm(index, connection.poll_timeout().max(earliest));
    }

    pub(super) fn remove(&mut self, index: u32) {
        if let Some(peer) = self.slots.at(index).and_then(|slot| slot.touch(index)) {
            self.ready.touched.push(peer);
        }
        let Some((mut connection, counted)) = self.slots.empty(index) else { return };
        self.wheel.disarm(index);
        self.population.recount(counted, Counted::Nothing);
        note_player(&mut self.handshake_budget, &connection, counted, Counted::Nothing);
        let was_pending = self.slots.at(index).is_some_and(|slot| core::mem::replace(&mut slot.is_pending, false));
        if cfg!(feature = "server") && was_pending {
            self.pending_handshakes.update(connection.peer(), None);
        }
        connection.log_removed();
        self.totals.past.add(connection.stats_mut());
        let is_failed = connection.is_server() && !connection.is_requested();
        if is_failed {
            self.handshake_budget.on_failed(&connection.path().remote);
        }
        let path = *connection.path();
        connection.local_ids().for_each(|id| self.directory.ids.release(id));
        let from = connection.opened_by();
        if connection.is_server()
            && let Some(opened) = self.directory.opened.get(&from).copied().filter(|opened| opened.index == index)
        {
            self.directory.opened.remove(&from);
            if is_failed {
                self.directory.spent.forgive(&opened.cookie);
            }
        }
        if path.carrier.is_bound && self.directory.by_socket.get(&path.socket) == Some(&index) {
            self.directory.by_socket.remove(&path.socket);
        }
        if path.carrier.is_bound || connection.side() == Side::Client {
            self.ready.released.push_back(path.socket);
        }
        if connection.side() == Side::Client {
            self.directory.remove_client(index, path.socket);
        }
        for group in self.slots.take_groups(index) {
            self.groups.leave(group, index);
        }
        self.groups.leave(Group::EVERYONE, index);
        self.account(index);
    }
}

/// Notes in the budget of handshakes that a connection whose handshake was charged to it became a player, or is one no
/// more.
fn note_player(budget: &mut HandshakeBudget, connection: &Connection, before: Counted, now: Counted) {
    if !cfg!(feature = "server") || !connection.has_cost_handshake() {
        return;
    }
    match (before.is_player(), now.is_player()) {
        (false, true) => budget.on_joined(&connection.path().remote),
        (true, false) => budget.on_left(&connection.path().remote),
        _ => {}
    }
}
