//! Certificates that a server generates, for one run or kept in a file.

use super::identity::{Identity, SelfMade};
use super::identity_error::IdentityError;
use super::kept_file;
use rustls_pki_types::UnixTime;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

impl Identity {
    /// Creates a self-signed certificate; clients pin its fingerprint. It does not expire.
    ///
    /// # Errors
    /// The cryptography library fails to generate a key or a certificate.
    pub fn self_signed() -> Result<Self, IdentityError> {
        Identity::made(|_| ())
    }

    /// Creates a self-signed certificate that browsers accept by its hash (WebTransport's `serverCertificateHashes`) if
    /// it is valid for 14 days at most: with an ECDSA key on P-256.
    pub(super) fn short_lived(life: Range<SystemTime>) -> Result<Self, IdentityError> {
        Identity::made(|params| {
            params.not_before = life.start.into();
            params.not_after = life.end.into();
        })
    }

    fn made(adjust: impl FnOnce(&mut rcgen::CertificateParams)) -> Result<Self, IdentityError> {
        let made = |error: rcgen::Error| IdentityError::NotMade(error.to_string());
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(made)?;
        let mut params = rcgen::CertificateParams::new(vec!["skipstone.invalid".into()]).map_err(made)?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, "skipstone");
        adjust(&mut params);
        let certificate = params.self_signed(&key).map_err(made)?;
        Ok(Identity {
            certificate: certificate.der().to_vec(),
            key: key.serialize_der(),
            between: Vec::new(),
            open_key_file: None,
            files: None,
            self_made: Some(SelfMade::default()),
            is_ecdsa: true,
        })
    }

    /// The identity in this file. If there is no such file, a new identity is written there, readable by its owner
    /// only. The short-lived certificates of a server for WebTransport are kept in the same directory, in files of the
    /// same name with the suffix `.pages.N`.
    ///
    /// # Errors
    /// The file cannot be read or written, [`Identity::from_pem`] refuses its content, or no certificate could be
    /// generated.
    pub fn self_signed_kept_in(path: impl AsRef<Path>) -> Result<Self, IdentityError> {
        let path = path.as_ref();
        let pem = kept_file::read_or_make(path, || Ok(Identity::self_signed()?.to_pem()))?;
        let identity = Identity::from_pem(&pem, &pem).map_err(|error| error.in_file(path))?;
        let self_made = Some(SelfMade { kept_in: Some(path.into()), pages: Vec::new() });
        Ok(Identity { self_made, ..identity.with_key_from(path) })
    }

    /// The identity of the previous process, by its [`Security::handover`](super::Security::handover), and its
    /// short-lived certificates.
    ///
    /// # Errors
    /// As [`Identity::from_pem`].
    pub fn from_handover(text: &str) -> Result<Self, IdentityError> {
        const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
        let each = |part| Identity::own(&format!("{BEGIN}{part}"), UnixTime::now());
        let mut parts = text.split(BEGIN).skip(1);
        let identity = each(parts.next().ok_or(IdentityError::NoCertificate)?)?;
        // A certificate that has expired meanwhile is generated again.
        let pages = parts.filter_map(|part| each(part).ok()).map(Arc::new).collect();
        Ok(Identity { self_made: Some(SelfMade { kept_in: None, pages }), ..identity })
    }

    /// Parses the output of [`Identity::to_pem`].
    pub(super) fn own(pem: &str, at: UnixTime) -> Result<Self, IdentityError> {
        let identity = Identity::from_pem_at(pem.as_bytes(), pem.as_bytes(), at)?;
        Ok(Identity { self_made: Some(SelfMade::default()), ..identity })
    }

    /// The certificate and its key.
    pub(super) fn to_pem(&self) -> String {
        format!("{}{}", pem("CERTIFICATE", &self.certificate), pem("PRIVATE KEY", &self.key))
    }
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
