//! A server's shards, each a driver with a thread, sockets and connections of its own, presented to the application as
//! one server. A server without shards has one of them.
//!
//! ```text
//!                ┌── queues ── driver 0 ── UDP, TCP ──┐
//! application ───┼── queues ── driver 1 ── UDP, TCP ──┼── one port, the kernel chooses (SO_REUSEPORT)
//!                └── queues ── driver 2 ── UDP, TCP ──┘
//! ```
//! As long as no client migrates, no driver reads memory that another one writes. A broadcast therefore has a payload
//! for each shard, because peers that share a payload share its reference count.

use crate::deadline::deadline_in;
#[cfg(feature = "simulate")]
use crate::driver::impair::{LinkStats, add_stats};
use crate::driver::peer_shards::{Mailbox, PeerShards};
use crate::driver::sockets::reserve_port;
use crate::driver::{Binding, Driver, LOCAL_ADDRESS, Origin, Sharing};
use crate::handle::{Handle, HandleConfig, NoAnswer, Threading, Wake};
use crate::listen_sockets::ListenSockets;
use crate::listener_rules::{ListenerRules, Streams};
use crate::net::network_list::NetworkList;
use crate::recipients::Recipients;
use crate::security::Security;
use crate::send_error::{PeerError, SendError};
use crate::start_error::{ShardsError, StartError};
use crate::statistics_reader::StatisticsReader;
use crate::waiter::Waiter;
use bytes::Bytes;
use skipstone_mailbox::Wakeup;
use skipstone_proto::Duration;
use skipstone_proto::MessageId;
use skipstone_proto::{BroadcastMessage, Config, DeliveryMode, Event, Group, MemoryBudget, PeerId, Shard, Stats};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// Minimum time for a driver to report the final counters of a server that shuts down.
const TOTALS_MAX: Duration = Duration::from_millis(100);
/// Maximum number of shards: a connection id has 8 bits for them.
const SHARDS_MAX: u32 = 256;

/// Checks that the server can have this number of shards.
pub(crate) fn check(count: u32, threading: Threading) -> Result<(), ShardsError> {
    match count {
        1 => Ok(()),
        2..=SHARDS_MAX if threading == Threading::Stepped => Err(ShardsError::Stepped),
        2..=SHARDS_MAX if cfg!(target_os = "linux") => Ok(()),
        2..=SHARDS_MAX => Err(ShardsError::System),
        _ => Err(ShardsError::Count(count)),
    }
}

/// A server's carriers for browsers, with its rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Browsers<'a> {
    pub(crate) streams: Option<&'a Streams>,
    #[cfg_attr(
        not(all(feature = "webtransport", feature = "__tls")),
        expect(dead_code, reason = "this build has no WebTransport")
    )]
    pub(crate) webtransport: Option<&'a ListenerRules>,
}

/// The sockets of a server: those that were handed over, or those that it opens at an address; without either, none.
pub(crate) struct Listening<'a> {
    pub(crate) address: Option<SocketAddr>,
    pub(crate) handed: Option<&'a ListenSockets>,
}

/// Starts the drivers that listen on one port, each with a share of its clients.
pub(crate) fn listen(
    count: u32,
    listening: &Listening<'_>,
    browsers: &Browsers<'_>,
    security: &Security,
    config: &Config,
) -> Result<(Vec<Driver>, SocketAddr), StartError> {
    let streams = browsers.streams;
    let refused = |address| StartError::io(format!("listen on {address}"));
    let origin = Origin::new().map_err(StartError::io("draw a secret"))?;
    let sharing = if count == 1 { Sharing::Nobody } else { Sharing::Shards };
    let handed = listening.handed.map(ListenSockets::shards);
    if let Some(sockets) = handed.filter(|sockets| sockets.len() != count as usize) {
        return Err(StartError::Shards(ShardsError::Sockets { handed: sockets.len() as u32, shards: count }));
    }
    let mut local = match listening.address {
        _ if handed.is_some() => None,
        Some(address) if count > 1 => Some(reserve_port(address, streams.is_some()).map_err(refused(address))?),
        address => address,
    };
    let bits = bits_for(count);
    let mut drivers = Vec::new();
    for index in 0..count {
        // Each shard has suites of its own: sessions share their content by reference counts.
        let bandwidth_max = config.bandwidth_max.map(|all| all / u64::from(count));
        let memory = share_of(config.memory, count);
        let players_of_network_max = config.players_of_network_max.map(|all| all.div_ceil(count));
        let (shard, suites) = (Shard { index, bits }, security.suites());
        let own = Config { shard, suites, bandwidth_max, memory, players_of_network_max, ..config.clone() };
        #[cfg(all(feature = "webtransport", feature = "__tls"))]
        let quic = browsers.webtransport.zip(security.quic()).map(|(rules, server)| (rules, server, own.clone()));
        let mut driver = Driver::born_of(&origin, own)?;
        #[cfg(all(feature = "dtls", feature = "__tls"))]
        if let Some(server) = security.dtls() {
            config.check_carrier(&skipstone_proto::Carrier::DTLS6).map_err(StartError::Config)?;
            driver.accept_dtls(server);
        }
        #[cfg(all(feature = "webtransport", feature = "__tls"))]
        if let Some((rules, server, config)) = quic {
            config.check_carrier(&skipstone_proto::Carrier::WEBTRANSPORT6).map_err(StartError::Config)?;
            driver.accept_webtransport(&server, &config, rules);
        }
        if let Some(sockets) = handed.map(|sockets| &sockets[index as usize]) {
            let adopted = sockets.try_clone().and_then(|own| driver.listen(Binding::Handed(own), streams));
            local = Some(adopted.map_err(StartError::io("listen on the sockets that were handed over"))?);
        } else if let Some(address) = local {
            let bound = driver.listen(Binding::Address(address, sharing), streams);
            local = Some(bound.map_err(refused(address))?);
        }
        drivers.push(driver);
    }
    if count > 1 {
        let mailboxes: Vec<Arc<Mailbox>> = drivers.iter().map(|driver| Mailbox::new(driver.waker())).collect();
        for (index, driver) in drivers.iter_mut().enumerate() {
            driver.meet(PeerShards::new(
                Shard { index: index as u32, bits },
                mailboxes.clone(),
                config.connections_max,
            ));
        }
    }
    Ok((drivers, local.unwrap_or(LOCAL_ADDRESS)))
}

/// One shard's part of the budgets; the budget of one connection is unchanged.
fn share_of(memory: MemoryBudget, shards: u32) -> MemoryBudget {
    let part = |all: u64| (all / u64::from(shards)).max(memory.connection);
    MemoryBudget { network: part(memory.network), endpoint: part(memory.endpoint), ..memory }
}

/// Number of top bits of an id that name the shard.
fn bits_for(shards: u32) -> u32 {
    shards.next_power_of_two().trailing_zeros()
}

/// All shards' handles. The application's index of a peer is its index within the shard, times the number of shards,
/// plus the shard's index: unambiguous, and as small as can be.
#[derive(Debug)]
pub(crate) struct Shards {
    handles: Vec<Handle>,
    /// The shard whose event is next.
    turn: usize,
    wakeup: Arc<Wakeup>,
    statistics: StatisticsReader,
}

impl Shards {
    pub(crate) fn start(drivers: Vec<Driver>, config: &HandleConfig) -> Result<Self, StartError> {
        let wakeup = Arc::default();
        let statistics = StatisticsReader::new(drivers.iter().map(Driver::board));
        let handles = drivers.into_iter().map(|driver| Handle::waking(&wakeup, driver, config));
        Ok(Shards { handles: handles.collect::<Result<_, _>>()?, turn: 0, wakeup, statistics })
    }

    /// Id for the next message.
    pub(crate) fn next_id(&mut self) -> MessageId {
        self.handles[0].next_id()
    }

    /// The shard of a peer, and the peer's id within the shard.
    pub(crate) fn of(&mut self, peer: PeerId) -> (&mut Handle, PeerId) {
        let count = self.handles.len() as u32;
        if count == 1 {
            return (&mut self.handles[0], peer);
        }
        let local = PeerId { index: peer.index / count, ..peer };
        (&mut self.handles[(peer.index % count) as usize], local)
    }

    /// The address of a client whose connection has not ended.
    pub(crate) fn remote(&self, peer: PeerId) -> Option<SocketAddr> {
        let count = self.handles.len() as u32;
        let local = PeerId { index: peer.index / count, ..peer };
        self.handles[(peer.index % count) as usize].roster().remote(local)
    }

    /// Reads the statistics of all shards.
    pub(crate) fn statistics(&self) -> &StatisticsReader {
        &self.statistics
    }

    /// Peers to which a broadcast to this group goes.
    pub(crate) fn members(&self, group: Group) -> impl Iterator<Item = PeerId> + '_ {
        let of = move |(shard, handle): (usize, &'_ Handle)| {
            let local: Vec<PeerId> = handle.roster().members(group).collect();
            local.into_iter().map(move |peer| self.statistics.outside(shard, peer))
        };
        self.handles.iter().enumerate().flat_map(of)
    }

    /// A channel's delivery mode.
    pub(crate) fn mode(&self, channel: u16) -> Option<DeliveryMode> {
        self.handles[0].roster().mode(None, channel)
    }

    /// Sends to a group, in all shards or in none, and returns for how many peers it was accepted.
    pub(crate) fn broadcast(
        &mut self,
        to: &Recipients,
        (channel, payload): (u16, Bytes),
        id: MessageId,
        wake: Wake,
    ) -> Result<usize, SendError> {
        let of_shards: Vec<Recipients> = (0..self.handles.len()).map(|shard| self.within(shard, to)).collect();
        let mut peers = 0;
        for (handle, to) in self.handles.iter_mut().zip(&of_shards) {
            match handle.admit_broadcast(to, channel, payload.len()) {
                Ok(admitted) => peers += admitted,
                Err(reason) => return Err(SendError::new(reason, payload)),
            }
        }
        let is_alone = self.handles.len() == 1;
        for (handle, Recipients { group, except }) in self.handles.iter_mut().zip(of_shards) {
            // The last shard gets a copy too: the application may pass on a slice of a larger buffer from another
            // shard.
            let payload = if is_alone { payload.clone() } else { Bytes::copy_from_slice(&payload) };
            handle.broadcast(group, BroadcastMessage { channel, payload, id, except }, wake);
        }
        Ok(peers)
    }

    /// The peers of one shard, by their ids within the shard.
    fn within(&self, shard: usize, to: &Recipients) -> Recipients {
        let count = self.handles.len() as u32;
        if count == 1 {
            return to.clone();
        }
        let of_shard = to.left_out().iter().filter(|peer| (peer.index % count) as usize == shard);
        Recipients::without(to.group, of_shard.map(|peer| PeerId { index: peer.index / count, ..*peer }))
    }

    /// Sends all messages that were queued since the last flush.
    pub(crate) fn flush(&mut self) -> Result<(), PeerError> {
        // Every shard flushes, even if one of them is gone.
        let flushed: Vec<_> = self.handles.iter_mut().map(Handle::flush).collect();
        flushed.into_iter().collect()
    }

    /// Sets the answer to queries in every shard.
    pub(crate) fn set_query_answer(&mut self, answer: Option<&Bytes>) -> Result<(), PeerError> {
        self.tell_all(|handle| handle.set_query_answer(answer.cloned()))
    }

    /// Denies these addresses and no others, in every shard.
    pub(crate) fn set_denied(&mut self, networks: &Arc<NetworkList>) -> Result<(), PeerError> {
        self.tell_all(|handle| handle.set_denied(Arc::clone(networks)))
    }

    /// Accepts no further handshake, in any shard.
    pub(crate) fn stop_inviting(&mut self) -> Result<(), PeerError> {
        self.tell_all(Handle::stop_inviting)
    }

    /// Sends a command to every shard, or to none if the queue of one is full.
    fn tell_all(&mut self, tell: impl FnMut(&mut Handle) -> Result<(), PeerError>) -> Result<(), PeerError> {
        self.handles.iter().try_for_each(Handle::check_room)?;
        self.handles.iter_mut().try_for_each(tell)
    }

    /// Duplicated handles of the sockets of all shards; `None` if the server has none.
    pub(crate) fn duplicate_sockets(&mut self) -> io::Result<Option<ListenSockets>> {
        let mut all = Vec::new();
        for handle in &mut self.handles {
            let answer = handle.ask(None, |driver| driver.duplicate_sockets());
            let sockets = answer.map_err(|reason| {
                io::Error::other(match reason {
                    NoAnswer::DriverGone => "the driver is gone",
                    NoAnswer::DriverBusy => "the driver has not answered for 5 s: is the machine overloaded?",
                })
            })?;
            all.extend(sockets?);
        }
        Ok((!all.is_empty()).then(|| ListenSockets::of(all)))
    }

    /// The next event; the shards take turns.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        if let [only] = &mut self.handles[..] {
            return only.poll_event();
        }
        for _ in 0..self.handles.len() {
            let shard = self.turn;
            self.turn = (shard + 1) % self.handles.len();
            if let Some(mut event) = self.handles[shard].poll_event() {
                let outside = self.statistics.outside(shard, event.peer());
                *event.peer_mut() = outside;
                return Some(event);
            }
        }
        None
    }

    /// Waits until there is an event, for `span` at most. A stepped driver is driven meanwhile.
    pub(crate) fn wait(&mut self, span: Duration) {
        match &mut self.handles[..] {
            [only] => only.wait(span),
            handles => self.wakeup.wait(span, || handles.iter().any(Handle::has_events)),
        }
    }

    /// Waits until the deadline, whatever happens meanwhile. A stepped driver is driven, for one round at least.
    pub(crate) fn wait_until(&mut self, deadline: Instant) {
        // Drivers with threads of their own need no call; a stepped one is the only one.
        self.handles[0].wait_until(deadline);
    }

    /// A waiter for events without this handle; none with a stepped driver.
    pub(crate) fn waiter(&self) -> Option<Waiter> {
        self.handles.iter().map(Handle::shared).collect::<Option<Vec<_>>>().map(Waiter::new)
    }

    /// Drives a stepped driver; no effect with background threads.
    pub(crate) fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        self.handles[0].drive(wait_max)
    }

    /// Counters of the simulated links of all shards.
    #[cfg(feature = "simulate")]
    pub(crate) fn link_stats(&self) -> (LinkStats, LinkStats) {
        self.handles.iter().map(|handle| handle.board().links()).reduce(add_stats).unwrap_or_default()
    }

    /// Why a driver failed, if one did.
    pub(crate) fn failure(&self) -> Option<String> {
        self.handles.iter().find_map(Handle::failure)
    }

    /// Ends every connection, and waits until all peers know or `span` is over. Returns the final counters.
    pub(crate) fn close_all(&mut self, code: u64, reason: &str, linger: Duration, span: Duration) -> Stats {
        let end = deadline_in(span);
        // Every shard begins to close before the first wait.
        self.handles.iter_mut().for_each(|handle| handle.close_all(code, reason, linger));
        let mut totals = Stats::default();
        for handle in &mut self.handles {
            handle.await_goodbyes(end);
            let told = handle.ask(Some(end.max(Instant::now() + TOTALS_MAX)), |driver| driver.endpoint.totals());
            totals.add(&told.unwrap_or_else(|_| handle.board().shard().stats));
        }
        totals
    }
}
