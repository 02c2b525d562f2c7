//! A client: one connection to one server.

use crate::arguments::{Code, Payload, Seconds};
use crate::driver_stats::DriverStats;
use crate::errors::{peer_error, send_error, start_error};
use crate::events::PeerId;
use crate::handle::{Handle, Polled};
use crate::impairment::Impairment;
use crate::modes::{Congestion, Threading};
use crate::reconnect::Reconnect;
use crate::security::Trust;
use crate::settings::Merging;
use crate::statistics::{Overview, ServerTime};
use pyo3::prelude::*;
use skipstone::{Event, code};
use std::io;
use std::time::{Duration, Instant};

/// A connection to a server. One thread uses it at a time.
#[pyclass(frozen)]
pub(crate) struct Client {
    handle: Handle<Driven>,
}

/// The library's client, and its threading mode.
struct Driven {
    client: skipstone::Client,
    threading: Threading,
}

impl Polled for Driven {
    fn next(&mut self) -> Option<Event> {
        self.client.poll_event()
    }

    fn wait_for(&mut self, span: Duration) -> io::Result<()> {
        match self.threading {
            Threading::Stepped => self.client.drive(span),
            Threading::Background => {
                self.client.wait(span);
                Ok(())
            }
        }
    }

    fn wait_until(&mut self, deadline: Instant) {
        self.client.wait_until(deadline);
    }

    fn why_failed(&self) -> Option<String> {
        self.client.failure()
    }
}

/// The configuration of a client from the arguments of a call.
fn config(
    trust: Option<Trust>,
    threading: Threading,
    merging: Option<Merging>,
    congestion: Congestion,
    handshake_timeout: Seconds,
    bandwidth_max: Option<u64>,
    impairment: Option<Impairment>,
) -> skipstone::ClientConfig {
    let default = skipstone::ClientConfig::default();
    skipstone::ClientConfig {
        trust: trust.map_or(default.trust, |trust| trust.0),
        threading: threading.library(),
        merging: merging.map(|merging| merging.0),
        congestion: congestion.library(),
        handshake_timeout: handshake_timeout.0,
        bandwidth_max,
        impairment: impairment.map(|impairment| impairment.0),
        ..default
    }
}

impl Client {
    pub(crate) fn new(client: skipstone::Client, threading: Threading) -> Self {
        Client { handle: Handle::new("client", Driven { client, threading }) }
    }
}

#[pymethods]
impl Client {
    /// Begins to connect; `Connected` or `Closed` follows. The server decides by the token, of up to 1,024 bytes.
    #[new]
    #[pyo3(signature = (url, token = Payload::default(), *, trust = None, threading = Threading::Background,
        merging = None, congestion = Congestion::DelayAware, handshake_timeout = Seconds::HANDSHAKE,
        bandwidth_max = None, impairment = None, reconnect = None))]
    fn connect(
        py: Python<'_>,
        url: &str,
        token: Payload,
        trust: Option<Trust>,
        threading: Threading,
        merging: Option<Merging>,
        congestion: Congestion,
        handshake_timeout: Seconds,
        bandwidth_max: Option<u64>,
        impairment: Option<Impairment>,
        reconnect: Option<Reconnect>,
    ) -> PyResult<Self> {
        let config = config(trust, threading, merging, congestion, handshake_timeout, bandwidth_max, impairment);
        let config = skipstone::ClientConfig { reconnect: reconnect.map(|reconnect| reconnect.0), ..config };
        let client = py.detach(|| skipstone::Client::connect(url, &token.0, config)).map_err(start_error)?;
        Ok(Client::new(client, threading))
    }

    /// The connection's name in its events; the same after each reconnecting.
    #[getter]
    fn peer(&self) -> PyResult<PeerId> {
        self.handle.with(|driven| PeerId::of(driven.client.peer()))
    }

    /// Seconds until a client with `reconnect` connects again: call it while handling `Closed`, before the next poll,
    /// which may begin the next attempt. `None` if there is no next attempt, or the client is connected or connecting.
    /// The client follows a restarting server to the address that the server names.
    #[getter]
    fn returns_in(&self) -> PyResult<Option<f64>> {
        self.handle.with(|driven| driven.client.returns_in().map(|span| span.as_secs_f64()))
    }

    /// Sets the token of later connections: what the server gave the client for its session, in place of the first
    /// token. No effect without `reconnect`.
    fn set_token(&self, token: Payload) -> PyResult<()> {
        self.handle.with(|driven| driven.client.set_token(&token.0))?.map_err(start_error)
    }

    /// The server's address, as `host:port`; `None` while none of its addresses has answered.
    #[getter]
    fn remote(&self) -> PyResult<Option<String>> {
        self.handle.with(|driven| driven.client.remote_addr().map(|address| address.to_string()))
    }

    /// Whether `close` was called.
    #[getter]
    fn is_closed(&self) -> bool {
        self.handle.is_closed()
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

    /// Sends a message and returns its id. `age` is that of the message which this one answers.
    #[pyo3(signature = (channel, payload, age = Seconds::default()))]
    fn send(&self, py: Python<'_>, channel: u16, payload: Payload, age: Seconds) -> PyResult<u64> {
        let sent = self.handle.with(|driven| driven.client.send_aged(channel, payload.0, age.0))?;
        sent.map(|id| id.0).map_err(|error| send_error(py, &error))
    }

    /// Sends all messages that were queued since the last flush; needed only with `Merging.flush()`.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.with(|driven| driven.client.flush())?.map_err(|error| peer_error(py, error))
    }

    /// Moves the connection to a new socket, after the system has reported a change of network. False if it cannot
    /// move.
    fn rebind(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.handle.with_detached(py, |driven| driven.client.rebind())??)
    }

    /// State and counters of the connection; `None` before the first snapshot.
    fn overview(&self, py: Python<'_>) -> PyResult<Option<Py<Overview>>> {
        let overview = self.handle.with(|driven| driven.client.overview())?;
        overview.map(|overview| Overview::of(py, &overview)).transpose()
    }

    /// Counters of the driver and its socket.
    fn driver_stats(&self, py: Python<'_>) -> PyResult<Py<DriverStats>> {
        DriverStats::of(py, &self.handle.with(|driven| driven.client.driver_stats())?)
    }

    /// An estimate of the server's clock; `None` until the server has answered.
    fn server_time(&self) -> PyResult<Option<ServerTime>> {
        self.handle.with(|driven| driven.client.server_time().map(ServerTime::of))
    }

    /// Ends the connection. Queued reliable messages have `linger` seconds to arrive. A client that is closed stays
    /// closed.
    #[pyo3(signature = (code = Code(code::NONE), reason = "", linger = Seconds::LINGER))]
    fn close(&self, py: Python<'_>, code: Code, reason: &str, linger: Seconds) -> PyResult<()> {
        if self.handle.is_closed() {
            return Ok(());
        }
        let driven = self.handle.take()?;
        py.detach(|| driven.client.close(code.0, reason, linger.0));
        Ok(())
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
        self.close(py, Code(code::NONE), "", Seconds::LINGER)
    }

    fn __repr__(&self) -> String {
        format!("<skipstone.Client {}>", if self.is_closed() { "closed" } else { "open" })
    }
}
