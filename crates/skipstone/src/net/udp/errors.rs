//! Outcome of a send, and classification of errors: errors of one datagram or path, and errors of the socket.

use std::io;

/// Outcome of one [`UdpSocket::send_batch`](super::UdpSocket::send_batch).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendOutcome {
    /// Datagrams handed to the kernel; segments count singly.
    pub datagrams: u64,
    /// Payload bytes of these datagrams.
    pub bytes: u64,
    /// Number of system calls.
    pub calls: u64,
    /// The kernel accepts no more now; the rest stays in the batch for a retry when the socket is writable.
    pub would_block: bool,
    /// Datagrams dropped because of an error that concerns only them.
    pub errors: SendErrors,
}

/// Datagrams that could not be sent, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendErrors {
    /// An ICMP "port unreachable" (ECONNREFUSED, ECONNRESET).
    pub refused: u64,
    /// Larger than the interface or the protocol carries (EMSGSIZE).
    pub too_large: u64,
    /// No route to the host or network, or an address family that this socket does not support.
    pub unreachable: u64,
    /// A local firewall or policy (EPERM, EACCES).
    pub not_permitted: u64,
    /// The kernel had no memory for the datagram (ENOBUFS, ENOMEM).
    pub no_buffers: u64,
    /// Anything else.
    pub other: u64,
}

impl SendErrors {
    /// Sum of all counters.
    pub fn total(&self) -> u64 {
        self.refused + self.too_large + self.unreachable + self.not_permitted + self.no_buffers + self.other
    }

    pub(super) fn count(&mut self, error: &io::Error, datagrams: u64) {
        use io::ErrorKind::*;
        let counter = match error.kind() {
            ConnectionRefused | ConnectionReset => &mut self.refused,
            HostUnreachable | NetworkUnreachable | NetworkDown | AddrNotAvailable => &mut self.unreachable,
            PermissionDenied => &mut self.not_permitted,
            OutOfMemory => &mut self.no_buffers,
            _ if error.raw_os_error() == Some(codes::MESSAGE_TOO_LARGE) => &mut self.too_large,
            _ if error.raw_os_error() == Some(codes::NO_BUFFERS) => &mut self.no_buffers,
            _ => &mut self.other,
        };
        *counter += datagrams;
    }
}

/// Whether a receive reports the fate of an earlier datagram (on Windows also an expired TTL, or a datagram that did
/// not fit), rather than an error of this socket.
pub(super) fn is_icmp(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    matches!(error.kind(), ConnectionRefused | ConnectionReset | HostUnreachable | NetworkUnreachable | NetworkDown)
        || error.raw_os_error() == Some(codes::MESSAGE_TOO_LARGE)
}

/// Whether the system does not have the address family: a host without IPv6.
pub fn is_without_family(error: &io::Error) -> bool {
    error.raw_os_error() == Some(codes::NO_FAMILY)
}

/// Whether the source address may be the reason why a datagram was refused.
pub(super) fn may_refuse_source(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    matches!(error.kind(), InvalidInput | AddrNotAvailable | NetworkUnreachable | HostUnreachable)
}

pub(super) use codes::{may_refuse_gso, refused_by_path};

/// Error numbers that `io::ErrorKind` does not name.
#[cfg(unix)]
mod codes {
    use std::io;

    pub(super) const MESSAGE_TOO_LARGE: i32 = libc::EMSGSIZE;
    pub(super) const NO_BUFFERS: i32 = libc::ENOBUFS;
    pub(super) const NO_FAMILY: i32 = libc::EAFNOSUPPORT;

    pub(in super::super) fn may_refuse_gso(error: &io::Error) -> bool {
        matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL))
    }

    pub(in super::super) fn refused_by_path(error: &io::Error) -> bool {
        error.raw_os_error() == Some(libc::EINVAL)
    }
}

#[cfg(not(unix))]
mod codes {
    use std::io;

    /// WSAEMSGSIZE.
    pub(super) const MESSAGE_TOO_LARGE: i32 = 10_040;
    /// WSAENOBUFS.
    pub(super) const NO_BUFFERS: i32 = 10_055;
    /// WSAEAFNOSUPPORT.
    pub(super) const NO_FAMILY: i32 = 10_047;

    pub(in super::super) fn may_refuse_gso(_error: &io::Error) -> bool {
        false
    }

    pub(in super::super) fn refused_by_path(_error: &io::Error) -> bool {
        false
    }
}
