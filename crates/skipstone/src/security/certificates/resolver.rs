//! The certificate for each handshake, as rustls asks for it.

use super::shown::Shown;
use arc_swap::ArcSwap;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::Arc;

/// The clients of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// Native clients, which pin a permanent certificate, or verify one of an authority.
    Native,
    /// Browsers over QUIC, which accept a self-signed certificate by its hash if it is short-lived.
    Browsers,
}

#[derive(Debug)]
pub(super) struct Resolver {
    shown: Arc<ArcSwap<Shown>>,
    audience: Audience,
}

impl Resolver {
    pub(super) fn new(shown: Arc<ArcSwap<Shown>>, audience: Audience) -> Self {
        Resolver { shown, audience }
    }
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let shown = self.shown.load();
        let (name, schemes) = (hello.server_name(), hello.signature_schemes());
        if self.audience == Audience::Browsers {
            return shown.choose_for_browsers(name, schemes);
        }
        shown.choose(name, schemes)
    }
}
