//! The certificates of a server, at every moment.

use super::files::Watched;
use super::news::{CertificateEvent, CertificateStats, News};
use super::pages::{PageShelf, PageTurn};
use super::resolver::{Audience, Resolver};
use super::shown::Shown;
use crate::security::fingerprint::Fingerprint;
use crate::security::identity::Identity;
use crate::security::tls;
use arc_swap::ArcSwap;
use skipstone_proto::Cost;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// The certificates of a server: one or more, of which the first serves clients without a server name.
#[derive(Debug)]
pub(crate) struct Certificates {
    shown: Arc<ArcSwap<Shown>>,
    /// Held while files are read, so only by the watching thread once the server runs.
    disk: Mutex<OnDisk>,
    /// Never held while a file is read: a disk may be slow, and the application polls each frame.
    news: Mutex<News>,
}

/// The certificates that are read from files.
#[derive(Debug)]
struct OnDisk {
    watched: Vec<Watched>,
    /// `None` if an authority has signed the first certificate.
    pages: Option<PageShelf>,
}

impl Certificates {
    pub(crate) fn new(identities: Vec<Arc<Identity>>) -> Arc<Self> {
        let watched = (0..).zip(&identities).filter_map(|(place, identity)| Watched::new(place, identity)).collect();
        let pages = identities.first().and_then(|first| PageShelf::of(first));
        let shown = Arc::new(ArcSwap::from_pointee(Shown::new(identities)));
        Arc::new(Certificates { shown, disk: Mutex::new(OnDisk { watched, pages }), news: Mutex::default() })
    }

    /// The certificate for clients without a server name.
    pub(crate) fn first(&self) -> Arc<Identity> {
        Arc::clone(self.shown.load().first())
    }

    /// The cost of a handshake with the most expensive of them, because clients choose.
    pub(crate) fn handshake_cost(&self) -> Cost {
        self.shown.load().handshake_cost()
    }

    /// The certificate for DTLS, if there is a suitable one.
    #[cfg(feature = "dtls")]
    pub(crate) fn for_dtls(&self) -> Option<Arc<Identity>> {
        self.shown.load().identities().find(|identity| identity.serves_dtls()).cloned()
    }

    /// SHA-256 of the short-lived certificates, the current and the next, that browsers accept by their hash; empty if
    /// an authority signed the first certificate, which browsers then verify, or if no server uses them.
    pub(crate) fn web_fingerprints(&self) -> Vec<Fingerprint> {
        self.shown.load().web_fingerprints()
    }

    /// A configuration for packets of this protocol, which follows renewals.
    pub(crate) fn packet_config(&self) -> Arc<rustls::ServerConfig> {
        tls::server_config_of(self.resolver(Audience::Native))
    }

    /// A configuration for TLS over TCP, with these application protocols. It follows renewals.
    #[cfg_attr(not(feature = "websocket"), allow(dead_code, reason = "only streams need it"))]
    pub(crate) fn stream_config(&self, protocols: &[&[u8]]) -> Arc<rustls::ServerConfig> {
        tls::stream_config(self.resolver(Audience::Native), protocols)
    }

    /// A configuration for QUIC, with these application protocols. It follows renewals. If the server's certificate is
    /// self-signed, browsers receive a short-lived one.
    #[cfg(any(all(test, feature = "self-signed"), feature = "webtransport"))]
    pub(crate) fn quic_config(&self, protocols: &[&[u8]]) -> Arc<rustls::ServerConfig> {
        self.turn_pages(&mut of(&self.disk), SystemTime::now());
        tls::stream_config(self.resolver(Audience::Browsers), protocols)
    }

    fn resolver(&self, audience: Audience) -> Arc<Resolver> {
        Arc::new(Resolver::new(Arc::clone(&self.shown), audience))
    }

    #[cfg(all(test, feature = "self-signed"))]
    pub(super) fn shown_to_pages(&self) -> Vec<Arc<Identity>> {
        self.shown.load().pages().cloned().collect()
    }

    /// The certificates that this server has generated, with their keys, as PEM; `None` if they are kept in a file, or
    /// an authority has signed them.
    #[cfg(feature = "self-signed")]
    pub(crate) fn handover(&self) -> Option<String> {
        let shown = self.shown.load();
        let first = shown.first();
        let is_kept = first.self_made.as_ref()?.kept_in.is_some();
        (!is_kept).then(|| std::iter::once(first).chain(shown.pages()).map(|identity| identity.to_pem()).collect())
    }

    /// Checks once for changed files and expired certificates. `now` decides about the latter.
    pub(super) fn look(&self, now: SystemTime) {
        let mut disk = of(&self.disk);
        for files in &mut disk.watched {
            let event = files.look(|place, identity| {
                self.shown.store(Arc::new(self.shown.load().with(place, identity)));
            });
            event.into_iter().for_each(|event| of(&self.news).tell(event));
        }
        if self.shown.load().turn().is_some() && self.turn_pages(&mut disk, now) {
            of(&self.news).tell(CertificateEvent::ShortLivedRenewed { fingerprints: self.web_fingerprints() });
        }
        let mut news = of(&self.news);
        for identity in self.shown.load().identities() {
            news.warn_of_end(identity, now);
        }
    }

    /// Switches to the pages' certificates of this moment. True if they differ from the previous ones.
    fn turn_pages(&self, disk: &mut OnDisk, now: SystemTime) -> bool {
        let Some(shelf) = &mut disk.pages else { return false };
        let shown = self.shown.load();
        if shown.turn().is_some_and(|turn| turn.holds(now)) {
            return false;
        }
        let turn = PageTurn::at(now);
        // Without entropy the last ones stay. The next check tries again.
        let Ok(pair) = shelf.pair(turn, |trouble| of(&self.news).tell(trouble)) else { return false };
        self.shown.store(Arc::new(shown.with_pages(turn, pair)));
        true
    }

    /// The next event of a certificate.
    pub(crate) fn poll_event(&self) -> Option<CertificateEvent> {
        of(&self.news).poll()
    }

    pub(crate) fn stats(&self) -> CertificateStats {
        of(&self.news).stats()
    }
}

/// No operation under this lock can leave a partial state.
fn of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
