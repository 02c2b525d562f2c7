//! The flags for the servers that a client trusts.

use skipstone::{DtlsVersion, Trust};
use std::path::PathBuf;

/// Flags of clients. A fingerprint in the URL takes precedence over both.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct TrustFlags {
    /// Trust servers whose certificate was signed by an authority in this PEM file, instead of the system's authorities
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Accept any certificate, and thus any attacker on the path: only for tests on your own machine
    #[arg(long, conflicts_with = "ca")]
    pub(crate) dangerously_trust_anyone: bool,
}

impl TrustFlags {
    /// The error is one sentence.
    pub(crate) fn trust(&self) -> Result<Trust, String> {
        match &self.ca {
            _ if self.dangerously_trust_anyone => Ok(Trust::DangerouslyAnything),
            None => Ok(Trust::System),
            Some(file) => match std::fs::read_to_string(file) {
                Ok(pem) => {
                    let trust = Trust::Ca(pem);
                    let checked = trust.suites("localhost").map(drop);
                    checked.map(|()| trust).map_err(|error| format!("--ca {}: {error}", file.display()))
                }
                Err(error) => Err(format!("cannot read --ca {}: {error}", file.display())),
            },
        }
    }
}

/// A version of DTLS, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Dtls {
    /// DTLS 1.3
    #[value(name = "1.3")]
    V1_3,
    /// DTLS 1.2
    #[value(name = "1.2")]
    V1_2,
}

impl Dtls {
    /// The value as it was written.
    #[cfg(feature = "fleet")]
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::V1_3 => "1.3",
            Self::V1_2 => "1.2",
        }
    }
}

impl From<Dtls> for DtlsVersion {
    fn from(dtls: Dtls) -> Self {
        match dtls {
            Dtls::V1_3 => Self::V1_3,
            Dtls::V1_2 => Self::V1_2,
        }
    }
}
