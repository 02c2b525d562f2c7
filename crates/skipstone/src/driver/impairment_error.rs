//! Reasons why an impairment cannot be simulated, with texts that name the remedy.

#[cfg(feature = "simulate")]
use skipstone_netsim::ConfigError;
#[cfg(not(feature = "simulate"))]
use std::convert::Infallible as ConfigError;

/// Why an impairment cannot be simulated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ImpairmentError {
    /// A value of the model link is out of its range.
    Config(ConfigError),
    /// The client's URL begins with `ws://`.
    WebSocket,
    /// The server serves WebSocket clients too.
    WebSocketServer,
    /// The connection is in memory, or the server has no sockets.
    Local,
}

impl std::fmt::Display for ImpairmentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ImpairmentError::Config(error) => write!(f, "the impairment is not possible: {error}"),
            ImpairmentError::WebSocket => f.write_str(
                "an impairment loses datagrams, and a WebSocket has none: its TCP stream repairs every loss. Connect \
                 by skip://, skip+dtls:// or skip+plain://, or leave the impairment out",
            ),
            ImpairmentError::WebSocketServer => f.write_str(
                "an impairment loses datagrams, and WebSocket clients have none: their TCP streams repair every loss. \
                 Turn WebSocket off, or leave the impairment out",
            ),
            ImpairmentError::Local => f.write_str(
                "an impairment loses datagrams, and a local connection has none: it is a queue in memory. Connect by \
                 skip:// or skip+plain://, or leave the impairment out",
            ),
        }
    }
}

impl std::error::Error for ImpairmentError {}
