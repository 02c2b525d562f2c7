//! The transports of the comparison, and one table of what each of them is and can do.

use std::str::FromStr;

use skipstone::RedundancyMode;
use strum::{Display, IntoStaticStr, VariantArray};

use crate::units::written::written_as_text;
use crate::units::{Mode, Named};

/// A transport of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[expect(clippy::enum_variant_names, reason = "WebTransport is the name of a protocol")]
pub(crate) enum Transport {
    /// Encrypted; in the simulator with the packet sizes of encryption.
    Skipstone,
    /// The same, with an application that does not pass on the age of an update.
    SkipstoneAgeless,
    /// Unencrypted.
    SkipstonePlain,
    /// A page's client, over WebTransport datagrams.
    #[strum(serialize = "skipstone-wt")]
    SkipstoneWebTransport,
    /// Over unencrypted WebSocket.
    #[strum(serialize = "skipstone-ws")]
    SkipstoneWebSocket,
    /// Over WebSocket and TLS.
    #[strum(serialize = "skipstone-wss")]
    SkipstoneSecureWebSocket,
    /// One conversation whose messages share segments.
    Kcp,
    /// `Kcp` that also flushes on input.
    KcpTuned,
    /// One packet per message.
    KcpMsg,
    /// `Kcp` in blocks of 10 datagrams and 3 of parity.
    KcpFec,
    /// `KcpMsg` in blocks of 10 datagrams and 3 of parity.
    KcpMsgFec,
    /// `Kcp` in blocks of one datagram and one of parity.
    #[strum(serialize = "kcp-fec-1-1")]
    KcpFecTwice,
    /// `Kcp` in blocks of one datagram and two of parity.
    #[strum(serialize = "kcp-fec-1-2")]
    KcpFecThrice,
    /// QUIC with quinn's defaults, a stream for each entity.
    Quinn,
    /// QUIC with settings chosen for this load.
    QuinnTuned,
    /// `QuinnTuned` with BBR.
    QuinnBbr,
    /// A channel for each entity, resent after 300 ms.
    Renet,
    /// One channel for all, resent after a round trip.
    RenetTuned,
    /// The kernel's TCP, one stream with `TCP_NODELAY`.
    Tcp,
    /// ENet, a reliable channel for each entity.
    Enet,
    /// A program named by `--external`.
    External,
}

/// The properties and abilities of a transport.
struct Traits {
    /// Skipstone, over any carrier.
    is_ours: bool,
    runs: Runs,
    /// Takes part by default in a comparison over a real link: ten minutes are not enough for all transports.
    is_usual: bool,
    /// Over the kernel's TCP.
    is_stream: bool,
    /// A simulated connection survives a change of the client's address.
    survives_moves: bool,
    modes: Modes,
    build: Build,
}

/// Where a transport runs.
#[derive(PartialEq)]
enum Runs {
    /// In the simulator and over a real link.
    Anywhere,
    /// Over a real link only: it has sockets and its own clock.
    OverSockets,
}

/// The redundancy modes of a transport.
enum Modes {
    /// It has no modes: on a stream nothing is lost to which a mode could respond.
    None,
    All,
    /// All but `Off`, which sends no copies and therefore makes no use of ages.
    WithCopies,
    /// All, but only `Adaptive` unless modes are named.
    UsuallyAdaptive,
}

/// The builds that contain a transport.
enum Build {
    Every,
    /// Transports that need the feature `peers`.
    WithPeers,
    /// No feature: its program is named on the command line.
    External,
}

const OURS: Traits = Traits {
    is_ours: true,
    runs: Runs::Anywhere,
    is_usual: true,
    is_stream: false,
    survives_moves: true,
    modes: Modes::All,
    build: Build::Every,
};
const OURS_ON_A_STREAM: Traits =
    Traits { runs: Runs::OverSockets, is_stream: true, survives_moves: false, modes: Modes::None, ..OURS };
const PEER: Traits =
    Traits { is_ours: false, survives_moves: false, modes: Modes::None, build: Build::WithPeers, ..OURS };
const QUIC: Traits = Traits { survives_moves: true, ..PEER };
const PEER_OVER_SOCKETS: Traits = Traits { runs: Runs::OverSockets, ..PEER };

impl Transport {
    fn traits(self) -> Traits {
        match self {
            Self::Skipstone => OURS,
            Self::SkipstoneAgeless => Traits { is_usual: false, modes: Modes::WithCopies, ..OURS },
            Self::SkipstonePlain => OURS,
            Self::SkipstoneWebTransport => Traits {
                runs: Runs::OverSockets,
                survives_moves: false,
                modes: Modes::UsuallyAdaptive,
                build: Build::WithPeers,
                ..OURS
            },
            Self::SkipstoneWebSocket => Traits { is_usual: false, ..OURS_ON_A_STREAM },
            Self::SkipstoneSecureWebSocket => OURS_ON_A_STREAM,
            Self::Kcp => PEER,
            Self::KcpTuned => Traits { is_usual: false, ..PEER },
            Self::KcpMsg => PEER,
            Self::KcpFec => Traits { is_usual: false, ..PEER },
            Self::KcpMsgFec => PEER,
            Self::KcpFecTwice => Traits { is_usual: false, ..PEER },
            Self::KcpFecThrice => Traits { is_usual: false, ..PEER },
            Self::Quinn => QUIC,
            Self::QuinnTuned => QUIC,
            Self::QuinnBbr => QUIC,
            Self::Renet => PEER,
            Self::RenetTuned => PEER,
            Self::Tcp => Traits { is_stream: true, ..PEER_OVER_SOCKETS },
            Self::Enet => PEER_OVER_SOCKETS,
            Self::External => Traits { is_usual: false, build: Build::External, ..PEER_OVER_SOCKETS },
        }
    }

    /// Whether it is Skipstone, over any carrier.
    pub(crate) fn is_ours(self) -> bool {
        self.traits().is_ours
    }

    /// Whether it cannot be simulated, because it has sockets and its own clock.
    pub(crate) fn needs_sockets(self) -> bool {
        self.traits().runs == Runs::OverSockets
    }

    /// Whether it takes part in a comparison over a real link that names no transports.
    pub(crate) fn is_usual(self) -> bool {
        self.traits().is_usual
    }

    /// Whether it goes over the kernel's TCP.
    pub(crate) fn is_stream(self) -> bool {
        self.traits().is_stream
    }

    /// Whether a simulated connection survives a change of the client's address.
    pub(crate) fn survives_moves(self) -> bool {
        self.traits().survives_moves
    }

    /// Bytes of IP and UDP or TCP headers in each packet, without options.
    pub(crate) fn header_bytes(self) -> u64 {
        if self.is_stream() { 40 } else { 28 }
    }

    /// Its rows: one for each of these modes, or of its default ones if none are named; `[None]` if it has no modes.
    pub(crate) fn rows(self, modes: Option<&[Mode]>) -> Vec<Option<Mode>> {
        let all = |usual: &[Mode]| modes.unwrap_or(usual).iter().copied().map(Some).collect();
        match self.traits().modes {
            Modes::None => vec![None],
            Modes::All => all(&MODES),
            Modes::WithCopies => {
                let mut rows: Vec<Option<Mode>> = all(&MODES);
                rows.retain(|mode| *mode != Some(Mode(RedundancyMode::Off)));
                rows
            }
            Modes::UsuallyAdaptive => all(&[Mode(RedundancyMode::Adaptive)]),
        }
    }
}

/// The modes of a comparison that names none.
const MODES: [Mode; 4] = [
    Mode(RedundancyMode::Off),
    Mode(RedundancyMode::Lean),
    Mode(RedundancyMode::Adaptive),
    Mode(RedundancyMode::Fixed { sources: 10, repairs: 3 }),
];

impl Named for Transport {
    fn is_built_in(self) -> bool {
        match self.traits().build {
            Build::Every => true,
            Build::WithPeers => cfg!(feature = "peers"),
            Build::External => false,
        }
    }
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == Self::External.name() {
            return Err("an external transport has a name and a command: --external NAME=COMMAND".into());
        }
        Self::of_name(text)
    }
}

written_as_text!(Transport);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_as_they_are_printed() {
        for transport in Transport::built_in() {
            assert_eq!(transport.to_string().parse(), Ok(transport));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "quin".parse::<Transport>().unwrap_err();
        assert!(error.contains("did you mean quinn?") && error.contains("kcp-msg-fec"), "{error}");
    }

    #[test]
    fn our_transports_are_named_after_us() {
        for transport in Transport::VARIANTS.iter().copied() {
            assert_eq!(transport.name().starts_with("skipstone"), transport.is_ours(), "{transport}");
        }
    }

    #[test]
    fn every_stream_needs_sockets_and_has_no_modes() {
        for transport in Transport::VARIANTS.iter().copied().filter(|transport| transport.is_stream()) {
            assert!(transport.needs_sockets(), "{transport}");
            assert_eq!(transport.rows(None), [None], "{transport}");
        }
    }
}
