//! What happens to certificates while a server runs, for its application.

use crate::security::fingerprint::Fingerprint;
use crate::security::identity::Identity;
use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Something that happened to a certificate of a running server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateEvent {
    /// A file has changed, and new handshakes use what it holds now. Connections go on.
    Renewed {
        /// The file of the certificate.
        file: PathBuf,
        /// The new certificate's fingerprint, which clients with a pin need.
        fingerprint: Fingerprint,
        /// The time at which it ends.
        expires: Option<SystemTime>,
    },
    /// A file has changed, and cannot be used. The last good certificate stays.
    Refused {
        /// The file of the certificate.
        file: PathBuf,
        /// What is wrong with it, and the remedy.
        error: String,
    },
    /// A certificate ends within a week, or has ended.
    Ending {
        /// The certificate's fingerprint.
        fingerprint: Fingerprint,
        /// The time at which it ends.
        expires: SystemTime,
    },
    /// A short-lived certificate for browsers cannot be kept beside the server's identity, or what is kept there cannot be used:
    /// another one was made, and after a restart pages need new hashes.
    NotKept {
        /// The file that cannot be used.
        file: PathBuf,
        /// What is wrong with it.
        error: String,
    },
    /// The short-lived certificate for browsers was renewed. These are the hashes for `serverCertificateHashes`.
    ShortLivedRenewed {
        /// SHA-256 of the certificate of now and of the next.
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
                write!(f, "the changed certificate is refused, and the last good one stays: {error}")
            }
            CertificateEvent::Ending { expires, .. } => {
                let left = expires.duration_since(SystemTime::now()).unwrap_or_default();
                write!(f, "the certificate ends in {} hours: renew it", left.as_secs() / 3_600)
            }
            CertificateEvent::NotKept { error, .. } => {
                write!(
                    f,
                    "the certificates for browsers change with a restart, and pages need their new hashes then: {error}"
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
    /// Changed files whose certificate is used since.
    pub renewed: u64,
    /// Changed files that could not be used.
    pub refused: u64,
    /// Events that nobody polled before they were too many.
    pub events_dropped: u64,
}

/// Events that wait, of which the oldest is dropped for the newest.
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

    /// Warns once a week before a certificate ends, and once when it has ended.
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
