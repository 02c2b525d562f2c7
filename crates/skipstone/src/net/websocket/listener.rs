//! The listening TCP socket. The protocol of a connection is detected later, by its first bytes.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use mio::net::TcpListener;
use mio::{Interest, Registry, Token};
use socket2::{Domain, SockRef, Socket, Type};

use super::{StreamRules, WsConnection, WsOptions};
use crate::net::address::plain;

/// A listening socket that hands out connections in [`HandshakingServer`](super::WsState::HandshakingServer).
#[derive(Debug)]
pub struct WsListener {
    listener: TcpListener,
    options: WsOptions,
    rules: Arc<StreamRules>,
    statistics: WsListenerStatistics,
}

/// Whether [`WsListener::accept_ready`] must be called again without waiting for an event.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WsAccept {
    /// No client waits: the next one causes an event.
    Drained,
    /// More clients wait; other sockets have their turn first.
    More,
    /// A client waits, but this process may not open another file, or the listener fails each time: call again when a
    /// file was closed, or after a pause.
    OutOfFiles,
}

/// Counters of a listener.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WsListenerStatistics {
    /// Connections handed out.
    pub accepted: u64,
    /// Connections that ended before they were accepted.
    pub aborted: u64,
    /// Number of times that the limit of open files prevented an accept.
    pub out_of_files: u64,
}

impl WsListener {
    /// Listens; `[::]` serves IPv4 clients too.
    ///
    /// # Errors
    /// The system has no socket to give, the address is not one of this machine's, or the port is in use.
    pub fn bind(address: SocketAddr, options: WsOptions) -> io::Result<WsListener> {
        WsListener::open(Socket::new(Domain::for_address(address), Type::STREAM, None)?, address, options)
    }

    /// Like [`WsListener::bind`], on a port where other sockets of the same user listen that were opened in the same
    /// way (shards). Linux gives each a share of the connections.
    ///
    /// # Errors
    /// As [`WsListener::bind`]; the port counts as in use if one of the others was opened without this call.
    pub fn bind_beside_others(address: SocketAddr, options: WsOptions) -> io::Result<WsListener> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        #[cfg(unix)]
        socket.set_reuse_port(true)?;
        WsListener::open(socket, address, options)
    }

    fn open(socket: Socket, address: SocketAddr, options: WsOptions) -> io::Result<WsListener> {
        if address.is_ipv6() {
            socket.set_only_v6(false)?;
        }
        // On Unix this lets a restarted server bind at once; on Windows it would let other programs bind too.
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        WsListener::adopt(socket.into(), options)
    }

    /// Takes over a socket that another process has bound: the previous one, or a supervisor. Waiting clients stay in
    /// its queue.
    ///
    /// # Errors
    /// It is not bound.
    pub fn adopt(listener: std::net::TcpListener, options: WsOptions) -> io::Result<WsListener> {
        listener.set_nonblocking(true)?;
        // Again for one that listens already: a supervisor may have asked for a short queue.
        SockRef::from(&listener).listen(BACKLOG)?;
        let listener = TcpListener::from_std(listener);
        let rules = Arc::default();
        Ok(WsListener { listener, options, rules, statistics: WsListenerStatistics::default() })
    }

    /// A duplicated handle of the same socket, for the process that follows this one.
    ///
    /// # Errors
    /// The process has no free file descriptor.
    pub fn duplicate(&self) -> io::Result<std::net::TcpListener> {
        Ok(SockRef::from(&self.listener).try_clone()?.into())
    }

    /// The bound address, with the port that the system chose for port 0.
    ///
    /// # Errors
    /// The system does not report the address.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts streams by these rules from now on.
    pub fn set_rules(&mut self, rules: StreamRules) {
        self.rules = Arc::new(rules);
    }

    /// Gives connections these limits from now on.
    pub fn set_options(&mut self, options: WsOptions) {
        self.options = options;
    }

    /// Counters so far.
    pub fn statistics(&self) -> WsListenerStatistics {
        self.statistics
    }

    /// Reports waiting connections under `token`.
    ///
    /// # Errors
    /// The listener is registered already, or the system refuses to watch it.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.listener, token, Interest::READABLE)
    }

    /// Ends [`register`](Self::register).
    ///
    /// # Errors
    /// The listener was not registered with this registry.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        registry.deregister(&mut self.listener)
    }

    /// Accepts waiting clients, a few dozen at most, and passes them to `on_connection`, which registers or drops them.
    pub fn accept_ready(&mut self, mut on_connection: impl FnMut(WsConnection)) -> WsAccept {
        let accepted = self.statistics.accepted;
        for _ in 0..ACCEPTS_MAX {
            match self.listener.accept() {
                Ok((tcp, peer)) => {
                    self.statistics.accepted += 1;
                    on_connection(WsConnection::accepted(tcp, plain(peer), self.options, &self.rules));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return WsAccept::Drained;
                }
                Err(error) if is_shortage(&error) => {
                    self.statistics.out_of_files += 1;
                    return WsAccept::OutOfFiles;
                }
                Err(_) => self.statistics.aborted += 1,
            }
        }
        // An error that stays would have the driver call again without end.
        if self.statistics.accepted == accepted { WsAccept::OutOfFiles } else { WsAccept::More }
    }
}

#[cfg(unix)]
fn is_shortage(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}

#[cfg(not(unix))]
fn is_shortage(error: &io::Error) -> bool {
    /// WSAEMFILE, WSAENOBUFS.
    const CODES: [i32; 2] = [10_024, 10_055];
    error.raw_os_error().is_some_and(|code| CODES.contains(&code))
}

/// Connections that the kernel completes ahead of us: a thousand clients may start at once.
const BACKLOG: i32 = 1024;
/// Connections taken in one turn.
const ACCEPTS_MAX: usize = 16;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_failing_listener_is_not_polled_again_at_once() {
        let address = ([127, 0, 0, 1], 0).into();
        let mut listener = WsListener::bind(address, WsOptions::default()).expect("a port");
        socket2::SockRef::from(&listener.listener).shutdown(std::net::Shutdown::Both).expect("it listens");
        assert_eq!(listener.accept_ready(|_| unreachable!("nobody comes")), WsAccept::OutOfFiles);
    }
}
