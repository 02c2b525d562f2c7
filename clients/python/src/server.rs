//! The server: all players, on every carrier, through one port and one event queue.

use crate::arguments::{Code, Payload, Seconds};
use crate::client::Client;
use crate::driver_stats::DriverStats;
use crate::errors::{peer_error, send_error, start_error};
use crate::events::PeerId;
use crate::handle::{Handle, Polled};
use crate::impairment::Impairment;
use crate::modes::{Congestion, Threading};
use crate::security::Security;
use crate::settings::{Merging, Settings};
use crate::statistics::{Overview, Stats};
use pyo3::prelude::*;
use skipstone::{Event, Group, StatisticsReader, code};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A running server. One thread uses it at a time; any thread may read its statistics.
#[pyclass(frozen)]
pub(crate) struct Server {
    handle: Handle<Driven>,
    statistics: StatisticsReader,
    /// What does not change while it runs, so that it is still known after the end.
    url: String,
    webtransport_url: Option<String>,
    local: SocketAddr,
    fingerprint: Option<String>,
    warnings: Vec<String>,
}

/// The library's server, and its threading mode.
struct Driven {
    server: skipstone::Server,
    threading: Threading,
}

impl Polled for Driven {
    fn next(&mut self) -> Option<Event> {
        self.server.poll_event()
    }

    fn wait_for(&mut self, span: Duration) -> io::Result<()> {
        match self.threading {
            Threading::Stepped => self.server.drive(span),
            Threading::Background => {
                self.server.wait(span);
                Ok(())
            }
        }
    }

    fn wait_until(&mut self, deadline: Instant) {
        self.server.wait_until(deadline);
    }

    fn why_failed(&self) -> Option<String> {
        self.server.failure()
    }
}

/// A broadcast that was accepted.
#[pyclass(frozen, get_all)]
pub(crate) struct BroadcastReceipt {
    /// The message's id in the events about it.
    id: u64,
    /// The number of peers for which it was accepted.
    peers: usize,
}

#[pymethods]
impl Server {
    /// Opens the sockets and begins to serve at `host:port`; port 0 lets the system choose, and `None` makes a server
    /// without sockets, which only `connect_local` reaches.
    #[new]
    #[pyo3(signature = (
        listen = Some("127.0.0.1:7777"), *, settings = None, security = None, websocket = true, webtransport = true,
        threading = Threading::Background, merging = None, congestion = Congestion::DelayAware,
        // catalogue: server settings signature
        trusted_proxies = None,
        denied = None,
        handshake_timeout = None,
        connections_max = None,
        players_of_network_max = None,
        shards = None,
        queue_bytes_max = None,
        bandwidth_max_per_peer = None,
        bandwidth_max = None,
        query_answer = None,
        transfer_bytes_min = None,
        memory_per_connection = None,
        memory_per_network = None,
        memory_max = None,
        origins = None,
        hosts = None,
        requires_tls = None,
        // catalogue: end
        impairment = None,
    ))]
    fn start(
        py: Python<'_>,
        listen: Option<&str>,
        settings: Option<Settings>,
        security: Option<Security>,
        websocket: bool,
        webtransport: bool,
        threading: Threading,
        merging: Option<Merging>,
        congestion: Congestion,
        // catalogue: server settings arguments
        trusted_proxies: Option<Vec<String>>,
        denied: Option<Vec<String>>,
        handshake_timeout: Option<Seconds>,
        connections_max: Option<u32>,
        players_of_network_max: Option<u32>,
        shards: Option<u32>,
        queue_bytes_max: Option<u64>,
        bandwidth_max_per_peer: Option<u64>,
        bandwidth_max: Option<u64>,
        query_answer: Option<Payload>,
        transfer_bytes_min: Option<u32>,
        memory_per_connection: Option<u64>,
        memory_per_network: Option<u64>,
        memory_max: Option<u64>,
        origins: Option<Vec<String>>,
        hosts: Option<Vec<String>>,
        requires_tls: Option<bool>,
        // catalogue: end
        impairment: Option<Impairment>,
    ) -> PyResult<Self> {
        let mut config = match listen {
            Some(listen) => {
                let address = listen.parse().map_err(|_| {
                    start_error(format!("'{listen}' is not an address with a port, such as 0.0.0.0:7777 or [::]:7777"))
                })?;
                skipstone::ServerConfig { websocket, webtransport, ..skipstone::ServerConfig::new(address) }
            }
            None => skipstone::ServerConfig::offline(),
        };
        config.settings = settings.map_or(config.settings, |settings| settings.0);
        config.security = security.map(|security| security.0).or(config.security);
        config.threading = threading.library();
        config.merging = merging.map_or(config.merging, |merging| merging.0);
        config.congestion = congestion.library();
        // catalogue: server settings taken
        config.trusted_proxies = trusted_proxies.unwrap_or_default();
        config.denied = denied.unwrap_or_default();
        config.handshake_timeout = handshake_timeout.map_or(config.handshake_timeout, |span| span.0);
        config.connections_max = connections_max.unwrap_or(config.connections_max);
        config.players_of_network_max = players_of_network_max;
        config.shards = shards.unwrap_or(config.shards);
        config.queue_bytes_max = queue_bytes_max.unwrap_or(config.queue_bytes_max);
        config.bandwidth_max_per_peer = bandwidth_max_per_peer;
        config.bandwidth_max = bandwidth_max;
        config.query_answer = query_answer.map(|bytes| bytes.0);
        config.transfer_bytes_min = transfer_bytes_min;
        config.memory.connection = memory_per_connection.unwrap_or(config.memory.connection);
        config.memory.network = memory_per_network.unwrap_or(config.memory.network);
        config.memory.endpoint = memory_max.unwrap_or(config.memory.endpoint);
        config.listener_rules.origins = origins.unwrap_or_default();
        config.listener_rules.hosts = hosts.unwrap_or_default();
        config.listener_rules.requires_tls = requires_tls.unwrap_or(config.listener_rules.requires_tls);
        // catalogue: end
        config.impairment = impairment.map(|impairment| impairment.0);
        let server = py.detach(|| skipstone::Server::start(config)).map_err(start_error)?;
        Ok(Server {
            statistics: server.statistics(),
            url: server.url(),
            webtransport_url: server.webtransport_url(),
            local: server.local_addr(),
            fingerprint: server.fingerprint().map(|fingerprint| fingerprint.to_string()),
            warnings: server.warnings(),
            handle: Handle::new("server", Driven { server, threading }),
        })
    }

    /// The URL by which clients on this machine reach the server, with its fingerprint.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// The URL by which pages on this machine reach the server by WebTransport; `None` without it.
    #[getter]
    fn webtransport_url(&self) -> Option<&str> {
        self.webtransport_url.as_deref()
    }

    /// The address on which the server listens, as `host:port`.
    #[getter]
    fn address(&self) -> String {
        self.local.to_string()
    }

    /// The port on which the server listens.
    #[getter]
    fn port(&self) -> u16 {
        self.local.port()
    }

    /// SHA-256 of the server's certificate in hexadecimal digits; `None` without encryption.
    #[getter]
    fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// SHA-256 of the certificates that browsers accept by their hash (WebTransport's `serverCertificateHashes`): the
    /// one of now, and the one that follows some days later. Empty if the certificate is not one of the server's own
    /// making.
    fn web_fingerprints(&self) -> PyResult<Vec<String>> {
        let fingerprints = self.handle.with(|driven| driven.server.web_fingerprints())?;
        Ok(fingerprints.iter().map(ToString::to_string).collect())
    }

    /// Sentences with the problems of the server's sockets and their remedies, for the application's log: buffers that
    /// are smaller than requested, a system that does not report the destination of a datagram.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Sentences with what has happened to the server's certificates since the last call, for the application's log:
    /// renewals, a file that is refused, an expiry that is near.
    fn certificate_events(&self) -> PyResult<Vec<String>> {
        self.handle.with(|driven| {
            std::iter::from_fn(|| driven.server.poll_certificate_event()).map(|event| event.to_string()).collect()
        })
    }

    /// Whether `shutdown` was called.
    #[getter]
    fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    /// The server's uptime in seconds: the clock that `Client.server_time` estimates.
    fn time(&self) -> PyResult<f64> {
        self.handle.with(|driven| driven.server.time().as_secs_f64())
    }

    /// Connects a client of this process, without a socket.
    #[pyo3(signature = (token = Payload::default(), *, threading = Threading::Background))]
    fn connect_local(&self, token: Payload, threading: Threading) -> PyResult<Client> {
        let config = skipstone::ClientConfig { threading: threading.library(), ..skipstone::ClientConfig::default() };
        let client = self.handle.with(|driven| driven.server.connect_local(&token.0, config))?;
        Ok(Client::new(client.map_err(start_error)?, threading))
    }

    /// The available events, waiting for the first of them for `timeout` seconds at most. Other Python threads run
    /// meanwhile. With `Threading.STEPPED`, one round of receiving and sending.
    #[pyo3(signature = (timeout = Seconds::default()))]
    fn poll(&self, py: Python<'_>, timeout: Seconds) -> PyResult<Vec<Py<PyAny>>> {
        self.handle.poll(py, timeout.0)
    }

    /// Waits for the next tick of a loop that runs once per `interval` seconds, regardless of the number of events:
    /// `poll` returns them afterwards. Ticks do not drift; those that are late by a whole interval or more are skipped.
    /// Returns the number of skipped ticks. With `Threading.STEPPED`, it receives and sends meanwhile.
    fn wait_tick(&self, py: Python<'_>, interval: Seconds) -> PyResult<u64> {
        self.handle.wait_tick(py, interval.0)
    }

    /// Accepts a client that asked to connect.
    fn accept(&self, py: Python<'_>, peer: PeerId) -> PyResult<()> {
        self.about(py, |server| server.accept(peer.library()))
    }

    /// Refuses a client that asked to connect. It receives the code and up to 512 bytes of the reason.
    #[pyo3(signature = (peer, code = Code(code::REFUSED), reason = ""))]
    fn refuse(&self, py: Python<'_>, peer: PeerId, code: Code, reason: &str) -> PyResult<()> {
        self.about(py, |server| server.refuse(peer.library(), code.0, reason))
    }

    /// Ends a connection. Queued reliable messages have `linger` seconds to arrive first; `Closed` follows.
    #[pyo3(signature = (peer, code = Code(code::NONE), reason = "", linger = Seconds::LINGER))]
    fn close(&self, py: Python<'_>, peer: PeerId, code: Code, reason: &str, linger: Seconds) -> PyResult<()> {
        self.about(py, |server| server.close(peer.library(), code.0, reason, linger.0))
    }

    /// Sends a message to one peer and returns its id. `age` is that of the message which this one answers or passes
    /// on.
    #[pyo3(signature = (peer, channel, payload, age = Seconds::default()))]
    fn send(&self, py: Python<'_>, peer: PeerId, channel: u16, payload: Payload, age: Seconds) -> PyResult<u64> {
        let sent = self.handle.with(|driven| driven.server.send_aged(peer.library(), channel, payload.0, age.0))?;
        sent.map(|id| id.0).map_err(|error| send_error(py, &error))
    }

    /// Sends one message to every connected member of a group; group 0 has every connected peer.
    #[pyo3(signature = (channel, payload, *, group = 0))]
    fn broadcast(&self, py: Python<'_>, channel: u16, payload: Payload, group: u32) -> PyResult<BroadcastReceipt> {
        let sent = self.handle.with(|driven| driven.server.broadcast(Group(group), channel, payload.0))?;
        let receipt = sent.map_err(|error| send_error(py, &error))?;
        Ok(BroadcastReceipt { id: receipt.id.0, peers: receipt.peers })
    }

    /// Sends one message to the members of a group without the peers in `except`, of which those that are no members
    /// change nothing.
    #[pyo3(signature = (channel, payload, except_, *, group = 0))]
    fn broadcast_except(
        &self,
        py: Python<'_>,
        channel: u16,
        payload: Payload,
        except_: Vec<PeerId>,
        group: u32,
    ) -> PyResult<BroadcastReceipt> {
        let except: Vec<_> = except_.into_iter().map(PeerId::library).collect();
        let sent =
            self.handle.with(|driven| driven.server.broadcast_except(Group(group), &except, channel, payload.0))?;
        let receipt = sent.map_err(|error| send_error(py, &error))?;
        Ok(BroadcastReceipt { id: receipt.id.0, peers: receipt.peers })
    }

    /// The connected peers.
    fn peers(&self) -> PyResult<Vec<PeerId>> {
        self.handle.with(|driven| driven.server.peers().map(PeerId::of).collect())
    }

    /// The address of a client as `host:port`, from `Requested` until `Closed` was polled; `None` if there is no such
    /// client.
    fn remote_addr(&self, peer: PeerId) -> PyResult<Option<String>> {
        let remote = self.handle.with(|driven| driven.server.remote_addr(peer.library()))?;
        Ok(remote.map(|remote| remote.to_string()))
    }

    /// Denies these addresses and networks (`"192.0.2.7"`, `"192.0.2.0/24"`) and no others: new clients from them are
    /// ignored on every carrier. Connected players on UDP (native, DTLS, WebTransport) are ignored too and end by the
    /// idle timeout; those on streams and local clients stay connected: `close` them first.
    fn set_denied(&self, py: Python<'_>, networks: Vec<String>) -> PyResult<()> {
        let set = self.handle.with(|driven| driven.server.set_denied(&networks))?;
        set.map_err(|error| match error {
            skipstone::DenyError::Driver(error) => peer_error(py, error),
            error => pyo3::exceptions::PyValueError::new_err(error.to_string()),
        })
    }

    /// Sends all messages that were queued since the last flush.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.about(py, skipstone::Server::flush)
    }

    /// Adds a peer to a group, 1 or above.
    fn join(&self, py: Python<'_>, peer: PeerId, group: u32) -> PyResult<()> {
        self.about(py, |server| server.join(peer.library(), Group(group)))
    }

    /// Removes a peer from a group.
    fn leave(&self, py: Python<'_>, peer: PeerId, group: u32) -> PyResult<()> {
        self.about(py, |server| server.leave(peer.library(), Group(group)))
    }

    /// Sets when messages to one peer are sent.
    fn set_merging(&self, py: Python<'_>, peer: PeerId, merging: Merging) -> PyResult<()> {
        self.about(py, |server| server.set_merging(peer.library(), merging.0))
    }

    /// Counters of all connections, past and present, up to 50 ms old.
    fn stats(&self, py: Python<'_>) -> PyResult<Py<Stats>> {
        Stats::of(py, &self.statistics.stats())
    }

    /// Counters of the drivers and their sockets.
    fn driver_stats(&self, py: Python<'_>) -> PyResult<Py<DriverStats>> {
        DriverStats::of(py, &self.statistics.driver_stats())
    }

    /// State and counters of one connection; `None` if there is no such connection.
    fn overview(&self, py: Python<'_>, peer: PeerId) -> PyResult<Option<Py<Overview>>> {
        let overview = self.statistics.overview(peer.library());
        overview.map(|overview| Overview::of(py, &overview)).transpose()
    }

    /// State and counters of every connection.
    fn overviews(&self, py: Python<'_>) -> PyResult<HashMap<PeerId, Py<Overview>>> {
        let all = self.statistics.overviews();
        all.iter().map(|(peer, overview)| Ok((PeerId::of(*peer), Overview::of(py, overview)?))).collect()
    }

    /// Closes every connection and stops the server. Queued reliable messages have `linger` seconds to arrive. Returns
    /// the final counters; a server cannot be restarted after shutdown.
    #[pyo3(signature = (code = Code(code::SHUTDOWN), reason = "", linger = Seconds::LINGER))]
    fn shutdown(&self, py: Python<'_>, code: Code, reason: &str, linger: Seconds) -> PyResult<Py<Stats>> {
        if self.handle.is_closed() {
            return self.stats(py);
        }
        let driven = self.handle.take()?;
        let stats = py.detach(|| driven.server.shutdown(code.0, reason, linger.0));
        Stats::of(py, &stats)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (kind, value, traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let _ = (kind, value, traceback);
        self.shutdown(py, Code(code::SHUTDOWN), "", Seconds::LINGER).map(drop)
    }

    fn __repr__(&self) -> String {
        let state = if self.is_closed() { "closed" } else { "open" };
        format!("<skipstone.Server {} {state}>", self.local)
    }
}

impl Server {
    /// A request about a peer.
    fn about(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut skipstone::Server) -> Result<(), skipstone::PeerError>,
    ) -> PyResult<()> {
        self.handle.with(|driven| call(&mut driven.server))?.map_err(|error| peer_error(py, error))
    }
}
