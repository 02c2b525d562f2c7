//! The certificates of one moment, ready for handshakes.

use crate::security::fingerprint::{Fingerprint, fingerprint_of};
use crate::security::identity::Identity;
use crate::security::tls;
use rustls::SignatureScheme;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::CertifiedKey;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The certificates of one moment.
#[derive(Debug)]
pub(super) struct Shown {
    /// At least one.
    all: Vec<Loaded>,
    short_lived: Option<ShortLived>,
}

/// A certificate, and its key in rustls' form.
#[derive(Clone, Debug)]
struct Loaded {
    identity: Arc<Identity>,
    /// `None` if TLS has no use for it.
    key: Option<Arc<CertifiedKey>>,
}

/// What browsers take by its hash. The next one is known before its time, so that a page that was told of both hashes stays
/// good for as long as one of them is shown.
#[derive(Clone, Debug)]
struct ShortLived {
    now: Loaded,
    next: Loaded,
    turns_at: SystemTime,
}

/// The time for which a short-lived certificate is shown: it is announced for as long before, so it ends at two thirds of its
/// life.
const TURN: Duration = Duration::from_secs(4 * 86_400);

impl Loaded {
    fn new(identity: Arc<Identity>) -> Self {
        Loaded { key: tls::certified_key(&identity), identity }
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

impl ShortLived {
    fn new(now: Loaded, at: SystemTime) -> Option<Self> {
        Some(ShortLived { now, next: made(at)?, turns_at: at + TURN })
    }
}

#[cfg(feature = "self-signed")]
fn made(at: SystemTime) -> Option<Loaded> {
    Identity::short_lived(at).ok().map(|identity| Loaded::new(identity.into()))
}

#[cfg(not(feature = "self-signed"))]
fn made(_: SystemTime) -> Option<Loaded> {
    None
}

impl Shown {
    pub(super) fn new(identities: Vec<Arc<Identity>>, now: SystemTime) -> Self {
        assert!(!identities.is_empty(), "a server that encrypts has a certificate");
        let all: Vec<Loaded> = identities.into_iter().map(Loaded::new).collect();
        let short_lived = all[0].identity.is_self_made.then(|| ShortLived::new(made(now)?, now)).flatten();
        Shown { all, short_lived }
    }

    pub(super) fn identities(&self) -> impl Iterator<Item = &Arc<Identity>> {
        self.all.iter().map(|loaded| &loaded.identity)
    }

    pub(super) fn first(&self) -> &Arc<Identity> {
        &self.all[0].identity
    }

    /// The same with another certificate at this place.
    pub(super) fn with(&self, place: usize, identity: Identity) -> Self {
        let mut all = self.all.clone();
        all[place] = Loaded::new(identity.into());
        // The short-lived one stands beside the first, where that was made here.
        let short_lived = self.short_lived.clone().filter(|_| place != 0);
        Shown { all, short_lived }
    }

    /// The same with the next short-lived certificate in its turn, if it is time.
    pub(super) fn turned(&self, now: SystemTime) -> Option<Self> {
        let short_lived = self.short_lived.as_ref().filter(|it| now >= it.turns_at)?;
        // After a long sleep of the machine the next one may have ended, too.
        let is_late = now >= short_lived.turns_at + TURN;
        let turned = if is_late { made(now)? } else { short_lived.next.clone() };
        Some(Shown { all: self.all.clone(), short_lived: Some(ShortLived::new(turned, now)?) })
    }

    pub(super) fn web_fingerprints(&self) -> Vec<Fingerprint> {
        let both = self.short_lived.iter().flat_map(|it| [&it.now, &it.next]);
        both.map(|loaded| fingerprint_of(&loaded.identity.certificate)).collect()
    }

    /// The certificate for a browser: one that is for the name, unless it was made here; else the short-lived one, which
    /// browsers know by its hash; else as for all.
    pub(super) fn choose_for_browsers(
        &self,
        name: Option<&str>,
        schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        let Some(short_lived) = &self.short_lived else { return self.choose(name, schemes) };
        let named = self.named(name, schemes).filter(|loaded| !loaded.identity.is_self_made);
        named.map_or(&short_lived.now, |named| named).key.clone()
    }

    /// The certificate for a client that names a server, or none, and understands these signatures: the first that is for the
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
