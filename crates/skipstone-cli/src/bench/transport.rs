//! Who takes part.

use std::fmt;
use std::str::FromStr;

use super::variant::{Delivery, Variant};
use crate::units::transport_name::Named;

/// A transport of the bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Transport {
    /// Encrypted, as it comes.
    Skipstone,
    /// Native clients in clear.
    SkipstonePlain,
    /// Clients as browsers are.
    SkipstoneWebSocket,
    /// Half of the clients native and in clear, half as browsers are.
    SkipstoneMixed,
    Enet,
    /// With netcode's encryption.
    Renet,
    /// QUIC: a stream for each client, one write per client and tick.
    Quinn,
    /// A message for each line, one write per client and tick.
    WebSocket,
    /// One write per client and tick.
    Tcp,
    /// The floor: packed datagrams without a protocol, by the system calls that Skipstone uses.
    UdpBare,
    /// The same; each client answers what it received, once a tick, as every reliable transport must.
    UdpBareAcked,
}

impl Named for Transport {
    const ALL: &[Transport] = &[
        Transport::SkipstonePlain,
        Transport::Skipstone,
        Transport::SkipstoneWebSocket,
        Transport::SkipstoneMixed,
        Transport::Enet,
        Transport::Renet,
        Transport::Quinn,
        Transport::WebSocket,
        Transport::Tcp,
        Transport::UdpBare,
        Transport::UdpBareAcked,
    ];

    fn name(self) -> &'static str {
        match self {
            Transport::Skipstone => "skipstone",
            Transport::SkipstonePlain => "skipstone-plain",
            Transport::SkipstoneWebSocket => "skipstone-ws",
            Transport::SkipstoneMixed => "skipstone-mixed",
            Transport::Enet => "enet",
            Transport::Renet => "renet",
            Transport::Quinn => "quinn",
            Transport::WebSocket => "websocket",
            Transport::Tcp => "tcp",
            Transport::UdpBare => "udp-bare",
            Transport::UdpBareAcked => "udp-bare-acked",
        }
    }

    fn is_built_in(self) -> bool {
        let is_peer = matches!(self, Transport::Enet | Transport::Renet | Transport::Quinn | Transport::WebSocket);
        !is_peer || cfg!(feature = "peers")
    }
}

impl Transport {
    /// The most clients that it can serve, where that is a number of its own.
    pub(crate) fn clients_max(self) -> Option<u32> {
        match self {
            Transport::Enet => Some(4_095),
            Transport::Renet => Some(1_024),
            _ => None,
        }
    }

    /// Whether it is driven so: only Skipstone has channels here, and unreliable lines are not for streams.
    pub(crate) fn has(self, variant: Variant) -> bool {
        let is_stream =
            matches!(self, Transport::SkipstoneWebSocket | Transport::WebSocket | Transport::Tcp | Transport::Quinn);
        match variant {
            Variant::Only => true,
            Variant::Channels(_) => self.name().starts_with("skipstone"),
            Variant::InFlight { delivery, .. } => delivery == Delivery::Reliable || !is_stream,
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Transport, String> {
        Transport::of_name(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_shown() {
        for transport in Transport::ALL.iter().copied() {
            if transport.is_built_in() {
                assert_eq!(transport.to_string().parse(), Ok(transport));
            }
        }
        let error = "quin".parse::<Transport>().unwrap_err();
        assert!(error.contains("did you mean quinn?") && error.contains("udp-bare"), "{error}");
    }
}
