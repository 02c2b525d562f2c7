//! The server: all players, on every carrier, through one port and one event queue.

use crate::client::{Client, ClientConfig};
use crate::deny_error::DenyError;
use crate::driver::LOCAL_ADDRESS;
use crate::driver::command::Command;
use crate::driver::impair::Impairment;
#[cfg(feature = "simulate")]
use crate::driver::impair::LinkStats;
use crate::driver::impairment_error::ImpairmentError;
use crate::driver_stats::DriverStats;
use crate::handle::{HandleConfig, Wake};
use crate::listen_sockets::ListenSockets;
use crate::logged;
use crate::net::local::LocalListener;
use crate::net::network_list::NetworkList;
use crate::net::udp::BufferGrants;
use crate::net::websocket::TlsServer;
use crate::query::answer::{QueryAnswerError, check_answer};
use crate::recipients::Recipients;
use crate::recording::{RecordedMessage, RecordingSide, RecordingStatus, TrafficRecorder};
#[cfg(feature = "__tls")]
use crate::security::{CertificateEvent, CertificateStats, CertificateWatch};
use crate::security::{Fingerprint, Security};
use crate::send_error::{PeerError, SendError};
use crate::server_config::ServerConfig;
use crate::server_moves::{MoveError, ServerMoves};
use crate::shards::{self, Browsers, Listening, Shards};
use crate::start_error::StartError;
use crate::statistics::{Overview, ShardOverview};
use crate::statistics_reader::StatisticsReader;
use crate::ticks::Ticks;
use crate::url::{Scheme, Target, reachable};
use crate::waiter::Waiter;
use bytes::Bytes;
use skipstone_proto::Duration;
use skipstone_proto::Transfers;
use skipstone_proto::{Config, ConfigError, Event, Everyone, Group, Merging, MoveId, MoveMessage, PeerId, Stats};
use skipstone_proto::{MessageId, Submission};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Instant;

/// A running server. Dropping it closes its sockets at once; [`Server::shutdown`] closes the connections first.
#[derive(Debug)]
pub struct Server {
    shards: Shards,
    local: SocketAddr,
    merging: Merging,
    began: Instant,
    has_webtransport: bool,
    security: Security,
    /// The thread that follows renewals of the certificates.
    #[cfg(feature = "__tls")]
    _certificates: Option<CertificateWatch>,
    buffers: Option<BufferGrants>,
    /// Problems of the sockets, and their remedies.
    remedies: Vec<String>,
    /// The host by which this machine reaches the server.
    host: String,
    /// Where clients of this process offer their streams: the listener of the first shard.
    local_listener: Arc<LocalListener>,
    ticks: Ticks,
    recorder: Option<Box<TrafficRecorder>>,
    moves: ServerMoves,
}

impl Server {
    /// Opens the sockets and begins to serve.
    ///
    /// # Errors
    /// A field of the configuration or of the settings is out of range, or they contradict each other; the server
    /// cannot have that number of shards, or the impairment; the certificate cannot be used or made; the address is not
    /// one of this machine's, or is in use; or the system refuses a socket or a thread.
    pub fn start(config: ServerConfig) -> Result<Self, StartError> {
        config.check_features()?;
        shards::check(config.shards, config.threading).map_err(StartError::Shards)?;
        StartError::check_queue(config.queue_bytes_max)?;
        StartError::check_bandwidth("bandwidth_max", config.bandwidth_max, config.shards)?;
        if let Some(impairment) = &config.impairment {
            check(impairment, &config).map_err(StartError::Impairment)?;
        }
        let security = match config.security {
            Some(security) => security,
            None => Security::of_this_run().map_err(StartError::Identity)?,
        };
        let streams = config.listener_rules.streams(tls_of(&security), &config.trusted_proxies);
        let streams = streams.map_err(StartError::Config)?;
        let browsers = Browsers {
            streams: config.websocket.then_some(&streams),
            webtransport: config.webtransport.then_some(&config.listener_rules),
        };
        let endpoint = Config {
            memory: config.memory,
            allows_plain: security.allows_plain(),
            merging: Some(config.merging),
            handshake_timeout: config.handshake_timeout,
            connections_max: config.connections_max,
            players_of_network_max: config.players_of_network_max,
            congestion: config.congestion,
            bandwidth_max_per_peer: config.bandwidth_max_per_peer,
            bandwidth_max: config.bandwidth_max,
            inbound: config.inbound.into(),
            everyone: Everyone::ByCommand,
            packet_log: config.packet_log,
            ..Config::server(config.settings)
        };
        check_answer(config.query_answer.as_ref()).map_err(StartError::QueryAnswer)?;
        let denied = NetworkList::new(&config.denied).map_err(|text| {
            let form = "an address or a network, as in 10.0.0.7 or 10.0.0.0/8";
            StartError::Config(ConfigError::out_of_range("denied", text, form))
        })?;
        let denied = Arc::new(denied);
        let listening = Listening { address: config.listen, handed: config.sockets.as_ref() };
        let (mut drivers, local) = shards::listen(config.shards, &listening, &browsers, &security, &endpoint)?;
        for (shard, driver) in (0..).zip(&mut drivers) {
            config.impairment.iter().for_each(|impairment| driver.impair(impairment, shard));
        }
        for driver in &mut drivers {
            driver.publish_transfers(config.transfer_bytes_min);
            driver.apply(Command::Deny(Arc::clone(&denied)));
            driver.apply(Command::QueryAnswer(config.query_answer.clone()));
        }
        let began = drivers[0].began();
        let (buffers, local_listener) = (drivers[0].buffer_grants(), drivers[0].local_listener());
        let mut remedies = drivers[0].remedies();
        remedies.extend(without_ipv6(config.listen.filter(|_| config.sockets.is_none()), local).map(String::from));
        let settings = Arc::new(endpoint.settings);
        let handles = HandleConfig {
            threading: config.threading,
            queue_bytes_max: config.queue_bytes_max,
            settings: Arc::clone(&settings),
            inbound: endpoint.inbound,
        };
        #[cfg(feature = "__tls")]
        let watch = security.certificates().map(CertificateWatch::start).transpose();
        Ok(Server {
            shards: Shards::start(drivers, &handles)?,
            local,
            merging: config.merging,
            began,
            has_webtransport: config.webtransport && security.fingerprint().is_some(),
            #[cfg(feature = "__tls")]
            _certificates: watch.map_err(StartError::io("start a thread that watches for renewed certificates"))?,
            security,
            buffers,
            remedies,
            host: host_of(local),
            local_listener,
            ticks: Ticks::default(),
            recorder: None,
            moves: ServerMoves::new(&settings),
        })
    }

    /// Sentences with the problems of the server's sockets and their remedies: buffers that are smaller than requested,
    /// a system that does not report the destination of a datagram, that may split datagrams, or that has no IPv6. An
    /// application should log all of them.
    pub fn warnings(&self) -> Vec<String> {
        let buffers = self.buffers.and_then(|grants| grants.remedy());
        buffers.into_iter().chain(self.remedies.iter().cloned()).collect()
    }

    /// Socket buffers that the kernel granted: [`BufferGrants::remedy`] names the remedy if they are smaller than
    /// requested.
    pub fn buffer_grants(&self) -> Option<BufferGrants> {
        self.buffers
    }

    /// SHA-256 of the server's certificate, the first if there are several; `None` if the server serves in clear only.
    /// It changes with the certificate's file.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.security.fingerprint()
    }

    /// SHA-256 of the certificate for DTLS clients: the first that DTLS can send (ECDSA, at most 4,096 bytes); `None`
    /// if there is none.
    #[cfg(all(feature = "dtls", feature = "__tls"))]
    pub fn dtls_fingerprint(&self) -> Option<Fingerprint> {
        self.security.certificates()?.for_dtls().map(|identity| identity.fingerprint())
    }

    /// SHA-256 of the certificates that browsers accept by their hash (WebTransport's `serverCertificateHashes`): the
    /// current one, and the one that follows some days later. Empty if the server did not generate its certificate:
    /// browsers then verify it by its authority.
    #[cfg(feature = "__tls")]
    pub fn web_fingerprints(&self) -> Vec<Fingerprint> {
        self.security.certificates().map(|certificates| certificates.web_fingerprints()).unwrap_or_default()
    }

    /// The next event of this server's certificates: a changed file is used, or is refused; a certificate expires soon.
    /// An application should log all of them.
    #[cfg(feature = "__tls")]
    pub fn poll_certificate_event(&self) -> Option<CertificateEvent> {
        self.security.certificates().and_then(|certificates| certificates.poll_event())
    }

    /// Counters of the server's certificates.
    #[cfg(feature = "__tls")]
    pub fn certificate_stats(&self) -> CertificateStats {
        self.security.certificates().map(|certificates| certificates.stats()).unwrap_or_default()
    }

    /// Connects a client of this process: a single player, or the host of a listen server. The same events and channels
    /// as over a network, without a socket and without encryption; this side gets its [`Event::Requested`] from
    /// `127.0.0.1:0` and decides by the token as usual. With shards, the first one has all local clients.
    ///
    /// # Errors
    /// The token is too long, a field of the configuration is out of range, it has an impairment, which a connection
    /// through memory cannot have, the server's driver is gone, or the system refuses a thread.
    pub fn connect_local(&self, token: &[u8], config: ClientConfig) -> Result<Client, StartError> {
        if let Some(failure) = self.failure() {
            return Err(StartError::Io("connect locally".into(), io::Error::other(failure)));
        }
        Client::connect_local(&self.local_listener, token, config)
    }

    /// The URL by which native clients on this machine reach the server, fingerprint included; `local:` if the server
    /// has no sockets.
    pub fn url(&self) -> String {
        if self.local == LOCAL_ADDRESS {
            return "local:".into();
        }
        match self.fingerprint() {
            Some(pin) => Target::new(Scheme::Encrypted, &self.host, self.local.port()).pinned(pin).url,
            None => Target::new(Scheme::Plain, &self.host, self.local.port()).url,
        }
    }

    /// The URL by which pages on this machine reach the server by WebTransport, to which any path may be added; `None`
    /// if the server has no WebTransport. Unless an authority that browsers trust has signed the certificate, the page
    /// passes the hashes of [`Server::web_fingerprints`] as `serverCertificateHashes`, or appends the first of them to
    /// the URL, as `#sha256=` and 64 digits. [`Server::fingerprint`] is the hash of another certificate, which is valid
    /// for longer than browsers accept. Browsers' URLs have no zones, so no page reaches a server on a link-local
    /// address of IPv6.
    pub fn webtransport_url(&self) -> Option<String> {
        if !self.has_webtransport || self.local == LOCAL_ADDRESS {
            return None;
        }
        Some(page_url(&self.host, self.local.port()))
    }

    /// The address on which the server listens; `127.0.0.1:0`, to which no client can connect, if the server has no
    /// sockets.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// How long the server has been running: the clock that [`Client::server_time`] estimates.
    pub fn time(&self) -> Duration {
        self.began.elapsed()
    }

    /// Sets the answer to queries of server browsers, from the driver's next turn on (in stepped mode the next
    /// `drive`); `None` for no answer. At most 1,181 bytes: see [`ServerConfig::query_answer`]. Call this whenever the
    /// content of the answer has changed.
    ///
    /// # Errors
    /// The answer is too long, and the previous answer stays; the queue to a driver is full, or the driver is gone.
    pub fn set_query_answer(&mut self, answer: Option<Bytes>) -> Result<(), QueryAnswerError> {
        check_answer(answer.as_ref()).map_err(QueryAnswerError::TooLong)?;
        self.shards.set_query_answer(answer.as_ref()).map_err(QueryAnswerError::Driver)
    }

    /// Denies these addresses and networks (`192.0.2.7`, `192.0.2.0/24`, `2001:db8::/32`) and no others: see
    /// [`ServerConfig::denied`]. An established connection over UDP (native, DTLS, WebTransport) receives nothing more
    /// and ends by its idle timeout: [`Server::close`] it first. Connected streams and local clients stay connected.
    ///
    /// # Errors
    /// A text is neither an address nor a network, and nothing changes; the queue to a driver is full, or the driver is
    /// gone.
    pub fn set_denied(&mut self, networks: &[String]) -> Result<(), DenyError> {
        let networks = NetworkList::new(networks).map_err(DenyError::NoNetwork)?;
        self.shards.set_denied(&Arc::new(networks)).map_err(DenyError::Driver)
    }

    /// Progress of the long messages in transfer to and from a peer, up to 50 ms ago: messages of
    /// [`ServerConfig::transfer_bytes_min`] bytes and more. `None` if there is no such connection.
    pub fn transfers(&self, peer: PeerId) -> Option<Transfers> {
        self.shards.statistics().transfers(peer)
    }

    /// The next event, if there is one.
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = loop {
            if let Some(event) = self.moves.next() {
                break event;
            }
            let event = self.shards.poll_event()?;
            if let Some(event) = self.moves.filter(event) {
                break event;
            }
        };
        logged::on_event(&event);
        if let Some(recorder) = &mut self.recorder {
            recorder.on_event(&event, |channel| self.shards.mode(channel));
        }
        Some(event)
    }

    /// Waits until there is an event, for `span` at most. It returns at the first event: a loop that runs at a fixed
    /// rate calls [`Server::wait_tick`].
    pub fn wait(&mut self, span: Duration) {
        self.shards.wait(span);
    }

    /// Waits until `deadline`, however many events arrive before: they wait for [`Server::poll_event`], up to
    /// [`ServerConfig::queue_bytes_max`], beyond which the receive windows hold the peers back. A stepped server is
    /// driven meanwhile, at least once, even if the deadline is in the past.
    pub fn wait_until(&mut self, deadline: Instant) {
        self.shards.wait_until(deadline);
    }

    /// Waits for the next tick of a loop that runs once per `interval`: as [`Server::wait_until`], so that events do
    /// not shorten the tick. The first tick is due an interval after the first call; ticks do not drift, and those that
    /// are late by a whole interval or more are skipped ([`Ticks`]). Returns the number of ticks that were skipped.
    pub fn wait_tick(&mut self, interval: Duration) -> u64 {
        let tick = self.ticks.next_after(Instant::now(), interval);
        self.wait_until(tick.due);
        tick.missed
    }

    /// Waits for events in place of this handle, which another thread may use meanwhile; `None` in stepped mode.
    pub fn waiter(&self) -> Option<Waiter> {
        self.shards.waiter()
    }

    /// Drives a stepped server: receives, handles timers and sends, waiting for its sockets for `wait_max` at most.
    ///
    /// # Errors
    /// The system refuses to wait for the sockets; the driver cannot continue.
    pub fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        self.shards.drive(wait_max)
    }

    /// Accepts a client that asked to connect. [`Event::Connected`] follows, or [`Event::Closed`] if the client has
    /// gone meanwhile, or if the last place was taken: the client is then told that the server is full.
    ///
    /// # Errors
    /// There is no such client, or the client does not wait for an answer (any more); or the driver is gone.
    pub fn accept(&mut self, peer: PeerId) -> Result<(), PeerError> {
        let (shard, peer) = self.shards.of(peer);
        shard.accept(peer)
    }

    /// Refuses a client that asked to connect. The client receives the code and up to 512 bytes of the reason; the rest
    /// is cut off.
    ///
    /// # Errors
    /// As [`Server::close`].
    pub fn refuse(&mut self, peer: PeerId, code: u64, reason: &str) -> Result<(), PeerError> {
        self.close(peer, code, reason, Duration::ZERO)
    }

    /// Ends a connection. Queued reliable messages have `linger` to arrive first; [`Event::Closed`] follows. The peer
    /// receives the code (below 1,000 the application's own, see [`code`](skipstone_proto::code)) and up to 512 bytes
    /// of the reason; the rest is cut off.
    ///
    /// # Errors
    /// There is no such peer, or its connection has ended or is closing already; the code is above 2^62-1; or the
    /// driver is gone.
    pub fn close(&mut self, peer: PeerId, code: u64, reason: &str, linger: Duration) -> Result<(), PeerError> {
        let (shard, local) = self.shards.of(peer);
        shard.close(local, code, reason, linger)?;
        if let Some(recorder) = &mut self.recorder {
            recorder.on_closed(peer.index);
        }
        Ok(())
    }

    /// Sends a message to one peer.
    ///
    /// A message on a reliable channel that is accepted is delivered, or ends in [`Event::GivenUp`], or its connection
    /// ends in [`Event::Closed`]. A message on an unreliable channel may be lost without an event, unless the channel
    /// asks for receipts.
    ///
    /// # Errors
    /// The reasons that are known at the call: no such peer or channel, not connected, message too long, queue full,
    /// driver gone. The error returns the message with the reason.
    pub fn send(&mut self, peer: PeerId, channel: u16, payload: impl Into<Bytes>) -> Result<MessageId, SendError> {
        self.send_aged(peer, channel, payload, Duration::ZERO)
    }

    /// Same as [`Server::send`], for a message that answers or forwards one that had this age in [`Event::Message`]: a
    /// message that is already late is sent in several copies, so that a second loss is unlikely to delay it again.
    ///
    /// # Errors
    /// As [`Server::send`].
    pub fn send_aged(
        &mut self,
        peer: PeerId,
        channel: u16,
        payload: impl Into<Bytes>,
        age: Duration,
    ) -> Result<MessageId, SendError> {
        let payload = payload.into();
        match self.moves.check(channel) {
            Ok(()) => self.submit(peer, channel, payload, age),
            Err(reason) => Err(SendError::new(reason, payload)),
        }
    }

    fn submit(&mut self, peer: PeerId, channel: u16, payload: Bytes, age: Duration) -> Result<MessageId, SendError> {
        let (id, wake) = (self.shards.next_id(), self.wake());
        let message = Submission { payload, id, age };
        let bytes = message.payload.len() as u64;
        let (shard, local) = self.shards.of(peer);
        shard.send((local, channel), message, wake)?;
        if let Some(recorder) = &mut self.recorder {
            let message = RecordedMessage { peer: peer.index, channel, bytes };
            recorder.on_sent(message, self.shards.mode(channel));
        }
        Ok(id)
    }

    /// Sends one message to every connected member of a group. All members share the message's bytes. Returns the
    /// number of members for which it was accepted. For each of them [`Server::send`] describes what follows; its
    /// events carry the peer and the id.
    ///
    /// A member whose queue is full does not stop the others. On a reliable channel it gets [`Event::GivenUp`], or
    /// [`Event::Closed`] if that is the channel's rule.
    ///
    /// # Errors
    /// No such channel, message too long, the queue to a driver is full, or the driver is gone: no member receives the
    /// message, and the error returns it.
    ///
    /// # Examples
    /// Teams are groups. A peer can join while it waits to be accepted, and is a member from its [`Event::Connected`]
    /// on:
    ///
    /// ```
    /// use skipstone::{ClientConfig, Event, Group, Server, ServerConfig};
    /// use std::time::Duration;
    ///
    /// const RED: Group = Group(1);
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut server = Server::start(ServerConfig::offline())?;
    /// let mut clients = Vec::new();
    /// for team in ["red", "blue", "red"] {
    ///     clients.push(server.connect_local(team.as_bytes(), ClientConfig::default())?);
    /// }
    /// let mut connected = 0;
    /// while connected < clients.len() {
    ///     server.wait(Duration::from_millis(10));
    ///     while let Some(event) = server.poll_event() {
    ///         match event {
    ///             Event::Requested { peer, token, .. } => {
    ///                 server.accept(peer)?;
    ///                 if token == "red" {
    ///                     server.join(peer, RED)?;
    ///                 }
    ///             }
    ///             Event::Connected { .. } => connected += 1,
    ///             _ => {}
    ///         }
    ///     }
    /// }
    /// let everyone = server.broadcast(Group::EVERYONE, 0, "the match begins")?;
    /// let red = server.broadcast(RED, 0, "you defend")?;
    /// assert_eq!((everyone.peers, red.peers), (3, 2));
    /// server.flush()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn broadcast(
        &mut self,
        group: Group,
        channel: u16,
        payload: impl Into<Bytes>,
    ) -> Result<BroadcastReceipt, SendError> {
        self.broadcast_to(&group.into(), channel, payload.into())
    }

    /// Same as [`Server::broadcast`], without some members: most often without the one whose message is forwarded.
    /// `except` should be short, because each member is searched for in it. A peer in it that is not a member, or is
    /// gone, has no effect.
    ///
    /// # Errors
    /// As [`Server::broadcast`].
    ///
    /// # Examples
    /// ```
    /// use skipstone::{Event, Group, Server};
    ///
    /// /// Passes on what each player says to all others.
    /// fn relay(server: &mut Server) -> Result<(), Box<dyn std::error::Error>> {
    ///     while let Some(event) = server.poll_event() {
    ///         match event {
    ///             Event::Requested { peer, .. } => server.accept(peer)?,
    ///             Event::Message { peer, channel, payload, .. } => {
    ///                 server.broadcast_except(Group::EVERYONE, &[peer], channel, payload)?;
    ///             }
    ///             _ => {}
    ///         }
    ///     }
    ///     Ok(server.flush()?)
    /// }
    /// ```
    pub fn broadcast_except(
        &mut self,
        group: Group,
        except: &[PeerId],
        channel: u16,
        payload: impl Into<Bytes>,
    ) -> Result<BroadcastReceipt, SendError> {
        self.broadcast_to(&Recipients::without(group, except.iter().copied()), channel, payload.into())
    }

    fn broadcast_to(&mut self, to: &Recipients, channel: u16, payload: Bytes) -> Result<BroadcastReceipt, SendError> {
        if let Err(reason) = self.moves.check(channel) {
            return Err(SendError::new(reason, payload));
        }
        let (id, wake) = (self.shards.next_id(), self.wake());
        let bytes = payload.len() as u64;
        let peers = self.shards.broadcast(to, (channel, payload), id, wake)?;
        if let Some(recorder) = &mut self.recorder {
            record_broadcast(recorder, &self.shards, to, (channel, bytes));
        }
        Ok(BroadcastReceipt { id, peers })
    }

    /// Asks a client that is [able] to connect to another server with this token, while it plays on
    /// here. The application numbers its moves. [`MoveStage::Ready`] or [`MoveStage::Stayed`] follows, or the
    /// connection's end.
    ///
    /// # Errors
    /// This server has no channel for moves, the destination or the token is invalid, or the message was refused.
    ///
    /// [able]: crate::MoveStage::Able
    /// [`MoveStage::Ready`]: crate::MoveStage::Ready
    /// [`MoveStage::Stayed`]: crate::MoveStage::Stayed
    pub fn move_client(&mut self, peer: PeerId, id: MoveId, destination: &str, token: &[u8]) -> Result<(), MoveError> {
        let message = self.moves.to(id, destination, token)?;
        self.say(peer, message)
    }

    /// Ends a move. The client answers with [`MoveStage::Stayed`], or has [left] already.
    ///
    /// # Errors
    /// As [`Server::move_client`].
    ///
    /// [`MoveStage::Stayed`]: crate::MoveStage::Stayed
    /// [left]: crate::MoveStage::Left
    pub fn cancel_move(&mut self, peer: PeerId, id: MoveId) -> Result<(), MoveError> {
        let message = self.moves.message(MoveMessage::Cancel(id))?;
        self.say(peer, message)
    }

    /// Tells a client that came here with the token of a move that this server has its player. It answers with
    /// [`MoveStage::Arrived`], or stays where it is and goes. Send it nothing before that answer.
    ///
    /// # Errors
    /// As [`Server::move_client`].
    ///
    /// [`MoveStage::Arrived`]: crate::MoveStage::Arrived
    pub fn welcome(&mut self, peer: PeerId, id: MoveId) -> Result<(), MoveError> {
        let message = self.moves.message(MoveMessage::Welcome(id))?;
        self.say(peer, message)?;
        self.moves.on_welcomed(peer, id);
        Ok(())
    }

    fn say(&mut self, peer: PeerId, (channel, message): (u16, Bytes)) -> Result<(), MoveError> {
        let sent = self.submit(peer, channel, message, Duration::ZERO);
        sent.map(drop).map_err(|error| MoveError::Refused(error.reason))
    }

    /// Sends all messages that were queued since the last flush.
    ///
    /// # Errors
    /// A driver is gone.
    pub fn flush(&mut self) -> Result<(), PeerError> {
        self.shards.flush()
    }

    /// Adds a peer to a group. No effect if the peer is a member already.
    ///
    /// # Errors
    /// There is no such peer, or its connection has ended; the group is [`Group::EVERYONE`]; the queue to the driver is
    /// full, or the driver is gone.
    pub fn join(&mut self, peer: PeerId, group: Group) -> Result<(), PeerError> {
        let (shard, peer) = self.shards.of(peer);
        shard.join(peer, group)
    }

    /// Removes a peer from a group, if it is a member.
    ///
    /// # Errors
    /// As [`Server::join`].
    pub fn leave(&mut self, peer: PeerId, group: Group) -> Result<(), PeerError> {
        let (shard, peer) = self.shards.of(peer);
        shard.leave(peer, group)
    }

    /// Sets when messages to one peer are sent, and thus which messages share a datagram.
    ///
    /// # Errors
    /// There is no such peer, or its connection has ended; messages would wait for more than 24 hours; the queue to the
    /// driver is full, or the driver is gone.
    pub fn set_merging(&mut self, peer: PeerId, merging: Merging) -> Result<(), PeerError> {
        let (shard, peer) = self.shards.of(peer);
        shard.set_merging(peer, merging)
    }

    /// The connected peers: those whose [`Event::Connected`] was polled, and whose [`Event::Closed`] was not. A
    /// broadcast to [`Group::EVERYONE`] goes to them.
    pub fn peers(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.shards.members(Group::EVERYONE)
    }

    /// The address of a client, from [`Event::Requested`] until [`Event::Closed`] is polled: as that event and
    /// [`Event::PathChanged`] reported it. A client of this process has `127.0.0.1:0`. `None` if there is no such
    /// client.
    pub fn remote_addr(&self, peer: PeerId) -> Option<SocketAddr> {
        self.shards.remote(peer)
    }

    /// Counters of all connections, past and present, up to 50 ms ago. Like all statistics they are snapshots that the
    /// drivers publish: reading one never blocks.
    pub fn stats(&self) -> Stats {
        self.shards.statistics().stats()
    }

    /// Counters of the driver and its sockets; of all drivers, if there are shards.
    pub fn driver_stats(&self) -> DriverStats {
        self.shards.statistics().driver_stats()
    }

    /// A reader of all these statistics for other threads, so that the game's thread need not read them.
    pub fn statistics(&self) -> StatisticsReader {
        self.shards.statistics().clone()
    }

    /// Counters of the simulated links, towards the server and towards the clients, up to 50 ms ago.
    #[cfg(feature = "simulate")]
    pub fn link_stats(&self) -> (LinkStats, LinkStats) {
        self.shards.link_stats()
    }

    /// Load and counters of each shard, in the order of the shards. A much higher load of one shard is due to chance,
    /// or to many clients behind few addresses.
    pub fn shards(&self) -> Vec<ShardOverview> {
        self.shards.statistics().shards()
    }

    /// State and counters of one connection; `None` if there is no such connection, or it is younger than the newest
    /// snapshot.
    pub fn overview(&self, peer: PeerId) -> Option<Overview> {
        self.shards.statistics().overview(peer)
    }

    /// State and counters of every connection. The cost grows with their number: for display, not for every tick.
    pub fn overviews(&self) -> Vec<(PeerId, Overview)> {
        self.shards.statistics().overviews()
    }

    /// Why a driver failed, if one did.
    pub fn failure(&self) -> Option<String> {
        self.shards.failure()
    }

    /// Records the traffic from now on: the time, length, channel and peer of each message sent and received, without
    /// its content. `None` ends a recording. `skipstone compare` plays a recording over each transport.
    ///
    /// ```
    /// use skipstone::{RecordedEvent, RecordingReader, Server, ServerConfig, TrafficRecorder};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir();
    /// # let path = folder.join(format!("game-{}.rec", std::process::id()));
    /// let mut server = Server::start(ServerConfig::offline())?;
    /// server.record_traffic(TrafficRecorder::create(&path, 64 << 20)?);
    /// // The game goes here.
    /// drop(server);
    /// let events: Result<Vec<_>, _> = RecordingReader::open(&path)?.collect();
    /// assert!(matches!(events?.last(), Some((_, RecordedEvent::End(_)))));
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_traffic(&mut self, recorder: impl Into<Option<TrafficRecorder>>) {
        self.recorder = recorder.into().map(Box::new);
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(RecordingSide::Server);
            self.shards.members(Group::EVERYONE).for_each(|peer| recorder.on_connected(peer.index));
        }
    }

    /// Status of the recording; `None` without one.
    pub fn traffic_recording(&self) -> Option<RecordingStatus> {
        self.recorder.as_ref().map(|recorder| recorder.status())
    }

    /// Stops accepting new handshakes: datagrams of new clients are not answered, and their streams wait in the
    /// kernel's queue, so that they reach the process that takes over the sockets. Handshakes in progress continue, and
    /// connections stay.
    ///
    /// # Errors
    /// A driver is gone.
    pub fn stop_inviting(&mut self) -> Result<(), PeerError> {
        self.shards.stop_inviting()
    }

    /// Duplicated handles of the server's sockets, for the process that follows this one; `None` if the server has no
    /// sockets. Two processes that read one socket take each other's datagrams: hand the sockets over after
    /// [`Server::shutdown`].
    ///
    /// # Errors
    /// The process has no free file descriptor, or a driver does not answer.
    pub fn listen_sockets(&mut self) -> io::Result<Option<ListenSockets>> {
        self.shards.duplicate_sockets()
    }

    /// Ends every connection and the server. Queued reliable messages have `linger` to arrive; the whole call takes
    /// little longer, and waits for the drivers' threads to end their current turns. Returns the final counters, to the
    /// last packet; of a driver that does not answer, those that it published last. A code above 2^62-1 is sent as
    /// 2^62-1.
    pub fn shutdown(mut self, code: u64, reason: &str, linger: Duration) -> Stats {
        self.shards.close_all(code, reason, linger, linger.saturating_add(GOODBYE_MAX))
    }

    fn wake(&self) -> Wake {
        if self.merging == Merging::Flush { Wake::Later } else { Wake::Now }
    }
}

/// A recording contains the connected peers and no groups, so any broadcast that is not to all of them is recorded as a
/// message to each member.
fn record_broadcast(recorder: &mut TrafficRecorder, shards: &Shards, to: &Recipients, (channel, bytes): (u16, u64)) {
    let mode = shards.mode(channel);
    if to.group == Group::EVERYONE && to.except.is_none() {
        recorder.on_broadcast(channel, bytes, mode);
    } else {
        let message = |peer: PeerId| RecordedMessage { peer: peer.index, channel, bytes };
        let members = shards.members(to.group).filter(|peer| !to.left_out().contains(peer));
        members.for_each(|peer| recorder.on_sent(message(peer), mode));
    }
}

/// The certificates of TLS over TCP.
#[cfg(all(feature = "__tls", feature = "websocket"))]
fn tls_of(security: &Security) -> Option<TlsServer> {
    security.streams().map(TlsServer)
}

#[cfg(not(all(feature = "__tls", feature = "websocket")))]
fn tls_of(_: &Security) -> Option<TlsServer> {
    None
}

/// Whether a server can have this impairment.
fn check(impairment: &Impairment, config: &ServerConfig) -> Result<(), ImpairmentError> {
    if config.listen.is_none() {
        return Err(ImpairmentError::Local);
    }
    if config.websocket {
        return Err(ImpairmentError::WebSocketServer);
    }
    impairment.check().map_err(ImpairmentError::Config)
}

/// A broadcast that was accepted; [`Server::broadcast`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BroadcastReceipt {
    /// The message's id in the events about it.
    pub id: MessageId,
    /// Number of peers for which the message was accepted: the connected members of the group.
    pub peers: usize,
}

/// Time limit for the peers' acknowledgements of the close.
const GOODBYE_MAX: Duration = Duration::from_millis(700);

#[cfg(all(test, feature = "websocket", feature = "self-signed", feature = "__tls"))]
mod dialing_tests;

/// The address by which this machine reaches a server that listens at `local`: the loopback address if it listens on
/// all addresses.
fn host_of(local: SocketAddr) -> String {
    match reachable(local) {
        SocketAddr::V6(v6) if *v6.ip() == Ipv6Addr::LOCALHOST && !has_loopback_v6() => Ipv4Addr::LOCALHOST.to_string(),
        SocketAddr::V6(v6) if v6.scope_id() != 0 => format!("{}%{}", v6.ip(), v6.scope_id()),
        address => address.ip().to_string(),
    }
}

/// A URL by the browsers' standard (WHATWG), which has no zones.
fn page_url(host: &str, port: u16) -> String {
    let host = host.split('%').next().unwrap_or_default();
    if host.contains(':') { format!("https://[{host}]:{port}/") } else { format!("https://{host}:{port}/") }
}

/// A sentence for a server that was asked to listen on all addresses and listens only on IPv4 addresses.
fn without_ipv6(asked: Option<SocketAddr>, local: SocketAddr) -> Option<&'static str> {
    (asked.is_some_and(|asked| asked.is_ipv6()) && local.is_ipv4()).then_some(
        "this system has no IPv6: the server listens on all addresses of IPv4 alone. Remedy: turn IPv6 on, or listen \
         on 0.0.0.0",
    )
}

/// Whether this machine reaches itself by IPv6.
fn has_loopback_v6() -> bool {
    UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}

#[cfg(test)]
mod address_tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_server_without_the_requested_ipv6_reports_it() {
        assert!(without_ipv6(Some(address("[::]:7777")), address("0.0.0.0:7777")).is_some());
        for (asked, local) in [("[::]:0", "[::]:7777"), ("0.0.0.0:0", "0.0.0.0:7777")] {
            assert_eq!(without_ipv6(Some(address(asked)), address(local)), None, "{asked}");
        }
        assert_eq!(without_ipv6(None, address("0.0.0.0:7777")), None, "sockets that were handed over");
    }

    #[test]
    fn page_urls_have_no_zone() {
        let local = SocketAddr::V6(std::net::SocketAddrV6::new("fe80::1".parse().expect("an address"), 7, 0, 3));
        assert_eq!(host_of(local), "fe80::1%3");
        assert_eq!(page_url(&host_of(local), 7), "https://[fe80::1]:7/");
        assert_eq!(page_url(&host_of(address("0.0.0.0:7")), 7), "https://127.0.0.1:7/");
        assert_eq!(page_url(&host_of(address("192.0.2.1:7")), 7), "https://192.0.2.1:7/");
    }
}
