//! Options of a UDP socket, and the buffer sizes that the kernel granted.

/// Options of a UDP socket.
#[derive(Clone, Debug)]
pub struct UdpOptions {
    /// Receive buffer to request from the kernel; the granted size is in [`BufferGrants`].
    pub receive_buffer_bytes: usize,
    /// Send buffer to request from the kernel.
    pub send_buffer_bytes: usize,
    /// Let the kernel split segmented transmits, where it can.
    pub gso: bool,
    /// Let the kernel coalesce received datagrams, where it can.
    pub gro: bool,
    /// Let other sockets bind the same port (shards).
    pub reuse_port: bool,
    /// For IPv6 addresses: `Some(true)` refuses IPv4 peers; otherwise `[::]` serves both.
    pub only_v6: Option<bool>,
    /// Never let the sender's kernel fragment: too large datagrams are errors (`too_large`) or lost on the way, as path
    /// MTU discovery needs it. Linux, Android, macOS, iOS, Windows, FreeBSD; on macOS, iOS and FreeBSD not towards IPv4
    /// from a socket on `[::]`. [`Backend::Portable`] asks for it also where this is false.
    pub never_fragment: bool,
    /// Report the destination of each datagram, if the socket is bound to all addresses (`0.0.0.0`, `[::]`), so that an
    /// answer can leave from there; on macOS and iOS not for IPv4 on a socket on `[::]`.
    pub reports_local: bool,
    /// System calls to use.
    pub backend: Backend,
}

/// System calls that move the datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The fastest that this system has.
    Native,
    /// One plain call per datagram.
    Portable,
}

impl UdpOptions {
    /// For a server: 4 MiB buffers, so that a burst of all clients survives a pause of the process.
    pub fn server() -> UdpOptions {
        UdpOptions {
            receive_buffer_bytes: 4 << 20,
            send_buffer_bytes: 4 << 20,
            gso: true,
            gro: true,
            reuse_port: false,
            only_v6: None,
            never_fragment: true,
            reports_local: true,
            backend: Backend::Native,
        }
    }

    /// For a client: 512 KiB, a few ticks of the busiest game.
    pub fn client() -> UdpOptions {
        let buffer_bytes = 512 << 10;
        UdpOptions {
            receive_buffer_bytes: buffer_bytes,
            send_buffer_bytes: buffer_bytes,
            reports_local: false,
            ..UdpOptions::server()
        }
    }
}

impl Default for UdpOptions {
    fn default() -> UdpOptions {
        UdpOptions::server()
    }
}

/// Socket buffers, requested and granted. Linux caps them silently at `net.core.rmem_max` and `net.core.wmem_max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferGrants {
    /// Receive buffer as requested, in bytes.
    pub receive_asked: usize,
    /// Receive buffer as granted, in the same measure (Linux reports twice that, for its bookkeeping).
    pub receive_granted: usize,
    /// Send buffer as requested, in bytes.
    pub send_asked: usize,
    /// Send buffer as granted.
    pub send_granted: usize,
}

impl BufferGrants {
    /// Whether the kernel granted less than requested, in either direction.
    pub fn is_short(&self) -> bool {
        self.receive_granted < self.receive_asked || self.send_granted < self.send_asked
    }

    /// A sentence with the problem and its remedy, if the kernel granted less than requested.
    pub fn remedy(&self) -> Option<String> {
        let (mut granted, mut limits, mut command) = (Vec::new(), Vec::new(), String::from("sysctl -w"));
        for (name, limit, asked, given) in [
            ("receive", "net.core.rmem_max", self.receive_asked, self.receive_granted),
            ("send", "net.core.wmem_max", self.send_asked, self.send_granted),
        ] {
            if given < asked {
                granted.push(format!("{given} of {asked} bytes of {name} buffer"));
                limits.push(limit);
                command += &format!(" {limit}={asked}");
            }
        }
        let (granted, limits) = (granted.join(" and "), limits.join(" and "));
        self.is_short().then(|| {
            format!(
                "the kernel grants only {granted}, so bursts may be dropped; the limit is {limits}. Remedy: {command}"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_buffer_is_reported_with_its_limit_and_the_command_that_raises_it() {
        let good = BufferGrants { receive_asked: 9, receive_granted: 9, send_asked: 9, send_granted: 12 };
        assert_eq!(good.remedy(), None);
        let short = BufferGrants { receive_asked: 4_194_304, receive_granted: 212_992, ..good };
        let sentence = short.remedy().expect("it is short");
        assert!(sentence.starts_with("the kernel grants only 212992 of 4194304 bytes of receive buffer"), "{sentence}");
        assert!(sentence.ends_with("Remedy: sysctl -w net.core.rmem_max=4194304"), "{sentence}");
        let both = BufferGrants { send_asked: 100, send_granted: 7, ..short }.remedy().expect("they are short");
        assert!(both.contains("7 of 100 bytes of send buffer"), "{both}");
        assert!(both.ends_with("sysctl -w net.core.rmem_max=4194304 net.core.wmem_max=100"), "{both}");
    }
}
