//! A server's identity: a certificate and its key, from PEM texts or files. `self_signed` makes them.

use super::backend::CERTIFICATE_SIGNATURES;
use super::backend::signature::KeyPair as _;
use super::ecdsa::EcdsaKey;
use super::fingerprint::{Fingerprint, fingerprint_of, to_hex};
use super::identity_error::{CERTIFICATE_BYTES_MAX, IdentityError};
use super::key_file::is_open_to_others;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use std::fmt;
use std::path::{Path, PathBuf};

/// A certificate and its key.
pub struct Identity {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Vec<u8>,
    /// Intermediate certificates, which DTLS does not send.
    pub(super) between: Vec<Vec<u8>>,
    /// The file with the key, if others than its owner can read it.
    pub(super) open_key_file: Option<PathBuf>,
}

impl Identity {
    /// Certificate and key as PEM texts, which may be the same. The first certificate is the server's, the intermediate
    /// certificates follow; DTLS here does not send these ([`Identity::unshown`]).
    ///
    /// # Errors
    /// There is no certificate or no key in the texts, the certificate cannot be read, is too long, or is not valid
    /// today, the key is not of ECDSA on P-256 or P-384, or the two do not belong together.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let between = CertificateDer::pem_slice_iter(certificate).skip(1).flatten().map(|der| der.to_vec()).collect();
        let certificate = CertificateDer::from_pem_slice(certificate).map_err(|_| IdentityError::NoCertificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| IdentityError::NoKey)?;
        check(&certificate, &key)?;
        Ok(Identity { certificate: certificate.to_vec(), key: key.secret_der().to_vec(), between, open_key_file: None })
    }

    /// Certificate and key from PEM files. Without a file for the key, the key is in the file of the certificate.
    ///
    /// # Errors
    /// A file cannot be read, or as [`Identity::from_pem`] about its content. The error names the file.
    pub fn from_files(certificate: impl AsRef<Path>, key: Option<&Path>) -> Result<Self, IdentityError> {
        let certificate = certificate.as_ref();
        let key = key.unwrap_or(certificate);
        let read = |path: &Path| std::fs::read(path).map_err(|error| IdentityError::file(path, error));
        let identity = Identity::from_pem(&read(certificate)?, &read(key)?).map_err(|error| {
            let at = if matches!(error, IdentityError::NoKey) { key } else { certificate };
            error.in_file(at)
        })?;
        Ok(identity.with_key_from(key))
    }

    /// Notes whether others can read the file that the key comes from.
    pub(super) fn with_key_from(self, path: &Path) -> Self {
        Identity { open_key_file: is_open_to_others(path).then(|| path.to_owned()), ..self }
    }

    /// The file that the key was read from, if others than its owner can read it (Unix only). Anybody who has the key
    /// can impersonate this server, so an application should warn of such a file.
    pub fn open_key_file(&self) -> Option<&Path> {
        self.open_key_file.as_deref()
    }

    /// Number of certificates behind the first in the PEM text: in most cases the intermediate certificates. Clients
    /// that use DTLS do not receive them, and can verify only the authority that signed the first certificate directly.
    /// Such clients pin the fingerprint, or are given the signer's certificate ([`Trust::Ca`](super::Trust::Ca)). TLS
    /// sends them.
    pub fn unshown(&self) -> usize {
        self.between.len()
    }

    /// The fingerprint that clients pin.
    pub fn fingerprint(&self) -> Fingerprint {
        fingerprint_of(&self.certificate)
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
        f.debug_struct("Identity").field("sha256", &to_hex(&self.fingerprint())).finish_non_exhaustive()
    }
}

/// A client accepts 16 KB of a server's handshake, of which other messages need some hundred bytes.
const CHAIN_BYTES_MAX: usize = 12_288;

/// Checks whether certificate and key are valid today and belong together.
fn check(certificate: &CertificateDer<'_>, key: &PrivateKeyDer<'_>) -> Result<(), IdentityError> {
    if certificate.len() > CERTIFICATE_BYTES_MAX {
        return Err(IdentityError::TooLong(certificate.len()));
    }
    let parsed = webpki::EndEntityCert::try_from(certificate);
    let parsed = parsed.map_err(|error| IdentityError::Unreadable(error.to_string()))?;
    // Without an authority, an unknown issuer is the only error about a certificate that is valid otherwise.
    let usage = webpki::KeyUsage::server_auth();
    let verified = parsed.verify_for_usage(CERTIFICATE_SIGNATURES, &[], &[], UnixTime::now(), usage, None, None);
    match verified.map(drop) {
        Err(webpki::Error::CertExpired { .. }) => return Err(IdentityError::Expired),
        Err(webpki::Error::CertNotValidYet { .. }) => return Err(IdentityError::NotYetValid),
        _ => {}
    }
    let key = EcdsaKey::load(key).ok_or(IdentityError::Unsupported)?;
    let public = parsed.subject_public_key_info();
    public.ends_with(key.pair.public_key().as_ref()).then_some(()).ok_or(IdentityError::WrongKey)
}
