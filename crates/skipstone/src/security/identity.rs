//! A server's identity: a certificate and its key, from PEM texts or files. `self_signed` generates them.

use super::backend::CERTIFICATE_SIGNATURES;
use super::fingerprint::{Fingerprint, fingerprint_of};
use super::identity_error::{CHAIN_BYTES_MAX, IdentityError};
use super::key_file::is_open_to_others;
use super::pem::Sorted;
use super::private_key::PrivateKey;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fmt, io};

/// A certificate and its key.
pub struct Identity {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Vec<u8>,
    /// Intermediate certificates, which DTLS does not send.
    pub(super) between: Vec<Vec<u8>>,
    /// The file with the key, if users other than its owner can read it.
    pub(super) open_key_file: Option<PathBuf>,
    /// The files with the identity, which are read again when they change.
    pub(super) files: Option<IdentityFiles>,
    /// `None` unless this library generated it.
    pub(super) self_made: Option<SelfMade>,
    /// Whether the key is an ECDSA key.
    pub(super) is_ecdsa: bool,
}

/// The additional data of an identity that this library generated.
#[derive(Clone, Debug, Default)]
pub(super) struct SelfMade {
    /// The file in which it is kept, if any.
    pub(super) kept_in: Option<PathBuf>,
    /// Short-lived certificates for pages that the previous process has generated.
    pub(super) pages: Vec<Arc<Identity>>,
}

/// The files of a certificate and its key; both may be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IdentityFiles {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

impl Identity {
    /// Certificate and key as PEM texts, which may be the same, in any order: the server's certificate is the one that
    /// belongs to the key; the intermediate certificates follow it. DTLS does not send those ([`Identity::unshown`]).
    /// The key is PKCS #8, SEC 1 or PKCS #1, an ECDSA key on P-256 or P-384 or an RSA key of 2,048 to 4,096 bits. With
    /// RSA there is no DTLS, and a handshake costs the server about thirty times as much.
    ///
    /// # Errors
    /// There is no certificate or no key in the texts, the certificate cannot be parsed, is too long, or is not valid
    /// today, the key is encrypted or of another kind, or the two do not belong together.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        Identity::from_pem_at(certificate, key, UnixTime::now())
    }

    /// The same, for a certificate that must be valid at a given time.
    pub(super) fn from_pem_at(certificate: &[u8], key: &[u8], at: UnixTime) -> Result<Self, IdentityError> {
        let Sorted { certificate, between, key } = Sorted::read(certificate, key)?;
        let is_ecdsa = check(&certificate, &key, at)?.is_ecdsa();
        let (certificate, key) = (certificate.to_vec(), key.secret_der().to_vec());
        Ok(Identity { certificate, key, between, open_key_file: None, files: None, self_made: None, is_ecdsa })
    }

    /// Certificate and key from PEM files. Without a file for the key, the key is in the file of the certificate. A
    /// running server reads the files again when they have changed.
    ///
    /// # Errors
    /// A file cannot be read, or its content is refused as by [`Identity::from_pem`]. The error names the file.
    pub fn from_files(certificate: impl AsRef<Path>, key: Option<&Path>) -> Result<Self, IdentityError> {
        let certificate = certificate.as_ref();
        let files = IdentityFiles { certificate: certificate.into(), key: key.unwrap_or(certificate).into() };
        Identity::from_bytes(&files, &files.read()?)
    }

    /// The identity in files with this content.
    pub(super) fn from_bytes(files: &IdentityFiles, content: &(Vec<u8>, Vec<u8>)) -> Result<Self, IdentityError> {
        let identity = Identity::from_pem(&content.0, &content.1).map_err(|error| {
            let is_of_key = matches!(error, IdentityError::NoKey | IdentityError::EncryptedKey);
            error.in_file(if is_of_key { &files.key } else { &files.certificate })
        })?;
        Ok(Identity { files: Some(files.clone()), ..identity.with_key_from(&files.key) })
    }

    /// Records whether other users can read the file of the key.
    pub(super) fn with_key_from(self, path: &Path) -> Self {
        Identity { open_key_file: is_open_to_others(path).then(|| path.to_owned()), ..self }
    }

    /// The file of the key, if users other than its owner can read it (Unix only). Anyone who has the key can
    /// impersonate this server, so an application should warn of such a file.
    pub fn open_key_file(&self) -> Option<&Path> {
        self.open_key_file.as_deref()
    }

    /// Number of certificates after the first in the PEM text: in most cases the intermediate certificates. Clients
    /// that use DTLS do not receive them, and can verify only an authority that signed the first certificate directly.
    /// Such clients pin the fingerprint, or trust the signer's certificate ([`Trust::Ca`](super::Trust::Ca)). TLS sends
    /// them.
    pub fn unshown(&self) -> usize {
        self.between.len()
    }

    /// The fingerprint that clients pin.
    pub fn fingerprint(&self) -> Fingerprint {
        fingerprint_of(&self.certificate)
    }

    /// Whether the identity can serve DTLS clients: with an ECDSA key, and a certificate of at most 4,096 bytes.
    pub fn serves_dtls(&self) -> bool {
        self.is_ecdsa && self.certificate.len() <= DTLS_BYTES_MAX
    }

    /// The time at which the certificate expires; `None` if that is beyond the year 2200.
    pub fn expires(&self) -> Option<SystemTime> {
        let der = CertificateDer::from(&self.certificate[..]);
        let parsed = webpki::EndEntityCert::try_from(&der).ok()?;
        match verified_at(&parsed, UnixTime::since_unix_epoch(FAR)) {
            Err(webpki::Error::CertExpired { not_after, .. }) => {
                Some(SystemTime::UNIX_EPOCH + Duration::from_secs(not_after.as_secs()))
            }
            _ => None,
        }
    }

    #[cfg(feature = "dtls")]
    pub(crate) fn certificate(&self) -> dimpl::DtlsCertificate {
        dimpl::DtlsCertificate { certificate: self.certificate.clone(), private_key: self.key.clone() }
    }

    /// The certificate and the intermediate certificates, as many as fit into the limit of a client.
    pub(crate) fn chain(&self) -> impl Iterator<Item = &[u8]> {
        let mut left = CHAIN_BYTES_MAX - self.certificate.len();
        let between = self.between.iter().map_while(move |der| {
            left = left.checked_sub(der.len())?;
            Some(&der[..])
        });
        std::iter::once(&self.certificate[..]).chain(between)
    }

    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("sha256", &self.fingerprint().to_string()).finish_non_exhaustive()
    }
}

impl IdentityFiles {
    /// The content of both files.
    pub(super) fn read(&self) -> Result<(Vec<u8>, Vec<u8>), IdentityError> {
        Ok((read(&self.certificate)?, read(&self.key)?))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, IdentityError> {
    let error = |error| IdentityError::file(path, error);
    let mut content = Vec::new();
    let file = std::fs::File::open(path).map_err(error)?;
    io::Read::read_to_end(&mut io::Read::take(file, FILE_BYTES_MAX), &mut content).map_err(error)?;
    Ok(content)
}

/// More than any chain takes, so that a wrong file, or a device, does not exhaust the memory.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// dimpl keeps twelve records of a flight and queues ten datagrams; a longer certificate would make a server panic at
/// its first client.
const DTLS_BYTES_MAX: usize = 4_096;

/// A time by which nearly all certificates have expired.
const FAR: Duration = Duration::from_secs(230 * 365 * 86_400);

/// Checks whether certificate and key are valid at a time and belong together, and returns the key.
fn check(certificate: &CertificateDer<'_>, key: &PrivateKeyDer<'_>, at: UnixTime) -> Result<PrivateKey, IdentityError> {
    if certificate.len() > CHAIN_BYTES_MAX {
        return Err(IdentityError::TooLong(certificate.len()));
    }
    let parsed = webpki::EndEntityCert::try_from(certificate);
    let parsed = parsed.map_err(|error| IdentityError::Unreadable(error.to_string()))?;
    match verified_at(&parsed, at) {
        Err(webpki::Error::CertExpired { .. }) => return Err(IdentityError::Expired),
        Err(webpki::Error::CertNotValidYet { .. }) => return Err(IdentityError::NotYetValid),
        _ => {}
    }
    let key = PrivateKey::load(key).ok_or(IdentityError::Unsupported)?;
    if key.is_that_of(&parsed.subject_public_key_info()) { Ok(key) } else { Err(IdentityError::WrongKey) }
}

/// The error of a certificate at a given time. Without an authority, an unknown issuer is the only error of an
/// otherwise valid certificate.
fn verified_at(certificate: &webpki::EndEntityCert<'_>, at: UnixTime) -> Result<(), webpki::Error> {
    let usage = webpki::KeyUsage::server_auth();
    certificate.verify_for_usage(CERTIFICATE_SIGNATURES, &[], &[], at, usage, None, None).map(drop)
}
