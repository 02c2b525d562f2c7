//! A client: one connection to one server.

use crate::driver::impair::Impairment;
use crate::driver::{Driver, DriverStats};
use crate::handle::{Command, Handle, Mode as Threading, QueueFull, Wake};
use crate::security::{Suite, Trust};
use crate::start_error::StartError;
use crate::url::{Scheme, Target, UrlError};
use bytes::Bytes;
use skipstone_proto::channel::{MessageId, Submission};
use skipstone_proto::congestion::Algorithm;
use skipstone_proto::endpoint::{Config, Event, Overview, PeerId, code};
use skipstone_proto::security::Protection;
use skipstone_proto::time::Duration;
use skipstone_proto::wire::settings::Merging;
use std::io;
use std::net::SocketAddr;

/// How a client connects. Timeouts, limits and channels are the server's to say.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// How this client's messages are put together; `None` for what the server says.
    pub merging: Option<Merging>,
    /// How long the handshake may take.
    pub handshake_timeout: Duration,
    /// Who drives.
    pub threading: Threading,
    /// A bad network to play around the socket.
    pub impairment: Option<Impairment>,
    /// What decides how much this client may have in flight.
    pub congestion: Algorithm,
    /// Which servers to trust, if the URL begins with `skip://` and has no fingerprint.
    pub trust: Trust,
    /// The one suite to offer; `None` for all.
    pub suite: Option<Suite>,
}

impl Default for ClientConfig {
    fn default() -> Self {
        ClientConfig {
            merging: None,
            handshake_timeout: Duration::from_secs(10),
            threading: Threading::default(),
            impairment: None,
            congestion: Algorithm::default(),
            trust: Trust::default(),
            suite: None,
        }
    }
}

/// How the URL wants packets to be protected. A fingerprint in it goes before everything else.
pub(crate) fn protection(target: &Target, trust: &Trust, suite: Option<Suite>) -> Result<Protection, StartError> {
    if target.scheme != Scheme::Encrypted {
        // Whoever wants a certain server must not be connected to any.
        let pinned = target.pin.map(|_| StartError::Url(UrlError::Pin(target.url.clone())));
        return pinned.map_or(Ok(Protection::Plain), Err);
    }
    let trust = target.pin.map_or_else(|| trust.clone(), Trust::Pinned);
    trust.suites(&target.host, suite).map(Protection::Encrypted).map_err(StartError::Trust)
}

/// A connection to a server. Dropping it ends the connection without a word; [`Client::close`] says goodbye.
#[derive(Debug)]
pub struct Client {
    handle: Handle,
    peer: PeerId,
    remote: SocketAddr,
}

impl Client {
    /// Begins to connect; [`Event::Connected`] or [`Event::Closed`] follows. The token, up to 1,024 bytes, is what the
    /// server decides by.
    pub fn connect(url: &str, token: &[u8], config: ClientConfig) -> Result<Self, StartError> {
        let target: Target = url.parse().map_err(StartError::Url)?;
        let remote = target.resolve().map_err(StartError::Url)?;
        let client = Config {
            merging: config.merging,
            handshake_timeout: config.handshake_timeout,
            congestion: config.congestion,
            ..Config::client()
        };
        // Its one socket, and the application.
        let mut driver = Driver::of_clients(client, 2)?;
        let protection = protection(&target, &config.trust, config.suite)?;
        let connected = driver.connect(&target, remote, token, config.impairment.as_ref(), protection);
        let peer = connected.map_err(StartError::io(format!("connect to {url}")))?;
        Ok(Client { handle: Handle::new(driver, config.threading)?, peer, remote })
    }

    /// The server's address.
    pub fn remote_addr(&self) -> SocketAddr {
        self.remote
    }

    /// The connection's name in its events.
    pub fn peer(&self) -> PeerId {
        self.peer
    }

    /// The next event, if there is one.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.handle.poll_event()
    }

    /// Waits until there is an event, for `span` at most.
    pub fn wait(&mut self, span: Duration) {
        self.handle.wait(span);
    }

    /// One round of a stepped client, waiting for its socket for `wait_max` at most.
    ///
    /// # Errors
    /// The system refuses to wait for the socket; there is no going on.
    pub fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        self.handle.drive(wait_max)
    }

    /// Sends a message. What becomes of it says a receipt, if the channel has them.
    pub fn send(&mut self, channel: u16, payload: impl Into<Bytes>) -> Result<MessageId, QueueFull> {
        self.send_aged(channel, payload, Duration::ZERO)
    }

    /// As [`Client::send`], for a message that answers one that came with this age in [`Event::Message`]: what is late
    /// already goes out in copies, so that it is not lost a second time.
    pub fn send_aged(
        &mut self,
        channel: u16,
        payload: impl Into<Bytes>,
        age: Duration,
    ) -> Result<MessageId, QueueFull> {
        let (id, peer) = (self.handle.next_id(), self.peer);
        let message = Submission { payload: payload.into(), id, age };
        self.handle.command(Command::Send { peer, channel, message }, Wake::Now)?;
        Ok(id)
    }

    /// Lets everything leave that was sent since the last flush; needed only where the server set merging so.
    pub fn flush(&mut self) {
        self.handle.insist(Command::Flush);
    }

    /// Goes on through a new socket, and so from another port or network: for when the system says that the network
    /// changed. The connection stays, and the server learns the new address at once. False if the connection does not
    /// stand (yet), or is a WebSocket, which cannot move.
    ///
    /// A NAT that changes the address by itself needs no call: the server follows.
    ///
    /// # Errors
    /// The system has no socket to give; the old one is still there.
    pub fn rebind(&mut self) -> io::Result<bool> {
        let peer = self.peer;
        self.handle.ask(move |driver| driver.rebind(peer)).unwrap_or(Ok(false))
    }

    /// What the connection is doing.
    pub fn overview(&mut self) -> Option<Overview> {
        let peer = self.peer;
        self.handle.ask(move |driver| driver.endpoint.overview(peer)).flatten()
    }

    /// What the driver and its socket count.
    pub fn driver_stats(&mut self) -> Option<DriverStats> {
        self.handle.ask(|driver| driver.stats())
    }

    /// Why the driver gave up, if it did: no event comes any more then.
    pub fn failure(&self) -> Option<String> {
        self.handle.failure()
    }

    /// Ends the connection. What is queued and reliable has `linger` to arrive first. Returns when the server knows, or
    /// soon after `linger`.
    pub fn close(mut self, reason: &str, linger: Duration) {
        self.handle.close_all(code::NONE, reason, linger, linger + Duration::from_millis(500));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_on_what_is_in_clear_is_an_error() {
        for scheme in [Scheme::Plain, Scheme::WebSocket] {
            let target = Target::new(scheme, "localhost", 1).pinned([7; 32]);
            let error = protection(&target, &Trust::System, None).expect_err("nothing can check it").to_string();
            assert!(error.contains("skip://") && error.contains(&target.url), "{error}");
        }
    }
}
