//! Which server a client's next connection goes to: the one that the application named, or the one that this server named when it
//! restarted. WIRE.md section 8.1.

use crate::restart_notice::RestartNotice;
use crate::url::{Target, UrlError};
use skipstone_proto::Close;

/// Where a client connects to. [`ClientConfig::reconnect`](crate::ClientConfig::reconnect) follows it by itself; a program that
/// reconnects by its own rules keeps one, and makes each new client with [`Destination::url`].
///
/// ```
/// use skipstone::{Close, ClosedBy, Destination, code};
///
/// let mut destination = Destination::new("skip+plain://eu1.example.org:7777")?;
/// let reason = "retry=0..500 at=eu2.example.org:7777".into();
/// let close = Close { by: ClosedBy::Peer, code: code::RESTART, reason };
/// // Before a connection stands anybody may say so.
/// destination.on_closed(&close);
/// assert_eq!(destination.url(), "skip+plain://eu1.example.org:7777");
/// destination.on_connected();
/// destination.on_closed(&close);
/// assert_eq!(destination.url(), "skip+plain://eu2.example.org:7777");
/// # Ok::<(), skipstone::UrlError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Destination {
    /// Where the next connection goes.
    target: Target,
    /// Where the application sent the client.
    home: Target,
    /// The present connection was established: its end comes from the server that is trusted.
    is_connected: bool,
}

impl Destination {
    /// The server of this URL.
    ///
    /// # Errors
    /// The URL cannot be read.
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

    /// A connection, or an attempt, has ended. True if the client had been sent to another server and did not get in there: the next
    /// connection goes back.
    pub fn on_closed(&mut self, close: &Close) -> bool {
        let was_there = std::mem::take(&mut self.is_connected);
        let was_astray = !was_there && self.target.url != self.home.url;
        if was_astray {
            self.target = self.home.clone();
        }
        let notice = RestartNotice::of(close);
        // Before a connection stands anybody may have said so.
        if let Some((host, port)) = notice.iter().find_map(RestartNotice::address).filter(|_| was_there) {
            self.target = self.target.moved(host, port);
        }
        was_astray
    }
}
