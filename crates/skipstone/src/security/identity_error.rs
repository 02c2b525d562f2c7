//! Errors of a server's certificate and key, with texts that name the remedy.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::{fmt, io};

/// An error of a certificate or its key.
#[derive(Debug)]
#[non_exhaustive]
pub enum IdentityError {
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// The content of a file is invalid.
    In(PathBuf, Box<IdentityError>),
    /// There is no certificate in the PEM text.
    NoCertificate,
    /// There is no private key in the PEM text.
    NoKey,
    /// The certificate cannot be parsed.
    Unreadable(String),
    /// The certificate has expired.
    Expired,
    /// The certificate is not valid yet.
    NotYetValid,
    /// The private key is encrypted with a passphrase, which a server cannot enter when it starts.
    EncryptedKey,
    /// The key is neither an ECDSA key on P-256 or P-384, nor an RSA key of 2,048 bits or more.
    Unsupported,
    /// The key belongs to another certificate.
    WrongKey,
    /// The certificate has this number of bytes, more than a client accepts.
    TooLong(usize),
    /// No certificate could be generated.
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
            IdentityError::EncryptedKey => f.write_str(
                "the private key is encrypted with a passphrase. Remedy: openssl pkey -in key.pem -out plain.pem, \
                 readable by the server's user alone (chmod 600)",
            ),
            IdentityError::Unsupported => write!(
                f,
                "keys here are of ECDSA on P-256 or P-384, or of RSA with {} to {} bits, and this is another. Remedy: \
                 openssl ecparam -name prime256v1 -genkey -noout -out key.pem, and a certificate for that key \
                 (certbot: --key-type ecdsa)",
                RSA_BITS.start(),
                RSA_BITS.end()
            ),
            IdentityError::TooLong(bytes) => write!(
                f,
                "the certificate has {bytes} bytes, and servers here send {CHAIN_BYTES_MAX} at most: issue one for \
                 fewer names"
            ),
            IdentityError::WrongKey => f.write_str(
                "the private key does not belong to the certificate: name the key that the certificate was requested \
                 with (openssl pkey -in key.pem -pubout and openssl x509 -in cert.pem -noout -pubkey print the same if \
                 they match)",
            ),
            IdentityError::CannotMake => f.write_str(
                "this program cannot make a certificate: build the library with its features self-signed and ring (or \
                 aws-lc), give the server a certificate, or let it serve in clear",
            ),
            IdentityError::NotMade(why) => write!(f, "no certificate could be made: {why}"),
        }
    }
}

impl std::error::Error for IdentityError {}

/// A client accepts 16 KB of a server's handshake, of which other messages need several hundred bytes.
pub(super) const CHAIN_BYTES_MAX: usize = 12_288;

/// Bits of an RSA key with which a server signs. A signature of 8,192 bits costs tens of milliseconds, and one of the
/// two libraries does not support it; authorities may have such keys.
pub(super) const RSA_BITS: RangeInclusive<usize> = 2_048..=4_096;
