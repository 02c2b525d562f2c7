//! The server of a client's next connection: the one that the application named, or the one that this server named when
//! it restarted. WIRE.md section 8.1.

use crate::restart_notice::RestartNotice;
use crate::url::{Target, UrlError};
use skipstone_proto::Close;

/// The destination of the connection that follows an ended one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextDestination {
    /// To the server of the connection that has ended, or of the attempt.
    Unchanged,
    /// To the server that the previous one named when it restarted.
    Redirected,
    /// Back to the server that the application named: the client could not connect to the one that the notice named.
    Home,
}

/// Where a client connects to. [`ClientConfig::reconnect`](crate::ClientConfig::reconnect) follows it by itself; a
/// program that reconnects by its own rules keeps one, and creates each new client with [`Destination::url`].
/// [`RestartNotice::pause`] says how long to wait after a restart, by the `retry=200..800` of the reason.
///
/// ```
/// use skipstone::{Close, ClosedBy, Destination, NextDestination, code};
///
/// let mut destination = Destination::new("skip+plain://eu1.example.org:7777")?;
/// let reason = "retry=0..500 at=eu2.example.org:7777".into();
/// let close = Close { by: ClosedBy::Peer, code: code::RESTART, reason };
/// // Before a connection stands anybody may say so.
/// assert_eq!(destination.on_closed(&close), NextDestination::Unchanged);
/// assert_eq!(destination.url(), "skip+plain://eu1.example.org:7777");
/// destination.on_connected();
/// assert_eq!(destination.on_closed(&close), NextDestination::Redirected);
/// assert_eq!(destination.url(), "skip+plain://eu2.example.org:7777");
/// // It is not there.
/// assert_eq!(destination.on_closed(&close), NextDestination::Home);
/// assert_eq!(destination.url(), "skip+plain://eu1.example.org:7777");
/// # Ok::<(), skipstone::UrlError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Destination {
    /// The destination of the next connection.
    target: Target,
    /// The server that the application named.
    home: Target,
    /// The current connection was established: its end comes from the trusted server.
    is_connected: bool,
}

impl Destination {
    /// The server of this URL.
    ///
    /// # Errors
    /// The URL is invalid.
    pub fn new(url: &str) -> Result<Self, UrlError> {
        Ok(Destination::of(url.parse()?))
    }

    pub(crate) fn of(home: Target) -> Self {
        Destination { target: home.clone(), home, is_connected: false }
    }

    /// The URL of the next connection: the scheme, path and fingerprint are the application's.
    pub fn url(&self) -> &str {
        &self.target.url
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// A connection was established.
    pub fn on_connected(&mut self) {
        self.is_connected = true;
    }

    /// The client was moved to this server while it was connected.
    pub(crate) fn on_moved(&mut self, target: Target) {
        self.target = target;
    }

    /// A connection, or an attempt, has ended. Returns the destination of the next one.
    pub fn on_closed(&mut self, close: &Close) -> NextDestination {
        let was_there = std::mem::take(&mut self.is_connected);
        if !was_there {
            // Before a connection is established, any host may have named another server.
            let is_astray = self.target.url != self.home.url;
            self.target.clone_from(&self.home);
            return if is_astray { NextDestination::Home } else { NextDestination::Unchanged };
        }
        let notice = RestartNotice::of(close);
        let Some((host, port)) = notice.as_ref().and_then(RestartNotice::address) else {
            return NextDestination::Unchanged;
        };
        self.target = self.target.moved(host, port);
        NextDestination::Redirected
    }
}
