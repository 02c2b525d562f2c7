//! The contenders of a comparison: each transport, in each of its modes.

use std::fmt;

use strum::VariantArray;

use super::external::ExternalTransport;
use super::transport::Transport;
use crate::units::{Mode, Named};

/// A transport and, where it has them, its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contender {
    pub(crate) transport: Transport,
    pub(crate) mode: Option<Mode>,
    /// The external program. Programs are registered once, at the beginning, and kept.
    pub(crate) external: Option<&'static ExternalTransport>,
}

impl Contender {
    /// Every transport, in each of these modes if it has modes. If no modes are named, in its default ones.
    pub(crate) fn all(transports: &[Transport], modes: Option<&[Mode]>) -> Vec<Self> {
        let rows = |&transport: &Transport| {
            let rows = transport.rows(modes).into_iter();
            rows.map(move |mode| Self { transport, mode, external: None })
        };
        transports.iter().flat_map(rows).collect()
    }

    /// An external transport.
    pub(crate) fn external(transport: ExternalTransport) -> Self {
        let external = Some(&*Box::leak(Box::new(transport)));
        Self { transport: Transport::External, mode: None, external }
    }

    /// All external transports; their names must be unique.
    pub(crate) fn all_external(transports: &[ExternalTransport]) -> Result<Vec<Self>, String> {
        for (at, transport) in transports.iter().enumerate() {
            let name = transport.name.as_str();
            if Transport::VARIANTS.iter().any(|own| own.name() == name) {
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
    use skipstone::RedundancyMode;

    use super::*;

    fn names(transports: &[Transport], modes: Option<&[Mode]>) -> Vec<String> {
        Contender::all(transports, modes).iter().map(Contender::to_string).collect()
    }

    #[test]
    fn the_ageless_transport_has_no_row_for_mode_off() {
        let modes = [Mode(RedundancyMode::Off), Mode(RedundancyMode::Lean)];
        let ours = [Transport::Skipstone, Transport::SkipstoneAgeless];
        assert_eq!(names(&ours, Some(&modes)), ["skipstone off", "skipstone lean", "skipstone-ageless lean"]);
    }

    #[test]
    fn streams_have_no_modes_and_webtransport_has_one_by_default() {
        use Transport::{SkipstoneSecureWebSocket, SkipstoneWebTransport};
        let both = [SkipstoneWebTransport, SkipstoneSecureWebSocket];
        assert_eq!(names(&both, None), ["skipstone-wt adaptive", "skipstone-wss"]);
        let lean = [Mode(RedundancyMode::Lean)];
        assert_eq!(names(&both, Some(&lean)), ["skipstone-wt lean", "skipstone-wss"]);
    }

    #[test]
    fn a_duplicate_program_name_is_refused() {
        let all = |texts: &[&str]| {
            let transports: Vec<ExternalTransport> = texts.iter().map(|text| text.parse().unwrap()).collect();
            Contender::all_external(&transports).map(|all| all.len())
        };
        assert_eq!(all(&["a=x", "b=x"]), Ok(2));
        assert_eq!(all(&["a=x", "b=x", "a=y"]), Err("--external a: two programs have that name".into()));
        assert!(all(&["kcp=x"]).is_err() && all(&["a=x", "external=x"]).is_err());
    }
}
