//! Rules for clients that connect to a server by WebSocket, WebTransport or TCP: allowed pages, hosts and proxies,
//! answers to HTTP, and limits on streams that are not yet connections.

use crate::net::websocket::{
    AllowedHosts, AllowedOrigins, HttpAnswer, HttpAnswers, StreamRules, TlsServer, TrustedProxies,
};
use skipstone_proto::{ConfigError, configuration};
use std::time::Duration;

configuration! {
    /// A server's rules for WebSockets and other streams of its TCP port; `origins` and `hosts`
    /// apply to WebTransport as well.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ListenerRules {
        /// Origins of the pages from which browsers may connect, as browsers write them: `https://game.example`. Others
        /// get HTTP 403. An empty list allows all. Programs other than browsers send no origin and may connect: the
        /// list protects players from other sites' pages, not the server from unknown clients.
        origins: Vec<String> as Texts;
        /// Names and addresses that a request may have as `Host`, without ports: `game.example`. Others get HTTP 421.
        /// An empty list allows all.
        hosts: Vec<String> as Texts;
        /// Requires TLS: requests for pages are redirected to `https://`, unencrypted WebSockets and streams are
        /// refused. Streams from a trusted proxy are accepted, since TLS may end there. Needs a certificate.
        requires_tls: bool as Flag;
        /// Accepts `tcp://` clients: streams without WebSocket.
        raw_streams: bool;
        /// Small answers to plain HTTP, in addition to `/healthz`, whose GET is answered with 200 on every host of
        /// `hosts`.
        http_answers: Vec<HttpAnswer>;
        /// Limits on streams that carry no connection yet.
        newcomers: NewcomerLimits;
        /// WebSockets at this path echo what they receive, without a connection, for conformance tests.
        #[cfg(feature = "unstable")]
        echo_path: Option<String>;
    }
}

impl Default for ListenerRules {
    fn default() -> Self {
        ListenerRules {
            origins: Vec::new(),
            hosts: Vec::new(),
            requires_tls: false,
            raw_streams: true,
            http_answers: Vec::new(),
            newcomers: NewcomerLimits::default(),
            #[cfg(feature = "unstable")]
            echo_path: None,
        }
    }
}

/// Limits on the time until a server's stream carries a connection, and on the number of such streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewcomerLimits {
    /// Time from TCP's handshake to OPEN, TLS and WebSocket's upgrade included. Above 0, to 1 hour.
    pub timeout: Duration,
    /// Maximum number of streams from one network (IPv4 /24, IPv6 /56). Beyond it, the oldest of them is closed.
    pub network_max: u32,
    /// Maximum number of streams in all. Beyond it, the oldest stream of the network that has the most is closed.
    pub all_max: u32,
}

/// The same as the longest time limit of a handshake.
const NEWCOMER_TIMEOUT_MAX: Duration = Duration::from_secs(60 * 60);

impl Default for NewcomerLimits {
    fn default() -> Self {
        NewcomerLimits { timeout: Duration::from_secs(10), network_max: 2_048, all_max: 8_192 }
    }
}

/// The parts of the configuration with which a driver serves streams.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    pub(crate) rules: StreamRules,
    pub(crate) newcomers: NewcomerLimits,
}

impl ListenerRules {
    /// The rules with a server's certificates and proxies; or the error in them.
    pub(crate) fn streams(&self, tls: Option<TlsServer>, proxies: &[String]) -> Result<Streams, ConfigError> {
        let wrong = |field, value: &str, range: &str| ConfigError::out_of_range(field, value, range);
        for origin in &self.origins {
            if let Some(complaint) = AllowedOrigins::complaint(origin) {
                return Err(wrong("listener_rules.origins", origin, complaint));
            }
        }
        for host in &self.hosts {
            if let Some(complaint) = AllowedHosts::complaint(host) {
                return Err(wrong("listener_rules.hosts", host, complaint));
            }
        }
        if self.requires_tls && tls.is_none() {
            let remedy = "false without a certificate: give the server one";
            return Err(wrong("listener_rules.requires_tls", "true", remedy));
        }
        self.newcomers.check()?;
        let answers = HttpAnswers::new(&self.http_answers);
        let answers = answers.map_err(|(path, range)| wrong("listener_rules.http_answers", &path, range))?;
        let form = "an address or a network, as in 10.0.0.7 or 10.0.0.0/8";
        let proxies = TrustedProxies::new(proxies).map_err(|text| wrong("trusted_proxies", &text, form))?;
        let rules = StreamRules {
            origins: AllowedOrigins::only(&self.origins),
            hosts: AllowedHosts::only(&self.hosts),
            proxies,
            answers,
            tls,
            requires_tls: self.requires_tls,
            takes_raw: self.raw_streams,
            echo_path: self.echo_path(),
        };
        Ok(Streams { rules, newcomers: self.newcomers })
    }

    fn echo_path(&self) -> Option<String> {
        #[cfg(feature = "unstable")]
        return self.echo_path.clone();
        #[cfg(not(feature = "unstable"))]
        None
    }
}

impl NewcomerLimits {
    fn check(self) -> Result<(), ConfigError> {
        let NewcomerLimits { timeout, network_max, all_max } = self;
        if timeout.is_zero() || timeout > NEWCOMER_TIMEOUT_MAX {
            return Err(ConfigError::out_of_range("listener_rules.newcomers.timeout", timeout, "above 0, to 1 hour"));
        }
        if network_max == 0 || all_max < network_max {
            let range = format!("1 or more, and all_max ({all_max}) as many or more");
            return Err(ConfigError::out_of_range("listener_rules.newcomers.network_max", network_max, range));
        }
        Ok(())
    }
}
