//! The certificates of a running server. New handshakes on every carrier ask this module, so a renewed certificate
//! needs no restart, and existing connections keep theirs.
//!
//! `store` has the certificates of a server, `shown` those of one moment, `signing` the cost of a signature, `files`
//! reads changed files, `pages` has short-lived ones for browsers, `watch` is the thread that looks for changes,
//! `resolver` answers rustls, `news` has the events for the application.

mod files;
mod news;
mod pages;
mod resolver;
mod shown;
mod signing;
mod store;
#[cfg(all(test, feature = "self-signed"))]
mod tests;
mod watch;

pub use news::{CertificateEvent, CertificateStats};
pub(crate) use store::Certificates;
pub(crate) use watch::CertificateWatch;
