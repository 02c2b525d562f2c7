//! Control messages of `sendmsg` and `recvmsg` (cmsg(3)): segment sizes, and the local address of a datagram (ip(7),
//! ipv6(7), RFC 3542).

#![expect(unsafe_code, reason = "the kernel lays out control messages as a C library's headers describe")]

use std::mem::{self, MaybeUninit};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

use libc::{c_int, c_void};

/// The control messages of one send.
pub(super) struct SendControl {
    words: [u64; SEND_WORDS],
    used_bytes: usize,
}

/// Room for the control messages of one received datagram.
pub(super) struct ReceiveControl([MaybeUninit<u64>; RECEIVE_WORDS]);

/// The content of a datagram's control messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceivedControl {
    /// The size of coalesced datagrams; `None` for a single one.
    pub(super) segment_bytes: Option<usize>,
    /// This host's address to which it was sent.
    pub(super) local: Option<IpAddr>,
}

/// A segment size, and a local address of either family.
const SEND_WORDS: usize = (space::<u16>() + space::<libc::in6_pktinfo>()) / mem::size_of::<u64>();
/// A dual-stack socket reports the local address of an IPv4 datagram in both forms.
const RECEIVE_WORDS: usize =
    (space::<c_int>() + space::<libc::in6_pktinfo>() + space::<libc::in_pktinfo>()) / mem::size_of::<u64>();

impl SendControl {
    pub(super) fn new(segment_bytes: Option<u16>, local: Option<IpAddr>) -> SendControl {
        let mut control = SendControl { words: [0; SEND_WORDS], used_bytes: 0 };
        if let Some(segment_bytes) = segment_bytes {
            control.push(libc::SOL_UDP, libc::UDP_SEGMENT, segment_bytes);
        }
        match local {
            Some(IpAddr::V4(ip)) => {
                let ipi_spec_dst = libc::in_addr { s_addr: u32::from_ne_bytes(ip.octets()) };
                let any = libc::in_addr { s_addr: 0 };
                let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst, ipi_addr: any };
                control.push(libc::IPPROTO_IP, libc::IP_PKTINFO, info);
            }
            Some(IpAddr::V6(ip)) => {
                let ipi6_addr = libc::in6_addr { s6_addr: ip.octets() };
                let info = libc::in6_pktinfo { ipi6_addr, ipi6_ifindex: 0 };
                control.push(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info);
            }
            None => {}
        }
        control
    }

    fn push<T: Copy>(&mut self, level: c_int, kind: c_int, value: T) {
        assert!(self.used_bytes + space::<T>() <= mem::size_of_val(&self.words), "the words hold every message");
        // SAFETY: `space` bytes from `used_bytes` on are ours, aligned as a header is, and hold the header and the
        // value.
        unsafe {
            let header = self.words.as_mut_ptr().byte_add(self.used_bytes).cast::<libc::cmsghdr>();
            (*header).cmsg_len = libc::CMSG_LEN(mem::size_of::<T>() as u32) as _;
            (*header).cmsg_level = level;
            (*header).cmsg_type = kind;
            ptr::write_unaligned(libc::CMSG_DATA(header).cast::<T>(), value);
        }
        self.used_bytes += space::<T>();
    }

    /// The address of the messages, and their bytes.
    pub(super) fn as_raw(&mut self) -> (*mut c_void, usize) {
        (self.words.as_mut_ptr().cast(), self.used_bytes)
    }
}

impl ReceiveControl {
    pub(super) const BYTES: usize = RECEIVE_WORDS * mem::size_of::<u64>();

    pub(super) const fn uninit() -> ReceiveControl {
        ReceiveControl([MaybeUninit::uninit(); RECEIVE_WORDS])
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    /// Reads the messages.
    ///
    /// # Safety
    /// The kernel has written messages into the first `bytes` bytes.
    pub(super) unsafe fn read(&self, bytes: usize) -> ReceivedControl {
        let mut read = ReceivedControl::default();
        let (mut at, end) = (0, bytes.min(ReceiveControl::BYTES));
        while at + mem::size_of::<libc::cmsghdr>() <= end {
            // SAFETY: a header written by the kernel is at this place, within the bytes that it wrote, aligned as
            // headers are.
            let value = unsafe { self.0.as_ptr().byte_add(at) }.cast::<libc::cmsghdr>();
            // SAFETY: as above; a header is plain integers.
            let header = unsafe { value.read() };
            #[allow(clippy::unnecessary_cast, reason = "musl has 32 bits for it")]
            let length = header.cmsg_len as usize;
            if length < LENGTH_OF_HEADER || at + length > end {
                return read;
            }
            // WHY: the kernel cuts a message for which there is no room, and states the remaining length.
            let holds = |value_bytes: usize| length >= LENGTH_OF_HEADER + value_bytes;
            match (header.cmsg_level, header.cmsg_type) {
                (libc::SOL_UDP, libc::UDP_GRO) if holds(mem::size_of::<c_int>()) => {
                    // SAFETY: the value of this message is an int, and it is whole.
                    let bytes = unsafe { value_of::<c_int>(value) };
                    read.segment_bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes > 0);
                }
                (libc::IPPROTO_IP, libc::IP_PKTINFO) if holds(mem::size_of::<libc::in_pktinfo>()) => {
                    // SAFETY: the value of this message is an in_pktinfo, and it is whole.
                    let info = unsafe { value_of::<libc::in_pktinfo>(value) };
                    // For a broadcast, this is the interface's own address.
                    let ip = Ipv4Addr::from(info.ipi_spec_dst.s_addr.to_ne_bytes());
                    read.local = Some(IpAddr::V4(ip)).filter(|_| !ip.is_unspecified());
                }
                (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) if holds(mem::size_of::<libc::in6_pktinfo>()) => {
                    // SAFETY: the value of this message is an in6_pktinfo, and it is whole.
                    let info = unsafe { value_of::<libc::in6_pktinfo>(value) };
                    let ip = Ipv6Addr::from(info.ipi6_addr.s6_addr);
                    // IPv4's own address is in its own message.
                    let is_own = !ip.is_multicast() && ip.to_ipv4_mapped().is_none();
                    read.local = Some(IpAddr::V6(ip)).filter(|_| is_own).or(read.local);
                }
                _ => {}
            }
            at += length.next_multiple_of(mem::align_of::<libc::cmsghdr>());
        }
        read
    }
}

/// The value of a message.
///
/// # Safety
/// A whole `T` follows the header.
unsafe fn value_of<T: Copy>(header: *const libc::cmsghdr) -> T {
    // SAFETY: as the caller promises.
    unsafe { ptr::read_unaligned(libc::CMSG_DATA(header).cast::<T>()) }
}

/// Bytes that a message with this value takes.
const fn space<T>() -> usize {
    // SAFETY: CMSG_SPACE only computes.
    unsafe { libc::CMSG_SPACE(mem::size_of::<T>() as u32) as usize }
}

/// The length that the header of a message without a value states.
// SAFETY: CMSG_LEN only computes.
const LENGTH_OF_HEADER: usize = unsafe { libc::CMSG_LEN(0) as usize };

// Headers lie at multiples of their alignment, and words are aligned as strictly.
const _: () = assert!(mem::align_of::<libc::cmsghdr>() <= mem::align_of::<u64>());
