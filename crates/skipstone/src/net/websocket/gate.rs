//! The rules by which a server's TCP port lets streams in.

use super::answers::HttpAnswers;
use super::hosts::AllowedHosts;
use super::origins::AllowedOrigins;
use super::proxies::TrustedProxies;
use super::tls::TlsServer;

/// What a server decides about a client while its stream opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// A trusted proxy has named this client: nothing is answered yet.
    Client,
    /// The handshake of TLS begins, which costs a signature.
    Tls,
}

/// The rules of a listener. By default everything in clear is served, and TLS is not.
#[derive(Clone, Debug)]
pub struct StreamRules {
    /// Pages that may open WebSockets.
    pub origins: AllowedOrigins,
    /// Names under which the server is asked for.
    pub hosts: AllowedHosts,
    /// Proxies that may say whose connections they pass on.
    pub proxies: TrustedProxies,
    /// Answers to plain HTTP.
    pub answers: HttpAnswers,
    /// The certificates; without them, TLS is refused.
    pub tls: Option<TlsServer>,
    /// Refuses what is in clear, but for `/healthz`; browsers are sent to `https://`.
    pub requires_tls: bool,
    /// Takes streams without WebSocket.
    pub takes_raw: bool,
    /// WebSockets at this path get back what they send: for tests of conformance.
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
