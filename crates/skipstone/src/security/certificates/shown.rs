//! The certificates of one moment, ready for handshakes.

use super::pages::PageTurn;
use super::signing::handshake_cost;
use crate::security::fingerprint::Fingerprint;
use crate::security::identity::Identity;
use crate::security::tls;
use rustls::SignatureScheme;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::CertifiedKey;
use skipstone_proto::{Cost, HANDSHAKE_COST};
use std::sync::Arc;

/// The certificates of one moment.
#[derive(Debug)]
pub(super) struct Shown {
    /// At least one certificate.
    all: Vec<Loaded>,
    /// `None` until a server requests them.
    pages: Option<Pages>,
}

/// A certificate, with its key in rustls' form.
#[derive(Clone, Debug)]
struct Loaded {
    identity: Arc<Identity>,
    /// `None` if TLS cannot use it.
    key: Option<Arc<CertifiedKey>>,
    /// Cost of a handshake with it.
    cost: Cost,
}

/// The certificates that browsers accept by their hash. The next one is announced in advance, so a page with both
/// hashes can connect as long as one of the two is in use.
#[derive(Clone, Debug)]
struct Pages {
    turn: PageTurn,
    now: Loaded,
    next: Loaded,
}

impl Loaded {
    fn new(identity: Arc<Identity>) -> Self {
        let key = tls::certified_key(&identity);
        let cost = key.as_deref().map_or(HANDSHAKE_COST, handshake_cost);
        Loaded { key, identity, cost }
    }

    fn is_for(&self, name: &ServerName<'_>) -> bool {
        let der = CertificateDer::from(&self.identity.certificate[..]);
        let parsed = webpki::EndEntityCert::try_from(&der);
        parsed.is_ok_and(|parsed| parsed.verify_is_valid_for_subject_name(name).is_ok())
    }

    fn can_sign(&self, schemes: &[SignatureScheme]) -> bool {
        self.key.as_ref().is_some_and(|key| key.key.choose_scheme(schemes).is_some())
    }
}

impl Shown {
    pub(super) fn new(identities: Vec<Arc<Identity>>) -> Self {
        assert!(!identities.is_empty(), "a server that encrypts has a certificate");
        Shown { all: identities.into_iter().map(Loaded::new).collect(), pages: None }
    }

    pub(super) fn identities(&self) -> impl Iterator<Item = &Arc<Identity>> {
        self.all.iter().map(|loaded| &loaded.identity)
    }

    pub(super) fn handshake_cost(&self) -> Cost {
        self.all.iter().map(|loaded| loaded.cost).fold(HANDSHAKE_COST, Cost::max)
    }

    pub(super) fn first(&self) -> &Arc<Identity> {
        &self.all[0].identity
    }

    /// The same certificates, with another one at this place.
    pub(super) fn with(&self, place: usize, identity: Identity) -> Self {
        let mut all = self.all.clone();
        all[place] = Loaded::new(identity.into());
        // Certificates for pages go with the first certificate, if that one was made here; they stay unless it is
        // replaced.
        let pages = self.pages.clone().filter(|_| place != 0);
        Shown { all, pages }
    }

    /// The same with these certificates for pages, of this turn and of the next.
    pub(super) fn with_pages(&self, turn: PageTurn, [now, next]: [Arc<Identity>; 2]) -> Self {
        Shown { all: self.all.clone(), pages: Some(Pages { turn, now: Loaded::new(now), next: Loaded::new(next) }) }
    }

    /// The turn of the certificates for pages.
    pub(super) fn turn(&self) -> Option<PageTurn> {
        self.pages.as_ref().map(|pages| pages.turn)
    }

    /// The certificates for pages, the current and the next.
    pub(super) fn pages(&self) -> impl Iterator<Item = &Arc<Identity>> {
        self.pages.iter().flat_map(|pages| [&pages.now, &pages.next]).map(|loaded| &loaded.identity)
    }

    pub(super) fn web_fingerprints(&self) -> Vec<Fingerprint> {
        self.pages().map(|identity| identity.fingerprint()).collect()
    }

    /// The certificate for a browser: one for the name, unless this library generated it; else the short-lived one,
    /// which browsers accept by its hash; else the same as for all clients.
    pub(super) fn choose_for_browsers(
        &self,
        name: Option<&str>,
        schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        let Some(pages) = &self.pages else { return self.choose(name, schemes) };
        let named = self.named(name, schemes).filter(|loaded| loaded.identity.self_made.is_none());
        named.map_or(&pages.now, |named| named).key.clone()
    }

    /// The certificate for a client with this server name, if any, and these signature schemes: the first one for the
    /// name, else the first of all.
    pub(super) fn choose(&self, name: Option<&str>, schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let named = self.named(name, schemes);
        named.or_else(|| self.fitting(schemes).next()).and_then(|loaded| loaded.key.clone())
    }

    fn named(&self, name: Option<&str>, schemes: &[SignatureScheme]) -> Option<&Loaded> {
        let name = ServerName::try_from(name?).ok()?;
        self.fitting(schemes).find(|loaded| loaded.is_for(&name))
    }

    fn fitting(&self, schemes: &[SignatureScheme]) -> impl Iterator<Item = &Loaded> {
        self.all.iter().filter(|loaded| loaded.can_sign(schemes))
    }
}
