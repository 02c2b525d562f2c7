//! Files of a certificate and its key, read again when they have changed.
//!
//! Programs that renew certificates write two files one after the other, and some write them slowly. A change therefore
//! counts when two consecutive checks have read the same content.

use super::news::CertificateEvent;
use crate::security::identity::{Identity, IdentityFiles};
use std::sync::Arc;

/// The files of one certificate.
#[derive(Debug)]
pub(super) struct Watched {
    /// The index of the certificate among the server's certificates.
    place: usize,
    files: IdentityFiles,
    /// The content that was used or refused last.
    judged: Option<Content>,
    /// The result of the last check.
    last_seen: Option<Content>,
}

/// The content of the two files, or why they cannot be read.
type Content = Result<(Vec<u8>, Vec<u8>), String>;

impl Watched {
    /// `None` for a certificate that is not from files.
    pub(super) fn new(place: usize, identity: &Arc<Identity>) -> Option<Self> {
        let files = identity.files.clone()?;
        let content = files.read().map_err(|error| error.to_string());
        // The files may have changed since the start: they are judged only if they hold the certificate that is shown.
        let is_shown = |content: &(Vec<u8>, Vec<u8>)| {
            Identity::from_bytes(&files, content).is_ok_and(|now| now.fingerprint() == identity.fingerprint())
        };
        let judged = content.ok().filter(is_shown).map(Ok);
        Some(Watched { place, last_seen: judged.clone(), judged, files })
    }

    /// Reads the files, and passes a valid new certificate to `take`. Returns the event for the application.
    pub(super) fn look(&mut self, take: impl FnOnce(usize, Identity)) -> Option<CertificateEvent> {
        let seen = Some(self.files.read().map_err(|error| error.to_string()));
        let is_settled = self.last_seen == seen;
        self.last_seen.clone_from(&seen);
        if !is_settled || seen == self.judged {
            return None;
        }
        self.judged = seen;
        let file = self.files.certificate.clone();
        let identity = match &self.judged {
            Some(Ok(content)) => Identity::from_bytes(&self.files, content).map_err(|error| error.to_string()),
            Some(Err(error)) => Err(error.clone()),
            None => return None,
        };
        Some(match identity {
            Err(error) => CertificateEvent::Refused { file, error },
            Ok(identity) => {
                let (fingerprint, expires) = (identity.fingerprint(), identity.expires());
                take(self.place, identity);
                CertificateEvent::Renewed { file, fingerprint, expires }
            }
        })
    }
}
