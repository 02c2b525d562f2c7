//! Errors of a server's certificate and key, with texts that name the remedy.

use std::path::PathBuf;
use std::{fmt, io};

/// A fault of a certificate or its key.
#[derive(Debug)]
#[non_exhaustive]
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
    /// The server has no certificate, and this program was built without the features that create one.
    CannotMake,
}

#[cfg(feature = "__tls")]
impl IdentityError {
    pub(super) fn file(path: &std::path::Path, error: io::Error) -> Self {
        IdentityError::File(path.into(), error)
    }

    pub(super) fn in_file(self, path: &std::path::Path) -> Self {
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
                "keys here are of ECDSA on P-256 or P-384 only, and this is another, most often RSA. Remedy: openssl \
                 ecparam -name prime256v1 -genkey -noout -out key.pem, and a certificate for that key (certbot: \
                 --key-type ecdsa)",
            ),
            IdentityError::TooLong(bytes) => write!(
                f,
                "the certificate has {bytes} bytes, and DTLS here sends {CERTIFICATE_BYTES_MAX} at most: issue one for fewer \
                 names"
            ),
            IdentityError::WrongKey => f.write_str("the private key does not belong to the certificate"),
            IdentityError::CannotMake => f.write_str(
                "this program cannot make a certificate: build the crate skipstone with its features self-signed and ring \
                 (or aws-lc), give the server one (Security::from_pem), or let it serve in clear (Security::plain)",
            ),
            IdentityError::NotMade(why) => write!(f, "no certificate could be made: {why}"),
        }
    }
}

impl std::error::Error for IdentityError {}

/// dimpl keeps twelve records of a flight and queues ten datagrams; a longer certificate would make a server panic at
/// its first client.
pub(super) const CERTIFICATE_BYTES_MAX: usize = 4_096;
