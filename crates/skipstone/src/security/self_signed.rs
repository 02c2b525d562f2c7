//! Certificates that a server makes itself, for one run or kept in a file.

use super::identity::Identity;
use super::identity_error::IdentityError;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(86_400);
/// With the day before, 13 of the 14 that browsers allow.
pub(super) const SHORT_LIFE: Duration = Duration::from_secs(12 * 86_400);

impl Identity {
    /// Creates a self-signed certificate; clients pin its fingerprint. It does not expire.
    ///
    /// # Errors
    /// The provider of cryptography makes no key or no certificate.
    pub fn self_signed() -> Result<Self, IdentityError> {
        Identity::made(|_| ())
    }

    /// Creates a self-signed certificate that browsers take by its hash (WebTransport's `serverCertificateHashes`): of
    /// ECDSA on P-256, and valid for at most 14 days.
    pub(super) fn short_lived(now: SystemTime) -> Result<Self, IdentityError> {
        Identity::made(|params| {
            // Some clocks are slow.
            params.not_before = (now - DAY).into();
            params.not_after = (now + SHORT_LIFE).into();
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
            is_self_made: true,
            is_ecdsa: true,
        })
    }

    /// The identity in this file. If there is no such file, a new identity is written there, readable by its owner
    /// only.
    ///
    /// # Errors
    /// The file cannot be read or written, what it holds is refused by [`Identity::from_pem`], or no certificate
    /// could be made.
    pub fn self_signed_kept_in(path: impl AsRef<Path>) -> Result<Self, IdentityError> {
        let path = path.as_ref();
        match std::fs::read(path) {
            Ok(pem) => read_from(path, &pem),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = Identity::self_signed()?;
                let written = write_new(path, made.to_pem().as_bytes());
                written.map_err(|error| IdentityError::file(path, error))?;
                // Read again, because another server may have started at the same moment and written its own.
                let pem = std::fs::read(path).map_err(|error| IdentityError::file(path, error))?;
                read_from(path, &pem)
            }
            Err(error) => Err(IdentityError::file(path, error)),
        }
    }

    fn to_pem(&self) -> String {
        format!("{}{}", pem("CERTIFICATE", &self.certificate), pem("PRIVATE KEY", &self.key))
    }
}

fn read_from(path: &Path, pem: &[u8]) -> Result<Identity, IdentityError> {
    let identity = Identity::from_pem(pem, pem).map_err(|error| error.in_file(path))?;
    Ok(Identity { is_self_made: true, ..identity.with_key_from(path) })
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

/// Writes a file that only its owner can read, completely or not at all. A file that another process has written
/// meanwhile stays.
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
