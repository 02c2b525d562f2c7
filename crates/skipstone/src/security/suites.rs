//! The only encrypted suite, TLS 1.3, behind the protocol's interface.

use super::certificates::Certificates;
use super::tls;
use super::verify::Verifier;
use skipstone_proto::Cost;
use skipstone_proto::SUITE_TLS_1_3;
use skipstone_proto::Time;
use skipstone_proto::{Session, Suites};
use std::fmt;
use std::sync::Arc;

/// A server's suites and certificates.
pub(super) struct ServerSuites {
    certificates: Arc<Certificates>,
    tls: Arc<rustls::ServerConfig>,
}

/// A client's suites and its check of the server's certificate.
pub(super) struct ClientSuites {
    tls: Arc<rustls::ClientConfig>,
}

impl ServerSuites {
    pub(super) fn new(certificates: &Arc<Certificates>) -> Self {
        ServerSuites { certificates: Arc::clone(certificates), tls: certificates.packet_config() }
    }
}

impl ClientSuites {
    pub(super) fn new(verifier: Verifier) -> Self {
        ClientSuites { tls: tls::client_config(Arc::new(verifier)) }
    }
}

impl Suites for ServerSuites {
    fn offered(&self) -> u8 {
        SUITE_TLS_1_3
    }

    fn client(&self, _: Time, _: u8, _: &[u8]) -> Option<Box<dyn Session>> {
        None
    }

    fn server(&self, now: Time, suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>> {
        if suite != SUITE_TLS_1_3 {
            return None;
        }
        Some(Box::new(tls::TlsSession::server(now, self.tls.clone(), transcript)?))
    }

    fn handshake_cost(&self) -> Cost {
        self.certificates.handshake_cost()
    }
}

impl Suites for ClientSuites {
    fn offered(&self) -> u8 {
        SUITE_TLS_1_3
    }

    fn client(&self, now: Time, suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>> {
        if suite != SUITE_TLS_1_3 {
            return None;
        }
        Some(Box::new(tls::TlsSession::client(now, self.tls.clone(), transcript)?))
    }

    fn server(&self, _: Time, _: u8, _: &[u8]) -> Option<Box<dyn Session>> {
        None
    }
}

impl fmt::Debug for ServerSuites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSuites").field("offered", &self.offered()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ClientSuites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSuites").finish_non_exhaustive()
    }
}
