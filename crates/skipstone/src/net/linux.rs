//! The system calls that the standard library lacks, Linux only: `sendmmsg`, `recvmmsg`, UDP segmentation (GSO, GRO),
//! `ppoll`, socket options, resource limits. The only files of this crate with `unsafe` are this one and `control`,
//! which holds the control messages; every function here is safe to call.

#![expect(unsafe_code, reason = "these system calls have no safe interface in std, mio or socket2")]

mod control;

use std::io;
use std::mem::{self, MaybeUninit};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::time::Duration;

use libc::{c_int, c_uint, c_void, socklen_t};

use self::control::{ReceiveControl, SendControl};
use super::address::Family;
use super::receive_batch::{ReceiveBatch, Slot};
use super::send_batch::SendBatch;

/// Sends as many pieces as one `sendmmsg` takes, segmented ones whole if `gso`. The number of pieces sent, or the error
/// of the first piece.
pub(super) fn send(socket: BorrowedFd<'_>, family: Family, batch: &SendBatch, gso: bool) -> io::Result<usize> {
    let mut headers = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; CALL_MAX];
    let mut vectors = [const { MaybeUninit::<libc::iovec>::uninit() }; CALL_MAX];
    let mut addresses = [const { MaybeUninit::<KernelAddress>::uninit() }; CALL_MAX];
    let mut controls = [const { MaybeUninit::<SendControl>::uninit() }; CALL_MAX];
    let mut count = 0;
    for piece in batch.pieces(gso).take(CALL_MAX) {
        let Some(to) = family.to_kernel(piece.to.remote) else {
            break;
        };
        let (address, address_bytes) = KernelAddress::encode(to);
        let address = addresses[count].write(address);
        let vector = vectors[count]
            .write(libc::iovec { iov_base: piece.bytes.as_ptr().cast_mut().cast(), iov_len: piece.bytes.len() });
        let header = headers[count].write(zeroed_header());
        header.msg_hdr.msg_name = ptr::from_mut(address).cast();
        header.msg_hdr.msg_namelen = address_bytes;
        header.msg_hdr.msg_iov = vector;
        header.msg_hdr.msg_iovlen = 1;
        if piece.segment_bytes.is_some() || piece.to.local.is_some() {
            let control = controls[count].write(SendControl::new(piece.segment_bytes, piece.to.local));
            let (start, bytes) = control.as_raw();
            header.msg_hdr.msg_control = start;
            header.msg_hdr.msg_controllen = bytes as _;
        }
        count += 1;
    }
    if count == 0 {
        return match batch.is_empty() {
            true => Ok(0),
            false => Err(io::ErrorKind::NetworkUnreachable.into()),
        };
    }
    // SAFETY: the first `count` headers are initialised; each points at an address, a vector and maybe a control block
    // of the arrays above and at bytes of `batch`, all of which outlive the call. The kernel only reads them, except
    // for `msg_len` in the headers, which are ours and mutable.
    let sent = unsafe {
        libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr().cast(), count as c_uint, libc::MSG_DONTWAIT as _)
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Fills the batch by one `recvmmsg`. The number of buffers filled, or the error if there was none.
pub(super) fn receive(socket: BorrowedFd<'_>, batch: &mut ReceiveBatch) -> io::Result<usize> {
    let mut headers = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; CALL_MAX];
    let mut vectors = [const { MaybeUninit::<libc::iovec>::uninit() }; CALL_MAX];
    let mut addresses = [const { MaybeUninit::<KernelAddress>::uninit() }; CALL_MAX];
    let mut controls = [const { ReceiveControl::uninit() }; CALL_MAX];
    let likely = batch.likely().min(CALL_MAX);
    let (buffers, slots) = batch.fill();
    let mut count = 0;
    for buffer in buffers.take(likely) {
        let vector = vectors[count].write(libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() });
        let header = headers[count].write(zeroed_header());
        // Zeroed, so that a message of an unknown family reads as zeros.
        header.msg_hdr.msg_name = ptr::from_mut(addresses[count].write(KernelAddress::zeroed())).cast();
        header.msg_hdr.msg_namelen = mem::size_of::<KernelAddress>() as socklen_t;
        header.msg_hdr.msg_iov = vector;
        header.msg_hdr.msg_iovlen = 1;
        header.msg_hdr.msg_control = controls[count].as_mut_ptr();
        header.msg_hdr.msg_controllen = ReceiveControl::BYTES as _;
        count += 1;
    }
    // SAFETY: the first `count` headers are initialised; each points at a buffer of `batch` (disjoint, mutably borrowed
    // through `fill`), an address and a control block with their true sizes, all of which outlive the call. No timeout.
    let received = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr().cast(),
            count as c_uint,
            libc::MSG_DONTWAIT as _,
            ptr::null_mut(),
        )
    };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    for index in 0..received {
        // SAFETY: `received <= count`, and the first `count` entries of both arrays were written above; the kernel
        // overwrote them with plain integers, valid in any bit pattern.
        let (header, address) = unsafe { (headers[index].assume_init_ref(), addresses[index].assume_init_ref()) };
        #[allow(clippy::unnecessary_cast, reason = "musl has 32 bits for it")]
        let control_bytes = header.msg_hdr.msg_controllen as usize;
        // SAFETY: the kernel has written this many bytes of control messages.
        let control = unsafe { controls[index].read(control_bytes) };
        let whole = header.msg_hdr.msg_flags & libc::MSG_TRUNC == 0;
        let address = address.decode();
        slots.push(Slot {
            len: if whole && address.is_some() { header.msg_len as usize } else { 0 },
            from: address.unwrap_or(SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0))),
            local: control.local,
            segment_bytes: control.segment_bytes,
        });
    }
    batch.note_buffers(count);
    Ok(received)
}

/// Whether the kernel supports UDP segmentation at all (4.18 and later).
pub(super) fn supports_gso(socket: BorrowedFd<'_>) -> bool {
    set_option(socket, libc::SOL_UDP, libc::UDP_SEGMENT, 0).is_ok()
}

/// Requests coalesced receives (5.0 and later); true if the kernel granted the request.
pub(super) fn enable_gro(socket: BorrowedFd<'_>) -> bool {
    set_option(socket, libc::SOL_UDP, libc::UDP_GRO, 1).is_ok()
}

/// Sends with "don't fragment" and ignores the kernel's idea of the path's size, so that the protocol can probe it.
pub(super) fn never_fragment(socket: BorrowedFd<'_>, family: Family) -> io::Result<()> {
    let v4 = || set_option(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE);
    let v6 = || set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE);
    match family {
        Family::V4 => v4(),
        Family::V6 => v6(),
        Family::Dual => v4().and_then(|()| v6()),
    }
}

/// Requests the local address of each received datagram.
pub(super) fn report_local(socket: BorrowedFd<'_>, family: Family) -> io::Result<()> {
    let v4 = || set_option(socket, libc::IPPROTO_IP, libc::IP_PKTINFO, 1);
    let v6 = || set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, 1);
    match family {
        Family::V4 => v4(),
        Family::V6 => v6(),
        Family::Dual => v4().and_then(|()| v6()),
    }
}

/// Datagrams that the kernel dropped since the socket exists because its receive buffer was full.
pub(super) fn receive_drops(socket: BorrowedFd<'_>) -> Option<u64> {
    let mut values = [0_u32; libc::SK_MEMINFO_DROPS as usize + 1];
    let mut bytes = mem::size_of_val(&values) as socklen_t;
    // SAFETY: `values` is writable for the `bytes` bytes that are passed to the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_MEMINFO,
            values.as_mut_ptr().cast::<c_void>(),
            &raw mut bytes,
        )
    };
    let complete = result == 0 && bytes as usize == mem::size_of_val(&values);
    complete.then(|| u64::from(values[libc::SK_MEMINFO_DROPS as usize]))
}

/// Sleeps until `file` is readable (true) or the time is over (false), to the nanosecond as far as the kernel can.
pub(super) fn wait_readable(file: BorrowedFd<'_>, timeout: Duration) -> io::Result<bool> {
    let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: a timespec is plain integers (with padding on some targets); zeros are a valid one.
    let mut time: libc::timespec = unsafe { mem::zeroed() };
    time.tv_sec = timeout.as_secs().min(WAIT_SECONDS_MAX) as _;
    time.tv_nsec = timeout.subsec_nanos() as _;
    // SAFETY: one pollfd and one timespec, both of which live through the call; no signal mask.
    let ready = unsafe { libc::ppoll(&raw mut poll, 1, &raw const time, ptr::null()) };
    match ready {
        -1 => Err(io::Error::last_os_error()),
        ready => Ok(ready > 0),
    }
}

/// Lets the calling thread's sleeps end up to 50 us earlier than Linux would by default.
pub(super) fn sharpen_timers() {
    // SAFETY: takes an integer and changes only how the calling thread's timers are rounded. It cannot fail for 1.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

/// Returns pages that the allocator does not use, in the midst of its heaps too.
#[cfg(target_env = "gnu")]
pub(super) fn trim_heaps() {
    // SAFETY: takes an integer, and touches only memory that is not allocated. Any thread may call it at any time.
    unsafe { libc::malloc_trim(0) };
}

/// The limit of open files, raised as far as an ordinary user may if `raise`.
pub(super) fn open_files_limit(raise: Raise) -> Option<u64> {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid, writable rlimit.
    if unsafe { libc::getrlimit64(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return None;
    }
    if raise == Raise::ToHardLimit && limit.rlim_cur < limit.rlim_max {
        let raised = libc::rlimit64 { rlim_cur: limit.rlim_max, ..limit };
        // SAFETY: `raised` is a valid rlimit that the call only reads.
        if unsafe { libc::setrlimit64(libc::RLIMIT_NOFILE, &raw const raised) } == 0 {
            limit = raised;
        }
    }
    Some(limit.rlim_cur)
}

/// Whether to raise the soft limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Raise {
    No,
    ToHardLimit,
}

fn set_option(socket: BorrowedFd<'_>, level: c_int, name: c_int, value: c_int) -> io::Result<()> {
    // SAFETY: the option value is an int that lives through the call, and its size is given truly.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast::<c_void>(),
            mem::size_of::<c_int>() as socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn zeroed_header() -> libc::mmsghdr {
    // SAFETY: integers and nullable pointers only (and private padding on some C libraries): zeros are valid.
    unsafe { mem::zeroed() }
}

/// A socket address as the kernel has it; both variants begin with the family.
#[derive(Clone, Copy)]
#[repr(C)]
union KernelAddress {
    v4: libc::sockaddr_in,
    v6: libc::sockaddr_in6,
}

impl KernelAddress {
    fn zeroed() -> KernelAddress {
        // SAFETY: both variants are plain integers; zeros are the family AF_UNSPEC.
        unsafe { mem::zeroed() }
    }

    fn encode(address: SocketAddr) -> (KernelAddress, socklen_t) {
        match address {
            SocketAddr::V4(v4) => {
                let v4 = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: v4.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                    sin_zero: [0; 8],
                };
                (KernelAddress { v4 }, mem::size_of::<libc::sockaddr_in>() as socklen_t)
            }
            SocketAddr::V6(v6) => {
                let v6 = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: v6.port().to_be(),
                    sin6_flowinfo: v6.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                    sin6_scope_id: v6.scope_id(),
                };
                (KernelAddress { v6 }, mem::size_of::<libc::sockaddr_in6>() as socklen_t)
            }
        }
    }

    fn decode(&self) -> Option<SocketAddr> {
        // SAFETY: the family lies at the same place in both variants, and every bit pattern is a valid integer. The
        // union is always fully initialised: `zeroed` or `encode` came before the kernel wrote into it.
        match c_int::from(unsafe { self.v4.sin_family }) {
            libc::AF_INET => {
                // SAFETY: as above; all fields are integers.
                let v4 = unsafe { self.v4 };
                let ip = Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes());
                Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
            }
            libc::AF_INET6 => {
                // SAFETY: as above; `zeroed` initialised the full length of this, the longer variant.
                let v6 = unsafe { self.v6 };
                let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
                Some(SocketAddrV6::new(ip, u16::from_be(v6.sin6_port), 0, v6.sin6_scope_id).into())
            }
            _ => None,
        }
    }
}

/// Messages in one system call: beyond some dozens the call's own cost no longer shows.
const CALL_MAX: usize = 64;
/// A day: the value fits every `time_t`, and no wait needs to be longer.
const WAIT_SECONDS_MAX: u64 = 86_400;
/// asm-generic/socket.h; missing in libc.
const SO_MEMINFO: c_int = 55;
