//! The certificates that a running server shows. New handshakes on every carrier ask here, so that a renewed certificate
//! needs no restart, and connections that there are keep theirs.
//!
//! `store` has the certificates of a server, `shown` those of one moment, `signing` what it costs to sign with one, `files` reads changed files, `pages` has short-lived
//! ones for browsers, `watch` is the thread that looks for changes, `resolver` answers rustls, `news` is what the application hears of it.

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
