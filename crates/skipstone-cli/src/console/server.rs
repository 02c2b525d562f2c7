//! A listening console: its setup and shutdown.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::door::{Places, PlacesMax, Secret};

use super::acceptor::{Acceptor, Shared};
use super::handler::Handler;
use super::limits::Limits;
use super::session::Settings;

/// How a console is set up.
pub(crate) struct ConsoleConfig {
    /// Where to listen; port 0 for any free one. Other than loopback needs a token: `door::check_reach`.
    pub(crate) listen: SocketAddr,
    /// A socket that already listens, instead of a new one at that address.
    pub(crate) handed: Option<TcpListener>,
    /// The token that a client must send first, in plain text: anyone on the path can read it.
    pub(crate) secret: Option<Secret>,
    /// Sent when a session opens, after the token; may have several lines.
    pub(crate) banner: String,
    /// The limit of sessions that gave the token or, without one, a command; a further one is refused with a message.
    pub(crate) sessions_max: usize,
}

impl Default for ConsoleConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            handed: None,
            secret: None,
            banner: String::new(),
            sessions_max: 16,
        }
    }
}

/// A listening console. Dropping it closes it.
pub(crate) struct Console {
    local_addr: SocketAddr,
    /// For the next process; `None` once it is closed.
    second: Option<TcpListener>,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl Console {
    /// Listens, and serves clients on threads of its own.
    ///
    /// # Errors
    ///
    /// If the address cannot be bound. The error says what to do.
    pub(crate) fn listen(config: ConsoleConfig, handler: Arc<dyn Handler>) -> io::Result<Self> {
        Self::listen_within(Limits::default(), config, handler)
    }

    pub(super) fn listen_within(limits: Limits, config: ConsoleConfig, handler: Arc<dyn Handler>) -> io::Result<Self> {
        let ConsoleConfig { listen, handed, secret, banner, sessions_max } = config;
        let listener = handed.map_or_else(|| bind(listen), Ok)?;
        listener.set_nonblocking(true)?;
        let second = listener.try_clone()?;
        let local_addr = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let acceptor = Acceptor {
            listener,
            settings: Arc::new(Settings { secret, banner, limits, handler }),
            shared: Arc::clone(&shared),
            places: Places::new(PlacesMax { strangers: STRANGERS_MAX, seats: sessions_max }),
            sessions: Vec::new(),
        };
        let thread = thread::Builder::new().name("console".to_owned()).spawn(|| acceptor.run())?;
        Ok(Self { local_addr, second: Some(second), shared, acceptor: Some(thread) })
    }

    /// Where it listens.
    pub(crate) const fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// A second handle to the listening socket, for the next process.
    pub(crate) fn listener(&self) -> io::Result<TcpListener> {
        let closed = || io::Error::from(io::ErrorKind::NotConnected);
        self.second.as_ref().ok_or_else(closed)?.try_clone()
    }

    /// Shows `line` in the sessions that have `log` on. Does not wait for them: of a session that reads too slowly,
    /// lines are skipped.
    pub(crate) fn log(&self, line: &str) {
        self.shared.log(line);
    }

    /// Tells every session that the server ends for `reason`, ends them, and frees the port. Takes less than 200 ms;
    /// but if the handler is still running for a session, it waits for up to 1 s, and then leaves that thread, which
    /// only has to return.
    pub(crate) fn close(&mut self, reason: &str) {
        self.second = None;
        let _ = self.shared.ending.set(reason.to_owned());
        if let Some(acceptor) = self.acceptor.take() {
            // The acceptor panics only if this program has a defect, and then the panic was printed; its threads have
            // ended either way.
            let _ = acceptor.join();
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.close("it stops");
    }
}

fn bind(listen: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(listen).map_err(|error| {
        let sentence = format!("the console cannot listen on {listen}: {error}; choose another address or port");
        io::Error::new(error.kind(), sentence)
    })
}

/// The number of clients, each with a thread, that may not have sent a token or command yet.
const STRANGERS_MAX: usize = 64;
