//! A link between two network namespaces: a TUN device in each, and this process between them. All that the kernel
//! sends there, TCP and QUIC included, is lost, delayed and reordered as whole IP packets.

use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Interest, Poll, Token};
use tun_rs::{DeviceBuilder, SyncDevice};

use super::capture::{Capture, End};
use super::engine::Ports;
use super::iproute::ip;
use super::live_path::{Direction, LivePath};
use super::namespaces::Namespaces;
use super::path_settings::PathConfig;
use super::snapshot::LinkSnapshot;

/// The link's ends.
pub(crate) struct TunLink {
    /// The devices, indexed by the direction that begins there. The kernel removes a device when it is closed, however
    /// this process ends.
    devices: [SyncDevice; 2],
    may_read: [bool; 2],
    namespaces: Namespaces,
    capture: Option<Capture>,
    refused: u64,
    buffer: Vec<u8>,
}

/// The addresses of the ends: usually the client's, then the server's. They belong to the range that RFC 2544 reserves
/// for measurements.
pub(crate) const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)];
/// The name of both devices; each has its own namespace.
const DEVICE: &str = "netem0";
/// Packets that the kernel keeps for this process while it is not running.
const DEVICE_QUEUE: &str = "10000";
/// Packets that are read from an end before the other, and deliveries, have their turn.
const BATCH: usize = 16;
const PACKET_MAX: usize = 65_535;

impl TunLink {
    /// Makes the namespaces and devices, and brings them up.
    pub(crate) fn make(
        mtu: u16,
        poll: &Poll,
        capture: Option<Capture>,
        say: impl FnMut(String),
    ) -> Result<TunLink, String> {
        let namespaces = Namespaces::create(say)?;
        let [a, b] = [0, 1].map(|end| device(&namespaces, end, mtu));
        let devices = [a?, b?];
        for (end, device) in devices.iter().enumerate() {
            let registered =
                poll.registry().register(&mut SourceFd(&device.as_raw_fd()), Token(end), Interest::READABLE);
            registered.map_err(|error| format!("cannot wait for a TUN device: {error}"))?;
        }
        Ok(TunLink { devices, may_read: [true; 2], namespaces, capture, refused: 0, buffer: vec![0; PACKET_MAX] })
    }

    /// The client's namespace, and the server's.
    pub(crate) fn namespaces(&self) -> [&str; 2] {
        self.namespaces.names()
    }
}

/// A device is made here, and moves: its file stays where it was opened.
fn device(namespaces: &Namespaces, end: usize, mtu: u16) -> Result<SyncDevice, String> {
    let namespace = namespaces.names()[end];
    // Unique as long as both have not moved yet, and another run may be at the same point.
    let first = format!("sn{}n{}{}", std::process::id(), namespaces.number(), ['a', 'b'][end]);
    let text = |error: io::Error| {
        format!("cannot create a TUN device: {error}; /dev/net/tun must be usable here (in a container, by --device)")
    };
    let device = DeviceBuilder::new().name(&first).enable(false).build_sync().map_err(text)?;
    device.set_nonblocking(true).map_err(text)?;
    let (own, other, mtu) = (ADDRESSES[end].to_string(), ADDRESSES[1 - end].to_string(), mtu.to_string());
    ip(&["link", "set", &first, "netns", namespace, "name", DEVICE])?;
    ip(&["-n", namespace, "link", "set", DEVICE, "mtu", &mtu, "txqueuelen", DEVICE_QUEUE])?;
    ip(&["-n", namespace, "address", "add", &own, "peer", &other, "dev", DEVICE])?;
    ip(&["-n", namespace, "link", "set", DEVICE, "up"])?;
    Ok(device)
}

impl Ports for TunLink {
    fn on_ready(&mut self, token: Token, _readable: bool, _writable: bool) {
        self.may_read[token.0] = true;
    }

    fn receive(&mut self, path: &mut LivePath) -> io::Result<bool> {
        for direction in Direction::BOTH {
            let (from, end) = (direction as usize, if direction == Direction::Up { End::A } else { End::B });
            for _ in 0..BATCH {
                if !self.may_read[from] {
                    break;
                }
                let bytes = match self.devices[from].recv(&mut self.buffer) {
                    Ok(bytes) => bytes,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        self.may_read[from] = false;
                        break;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                let packet = &self.buffer[..bytes];
                if packet.first().is_none_or(|byte| byte >> 4 != IPV4) {
                    continue;
                }
                if let Some(capture) = &mut self.capture {
                    capture.ip(end, packet);
                }
                path.send(direction, packet, 0);
            }
        }
        Ok(self.may_read.contains(&true))
    }

    fn transmit(&mut self, path: &mut LivePath) -> io::Result<()> {
        for direction in Direction::BOTH {
            let (to, end) = (1 - direction as usize, if direction == Direction::Up { End::B } else { End::A });
            while let Some(arrived) = path.receive(direction) {
                if let Some(capture) = &mut self.capture {
                    capture.ip(end, arrived.bytes);
                }
                // The kernel drops a packet with a damaged header, as a router would.
                self.refused += u64::from(self.devices[to].send(arrived.bytes).is_err());
            }
        }
        Ok(())
    }

    fn next_time(&mut self, _path: &LivePath) -> Option<Duration> {
        None
    }

    fn configure(&mut self, _config: &PathConfig) {}

    fn take_down(&mut self, _direction: Direction, _length: Duration) {}

    fn describe(&self, snapshot: &mut LinkSnapshot) {
        snapshot.refused = self.refused;
    }
}

/// The version in the first bits of a packet. The link carries nothing else.
const IPV4: u8 = 4;
