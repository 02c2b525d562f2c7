//! The transports of the bench.

use std::str::FromStr;

use strum::{Display, IntoStaticStr, VariantArray};

use super::variant::{LineDelivery, Variant};
use crate::units::Named;
use crate::units::written::written_as_text;

/// A transport of the bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum BenchTransport {
    /// Native clients in clear.
    SkipstonePlain,
    /// Encrypted, as it comes.
    Skipstone,
    /// Clients as browsers are.
    #[strum(serialize = "skipstone-ws")]
    SkipstoneWebSocket,
    /// The same over TLS.
    #[strum(serialize = "skipstone-wss")]
    SkipstoneSecureWebSocket,
    /// Pages, whose datagrams are WebTransport's.
    #[strum(serialize = "skipstone-wt")]
    SkipstoneWebTransport,
    /// Half of the clients native and in clear, half as browsers are.
    SkipstoneMixed,
    Enet,
    /// With netcode's encryption.
    Renet,
    /// QUIC: a stream for each client, one write per client and tick.
    Quinn,
    /// A message for each line, one write per client and tick.
    #[strum(serialize = "websocket")]
    WebSocket,
    /// One write per client and tick.
    Tcp,
    /// The floor: packed datagrams without a protocol, by the system calls that Skipstone uses.
    UdpBare,
    /// The same, but each client acknowledges what it received once a tick, as every reliable transport must.
    UdpBareAcked,
}

impl Named for BenchTransport {
    fn is_built_in(self) -> bool {
        let is_peer =
            matches!(self, Self::SkipstoneWebTransport | Self::Enet | Self::Renet | Self::Quinn | Self::WebSocket);
        !is_peer || cfg!(feature = "peers")
    }
}

impl BenchTransport {
    /// The most clients that it can serve, where that is its own number.
    pub(crate) fn clients_max(self) -> Option<u32> {
        match self {
            Self::Enet => Some(4_095),
            Self::Renet => Some(1_024),
            _ => None,
        }
    }

    /// Whether it is Skipstone's.
    pub(crate) fn is_ours(self) -> bool {
        self.name().starts_with("skipstone")
    }

    /// Whether the transport supports this variant: only Skipstone has channels here, and streams have no unreliable
    /// lines.
    pub(crate) fn has(self, variant: Variant) -> bool {
        let is_stream = matches!(
            self,
            Self::SkipstoneWebSocket | Self::SkipstoneSecureWebSocket | Self::WebSocket | Self::Tcp | Self::Quinn
        );
        match variant {
            Variant::Only => true,
            Variant::Channels(_) => self.is_ours() && self != BenchTransport::SkipstoneWebTransport,
            Variant::InFlight { delivery, .. } => delivery == LineDelivery::Reliable || !is_stream,
        }
    }
}

impl FromStr for BenchTransport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::of_name(text)
    }
}

written_as_text!(BenchTransport);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_through_text() {
        for transport in BenchTransport::VARIANTS.iter().copied() {
            if transport.is_built_in() {
                assert_eq!(transport.to_string().parse(), Ok(transport));
            }
        }
        let error = "quin".parse::<BenchTransport>().unwrap_err();
        assert!(error.contains("did you mean quinn?") && error.contains("udp-bare"), "{error}");
    }
}
