//! A non-blocking UDP socket that moves datagrams in batches, the same on every system: `linux` does it with few system
//! calls, `portable` with many. Options, buffer sizes, address families and error counts live here.

mod errors;
mod options;

use std::io;
use std::net::{Ipv6Addr, SocketAddr};
#[cfg(target_os = "linux")]
use std::os::fd::AsFd;

use mio::{Interest, Registry, Token};
use socket2::{Domain, SockRef, Socket, Type};

pub use self::errors::{SendErrors, SendOutcome, is_without_family};
use self::errors::{is_icmp, may_refuse_gso, may_refuse_source, refused_by_path};
pub use self::options::{Backend, BufferGrants, UdpOptions};
pub use super::address::AddressPair;
use super::address::Family;
#[cfg(target_os = "linux")]
use super::linux;
use super::portable::Portable;
pub use super::receive_batch::{ReceiveBatch, Received};
pub use super::send_batch::{SEGMENTS_MAX, SendBatch, TRANSMIT_BYTES_MAX};

/// A bound, non-blocking UDP socket.
#[derive(Debug)]
pub struct UdpSocket {
    socket: mio::net::UdpSocket,
    family: Family,
    /// For one system call per datagram; `None` if `linux` does all of them.
    portable: Option<Portable>,
    local_report: LocalReport,
    grants: BufferGrants,
    token: Option<Token>,
    /// Whether segmented transmits go to the kernel whole.
    gso: bool,
    /// Number of consecutive refusals of segmented transmits by the kernel.
    gso_refusals: u32,
    receive_errors: u64,
    /// The system has reported the peer's port as closed; [`UdpSocket::take_refusal`] resets this.
    is_refused: bool,
}

/// Whether the system reports the destination of received datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LocalReport {
    /// The socket is bound to one address, or the destination was not requested.
    NotNeeded,
    Given,
    /// The system does not report it.
    Missing,
}

impl UdpSocket {
    /// Opens a socket. `[::]` serves IPv4 peers too unless `only_v6` forbids it.
    ///
    /// # Errors
    /// The system has no socket to give, most often because too many files are open; the address is not one of this
    /// machine's or is in use; or the system refuses an option without which the socket cannot be used.
    pub fn bind(address: SocketAddr, options: &UdpOptions) -> io::Result<UdpSocket> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
        let family = match (address, options.only_v6) {
            (SocketAddr::V4(_), _) => Family::V4,
            (SocketAddr::V6(_), Some(true)) => Family::V6,
            (SocketAddr::V6(v6), _) if *v6.ip() == Ipv6Addr::UNSPECIFIED => Family::Dual,
            (SocketAddr::V6(_), _) => Family::V6,
        };
        if address.is_ipv6() {
            socket.set_only_v6(family == Family::V6)?;
        }
        #[cfg(unix)]
        socket.set_reuse_port(options.reuse_port)?;
        set_buffers(&socket, options);
        socket.bind(&address.into())?;
        UdpSocket::open(socket, family, options)
    }

    /// Takes over a socket that another process has bound: the previous one, or a supervisor.
    ///
    /// # Errors
    /// It is not bound, or the system refuses an option without which the socket cannot be used.
    pub fn adopt(socket: std::net::UdpSocket, options: &UdpOptions) -> io::Result<UdpSocket> {
        let family = match socket.local_addr()? {
            SocketAddr::V4(_) => Family::V4,
            SocketAddr::V6(v6) if *v6.ip() != Ipv6Addr::UNSPECIFIED => Family::V6,
            SocketAddr::V6(_) if SockRef::from(&socket).only_v6()? => Family::V6,
            SocketAddr::V6(_) => Family::Dual,
        };
        set_buffers(&SockRef::from(&socket), options);
        UdpSocket::open(socket.into(), family, options)
    }

    /// A duplicated handle of the same socket, for the process that follows this one: waiting datagrams stay in the
    /// socket.
    ///
    /// # Errors
    /// The process has no free file descriptor.
    pub fn duplicate(&self) -> io::Result<std::net::UdpSocket> {
        Ok(SockRef::from(&self.socket).try_clone()?.into())
    }

    fn open(socket: Socket, family: Family, options: &UdpOptions) -> io::Result<UdpSocket> {
        socket.set_nonblocking(true)?;
        let grants = BufferGrants {
            receive_asked: options.receive_buffer_bytes,
            receive_granted: granted(socket.recv_buffer_size()?),
            send_asked: options.send_buffer_bytes,
            send_granted: granted(socket.send_buffer_size()?),
        };
        let socket = mio::net::UdpSocket::from_std(socket.into());
        let is_native = cfg!(target_os = "linux") && options.backend == Backend::Native;
        let needs_local = options.reports_local && socket.local_addr()?.ip().is_unspecified();
        let portable = (!is_native).then(|| Portable::new(&socket, needs_local));
        let local_report = match needs_local {
            true if portable.as_ref().is_none_or(Portable::knows_local) => LocalReport::Given,
            true => LocalReport::Missing,
            false => LocalReport::NotNeeded,
        };
        let mut opened = UdpSocket {
            socket,
            family,
            portable,
            local_report,
            grants,
            token: None,
            gso: false,
            gso_refusals: 0,
            receive_errors: 0,
            is_refused: false,
        };
        opened.enable_offloads(options)?;
        Ok(opened)
    }

    #[cfg(target_os = "linux")]
    fn enable_offloads(&mut self, options: &UdpOptions) -> io::Result<()> {
        let file = self.socket.as_fd();
        if options.never_fragment {
            linux::never_fragment(file, self.family)?;
        }
        if self.portable.is_none() {
            self.gso = options.gso && linux::supports_gso(file);
            // Without GRO, the datagrams arrive one by one.
            let _ = options.gro && linux::enable_gro(file);
            if self.local_report == LocalReport::Given && linux::report_local(file, self.family).is_err() {
                self.local_report = LocalReport::Missing;
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn enable_offloads(&mut self, _options: &UdpOptions) -> io::Result<()> {
        Ok(())
    }

    /// Connects the socket to this peer, so that the system reports a closed port of the peer. Datagrams to and from
    /// other addresses are then impossible. Only on Linux, where a connected socket still takes an address with each
    /// datagram.
    ///
    /// # Errors
    /// The system has no route to the address.
    pub fn listen_to(&mut self, remote: SocketAddr) -> io::Result<()> {
        if cfg!(target_os = "linux") { self.socket.connect(remote) } else { Ok(()) }
    }

    /// Whether the system has reported since the last call that nothing listens at the peer's port (ICMP, RFC 792).
    pub fn take_refusal(&mut self) -> bool {
        core::mem::take(&mut self.is_refused)
    }

    /// The bound address, with the port that the system chose for port 0.
    ///
    /// # Errors
    /// The system does not report the address.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Buffer sizes as requested and as granted, for a warning that names `net.core.rmem_max`.
    pub fn buffer_grants(&self) -> BufferGrants {
        self.grants
    }

    /// System calls that the socket uses: `Native` only where better ones than the portable calls exist.
    pub fn backend(&self) -> Backend {
        if self.portable.is_some() { Backend::Portable } else { Backend::Native }
    }

    /// The problem and its remedy, if the socket is bound to several addresses and the system does not report to which
    /// of them a datagram was sent.
    pub fn local_remedy(&self) -> Option<&'static str> {
        (self.local_report == LocalReport::Missing).then_some(LOCAL_REMEDY)
    }

    /// The problems of this socket and their remedies, except problems of its buffers.
    pub fn remedies(&self) -> Vec<String> {
        let options = self.portable.as_ref().and_then(Portable::remedy);
        options.into_iter().chain(self.local_remedy().map(String::from)).collect()
    }

    /// Whether segmented transmits go to the kernel whole; false permanently after repeated refusals.
    pub fn uses_gso(&self) -> bool {
        self.gso
    }

    /// ICMP errors that came up while receiving; none of them was fatal.
    pub fn receive_errors(&self) -> u64 {
        self.receive_errors
    }

    /// Datagrams that the kernel dropped because the receive buffer was full; `None` where the kernel does not report
    /// the number.
    pub fn receive_drops(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        return linux::receive_drops(self.socket.as_fd());
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Reports readability under `token`. Edge-triggered: receive until a batch comes back empty.
    ///
    /// # Errors
    /// The socket is registered already, or the system refuses to watch it.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.socket, token, Interest::READABLE)?;
        self.token = Some(token);
        Ok(())
    }

    /// Reports writability too, from now on and at once if there is room: call it after `would_block`. Not on all the
    /// time, because the kernel would then wake the driver for each datagram that left.
    ///
    /// # Errors
    /// The socket was not registered ([`io::ErrorKind::NotFound`]), or the system refuses to watch it.
    pub fn watch_writable(&mut self, registry: &Registry) -> io::Result<()> {
        self.set_interest(registry, Interest::READABLE | Interest::WRITABLE)
    }

    /// Ends [`watch_writable`](Self::watch_writable).
    ///
    /// # Errors
    /// As [`watch_writable`](Self::watch_writable).
    pub fn unwatch_writable(&mut self, registry: &Registry) -> io::Result<()> {
        self.set_interest(registry, Interest::READABLE)
    }

    fn set_interest(&mut self, registry: &Registry, interest: Interest) -> io::Result<()> {
        let Some(token) = self.token else {
            return Err(io::ErrorKind::NotFound.into());
        };
        registry.reregister(&mut self.socket, token, interest)
    }

    /// Ends [`register`](Self::register).
    ///
    /// # Errors
    /// The socket was not registered with this registry.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.token = None;
        registry.deregister(&mut self.socket)
    }

    /// Sends the queued datagrams of the batch. An error of one destination drops that datagram, is counted, and never
    /// stops the others; only `would_block` leaves datagrams in the batch.
    pub fn send_batch(&mut self, batch: &mut SendBatch) -> SendOutcome {
        let mut outcome = SendOutcome::default();
        while !batch.is_empty() {
            outcome.calls += 1;
            match self.send_some(batch) {
                Ok(pieces) => self.settle(batch, pieces, &mut outcome),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    outcome.would_block = true;
                    return outcome;
                }
                Err(error) => self.on_refused(batch, &error, &mut outcome.errors),
            }
        }
        outcome
    }

    fn send_some(&self, batch: &SendBatch) -> io::Result<usize> {
        match &self.portable {
            Some(portable) => portable.send(&self.socket, self.family, batch),
            #[cfg(target_os = "linux")]
            None => linux::send(self.socket.as_fd(), self.family, batch, self.gso),
            #[cfg(not(target_os = "linux"))]
            None => unreachable!("only Linux has other calls"),
        }
    }

    /// Counts the first `pieces` as sent, and removes them from the batch.
    fn settle(&mut self, batch: &mut SendBatch, pieces: usize, outcome: &mut SendOutcome) {
        assert!(pieces > 0, "a send that took nothing must be an error, or this would spin");
        for _ in 0..pieces {
            let piece = batch.pieces(self.gso).next().expect("the kernel took a piece that was in the batch");
            let len = piece.bytes.len();
            outcome.datagrams += piece.datagrams();
            outcome.bytes += len as u64;
            if piece.segment_bytes.is_some() {
                self.gso_refusals = 0;
            }
            batch.advance(len);
        }
    }

    /// Handles a refused first piece: splits the piece if its segmentation may be the reason, leaves the source to the
    /// system if that may be, else drops the piece.
    fn on_refused(&mut self, batch: &mut SendBatch, error: &io::Error, errors: &mut SendErrors) {
        let piece = batch.pieces(self.gso).next().expect("only a piece can be refused");
        if piece.to.local.is_some() && may_refuse_source(error) {
            // The address is not this host's any more, or not of the interface by which the destination is reached.
            // This is checked before segmentation, which may cause the same error: another try without the source shows
            // the cause.
            batch.free_front();
            return;
        }
        if piece.segment_bytes.is_some() && may_refuse_gso(error) {
            // EIO: the interface does not support segmentation. EINVAL: perhaps only this segment size on this path.
            self.gso_refusals += 1;
            self.gso = refused_by_path(error) && self.gso_refusals < GSO_REFUSALS_MAX;
            batch.split_front();
            return;
        }
        self.is_refused |= error.kind() == io::ErrorKind::ConnectionRefused;
        errors.count(error, piece.datagrams());
        let len = piece.bytes.len();
        batch.advance(len);
    }

    /// Fills the batch with received datagrams and returns the number of filled buffers. Zero, and only zero, means
    /// that the socket is drained: the next readiness is reported after that. ICMP errors are counted and skipped.
    ///
    /// # Errors
    /// An error of the socket itself (out of memory), or too many ICMP errors in a row: call again soon.
    pub fn receive_batch(&mut self, batch: &mut ReceiveBatch) -> io::Result<usize> {
        let mut icmp_errors = 0;
        loop {
            let error = match self.receive_some(batch) {
                Ok(received) => return Ok(received),
                Err(error) => error,
            };
            match error.kind() {
                io::ErrorKind::WouldBlock => return Ok(0),
                io::ErrorKind::Interrupted => {}
                _ if is_icmp(&error) && icmp_errors < ICMP_ERRORS_MAX => {
                    icmp_errors += 1;
                    self.receive_errors += 1;
                    self.is_refused |= error.kind() == io::ErrorKind::ConnectionRefused;
                }
                _ => return Err(error),
            }
        }
    }

    fn receive_some(&self, batch: &mut ReceiveBatch) -> io::Result<usize> {
        match &self.portable {
            Some(portable) => portable.receive(&self.socket, batch),
            #[cfg(target_os = "linux")]
            None => linux::receive(self.socket.as_fd(), batch),
            #[cfg(not(target_os = "linux"))]
            None => unreachable!("only Linux has other calls"),
        }
    }
}

/// A request beyond the limit fails on some systems and is capped on others: [`BufferGrants`] has the result in both
/// cases.
fn set_buffers(socket: &Socket, options: &UdpOptions) {
    let _ = socket.set_recv_buffer_size(options.receive_buffer_bytes);
    let _ = socket.set_send_buffer_size(options.send_buffer_bytes);
}

/// Linux doubles the size that was asked for and reports the double.
fn granted(reported_bytes: usize) -> usize {
    if cfg!(target_os = "linux") { reported_bytes / 2 } else { reported_bytes }
}

const LOCAL_REMEDY: &str = "this system does not tell to which of its addresses a datagram was sent: clients reach the \
                            server only by the address from which the system answers. Remedy: listen on one address";
/// After this number of consecutive refusals, segmentation is off permanently.
const GSO_REFUSALS_MAX: u32 = 8;
/// Maximum number of ICMP errors that one receive skips.
const ICMP_ERRORS_MAX: u32 = 64;
