//! Who a server is: a certificate and its key, from PEM files or made on the first start and kept.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm, KeyPair,
};
use dimpl::DtlsCertificate;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A certificate and its key.
pub struct Identity {
    certificate: Vec<u8>,
    key: Vec<u8>,
    /// Certificates of authorities between, which DTLS does not show.
    between: Vec<Vec<u8>>,
}

/// SHA-256 of a certificate's DER form: what clients pin.
pub type Fingerprint = [u8; 32];

impl Identity {
    /// A new one that vouches for itself; clients pin its fingerprint. It does not expire.
    pub fn self_signed() -> Result<Self, IdentityError> {
        let made = |error: rcgen::Error| IdentityError::NotMade(error.to_string());
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(made)?;
        let mut params = rcgen::CertificateParams::new(vec!["skipstone.invalid".into()]).map_err(made)?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, "skipstone");
        let certificate = params.self_signed(&key).map_err(made)?;
        Ok(Identity { certificate: certificate.der().to_vec(), key: key.serialize_der(), between: Vec::new() })
    }

    /// The one that this file holds; if there is no such file, a new one that is written there, readable by its owner
    /// only.
    pub fn self_signed_kept_in(path: impl AsRef<Path>) -> Result<Self, IdentityError> {
        let path = path.as_ref();
        match std::fs::read(path) {
            Ok(pem) => Identity::from_pem(&pem, &pem).map_err(|error| error.in_file(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = Identity::self_signed()?;
                let written = write_new(path, made.to_pem().as_bytes());
                written.map_err(|error| IdentityError::file(path, error))?;
                // Whose it is, should another server have started at the same moment.
                let pem = std::fs::read(path).map_err(|error| IdentityError::file(path, error))?;
                Identity::from_pem(&pem, &pem).map_err(|error| error.in_file(path))
            }
            Err(error) => Err(IdentityError::file(path, error)),
        }
    }

    /// Certificate and key as PEM texts, which may be the same. Of several certificates the first is the server's, those
    /// of authorities between follow; DTLS here does not show these ([`Identity::unshown`]).
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let between = CertificateDer::pem_slice_iter(certificate).skip(1).flatten().map(|der| der.to_vec()).collect();
        let certificate = CertificateDer::from_pem_slice(certificate).map_err(|_| IdentityError::NoCertificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| IdentityError::NoKey)?;
        check(&certificate, &key)?;
        Ok(Identity { certificate: certificate.to_vec(), key: key.secret_der().to_vec(), between })
    }

    /// Certificate and key from PEM files; without a file for the key, it is beside the certificate.
    pub fn from_files(certificate: impl AsRef<Path>, key: Option<&Path>) -> Result<Self, IdentityError> {
        let certificate = certificate.as_ref();
        let key = key.unwrap_or(certificate);
        let read = |path: &Path| std::fs::read(path).map_err(|error| IdentityError::file(path, error));
        Identity::from_pem(&read(certificate)?, &read(key)?).map_err(|error| {
            let at = if matches!(error, IdentityError::NoKey) { key } else { certificate };
            error.in_file(at)
        })
    }

    /// How many certificates the PEM text holds behind the first: those of authorities between, in most cases. No client that
    /// uses DTLS gets to see them, so that it can follow the chain no further than to whoever signed the first. Such clients
    /// pin the fingerprint, or are given the signer's certificate ([`Trust::Ca`](super::Trust::Ca)). TLS shows them.
    pub fn unshown(&self) -> usize {
        self.between.len()
    }

    /// What clients pin.
    pub fn fingerprint(&self) -> Fingerprint {
        fingerprint_of(&self.certificate)
    }

    pub(crate) fn certificate(&self) -> DtlsCertificate {
        DtlsCertificate { certificate: self.certificate.clone(), private_key: self.key.clone() }
    }

    /// The certificate and those of authorities between, as far as a client takes them.
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

    fn to_pem(&self) -> String {
        format!("{}{}", pem("CERTIFICATE", &self.certificate), pem("PRIVATE KEY", &self.key))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("sha256", &to_hex(&self.fingerprint())).finish_non_exhaustive()
    }
}

pub(super) fn fingerprint_of(certificate: &[u8]) -> Fingerprint {
    digest(&SHA256, certificate).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Bytes in hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is wrong with a certificate or its key.
#[derive(Debug)]
pub enum IdentityError {
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// Something is wrong with what a file holds.
    In(PathBuf, Box<IdentityError>),
    /// There is no certificate in the PEM text.
    NoCertificate,
    /// There is no private key in the PEM text.
    NoKey,
    /// The certificate cannot be read.
    Unreadable(String),
    /// The certificate's time is over.
    Expired,
    /// The certificate's time has not begun.
    NotYetValid,
    /// The key is not one of ECDSA on P-256 or P-384: most often RSA.
    Unsupported,
    /// The key belongs to another certificate.
    WrongKey,
    /// The certificate has so many bytes, more than a flight of DTLS here holds.
    TooLong(usize),
    /// No certificate could be made.
    NotMade(String),
}

impl IdentityError {
    fn file(path: &Path, error: io::Error) -> Self {
        IdentityError::File(path.into(), error)
    }

    fn in_file(self, path: &Path) -> Self {
        IdentityError::In(path.into(), self.into())
    }
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdentityError::File(path, error) => write!(f, "cannot use '{}': {error}", path.display()),
            IdentityError::In(path, error) => write!(f, "'{}': {error}", path.display()),
            IdentityError::NoCertificate => {
                f.write_str("there is no certificate (a PEM file has one between lines of BEGIN and END CERTIFICATE)")
            }
            IdentityError::NoKey => f.write_str(
                "there is no private key (a PEM file has one between lines of BEGIN and END PRIVATE KEY; name its file \
                 if it is another one)",
            ),
            IdentityError::Unreadable(why) => write!(f, "the certificate cannot be read: {why}"),
            IdentityError::Expired => f.write_str("the certificate has expired: renew it"),
            IdentityError::NotYetValid => {
                f.write_str("the certificate is not valid yet: is the clock right? if it is, wait or issue another")
            }
            IdentityError::Unsupported => f.write_str(
                "DTLS here takes ECDSA keys on P-256 or P-384 only, and this is another, most often RSA. Remedy: openssl \
                 ecparam -name prime256v1 -genkey -noout -out key.pem, and a certificate for that key (certbot: \
                 --key-type ecdsa)",
            ),
            IdentityError::TooLong(bytes) => write!(
                f,
                "the certificate has {bytes} bytes, and DTLS here sends {CERTIFICATE_BYTES_MAX} at most: issue one for fewer \
                 names"
            ),
            IdentityError::WrongKey => f.write_str("the private key does not belong to the certificate"),
            IdentityError::NotMade(why) => write!(f, "no certificate could be made: {why}"),
        }
    }
}

impl std::error::Error for IdentityError {}

/// dimpl keeps twelve records of a flight and queues ten datagrams; with more, a server would panic at its first client.
const CERTIFICATE_BYTES_MAX: usize = 4_096;

/// A client takes 16 KB of a server's handshake, of which other messages have some hundred bytes.
const CHAIN_BYTES_MAX: usize = 12_288;

/// Whether certificate and key can be used, today and together.
fn check(certificate: &CertificateDer<'_>, key: &PrivateKeyDer<'_>) -> Result<(), IdentityError> {
    if certificate.len() > CERTIFICATE_BYTES_MAX {
        return Err(IdentityError::TooLong(certificate.len()));
    }
    let parsed = webpki::EndEntityCert::try_from(certificate);
    let parsed = parsed.map_err(|error| IdentityError::Unreadable(error.to_string()))?;
    // Without an authority, an unknown issuer is the only complaint about a certificate that is good otherwise.
    let usage = webpki::KeyUsage::server_auth();
    let verified = parsed.verify_for_usage(webpki::ALL_VERIFICATION_ALGS, &[], &[], UnixTime::now(), usage, None, None);
    match verified.map(drop) {
        Err(webpki::Error::CertExpired { .. }) => return Err(IdentityError::Expired),
        Err(webpki::Error::CertNotValidYet { .. }) => return Err(IdentityError::NotYetValid),
        _ => {}
    }
    let load = |algorithm: &'static EcdsaSigningAlgorithm| {
        EcdsaKeyPair::from_private_key_der(algorithm, key.secret_der())
            .or_else(|_| EcdsaKeyPair::from_pkcs8(algorithm, key.secret_der()))
            .ok()
    };
    let pair = load(&ECDSA_P256_SHA256_ASN1_SIGNING).or_else(|| load(&ECDSA_P384_SHA384_ASN1_SIGNING));
    let pair = pair.ok_or(IdentityError::Unsupported)?;
    let public = parsed.subject_public_key_info();
    public.ends_with(pair.public_key().as_ref()).then_some(()).ok_or(IdentityError::WrongKey)
}

/// PEM (RFC 7468): base64 in lines of 64 between two marks.
fn pem(label: &str, der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in der.chunks(48) {
        for three in line.chunks(3) {
            let bits = three.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
            for place in 0..4 {
                let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize] as char;
                text.push(if place <= three.len() { digit } else { '=' });
            }
        }
        text.push('\n');
    }
    text + &format!("-----END {label}-----\n")
}

/// Writes a file for its owner's eyes, all of it or nothing. One that has come to be there meanwhile stays.
fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| {
        io::Write::write_all(&mut file, content)?;
        file.sync_all()
    });
    let linked = written.and_then(|()| std::fs::hard_link(&draft, path));
    let _ = std::fs::remove_file(&draft);
    linked.or_else(
        |error| if error.kind() == io::ErrorKind::AlreadyExists && path.exists() { Ok(()) } else { Err(error) },
    )
}
