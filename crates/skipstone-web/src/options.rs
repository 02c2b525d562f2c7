//! A client's configuration, set option by option.

use skipstone_proto::{Config, Congestion, Duration, Merging};

/// What a page may choose; the defaults are the same as a native client's.
#[derive(Clone, Debug)]
pub struct Options {
    config: Config,
    follows_moves: bool,
}

impl Default for Options {
    fn default() -> Self {
        let config = Config { follows_server_time: true, connections_max: CONNECTIONS_MAX, ..Config::client() };
        Options { config, follows_moves: false }
    }
}

/// More than any browser opens.
const CONNECTIONS_MAX: u32 = 4_096;

impl Options {
    /// Sets one option. False if there is no such option, or its value has the wrong type. The core checks the
    /// protocol's ranges when it is created.
    pub fn set(&mut self, option: u32, value: f64) -> bool {
        let config = &mut self.config;
        match option {
            0 => config.handshake_timeout = micros(value),
            1 => config.follows_server_time = value != 0.0,
            2 => config.bandwidth_max_per_peer = (value > 0.0).then_some(value as u64),
            3 => config.limits.message_bytes_max = value as u32,
            4 => config.limits.window_bytes = value as u32,
            5 => config.limits.datagram_bytes_max = value as u16,
            6 => {
                config.merging = match value {
                    value if value < 0.0 => None,
                    0.0 => Some(Merging::Immediate),
                    f64::INFINITY => Some(Merging::Flush),
                    value => Some(Merging::After(micros(value))),
                }
            }
            7 => config.congestion = if value == 0.0 { Congestion::Off } else { Congestion::DelayAware },
            8 => self.follows_moves = value != 0.0,
            _ => return false,
        }
        !value.is_nan() && (option == 6 || (value.is_finite() && value >= 0.0))
    }

    pub(crate) fn into_config(self) -> Config {
        self.config
    }

    /// Whether servers can move this client to others.
    pub(crate) fn follows_moves(&self) -> bool {
        self.follows_moves
    }
}

fn micros(value: f64) -> Duration {
    // A cast saturates, and turns NaN into 0.
    Duration::from_micros(value as u64)
}
