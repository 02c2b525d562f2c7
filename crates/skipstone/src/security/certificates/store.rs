//! The certificates of a server, at every moment.

use super::files::Watched;
use super::news::{CertificateEvent, CertificateStats, News};
use super::resolver::{Audience, Resolver};
use super::shown::Shown;
use crate::security::fingerprint::Fingerprint;
use crate::security::identity::Identity;
use crate::security::tls;
use arc_swap::ArcSwap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// The certificates of a server: one or more, of which the first serves whoever names no other.
#[derive(Debug)]
pub(crate) struct Certificates {
    shown: Arc<ArcSwap<Shown>>,
    /// Held while files are read, so by nobody but the watching thread.
    watched: Mutex<Vec<Watched>>,
    /// Never held while a file is read: a disk may take its time, and the application asks each frame.
    news: Mutex<News>,
}

impl Certificates {
    pub(crate) fn new(identities: Vec<Arc<Identity>>) -> Arc<Self> {
        let watched = (0..).zip(&identities).filter_map(|(place, identity)| Watched::new(place, identity)).collect();
        let shown = Arc::new(ArcSwap::from_pointee(Shown::new(identities, SystemTime::now())));
        Arc::new(Certificates { shown, watched: Mutex::new(watched), news: Mutex::default() })
    }

    /// The certificate that is shown to whoever names no server.
    pub(crate) fn first(&self) -> Arc<Identity> {
        Arc::clone(self.shown.load().first())
    }

    /// The certificate that DTLS shows, if there is one that it can show.
    #[cfg(feature = "dtls")]
    pub(crate) fn for_dtls(&self) -> Option<Arc<Identity>> {
        self.shown.load().identities().find(|identity| identity.serves_dtls()).cloned()
    }

    /// SHA-256 of the short-lived certificates, of now and of the time behind it, that browsers take by their hash; empty if
    /// the first certificate is an authority's, which browsers check by themselves.
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
    /// self-signed, browsers are shown a short-lived one.
    #[cfg(any(all(test, feature = "self-signed"), feature = "webtransport"))]
    pub(crate) fn quic_config(&self, protocols: &[&[u8]]) -> Arc<rustls::ServerConfig> {
        tls::stream_config(self.resolver(Audience::Browsers), protocols)
    }

    fn resolver(&self, audience: Audience) -> Arc<Resolver> {
        Arc::new(Resolver::new(Arc::clone(&self.shown), audience))
    }

    /// Looks for changed files and ended certificates, once. `now` decides about the latter.
    pub(super) fn look(&self, now: SystemTime) {
        let mut watched = of(&self.watched);
        for files in watched.iter_mut() {
            let event = files.look(|place, identity| {
                self.shown.store(Arc::new(self.shown.load().with(place, identity)));
            });
            event.into_iter().for_each(|event| of(&self.news).tell(event));
        }
        let mut news = of(&self.news);
        if let Some(turned) = self.shown.load().turned(now) {
            self.shown.store(Arc::new(turned));
            news.tell(CertificateEvent::ShortLivedRenewed { fingerprints: self.web_fingerprints() });
        }
        for identity in self.shown.load().identities() {
            news.warn_of_end(identity, now);
        }
    }

    /// The next thing that happened to a certificate.
    pub(crate) fn poll_event(&self) -> Option<CertificateEvent> {
        of(&self.news).poll()
    }

    pub(crate) fn stats(&self) -> CertificateStats {
        of(&self.news).stats()
    }
}

/// Nothing in there can be left half done.
fn of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
