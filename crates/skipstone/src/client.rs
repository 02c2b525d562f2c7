//! A client: one connection to one server.

use crate::deadline::deadline_in;
use crate::driver::impair::Impairment;
use crate::driver::impairment_error::ImpairmentError;
use crate::driver::{Beneath, DialConfig, Driver, LOCAL_ADDRESS, Protected};
use crate::driver_stats::DriverStats;
use crate::handle::{Handle, HandleConfig, NoAnswer, Threading, Wake};
use crate::logged;
use crate::moving::{Connecting, MoveStep, Moving};
use crate::net::local::LocalListener;
use crate::net::websocket::TlsClient;
use crate::reconnect::{Reconnect, Returning};
use crate::recording::{RecordedMessage, RecordingSide, RecordingStatus, TrafficRecorder};
use crate::restart_notice::split;
use crate::security::{DtlsVersion, Trust};
use crate::send_error::{PeerError, SendError};
use crate::server_time::ServerTime;
use crate::start_error::StartError;
use crate::statistics::Overview;
use crate::ticks::Ticks;
use crate::url::{self, Resolve, Scheme, Target, UrlError};
use crate::waiter::Waiter;
use bytes::Bytes;
use skipstone_mailbox::Wakeup;
use skipstone_proto::Congestion;
use skipstone_proto::Duration;
use skipstone_proto::Limits;
use skipstone_proto::Merging;
use skipstone_proto::PacketLog;
use skipstone_proto::Protection;
use skipstone_proto::Transfers;
use skipstone_proto::{Close, ClosedBy, Config, Event, Group, PeerId, code};
use skipstone_proto::{MessageId, Submission};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Configuration of a client. The server's settings determine timeouts, limits and channels.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// When this client sends queued messages, and thus which messages share a datagram; `None` for the server's
    /// setting.
    pub merging: Option<Merging>,
    /// Time limit of the handshake.
    pub handshake_timeout: Duration,
    /// Whether a background thread or the application runs the driver.
    pub threading: Threading,
    /// Network impairments to simulate around the UDP socket; WebSockets and local connections cannot have them.
    pub impairment: Option<Impairment>,
    /// Congestion controller, which limits the bytes that this client has in flight.
    pub congestion: Congestion,
    /// Greatest rate at which this client sends, in bytes per second, IP headers included; at least 1,000, `None`
    /// without a limit.
    pub bandwidth_max: Option<u64>,
    /// Limits on what this client accepts, whatever the server's settings; by default 64 MiB for a message and 72 MiB
    /// for reliable messages that wait. The client sends them in the handshake, and the server then refuses longer
    /// messages to this client when its application sends them.
    pub limits: Limits,
    /// Which servers to trust, if the URL begins with `skip://`, `skip+dtls://` or `wss://` and has no fingerprint.
    pub trust: Trust,
    /// The version of DTLS that a `skip+dtls://` URL means.
    pub dtls_version: DtlsVersion,
    /// Bytes of messages that may wait in each of the two queues between the application and the driver's thread:
    /// messages to send, and events that were not polled. At least 1 MiB.
    pub queue_bytes_max: u64,
    /// Whether to query the server's time regularly, for [`Client::server_time`]: eight short packets after the
    /// handshake, then 9 bytes with a packet that leaves anyway, every 3 s at most.
    pub follows_server_time: bool,
    /// The progress of messages of at least this many bytes is published, for [`Client::transfers`]; `None` for no
    /// message, which costs nothing.
    pub transfer_bytes_min: Option<u32>,
    /// How the client reconnects by itself when its server restarts or is lost; `None`, the default, for a client that
    /// does not. It has no effect on a client of this process.
    pub reconnect: Option<Reconnect>,
    /// Like [`ServerConfig::packet_log`](crate::ServerConfig::packet_log).
    pub packet_log: Option<Arc<dyn PacketLog>>,
}

impl Default for ClientConfig {
    fn default() -> Self {
        ClientConfig {
            merging: None,
            handshake_timeout: Duration::from_secs(10),
            threading: Threading::default(),
            impairment: None,
            congestion: Congestion::default(),
            bandwidth_max: None,
            limits: Config::client().limits,
            trust: Trust::default(),
            dtls_version: DtlsVersion::default(),
            queue_bytes_max: QUEUE_BYTES_MAX,
            follows_server_time: true,
            transfer_bytes_min: None,
            reconnect: None,
            packet_log: None,
        }
    }
}

impl ClientConfig {
    fn endpoint(&self) -> Config {
        Config {
            merging: self.merging,
            handshake_timeout: self.handshake_timeout,
            congestion: self.congestion.clone(),
            bandwidth_max_per_peer: self.bandwidth_max,
            follows_server_time: self.follows_server_time,
            limits: self.limits,
            packet_log: self.packet_log.clone(),
            ..Config::client()
        }
    }
}

/// Default limit, in bytes, of each queue between an application and its driver's thread.
const QUEUE_BYTES_MAX: u64 = 16 << 20;

/// Protection that the URL asks for. A fingerprint in the URL takes precedence over `trust`.
pub(crate) fn protection(target: &Target, trust: &Trust, version: DtlsVersion) -> Result<Protected, StartError> {
    let plain = Protected { protection: Protection::Plain, beneath: Beneath::default() };
    if !target.scheme.is_authenticated() {
        // A URL with a fingerprint demands one certain server: a scheme without certificates is refused.
        let pinned = target.pin.map(|_| StartError::Url(UrlError::Pin(target.url.clone())));
        return pinned.map_or(Ok(plain), Err);
    }
    if let Some(feature) = target.scheme.missing_feature() {
        return Err(StartError::Url(UrlError::NotBuilt(target.url.clone(), feature)));
    }
    let trust = target.pin.map_or_else(|| trust.clone(), Trust::Pinned);
    if target.scheme == Scheme::Dtls {
        let dtls = trust.dtls(target.certified_host(), version).map_err(StartError::Trust)?;
        return Ok(Protected { beneath: Beneath { dtls: Some(dtls), ..Beneath::default() }, ..plain });
    }
    if target.scheme == Scheme::SecureWebSocket {
        let tls = Some(stream_tls(&trust, target.certified_host())?);
        return Ok(Protected { beneath: Beneath { tls, ..Beneath::default() }, ..plain });
    }
    let suites = trust.suites(target.certified_host()).map_err(StartError::Trust)?;
    Ok(Protected { protection: Protection::Encrypted(suites), ..plain })
}

/// The trust by which `wss://` authenticates this host.
#[cfg(all(feature = "__tls", feature = "websocket"))]
fn stream_tls(trust: &Trust, host: &str) -> Result<TlsClient, StartError> {
    let (config, name) = trust.streams(host).map_err(StartError::Trust)?;
    Ok(TlsClient { config, name })
}

#[cfg(not(all(feature = "__tls", feature = "websocket")))]
fn stream_tls(_: &Trust, _: &str) -> Result<TlsClient, StartError> {
    Err(StartError::Trust(crate::security::TrustError::NoEncryption))
}

/// A connection to a server. Dropping the client ends the connection without notifying the server; [`Client::close`]
/// notifies it.
///
/// # Reconnecting
/// With [`ClientConfig::reconnect`] a client reconnects by itself, with its token, when its server restarts (and says
/// when, see [`RestartNotice`](crate::RestartNotice)), is full, or is lost. Each connection is independent: it begins
/// with [`Event::Connected`] and ends with [`Event::Closed`], after which [`Client::returns_in`] says whether another
/// follows. Queued messages are not carried over. A new driver numbers its connections from the start, so
/// [`Client::peer`] stays the same. An attempt that cannot begin, because the system refuses a socket, gives no event
/// unless it is the last. Reconnecting happens in [`Client::poll_event`], in [`Client::drive`] and in the calls that
/// wait; get a new [`Waiter`] afterwards.
///
/// ```no_run
/// use skipstone::{Client, ClientConfig, Close, Event, Reconnect, StartError};
/// use std::time::Duration;
///
/// fn play(url: &str, token: &[u8]) -> Result<Close, StartError> {
///     let config = ClientConfig { reconnect: Some(Reconnect::default()), ..ClientConfig::default() };
///     let mut client = Client::connect(url, token, config)?;
///     loop {
///         client.wait(Duration::from_millis(10));
///         match client.poll_event() {
///             Some(Event::Closed { close, .. }) if client.returns_in().is_none() => return Ok(close),
///             Some(Event::Connected { .. }) => println!("here (again)"),
///             // The game goes here.
///             Some(_) | None => {}
///         }
///     }
/// }
/// ```
///
/// A program may also reconnect by itself: it creates a new client after [`Event::Closed`], with a pause that grows
/// while attempts fail. Where many players lose a server at the same moment, add a random part to the pause, so that
/// they do not all reconnect at once.
///
/// ```no_run
/// use skipstone::{Client, ClientConfig, Close, ClosedBy, Event, StartError, code};
/// use std::time::Duration;
///
/// const PAUSE_MIN: Duration = Duration::from_millis(250);
/// const PAUSE_MAX: Duration = Duration::from_secs(30);
///
/// fn play(url: &str, token: &[u8]) -> Result<Close, StartError> {
///     let mut pause = PAUSE_MIN;
///     loop {
///         let mut client = Client::connect(url, token, ClientConfig::default())?;
///         let close = loop {
///             client.wait(Duration::from_millis(10));
///             match client.poll_event() {
///                 Some(Event::Connected { .. }) => pause = PAUSE_MIN,
///                 Some(Event::Closed { close, .. }) => break close,
///                 // The game goes here.
///                 Some(_) | None => {}
///             }
///         };
///         // A lost connection, or a server that is full or restarts, deserves a retry; any other end is final.
///         let is_temporary = close.by == ClosedBy::Nobody || matches!(close.code, code::RESTART | code::FULL);
///         if !is_temporary {
///             return Ok(close);
///         }
///         std::thread::sleep(pause);
///         pause = (pause * 2).min(PAUSE_MAX);
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Client {
    handle: Handle,
    peer: PeerId,
    /// Empty until one of the server's addresses answered.
    remote: Arc<OnceLock<SocketAddr>>,
    comeback: Option<Box<Comeback>>,
    /// The moves of a client that reconnects by itself, if its server can move it.
    moving: Option<Box<Moving>>,
    ticks: Ticks,
    recorder: Option<Box<TrafficRecorder>>,
}

/// The state that a reconnecting client keeps from one connection to the next.
#[derive(Debug)]
struct Comeback {
    returning: Returning,
    token: Vec<u8>,
    config: ClientConfig,
    /// Reports that no attempt is left.
    last: Option<Event>,
}

impl Comeback {
    /// Begins to connect to another server while the present connection goes on.
    fn go(&self, wakeup: &Arc<Wakeup>, destination: &str, token: &[u8]) -> Option<Connecting> {
        let (host, port) = split(destination)?;
        let target = self.returning.target().moved(host, port);
        let (driver, peer, remote) = begin(Box::new(url::resolve), target.clone(), token, &self.config).ok()?;
        let Client { handle, .. } = Client::start(wakeup, driver, peer, Arc::clone(&remote), &self.config).ok()?;
        Some(Connecting { handle, peer, remote, target })
    }
}

impl Client {
    /// Begins to connect; [`Event::Connected`] or [`Event::Closed`] follows. The server decides by the token, of up to
    /// 1,024 bytes, whether to accept the client.
    ///
    /// A host name is resolved in the background. Its addresses are tried in turn, IPv6 and IPv4 alternately: the next
    /// one after 250 ms, or at once when one fails; the first that answers is the server's. A name that has no address,
    /// or none that answers within [`ClientConfig::handshake_timeout`], ends in [`Event::Closed`] with a reason that
    /// lists what was tried.
    ///
    /// # Errors
    /// The URL is invalid, a field of the configuration is out of range, no server can be trusted as configured, the
    /// carrier cannot have the impairment, the token is too long, or the system refuses a socket or a thread.
    pub fn connect(url: &str, token: &[u8], config: ClientConfig) -> Result<Self, StartError> {
        Client::connect_by(Box::new(url::resolve), url, token, config)
    }

    /// Same as [`Client::connect`], with a resolver other than the system's.
    pub(crate) fn connect_by(
        resolve: Resolve,
        url: &str,
        token: &[u8],
        config: ClientConfig,
    ) -> Result<Self, StartError> {
        StartError::check_token(token)?;
        StartError::check_queue(config.queue_bytes_max)?;
        StartError::check_bandwidth("bandwidth_max", config.bandwidth_max, 1)?;
        let target: Target = url.parse().map_err(StartError::Url)?;
        if let Some(impairment) = &config.impairment {
            impairment.check_for(target.scheme).map_err(StartError::Impairment)?;
        }
        let comeback = config.reconnect.clone().map(|rules| {
            let returning = Returning::new(rules, target.clone())?;
            Ok::<_, StartError>(Box::new(Comeback {
                returning,
                token: token.into(),
                config: config.clone(),
                last: None,
            }))
        });
        let comeback = comeback.transpose()?;
        let (driver, peer, remote) = begin(resolve, target, token, &config)?;
        Ok(Client { comeback, ..Client::start(&Arc::default(), driver, peer, remote, &config)? })
    }

    fn start(
        wakeup: &Arc<Wakeup>,
        mut driver: Driver,
        peer: PeerId,
        remote: Arc<OnceLock<SocketAddr>>,
        config: &ClientConfig,
    ) -> Result<Self, StartError> {
        driver.publish_transfers(config.transfer_bytes_min);
        let handle = HandleConfig {
            threading: config.threading,
            queue_bytes_max: config.queue_bytes_max,
            settings: Arc::default(),
            inbound: Arc::default(),
        };
        let mut handle = Handle::waking(wakeup, driver, &handle)?;
        handle.connecting(peer);
        Ok(Client { handle, peer, remote, comeback: None, moving: None, ticks: Ticks::default(), recorder: None })
    }

    /// Begins to connect to a server of this process.
    pub(crate) fn connect_local(
        server: &Arc<LocalListener>,
        token: &[u8],
        config: ClientConfig,
    ) -> Result<Self, StartError> {
        if config.impairment.is_some() {
            return Err(StartError::Impairment(ImpairmentError::Local));
        }
        StartError::check_token(token)?;
        StartError::check_queue(config.queue_bytes_max)?;
        StartError::check_bandwidth("bandwidth_max", config.bandwidth_max, 1)?;
        let mut driver = Driver::of_clients(config.endpoint(), 1)?;
        let connected = driver.connect_local(server, token);
        let peer = connected.map_err(|error| StartError::Io("connect locally".into(), io::Error::other(error)))?;
        Client::start(&Arc::default(), driver, peer, Arc::new(LOCAL_ADDRESS.into()), &config)
    }

    /// The server's address; `None` while none of the addresses of its name has answered. A local server's is
    /// `127.0.0.1:0`.
    pub fn remote_addr(&self) -> Option<SocketAddr> {
        self.remote.get().copied()
    }

    /// The connection's id in its events, the same for each connection of a client that reconnects.
    pub fn peer(&self) -> PeerId {
        self.peer
    }

    /// The next event, if there is one.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.return_if_due();
        let Some(event) = self.next_event() else {
            return self.comeback.as_mut()?.last.take().inspect(logged::on_event);
        };
        logged::on_event(&event);
        if let Some(recorder) = &mut self.recorder {
            recorder.on_event(&event, |channel| self.handle.roster().mode(Some(event.peer()), channel));
        }
        if let Some(comeback) = &mut self.comeback {
            match &event {
                Event::Connected { .. } => comeback.returning.on_connected(),
                Event::Closed { close, .. } => comeback.returning.on_closed(close, Instant::now()),
                _ => {}
            }
        }
        Some(event)
    }

    fn next_event(&mut self) -> Option<Event> {
        loop {
            self.follow_move();
            let waiting = self.moving.as_mut().and_then(|moving| moving.poll_event());
            let event = match waiting {
                Some(event) => event,
                None => {
                    let event = self.handle.poll_event()?;
                    match &mut self.moving {
                        Some(moving) => {
                            let Some(event) = moving.on_event(event) else { continue };
                            event
                        }
                        None => event,
                    }
                }
            };
            match (&event, &self.comeback) {
                (Event::Connected { settings, .. }, Some(comeback)) => {
                    let moving = Moving::begin(&mut self.handle, self.peer, settings, comeback.config.queue_bytes_max);
                    self.moving = moving.map(Box::new);
                }
                (Event::Closed { .. }, _) => self.moving = None,
                _ => {}
            }
            return Some(event);
        }
    }

    /// Does what the client's move needs now.
    fn follow_move(&mut self) {
        while let Some(moving) = &mut self.moving
            && let Some(step) = moving.advance(&mut self.handle, self.peer)
        {
            match step {
                MoveStep::Connect { destination, token } => {
                    // Events of both wake the application.
                    let wakeup = self.handle.shared().map(|shared| Arc::clone(&shared.wakeup)).unwrap_or_default();
                    let there = self.comeback.as_ref().and_then(|comeback| comeback.go(&wakeup, &destination, &token));
                    moving.connecting(there);
                }
                MoveStep::Arrived(there) => {
                    self.comeback.iter_mut().for_each(|comeback| comeback.returning.on_moved(there.target.clone()));
                    (self.handle, self.peer, self.remote) = (there.handle, there.peer, there.remote);
                }
            }
        }
    }

    /// Waits until there is an event, for `span` at most. It returns at the first event: a loop that runs at a fixed
    /// rate calls [`Client::wait_tick`].
    pub fn wait(&mut self, span: Duration) {
        self.return_if_due();
        let span = self.returns_in().map_or(span, |pause| span.min(pause));
        let end = deadline_in(span);
        loop {
            self.follow_move();
            let left = end.saturating_duration_since(Instant::now());
            let Some(moving) = &mut self.moving else { return self.handle.wait(left) };
            if moving.has_events() || self.handle.has_events() || left.is_zero() {
                return;
            }
            if !moving.is_moving() {
                return self.handle.wait(left);
            }
            // Events of either connection.
            moving.drive();
            self.handle.wait(left.min(MOVE_STEP));
        }
    }

    /// Waits until `deadline`, however many events arrive before: they wait for [`Client::poll_event`], up to
    /// [`ClientConfig::queue_bytes_max`], beyond which the receive window holds the server back. A stepped client is
    /// driven meanwhile, at least once, even if the deadline is in the past.
    pub fn wait_until(&mut self, deadline: Instant) {
        loop {
            self.return_if_due();
            let due = self.comeback.as_ref().and_then(|comeback| comeback.returning.due());
            match due.filter(|due| *due < deadline) {
                Some(due) => self.handle.wait_until(due),
                None => return self.handle.wait_until(deadline),
            }
        }
    }

    /// Waits for the next tick of a loop that runs once per `interval`: as [`Client::wait_until`], so that events do
    /// not shorten the tick. The first tick is due an interval after the first call; ticks do not drift, and those that
    /// are late by a whole interval or more are skipped ([`Ticks`]). Returns the number of ticks that were skipped.
    pub fn wait_tick(&mut self, interval: Duration) -> u64 {
        let tick = self.ticks.next_after(Instant::now(), interval);
        self.wait_until(tick.due);
        tick.missed
    }

    /// Time until this client reconnects by itself; `None` if it does not, or is connected or connecting. Call it while
    /// [`Event::Closed`] is handled, before the next poll, which may begin the next attempt.
    pub fn returns_in(&self) -> Option<Duration> {
        let due = self.comeback.as_ref()?.returning.due()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Sets the token for later connections of a client that reconnects by itself, such as one that the server gave it
    /// for its session. No effect without [`ClientConfig::reconnect`].
    ///
    /// # Errors
    /// The token is longer than 1,024 bytes; the previous one stays.
    pub fn set_token(&mut self, token: &[u8]) -> Result<(), StartError> {
        StartError::check_token(token)?;
        self.comeback.iter_mut().for_each(|comeback| comeback.token = token.into());
        Ok(())
    }

    /// Begins the next connection of a client that reconnects by itself, if it is due.
    fn return_if_due(&mut self) {
        let Some(comeback) = &mut self.comeback else { return };
        if !comeback.returning.take_due(Instant::now()) {
            return;
        }
        let (target, config) = (comeback.returning.target().clone(), &comeback.config);
        let begun = begin(Box::new(url::resolve), target, &comeback.token, config)
            .and_then(|(driver, peer, remote)| Client::start(&Arc::default(), driver, peer, remote, config));
        match begun {
            Ok(next) => (self.handle, self.peer, self.remote) = (next.handle, next.peer, next.remote),
            Err(error) => {
                let reason = error.to_string().into();
                let close = Close { by: ClosedBy::Nobody, code: code::UNREACHABLE, reason };
                comeback.returning.on_closed(&close, Instant::now());
                if comeback.returning.due().is_none() {
                    comeback.last = Some(Event::Closed { peer: self.peer, close });
                }
            }
        }
    }

    /// Waits for events in place of this handle, which another thread may use meanwhile; `None` in stepped mode. Get a
    /// new one for each wait, if the client reconnects by itself: a move of the client, too, replaces its driver.
    pub fn waiter(&self) -> Option<Waiter> {
        let there =
            self.moving.as_ref().and_then(|moving| moving.there.as_ref()).and_then(|there| there.handle.shared());
        self.handle.shared().map(|shared| Waiter::new([shared].into_iter().chain(there)))
    }

    /// Drives a stepped client: receives, handles timers and sends, waiting for its socket for `wait_max` at most.
    ///
    /// # Errors
    /// The system refuses to wait for the socket; the driver cannot continue.
    pub fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        self.return_if_due();
        self.follow_move();
        let wait_max = self.returns_in().map_or(wait_max, |pause| wait_max.min(pause));
        let Some(moving) = &mut self.moving else { return self.handle.drive(wait_max) };
        moving.drive();
        self.handle.drive(if moving.is_moving() { wait_max.min(MOVE_STEP) } else { wait_max })
    }

    /// Sends a message.
    ///
    /// A message on a reliable channel that is accepted is delivered, or ends in [`Event::GivenUp`], or the connection
    /// ends in [`Event::Closed`]. A message on an unreliable channel may be lost without an event, unless the channel
    /// asks for receipts.
    ///
    /// # Errors
    /// The reasons that are known at the call: no such channel, not connected, message too long, queue full, driver
    /// gone. The error returns the message with the reason.
    ///
    /// # Examples
    /// On a channel with receipts, each message that was accepted is acknowledged, or given up with the reason:
    ///
    /// ```
    /// use skipstone::{ChannelRule, Client, ClientConfig, DeliveryMode, Event, Server, ServerConfig, Settings};
    /// use std::time::Duration;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let trades = ChannelRule { receipts: true, ..ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered) };
    /// let mut config = ServerConfig::new("127.0.0.1:0".parse()?);
    /// config.settings = Settings { channels: vec![trades], ..Settings::default() };
    /// let mut server = Server::start(config)?;
    /// let mut client = Client::connect(&server.url(), b"", ClientConfig::default())?;
    /// let mut sent = None;
    /// let has_arrived = 'game: loop {
    ///     while let Some(event) = server.poll_event() {
    ///         if let Event::Requested { peer, .. } = event {
    ///             server.accept(peer)?;
    ///         }
    ///     }
    ///     client.wait(Duration::from_millis(1));
    ///     while let Some(event) = client.poll_event() {
    ///         match event {
    ///             Event::Connected { .. } => sent = Some(client.send(0, "the sword for the shield")?),
    ///             Event::Acknowledged { id, .. } if Some(id) == sent => break 'game true,
    ///             Event::GivenUp { id, why, .. } if Some(id) == sent => {
    ///                 println!("the trade was not delivered: {why:?}");
    ///                 break 'game false;
    ///             }
    ///             Event::Closed { close, .. } => return Err(close.reason_text().into()),
    ///             _ => {}
    ///         }
    ///     }
    /// };
    /// assert!(has_arrived);
    /// # Ok(())
    /// # }
    /// ```
    pub fn send(&mut self, channel: u16, payload: impl Into<Bytes>) -> Result<MessageId, SendError> {
        self.send_aged(channel, payload, Duration::ZERO)
    }

    /// Same as [`Client::send`], for a message that answers one that had this age in [`Event::Message`]: a message that
    /// is already late is sent in several copies, so that a second loss is unlikely to delay it again.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub fn send_aged(
        &mut self,
        channel: u16,
        payload: impl Into<Bytes>,
        age: Duration,
    ) -> Result<MessageId, SendError> {
        let id = self.handle.next_id();
        let message = Submission { payload: payload.into(), id, age };
        let bytes = message.payload.len() as u64;
        match &mut self.moving {
            Some(moving) => moving.send(&mut self.handle, self.peer, channel, message)?,
            None => self.handle.send((self.peer, channel), message, Wake::Now)?,
        }
        if let Some(recorder) = &mut self.recorder {
            let mode = self.handle.roster().mode(Some(self.peer), channel);
            recorder.on_sent(RecordedMessage { peer: self.peer.index, channel, bytes }, mode);
        }
        Ok(id)
    }

    /// Records the traffic from now on: the time, length and channel of each message sent and received, without its
    /// content. `None` ends a recording. See [`Server::record_traffic`](crate::Server::record_traffic).
    pub fn record_traffic(&mut self, recorder: impl Into<Option<TrafficRecorder>>) {
        self.recorder = recorder.into().map(Box::new);
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(RecordingSide::Client);
            self.handle.roster().members(Group::EVERYONE).for_each(|peer| recorder.on_connected(peer.index));
        }
    }

    /// Status of the recording; `None` without one.
    pub fn traffic_recording(&self) -> Option<RecordingStatus> {
        self.recorder.as_ref().map(|recorder| recorder.status())
    }

    /// Sends all messages that were queued since the last flush; needed only with [`Merging::Flush`].
    ///
    /// # Errors
    /// The driver is gone.
    pub fn flush(&mut self) -> Result<(), PeerError> {
        if let Some(there) = self.moving.as_mut().and_then(|moving| moving.there()) {
            there.handle.flush()?;
        }
        self.handle.flush()
    }

    /// Migrates the connection to a new socket, and thus to another port or network. Call it when the system reports a
    /// change of network. The connection stays, and the server learns the new address at once. False if the connection
    /// is not established, or is a WebSocket, which cannot migrate.
    ///
    /// A NAT that changes the address by itself needs no call: the server follows.
    ///
    /// # Errors
    /// The system refuses a socket, or the driver is gone: the old socket stays in use. Or the driver has not answered
    /// for 5 s ([`io::ErrorKind::TimedOut`]), and may still migrate.
    pub fn rebind(&mut self) -> io::Result<bool> {
        let peer = self.peer;
        if let Some(there) = self.moving.as_mut().and_then(|moving| moving.there()) {
            // If it fails, that connection ends by itself, and the move with it.
            let other = there.peer;
            let _ = there.handle.ask(None, move |driver| driver.rebind(other));
        }
        self.handle.ask(None, move |driver| driver.rebind(peer)).unwrap_or_else(|reason| match reason {
            NoAnswer::DriverGone => Err(io::Error::other(PeerError::DriverGone)),
            NoAnswer::DriverBusy => {
                let text = "the driver has not answered for 5 s, and may still migrate: is the machine overloaded?";
                Err(io::Error::new(io::ErrorKind::TimedOut, text))
            }
        })
    }

    /// State and counters of the connection; `None` before the driver has published a first snapshot. Like all
    /// statistics they are up to 50 ms old, and reading them never blocks.
    pub fn overview(&self) -> Option<Overview> {
        self.handle.board().overview(self.peer)
    }

    /// Estimate of the server's clock now. `None` until the server's first answer, one round trip after the connection
    /// is established; always `None` if [`ClientConfig::follows_server_time`] is off. Reading it never blocks.
    pub fn server_time(&self) -> Option<ServerTime> {
        self.handle.board().server_time(self.peer)
    }

    /// Progress of the long messages in transfer, up to 50 ms ago: messages of [`ClientConfig::transfer_bytes_min`]
    /// bytes and more. A message that has arrived is no longer listed.
    pub fn transfers(&self) -> Transfers {
        self.handle.board().transfers(self.peer).unwrap_or_default()
    }

    /// Counters of the driver and its socket.
    pub fn driver_stats(&self) -> DriverStats {
        self.handle.board().shard().driver
    }

    /// Why the driver failed; `None` if it runs. After a failure no further event arrives.
    pub fn failure(&self) -> Option<String> {
        self.handle.failure()
    }

    /// Ends the connection. The server receives the code (below 1,000 the application's own) and up to 512 bytes of the
    /// reason; the rest is cut off. Queued reliable messages have `linger` to arrive first. Returns when the server has
    /// acknowledged the close, or soon after `linger`; it waits for the driver's thread to end its current turn. A code
    /// above 2^62-1 is sent as 2^62-1.
    pub fn close(mut self, code: u64, reason: &str, linger: Duration) {
        let end = deadline_in(linger.saturating_add(GOODBYE_MAX));
        self.moving.iter_mut().for_each(|moving| moving.stop());
        self.follow_move();
        let others = self.moving.iter_mut().flat_map(|moving| moving.others());
        for handle in others.map(|other| &mut other.handle).chain([&mut self.handle]) {
            handle.close_all(code, reason, linger);
            handle.await_goodbyes(end);
        }
    }
}

/// A driver that connects to this server.
fn begin(
    resolve: Resolve,
    target: Target,
    token: &[u8],
    config: &ClientConfig,
) -> Result<(Driver, PeerId, Arc<OnceLock<SocketAddr>>), StartError> {
    // Two can be ready: the client's one socket, and the application's wakeup.
    let mut driver = Driver::of_clients(config.endpoint(), 2)?;
    let protection = protection(&target, &config.trust, config.dtls_version)?;
    let (remote, wanted) = (Arc::new(OnceLock::new()), format!("connect to {}", target.url));
    let connected = match target.address() {
        Some(address) => {
            let _ = remote.set(address);
            driver.connect(&target, address, token, config.impairment.as_ref(), protection)
        }
        None => {
            let (impairment, handshake_timeout) = (config.impairment.clone(), config.handshake_timeout);
            let remote = Arc::clone(&remote);
            driver.dial(DialConfig { target, token, impairment, protection, handshake_timeout, remote }, resolve)
        }
    };
    let peer = connected.map_err(StartError::io(wanted))?;
    Ok((driver, peer, remote))
}

/// How long a client that is moved waits for one of its two connections before it looks at the other.
const MOVE_STEP: Duration = Duration::from_millis(1);
/// Time limit for the server's acknowledgement of the close.
const GOODBYE_MAX: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_in_an_unencrypted_url_is_an_error() {
        for scheme in [Scheme::Plain, Scheme::WebSocket, Scheme::Tcp] {
            let target = Target::new(scheme, "localhost", 1).pinned(crate::security::Fingerprint([7; 32]));
            let error = protection(&target, &Trust::System, DtlsVersion::default())
                .expect_err("nothing can check it")
                .to_string();
            assert!(error.contains("skip://") && error.contains(&target.url), "{error}");
        }
    }
}
