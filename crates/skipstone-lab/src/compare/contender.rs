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
        self.has_modes() || (cfg!(feature = "peers") && self != Self::External)
    }
}

impl SimulatedTransport {
    /// Whether it is run once for each mode.
    pub(crate) fn has_modes(self) -> bool {
        matches!(self, Self::Skipstone | Self::SkipstoneAgeless | Self::SkipstonePlain)
    }

    /// Whether it has sockets and a clock of its own, and so cannot be simulated.
    pub(crate) fn needs_sockets(self) -> bool {
        matches!(self, Self::Tcp | Self::Enet | Self::External)
    }

    /// Headers of IP and of what is beneath the transport, without options, by packet.
    pub(crate) fn header_bytes(self) -> u64 {
        if self == Self::Tcp { 40 } else { 28 }
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

impl Contender {
    /// Every transport, in each mode if it has modes.
    pub(crate) fn all(transports: &[SimulatedTransport], modes: &[Mode]) -> Vec<Self> {
        let each = |transport: &SimulatedTransport| {
            let transport = *transport;
            let own = modes.iter().copied().filter(|mode| transport.takes_part_in(*mode));
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
        let all = Contender::all(&[SimulatedTransport::Skipstone, SimulatedTransport::SkipstoneAgeless], &modes);
        let names: Vec<String> = all.iter().map(Contender::to_string).collect();
        assert_eq!(names, ["skipstone off", "skipstone lean", "skipstone-ageless lean"]);
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
