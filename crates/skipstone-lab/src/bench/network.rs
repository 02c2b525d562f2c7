//! The network of a run: a veth pair between two namespaces, or the loopback interface.
//!
//! The namespaces have no names: each child leaves the parent's network first, and the parent creates a veth pair
//! between the two processes. When the processes end, however they end, the kernel removes namespaces and veth pair.

use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use procfs_core::FromRead;
use procfs_core::net::{InterfaceDeviceStatus, Snmp};

use serde::{Deserialize, Serialize};

use super::system;
use crate::netem::iproute::ip;

/// The network that carries the datagrams of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Network {
    /// Two namespaces and a cable: bytes are counted exactly. Needs root
    Veth,
    /// The loopback interface
    Loopback,
}

/// Which end of the cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CableEnd {
    Server,
    Load,
}

/// The interface in both namespaces.
const INTERFACE: &str = "bench0";
const ETHERNET_BYTES: u64 = 14;
const CARRIER_MAX: Duration = Duration::from_secs(5);
/// IP, and TCP with timestamps.
const TCP_HEADERS_BYTES: u64 = 52;

impl Network {
    /// The requested network, or the best available; and the reason if it is not veth.
    pub(crate) fn choose(asked: Option<Self>) -> Result<(Self, Option<String>), String> {
        match (asked, veth_is_possible()) {
            (Some(Self::Loopback), _) => Ok((Self::Loopback, None)),
            (Some(Self::Veth) | None, Ok(())) => Ok((Self::Veth, None)),
            (Some(Self::Veth), Err(cause)) => {
                Err(format!("--network veth: {cause}; run as root, or use --network loopback"))
            }
            (None, Err(cause)) => Ok((Self::Loopback, Some(cause))),
        }
    }
}

fn veth_is_possible() -> Result<(), String> {
    // A single thread can leave the network without the rest of its process; this thread ends at once.
    let left = std::thread::spawn(system::leave_network).join();
    left.unwrap_or_else(|_| Err("the system call failed".into()))?;
    ip(&["-V"])
}

/// Creates the veth pair between two processes that have left this network.
pub(crate) fn connect(server: u32, load: u32) -> Result<(), String> {
    let (server, load) = (server.to_string(), load.to_string());
    ip(&["link", "add", INTERFACE, "netns", &server, "type", "veth", "peer", "name", INTERFACE, "netns", &load])
}

/// In the network of this process, once the veth pair exists: sets an address, and waits until the link is up, which
/// takes both ends.
pub(crate) fn settle(end: CableEnd) -> Result<(), String> {
    ip(&["address", "add", &format!("{}/24", address(end)), "dev", INTERFACE])?;
    ip(&["link", "set", "lo", "up"])?;
    ip(&["link", "set", INTERFACE, "up"])?;
    wait_for_carrier()
}

/// The kernel takes up to a second to bring a veth link up, and drops packets sent before.
fn wait_for_carrier() -> Result<(), String> {
    let until = Instant::now() + CARRIER_MAX;
    while Instant::now() < until {
        let shown = Command::new("ip").args(["-o", "link", "show", INTERFACE]).stdin(Stdio::null()).output();
        if shown.is_ok_and(|shown| String::from_utf8_lossy(&shown.stdout).contains("state UP")) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(format!("the link between server and load carries no traffic after {CARRIER_MAX:?}"))
}

/// An end's address.
pub(crate) fn address(end: CableEnd) -> IpAddr {
    Ipv4Addr::new(10, 77, 0, if end == CableEnd::Server { 1 } else { 2 }).into()
}

/// Bytes of both directions through this process's end of the cable, with IP headers and without Ethernet's. A piece
/// that the kernel splits only later (TCP) counts as if it were split.
pub(crate) fn ip_bytes() -> Option<u64> {
    let InterfaceDeviceStatus(devices) = InterfaceDeviceStatus::from_file("/proc/self/net/dev").ok()?;
    let cable = devices.get(INTERFACE)?;
    let (bytes, packets) = (cable.recv_bytes + cable.sent_bytes, cable.recv_packets + cable.sent_packets);
    let segments = Snmp::from_file("/proc/self/net/snmp").map_or(0, |snmp| snmp.tcp_in_segs + snmp.tcp_out_segs);
    let uncut = if segments > 0 { segments.saturating_sub(packets) * TCP_HEADERS_BYTES } else { 0 };
    Some((bytes + uncut).saturating_sub(packets * ETHERNET_BYTES))
}
