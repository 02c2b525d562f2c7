//! Events of the certificates of a running server, for its application.

use crate::security::fingerprint::Fingerprint;
use crate::security::identity::Identity;
use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// An event of a certificate of a running server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateEvent {
    /// A file has changed, and new handshakes use its new certificate. Existing connections continue.
    Renewed {
        /// The file of the certificate.
        file: PathBuf,
        /// The new certificate's fingerprint, which clients that pin it need.
        fingerprint: Fingerprint,
        /// The time at which it expires.
        expires: Option<SystemTime>,
    },
    /// A file has changed, and cannot be used. The last good certificate stays.
    Refused {
        /// The file of the certificate.
        file: PathBuf,
        /// The error, and the remedy.
        error: String,
    },
    /// A certificate expires within a week, or has expired.
    Ending {
        /// The certificate's fingerprint.
        fingerprint: Fingerprint,
        /// The time at which it expires.
        expires: SystemTime,
    },
    /// A short-lived certificate for browsers cannot be stored next to the server's identity, or the stored one cannot
    /// be used: another one was generated, and after a restart pages need new hashes.
    NotKept {
        /// The file that cannot be used.
        file: PathBuf,
        /// The error.
        error: String,
    },
    /// The short-lived certificate for browsers was renewed. These are the hashes for `serverCertificateHashes`.
    ShortLivedRenewed {
        /// SHA-256 of the current certificate and of the next.
        fingerprints: Vec<Fingerprint>,
    },
}

impl fmt::Display for CertificateEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CertificateEvent::Renewed { file, .. } => {
                write!(f, "'{}' has changed: new handshakes use the new certificate", file.display())
            }
            CertificateEvent::Refused { error, .. } => {
                write!(f, "the changed certificate is invalid; the last valid one stays in use: {error}")
            }
            CertificateEvent::Ending { expires, .. } => {
                let left = expires.duration_since(SystemTime::now()).unwrap_or_default();
                write!(f, "the certificate ends in {} hours: renew it", left.as_secs() / 3_600)
            }
            CertificateEvent::NotKept { error, .. } => {
                write!(
                    f,
                    "the certificates for browsers will change at the next restart, and pages will need the new \
                     hashes: {error}"
                )
            }
            CertificateEvent::ShortLivedRenewed { fingerprints } => {
                f.write_str("the short-lived certificate for browsers was renewed; pages pin these, now and next:")?;
                fingerprints.iter().try_for_each(|fingerprint| write!(f, " sha256={fingerprint}"))
            }
        }
    }
}

/// Counters of a server's certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CertificateStats {
    /// Changed files whose certificate is used since then.
    pub renewed: u64,
    /// Changed files that could not be used.
    pub refused: u64,
    /// Events that were dropped because the application did not poll them.
    pub events_dropped: u64,
}

/// Limit on waiting events; the oldest is dropped for the newest.
#[derive(Debug, Default)]
pub(super) struct News {
    waiting: VecDeque<CertificateEvent>,
    stats: CertificateStats,
    warned_of: Vec<(Fingerprint, Stage)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Soon,
    Over,
}

const WAITING_MAX: usize = 64;
const WEEK: Duration = Duration::from_secs(7 * 86_400);

impl News {
    pub(super) fn tell(&mut self, event: CertificateEvent) {
        self.stats.renewed += u64::from(matches!(event, CertificateEvent::Renewed { .. }));
        self.stats.refused += u64::from(matches!(event, CertificateEvent::Refused { .. }));
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.pop_front();
            self.stats.events_dropped += 1;
        }
        self.waiting.push_back(event);
    }

    pub(super) fn poll(&mut self) -> Option<CertificateEvent> {
        self.waiting.pop_front()
    }

    pub(super) fn stats(&self) -> CertificateStats {
        self.stats
    }

    /// Warns once, a week before a certificate expires, and once when it has expired.
    pub(super) fn warn_of_end(&mut self, identity: &Identity, now: SystemTime) {
        let Some(expires) = identity.expires().filter(|expires| now + WEEK >= *expires) else { return };
        let stage = if now >= expires { Stage::Over } else { Stage::Soon };
        let fingerprint = identity.fingerprint();
        if !self.warned_of.contains(&(fingerprint, stage)) {
            self.warned_of.truncate(WAITING_MAX);
            self.warned_of.insert(0, (fingerprint, stage));
            self.tell(CertificateEvent::Ending { fingerprint, expires });
        }
    }
}
