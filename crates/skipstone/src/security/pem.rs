//! Certificates and keys in PEM texts, in any order: AutoSSL and HAProxy write key, certificate and chain into one
//! file, in different orders.

use super::identity_error::IdentityError;
use super::private_key::PrivateKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// The certificates of one PEM text in chain order, and the private key of another.
pub(super) struct Sorted {
    /// The certificate that the key belongs to, or the first if there is none.
    pub(super) certificate: CertificateDer<'static>,
    /// The intermediate certificates, each after the one that it certifies.
    pub(super) between: Vec<Vec<u8>>,
    pub(super) key: PrivateKeyDer<'static>,
}

impl Sorted {
    pub(super) fn read(certificates: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let mut all: Vec<_> = CertificateDer::pem_slice_iter(certificates).flatten().collect();
        if all.is_empty() {
            return Err(IdentityError::NoCertificate);
        }
        let key = read_key(key)?;
        let own = PrivateKey::load(&key).and_then(|key| all.iter().position(|der| is_of(&key, der)));
        let certificate = all.remove(own.unwrap_or(0));
        let between = chain(&certificate, &all);
        Ok(Sorted { certificate, between, key })
    }
}

fn read_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, IdentityError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| {
        let sealed = b"-----BEGIN ENCRYPTED PRIVATE KEY-----";
        let is_sealed = pem.windows(sealed.len()).any(|line| line == sealed)
            || pem.windows(PROC_TYPE.len()).any(|line| line == PROC_TYPE);
        if is_sealed { IdentityError::EncryptedKey } else { IdentityError::NoKey }
    })
}

/// The mark of an encrypted key in the older form (RFC 1421).
const PROC_TYPE: &[u8] = b"Proc-Type: 4,ENCRYPTED";

fn is_of(key: &PrivateKey, certificate: &CertificateDer<'_>) -> bool {
    let parsed = webpki::EndEntityCert::try_from(certificate);
    parsed.is_ok_and(|parsed| key.is_that_of(&parsed.subject_public_key_info()))
}

/// The chain from a certificate to its issuer, to the issuer's issuer, and so on, as far as certificates are present.
fn chain(first: &CertificateDer<'_>, others: &[CertificateDer<'static>]) -> Vec<Vec<u8>> {
    let Ok(mut last) = webpki::EndEntityCert::try_from(first) else { return Vec::new() };
    let mut left: Vec<_> =
        others.iter().filter_map(|der| Some((webpki::EndEntityCert::try_from(der).ok()?, der))).collect();
    let mut found = Vec::new();
    while let Some(at) = left.iter().position(|(parsed, _)| parsed.subject() == last.issuer()) {
        let (parsed, der) = left.remove(at);
        found.push(der.to_vec());
        last = parsed;
    }
    found
}
