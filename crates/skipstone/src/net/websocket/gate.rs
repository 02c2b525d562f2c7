//! The rules by which a server's TCP port accepts streams.

use super::answers::HttpAnswers;
use super::hosts::AllowedHosts;
use super::origins::AllowedOrigins;
use super::proxies::TrustedProxies;
use super::tls::TlsServer;

/// A server's decision about a client while its stream opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// A trusted proxy has named this client: nothing is answered yet.
    Client,
    /// The handshake of TLS begins, which costs a signature.
    Tls,
}

/// The rules of a listener. By default every unencrypted protocol is accepted, and TLS is not.
#[derive(Clone, Debug)]
pub struct StreamRules {
    /// Pages that may open WebSockets.
    pub origins: AllowedOrigins,
    /// Names of the server in requests.
    pub hosts: AllowedHosts,
    /// Proxies that may name the clients of their connections.
    pub proxies: TrustedProxies,
    /// Answers to plain HTTP.
    pub answers: HttpAnswers,
    /// The certificates; without them, TLS is refused.
    pub tls: Option<TlsServer>,
    /// Refuses everything in clear, except `/healthz`; browsers are redirected to `https://`.
    pub requires_tls: bool,
    /// Accepts streams without WebSocket.
    pub takes_raw: bool,
    /// WebSockets at this path echo what they receive, for conformance tests.
    pub echo_path: Option<String>,
}

impl Default for StreamRules {
    fn default() -> Self {
        StreamRules {
            origins: AllowedOrigins::default(),
            hosts: AllowedHosts::default(),
            proxies: TrustedProxies::default(),
            answers: HttpAnswers::default(),
            tls: None,
            requires_tls: false,
            takes_raw: true,
            echo_path: None,
        }
    }
}
