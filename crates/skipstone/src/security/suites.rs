//! The session of each suite: TLS 1.3 by `tls`, DTLS by `dtls`.

#[cfg(feature = "dtls")]
use super::dtls;
use super::identity::Identity;
use super::tls;
use super::verify::Verifier;
use skipstone_proto::SUITE_TLS_1_3;
use skipstone_proto::Time;
use skipstone_proto::{Session, Suites};
use std::fmt;
use std::sync::Arc;

/// A server's suites, with its identity.
pub(super) struct ServerSuites {
    identity: Arc<Identity>,
    tls: Option<Arc<rustls::ServerConfig>>,
    offered: u8,
}

/// A client's suites, with the check of the server's certificate.
pub(super) struct ClientSuites {
    verifier: Arc<Verifier>,
    tls: Arc<rustls::ClientConfig>,
    offered: u8,
}

impl ServerSuites {
    pub(super) fn new(identity: Arc<Identity>, offered: u8) -> Self {
        let tls = tls::server_config(&identity);
        let offered = if tls.is_some() { offered } else { offered & !SUITE_TLS_1_3 };
        ServerSuites { identity, tls, offered }
    }
}

impl ClientSuites {
    pub(super) fn new(verifier: Arc<Verifier>, offered: u8) -> Self {
        let tls = tls::client_config(verifier.clone());
        ClientSuites { verifier, tls, offered }
    }
}

impl Suites for ServerSuites {
    fn offered(&self) -> u8 {
        self.offered
    }

    fn client(&self, _: Time, _: u8, _: &[u8]) -> Option<Box<dyn Session>> {
        None
    }

    fn server(&self, now: Time, suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>> {
        match suite & self.offered {
            SUITE_TLS_1_3 => Some(Box::new(tls::TlsSession::server(now, self.tls.clone()?, transcript)?)),
            #[cfg(feature = "dtls")]
            suite => dtls::server(now, suite, &self.identity),
            #[cfg(not(feature = "dtls"))]
            _ => None,
        }
    }
}

impl Suites for ClientSuites {
    fn offered(&self) -> u8 {
        self.offered
    }

    fn client(&self, now: Time, suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>> {
        match suite & self.offered {
            SUITE_TLS_1_3 => Some(Box::new(tls::TlsSession::client(now, self.tls.clone(), transcript)?)),
            #[cfg(feature = "dtls")]
            suite => dtls::client(now, suite, self.verifier.clone()),
            #[cfg(not(feature = "dtls"))]
            _ => None,
        }
    }

    fn server(&self, _: Time, _: u8, _: &[u8]) -> Option<Box<dyn Session>> {
        None
    }
}

impl fmt::Debug for ServerSuites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (identity, offered) = (&self.identity, self.offered);
        f.debug_struct("ServerSuites").field("identity", identity).field("offered", &offered).finish_non_exhaustive()
    }
}

impl fmt::Debug for ClientSuites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verifier, offered) = (&self.verifier, self.offered);
        f.debug_struct("ClientSuites").field("verifier", verifier).field("offered", &offered).finish_non_exhaustive()
    }
}
