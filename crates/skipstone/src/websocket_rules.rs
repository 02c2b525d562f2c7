//! Origins that may open WebSockets to a server, and limits on streams that are not yet connections.

use crate::net::websocket::AllowedOrigins;
use skipstone_proto::ConfigError;
use std::time::Duration;

/// A server's rules for WebSockets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebSocketRules {
    /// Origins of the pages from which browsers may connect, as browsers write them: `https://game.example`. Others get
    /// HTTP 403. An empty list allows all. Programs other than browsers send no origin and may connect, so the list
    /// protects players from foreign pages, and not the server from unknown clients.
    pub origins: Vec<String>,
    /// Limits on streams that carry no connection yet.
    pub newcomers: NewcomerLimits,
}

/// Limits on the time until a server's stream carries a connection, and on the number of such streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewcomerLimits {
    /// Time from TCP's handshake to OPEN, WebSocket's upgrade included. Above 0, to 1 hour.
    pub timeout: Duration,
    /// Maximum number of streams from one network (IPv4 /24, IPv6 /56). Beyond it, the oldest of them is closed.
    pub network_max: u32,
    /// Maximum number of streams in all. Beyond it, the oldest stream of the network that has the most is closed.
    pub all_max: u32,
}

/// As the longest time limit of a handshake.
const NEWCOMER_TIMEOUT_MAX: Duration = Duration::from_secs(60 * 60);

impl Default for NewcomerLimits {
    fn default() -> Self {
        NewcomerLimits { timeout: Duration::from_secs(10), network_max: 2_048, all_max: 8_192 }
    }
}

impl WebSocketRules {
    /// Refuses invalid rules.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for origin in &self.origins {
            if let Some(complaint) = AllowedOrigins::complaint(origin) {
                return Err(ConfigError::out_of_range("websocket_rules.origins", origin, complaint));
            }
        }
        let NewcomerLimits { timeout, network_max, all_max } = self.newcomers;
        if timeout.is_zero() || timeout > NEWCOMER_TIMEOUT_MAX {
            return Err(ConfigError::out_of_range("websocket_rules.newcomers.timeout", timeout, "above 0, to 1 hour"));
        }
        if network_max == 0 || all_max < network_max {
            let range = format!("1 or more, and all_max ({all_max}) as many or more");
            return Err(ConfigError::out_of_range("websocket_rules.newcomers.network_max", network_max, range));
        }
        Ok(())
    }
}
