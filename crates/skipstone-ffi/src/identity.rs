//! A server's security, as far as this build supports any; the hashes of its certificates, and events about them.

use crate::failure::Failure;
use library::{Fingerprint, Security, Server};

/// How a server protects its clients, as a Rust type.
#[cfg_attr(
    not(any(feature = "ring", feature = "aws-lc")),
    allow(dead_code, reason = "a build without encryption looks at no certificate")
)]
pub(crate) enum Protection<'a> {
    SelfSigned,
    SelfSignedKept(&'a str),
    Files(&'a str, Option<&'a str>),
    Pem(&'a str, Option<&'a str>),
    Plain,
}

#[cfg(any(feature = "ring", feature = "aws-lc"))]
pub(crate) fn security(protection: &Protection<'_>) -> Result<Security, Failure> {
    Ok(match protection {
        Protection::SelfSigned => self_signed(None)?,
        Protection::SelfSignedKept(file) => self_signed(Some(file))?,
        Protection::Files(certificate, key) => Security::from_files(certificate, key.map(std::path::Path::new))?,
        Protection::Pem(certificate, key) => {
            Security::from_pem(certificate.as_bytes(), key.unwrap_or(certificate).as_bytes())?
        }
        Protection::Plain => Security::plain(),
    })
}

#[cfg(not(any(feature = "ring", feature = "aws-lc")))]
pub(crate) fn security(protection: &Protection<'_>) -> Result<Security, Failure> {
    match protection {
        Protection::Plain => Ok(Security::plain()),
        _ => Err(not_built("encryption", "ring or aws-lc")),
    }
}

#[cfg(all(feature = "self-signed", any(feature = "ring", feature = "aws-lc")))]
fn self_signed(kept_in: Option<&str>) -> Result<Security, Failure> {
    Ok(kept_in.map_or_else(Security::self_signed, Security::self_signed_kept_in)?)
}

#[cfg(all(not(feature = "self-signed"), any(feature = "ring", feature = "aws-lc")))]
fn self_signed(_: Option<&str>) -> Result<Security, Failure> {
    Err(not_built("certificates of its own making", "self-signed"))
}

/// The hashes by which browsers accept the server's certificates.
#[cfg(any(feature = "ring", feature = "aws-lc"))]
pub(crate) fn web_fingerprints(server: &Server) -> Vec<Fingerprint> {
    server.web_fingerprints()
}

#[cfg(not(any(feature = "ring", feature = "aws-lc")))]
pub(crate) fn web_fingerprints(_: &Server) -> Vec<Fingerprint> {
    Vec::new()
}

/// Logs what happened to the server's certificates.
#[cfg(any(feature = "ring", feature = "aws-lc"))]
pub(crate) fn log_events(server: &Server) {
    use library::CertificateEvent::{Renewed, ShortLivedRenewed};
    while let Some(event) = server.poll_certificate_event() {
        match event {
            Renewed { .. } | ShortLivedRenewed { .. } => crate::log::info(&event.to_string()),
            _ => crate::log::warn(&event.to_string()),
        }
    }
}

#[cfg(not(any(feature = "ring", feature = "aws-lc")))]
pub(crate) fn log_events(_: &Server) {}

#[cfg(not(all(feature = "self-signed", any(feature = "ring", feature = "aws-lc"))))]
fn not_built(what: &str, feature: &str) -> Failure {
    let text = format!("this library was built without {what}: build skipstone-ffi with its feature {feature}");
    Failure::new(crate::types::SkipstoneStatus::NotBuilt, text)
}
