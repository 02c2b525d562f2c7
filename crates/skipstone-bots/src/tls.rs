//! TLS of clients, without sockets: rustls, with the certificate rules of the tool's other commands. Sealed bytes in
//! and out, plaintext in and out; memory is bounded by rustls (one message of a handshake, one record) and by the
//! caller, who says what is sealed.

use crate::protocol::{Cause, Ending};
use crate::target::{BotTarget, TargetError};
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, ClientConnection, Error, OtherError};
use skipstone::{Fingerprint, Trust};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;

/// Whom a client trusts, and the name that it asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TlsSettings {
    /// The server's name in the handshake (SNI) and in its certificate; an address is not sent.
    pub(crate) name: String,
    /// Whom to trust.
    pub(crate) trust: Trusted,
}

/// Whom a client trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trusted {
    /// The authorities of the system.
    System,
    /// The certificate with this fingerprint, whatever its name.
    Pinned(Fingerprint),
    /// Any server.
    Anyone,
}

/// The options of targets with TLS, for their rows of the table.
pub(crate) const TLS_OPTIONS: &[(&str, &str)] = &[
    ("#sha256=...", "the fingerprint of the one certificate to trust, whatever its name"),
    ("trust", "system (default), or anyone: for tests on your own machine"),
    ("name", "server name to ask for (SNI) and to find in the certificate (default: the host)"),
];

impl TlsSettings {
    /// The settings of a target: `#sha256=...`, and the options `trust` and `name`.
    pub(crate) fn of(target: &BotTarget) -> Result<Self, TargetError> {
        let trust = Trusted::read(target.options.get("trust").map(String::as_str), &target.fragment);
        let trust = trust.map_err(|why| TargetError::BadTarget(target.url.clone(), why))?;
        let settings = TlsSettings { name: target.option("name", &target.host).to_owned(), trust };
        // What is wrong with them is wrong with the target.
        settings.config().map(|_| settings).map_err(|why| TargetError::BadTarget(target.url.clone(), why))
    }

    /// The configuration of rustls, made once for a thread: reading the system's authorities takes milliseconds.
    pub(crate) fn config(&self) -> Result<(Arc<ClientConfig>, ServerName<'static>), String> {
        CONFIGS.with_borrow_mut(|configs| {
            if let Some(known) = configs.get(self) {
                return Ok(known.clone());
            }
            let trust = match self.trust {
                Trusted::System => Trust::System,
                Trusted::Pinned(fingerprint) => Trust::Pinned(fingerprint),
                Trusted::Anyone => Trust::DangerouslyAnything,
            };
            let made = trust.client_config(&self.name).map_err(|error| error.to_string())?;
            if configs.len() >= CONFIGS_MAX {
                configs.clear();
            }
            configs.insert(self.clone(), made.clone());
            Ok(made)
        })
    }
}

impl Trusted {
    /// `trust=` and the text after `#` of a URL.
    pub(crate) fn read(trust: Option<&str>, fragment: &str) -> Result<Self, String> {
        if !fragment.is_empty() {
            let digits = fragment.strip_prefix("sha256=");
            let pin = digits.and_then(|digits| digits.parse().ok());
            return pin.map(Trusted::Pinned).ok_or_else(|| {
                format!("#{fragment}: a pin is #sha256= and the 64 hexadecimal digits of a certificate's SHA-256")
            });
        }
        match trust {
            None | Some("system") => Ok(Trusted::System),
            Some("anyone") => Ok(Trusted::Anyone),
            Some(other) => Err(format!("trust {other:?}: system or anyone is needed")),
        }
    }
}

/// A client's end of TLS.
#[derive(Debug)]
pub(crate) struct TlsStream {
    connection: ClientConnection,
    has_failed: bool,
}

impl TlsStream {
    /// Begins a handshake.
    pub(crate) fn new(settings: &TlsSettings) -> Result<Self, String> {
        let (config, name) = settings.config()?;
        let mut connection = ClientConnection::new(config, name).map_err(|error| error.to_string())?;
        connection.set_buffer_limit(None);
        Ok(TlsStream { connection, has_failed: false })
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Takes sealed bytes; appends the plaintext in them. An error ends the connection.
    pub(crate) fn receive(&mut self, mut sealed: &[u8], plain: &mut Vec<u8>) -> Result<(), Ending> {
        while !sealed.is_empty() && !self.has_failed {
            if let Err(error) = self.connection.read_tls(&mut sealed) {
                return Err(self.fail(Ending::new(Cause::Malformed, format!("TLS failed: {error}"))));
            }
            let processed = self.connection.process_new_packets();
            // What came before the failure was good.
            let read = self.connection.reader().read_to_end(plain);
            debug_assert!(read.is_ok() || read.is_err_and(|error| is_end(error.kind())), "memory does not fail");
            if let Err(error) = processed {
                return Err(self.fail(ending_of(&error)));
            }
        }
        Ok(())
    }

    /// Seals bytes; they are in the next [`transmit`](Self::transmit).
    pub(crate) fn seal(&mut self, plain: &[u8]) {
        if !self.has_failed {
            self.connection.writer().write_all(plain).expect("its buffer has no limit");
        }
    }

    /// Appends sealed bytes. `false` if there are none.
    pub(crate) fn transmit(&mut self, out: &mut Vec<u8>) -> bool {
        let before = out.len();
        while self.connection.wants_write() && out.len() - before < TRANSMIT_MAX {
            self.connection.write_tls(out).expect("a vector takes everything");
        }
        out.len() > before
    }

    /// Says goodbye: after this, nothing is sealed.
    pub(crate) fn close(&mut self) {
        if !self.has_failed {
            self.connection.send_close_notify();
        }
    }

    /// The alert about the failure waits to be sent.
    fn fail(&mut self, ending: Ending) -> Ending {
        self.has_failed = true;
        ending
    }
}

fn is_end(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::UnexpectedEof)
}

/// What a failure means, in words.
pub(crate) fn ending_of(error: &Error) -> Ending {
    match error {
        // The rules for certificates have texts of their own.
        Error::InvalidCertificate(CertificateError::Other(OtherError(why))) => {
            Ending::new(Cause::Refused, why.to_string())
        }
        Error::AlertReceived(alert) => Ending::new(Cause::Refused, format!("the server refused TLS: {alert:?}")),
        Error::InvalidMessage(_) => {
            Ending::new(Cause::Malformed, format!("the server's bytes are no TLS: is the port one without it? {error}"))
        }
        error => Ending::new(Cause::Malformed, format!("TLS failed: {error}")),
    }
}

type Config = (Arc<ClientConfig>, ServerName<'static>);

thread_local! {
    static CONFIGS: RefCell<BTreeMap<TlsSettings, Config>> = const { RefCell::new(BTreeMap::new()) };
}

/// Different servers of a worker whose configurations are kept.
const CONFIGS_MAX: usize = 1000;
/// Bytes after which no further record is written; one has up to 16 KiB.
const TRANSMIT_MAX: usize = 32 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_sixty_four_digits_and_trust_has_two_names() {
        let pin = format!("sha256={}", "ab".repeat(32));
        assert_eq!(Trusted::read(None, &pin), Ok(Trusted::Pinned(Fingerprint([0xAB; 32]))));
        assert_eq!(Trusted::read(Some("anyone"), ""), Ok(Trusted::Anyone));
        assert_eq!(Trusted::read(None, ""), Ok(Trusted::System));
        assert!(Trusted::read(None, "sha256=12").is_err_and(|why| why.contains("64 hexadecimal digits")));
        assert!(Trusted::read(Some("me"), "").is_err_and(|why| why.contains("system or anyone")));
    }
}
