//! The contenders: the transports, and Skipstone's ways of answering loss.

use std::fmt;
use std::str::FromStr;

use skipstone::RedundancyMode;
use strum::{Display, IntoStaticStr, VariantArray};

use super::external::ExternalTransport;
pub(crate) use crate::units::Mode;
use crate::units::Named;
use crate::units::written::written_as_text;

/// A transport of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum SimulatedTransport {
    /// Encrypted, or with the sizes of it.
    Skipstone,
    /// The same with an application that does not hand on how late an update already is.
    SkipstoneAgeless,
    /// In clear.
    SkipstonePlain,
    /// As pages have it, in WebTransport's datagrams: over a real link alone.
    #[strum(serialize = "skipstone-wt")]
    SkipstoneWebTransport,
    /// Over WebSocket, in clear: over a real link alone.
    #[strum(serialize = "skipstone-ws")]
    SkipstoneWebSocket,
    /// Over WebSocket and TLS: over a real link alone.
    #[strum(serialize = "skipstone-wss")]
    SkipstoneSecureWebSocket,
    /// One conversation whose messages share segments.
    Kcp,
    /// `Kcp` that flushes on input, too.
    KcpTuned,
    /// One packet per message.
    KcpMsg,
    /// `Kcp` in blocks of 10 datagrams with 3 of parity.
    KcpFec,
    /// `KcpMsg` in blocks of 10 datagrams with 3 of parity.
    KcpMsgFec,
    /// `Kcp` in blocks of one datagram with one of parity.
    #[strum(serialize = "kcp-fec-1-1")]
    KcpFecTwice,
    /// `Kcp` in blocks of one datagram with two of parity.
    #[strum(serialize = "kcp-fec-1-2")]
    KcpFecThrice,
    /// QUIC as it comes, a stream for each entity.
    Quinn,
    /// QUIC with its settings made for this.
    QuinnTuned,
    /// `QuinnTuned` with BBR.
    QuinnBbr,
    /// A channel for each entity, resent after 300 ms.
    Renet,
    /// One channel for all, resent as soon as an answer can be there.
    RenetTuned,
    /// The kernel's TCP, one stream with NODELAY: over a real link alone.
    Tcp,
    /// ENet, a reliable channel for each entity: over a real link alone.
    Enet,
    /// A program of its own, by `--external`: over a real link alone.
    External,
}

impl Named for SimulatedTransport {
    fn is_built_in(self) -> bool {
        let is_own = self.is_ours() && self != Self::SkipstoneWebTransport;
        is_own || (cfg!(feature = "peers") && self != Self::External)
    }
}

impl SimulatedTransport {
    /// Whether it is Skipstone, over whatever carrier.
    pub(crate) fn is_ours(self) -> bool {
        self.name().starts_with("skipstone")
    }

    /// Whether it is run once for each mode: a stream loses nothing that a mode could answer.
    pub(crate) fn has_modes(self) -> bool {
        self.is_ours() && !self.is_stream()
    }

    /// Its modes where nobody names any. What WebTransport costs is seen in one of them.
    fn usual_modes(self) -> &'static [Mode] {
        if self == Self::SkipstoneWebTransport { &[Mode(RedundancyMode::Adaptive)] } else { &MODES }
    }

    /// Whether it has sockets and a clock of its own, and so cannot be simulated.
    pub(crate) fn needs_sockets(self) -> bool {
        self.is_stream() || matches!(self, Self::SkipstoneWebTransport | Self::Enet | Self::External)
    }

    /// Whether it goes over the kernel's TCP.
    pub(crate) fn is_stream(self) -> bool {
        matches!(self, Self::Tcp | Self::SkipstoneWebSocket | Self::SkipstoneSecureWebSocket)
    }

    /// Headers of IP and of what is beneath the transport, without options, by packet.
    pub(crate) fn header_bytes(self) -> u64 {
        if self.is_stream() { 40 } else { 28 }
    }

    /// Whether this mode makes a row of its own: `Off` sends no copies, and so makes no use of ages.
    fn takes_part_in(self, mode: Mode) -> bool {
        self != Self::SkipstoneAgeless || mode.0 != RedundancyMode::Off
    }
}

impl FromStr for SimulatedTransport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == Self::External.name() {
            return Err("an external transport has a name and a command: --external NAME=COMMAND".into());
        }
        Self::of_name(text)
    }
}

written_as_text!(SimulatedTransport);

/// A transport and, where it has them, its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contender {
    pub(crate) transport: SimulatedTransport,
    pub(crate) mode: Option<Mode>,
    /// The program that it is. Programs are named once, at the beginning, and stay.
    pub(crate) external: Option<&'static ExternalTransport>,
}

/// The modes where nobody names any.
const MODES: [Mode; 4] = [
    Mode(RedundancyMode::Off),
    Mode(RedundancyMode::Lean),
    Mode(RedundancyMode::Adaptive),
    Mode(RedundancyMode::Fixed { sources: 10, repairs: 3 }),
];

impl Contender {
    /// Every transport, in each of these modes if it has modes; in its usual ones, if none are named.
    pub(crate) fn all(transports: &[SimulatedTransport], modes: Option<&[Mode]>) -> Vec<Self> {
        let each = |transport: &SimulatedTransport| {
            let transport = *transport;
            let own =
                modes.unwrap_or(transport.usual_modes()).iter().copied().filter(|mode| transport.takes_part_in(*mode));
            let modes: Vec<_> = if transport.has_modes() { own.map(Some).collect() } else { vec![None] };
            modes.into_iter().map(move |mode| Self { transport, mode, external: None })
        };
        transports.iter().flat_map(each).collect()
    }

    /// A transport in a program of its own.
    pub(crate) fn external(transport: ExternalTransport) -> Self {
        let external = Some(&*Box::leak(Box::new(transport)));
        Self { transport: SimulatedTransport::External, mode: None, external }
    }

    /// The same of all, each with a name that nobody else has.
    pub(crate) fn all_external(transports: &[ExternalTransport]) -> Result<Vec<Self>, String> {
        for (at, transport) in transports.iter().enumerate() {
            let name = transport.name.as_str();
            if SimulatedTransport::VARIANTS.iter().any(|own| own.name() == name) {
                return Err(format!(
                    "--external {name}: that is a transport of the tool; give the program another name"
                ));
            }
            if transports[..at].iter().any(|other| other.name == name) {
                return Err(format!("--external {name}: two programs have that name"));
            }
        }
        Ok(transports.iter().cloned().map(Self::external).collect())
    }

    /// Its name in results, without the mode.
    pub(crate) fn name(&self) -> &'static str {
        self.external.map_or(self.transport.name(), |external| &external.name)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            Some(mode) => f.pad(&format!("{} {mode}", self.transport)),
            None => f.pad(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(transports: &[SimulatedTransport], modes: Option<&[Mode]>) -> Vec<String> {
        Contender::all(transports, modes).iter().map(Contender::to_string).collect()
    }

    #[test]
    fn names_are_read_as_they_are_shown() {
        for transport in SimulatedTransport::VARIANTS.iter().copied() {
            if transport.is_built_in() {
                assert_eq!(transport.to_string().parse(), Ok(transport));
            }
        }
    }

    #[test]
    fn without_copies_an_age_changes_nothing_and_makes_no_row() {
        let modes = [Mode(RedundancyMode::Off), Mode(RedundancyMode::Lean)];
        let ours = [SimulatedTransport::Skipstone, SimulatedTransport::SkipstoneAgeless];
        assert_eq!(names(&ours, Some(&modes)), ["skipstone off", "skipstone lean", "skipstone-ageless lean"]);
    }

    #[test]
    fn streams_have_no_modes_and_webtransport_has_one_unless_others_are_named() {
        use SimulatedTransport::{SkipstoneSecureWebSocket, SkipstoneWebTransport};
        let both = [SkipstoneWebTransport, SkipstoneSecureWebSocket];
        assert_eq!(names(&both, None), ["skipstone-wt adaptive", "skipstone-wss"]);
        let lean = [Mode(RedundancyMode::Lean)];
        assert_eq!(names(&both, Some(&lean)), ["skipstone-wt lean", "skipstone-wss"]);
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_right_ones() {
        let error = "quin".parse::<SimulatedTransport>().unwrap_err();
        assert!(error.contains("did you mean quinn?") && error.contains("kcp-msg-fec"), "{error}");
    }

    #[test]
    fn a_program_of_a_name_that_is_taken_is_refused() {
        let all = |texts: &[&str]| {
            let transports: Vec<ExternalTransport> = texts.iter().map(|text| text.parse().unwrap()).collect();
            Contender::all_external(&transports).map(|all| all.len())
        };
        assert_eq!(all(&["a=x", "b=x"]), Ok(2));
        assert_eq!(all(&["a=x", "b=x", "a=y"]), Err("--external a: two programs have that name".into()));
        assert!(all(&["kcp=x"]).is_err() && all(&["a=x", "external=x"]).is_err());
    }
}
