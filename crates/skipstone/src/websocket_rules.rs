//! Who may open WebSockets to a server, and how long a stream may take to become a connection.

use crate::net::websocket::AllowedOrigins;
use skipstone_proto::ConfigError;
use std::time::Duration;

/// A server's rules for WebSockets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebSocketRules {
    /// Origins of the pages from which browsers may connect, as browsers write them: `https://game.example`. Others get HTTP 403.
    /// None means all. Programs that are no browsers name no origin and may connect, so this protects players from foreign
    /// pages, and not the server from strangers.
    pub origins: Vec<String>,
    /// Streams that carry no connection yet.
    pub newcomers: NewcomerLimits,
}

/// How long a stream of a server may take until it carries a connection, and how many may be on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewcomerLimits {
    /// From TCP's handshake to OPEN, WebSocket's upgrade included. Above 0.
    pub timeout: Duration,
    /// Of one network (IPv4 /24, IPv6 /56) at once. The oldest makes room.
    pub network_max: u32,
    /// Of all. The oldest of the network that has the most makes room.
    pub all_max: u32,
}

impl Default for NewcomerLimits {
    fn default() -> Self {
        NewcomerLimits { timeout: Duration::from_secs(10), network_max: 2_048, all_max: 8_192 }
    }
}

impl WebSocketRules {
    /// Refuses what makes no sense.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for origin in &self.origins {
            if let Some(complaint) = AllowedOrigins::complaint(origin) {
                return Err(ConfigError::out_of_range("websocket_rules.origins", origin, complaint));
            }
        }
        let NewcomerLimits { timeout, network_max, all_max } = self.newcomers;
        if timeout.is_zero() {
            return Err(ConfigError::out_of_range("websocket_rules.newcomers.timeout", timeout, "above 0"));
        }
        if network_max == 0 || all_max < network_max {
            let range = format!("1 or more, and all_max ({all_max}) as many or more");
            return Err(ConfigError::out_of_range("websocket_rules.newcomers.network_max", network_max, range));
        }
        Ok(())
    }
}
