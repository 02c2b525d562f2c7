//! Reasons why a server or a client could not be started, with texts that name the remedy.

use crate::driver::DriverError;
use crate::driver::impairment_error::ImpairmentError;
use crate::net::udp::is_without_family;
use skipstone_proto::TOKEN_BYTES_MAX;
use skipstone_proto::{ConfigError, QueryPayloadTooLong};
use std::io;

/// Minimum bytes of the queues between an application and a driver.
const QUEUE_BYTES_MIN: u64 = 1 << 20;

/// Minimum bytes per second of a limit on bandwidth.
const BANDWIDTH_MIN: u64 = 1_000;

/// Why a server or a client could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// A field of the configuration or of the settings is out of its range, or two fields contradict each other.
    Config(ConfigError),
    /// The client's token is longer than [`TOKEN_BYTES_MAX`].
    TokenTooLong {
        /// Bytes of the token.
        bytes: usize,
    },
    /// The system refused a socket or a thread: the operation, and the system's error.
    Io(String, io::Error),
    /// The URL is invalid, or its name has no address.
    Url(crate::url::UrlError),
    /// The server's certificate or key cannot be used.
    Identity(crate::security::IdentityError),
    /// The trust cannot be set up.
    Trust(crate::security::TrustError),
    /// The number of shards is out of range, or the threading mode or the system does not support shards.
    Shards(ShardsError),
    /// A setting needs a feature of this crate that this build does not have.
    NotBuilt {
        /// The field of the configuration.
        setting: &'static str,
        /// The feature, or the features.
        feature: &'static str,
    },
    /// The impairment contradicts itself, or the carrier cannot have one.
    Impairment(ImpairmentError),
    /// The answer to queries is too long.
    QueryAnswer(QueryPayloadTooLong),
}

/// Why a server cannot have the requested shards.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardsError {
    /// The requested number; the range is 1 to 256.
    Count(u32),
    /// Each shard is a thread of its own, and a stepped server has none.
    Stepped,
    /// The number of socket pairs that were handed over differs from the number of shards.
    Sockets {
        /// Pairs of sockets in [`ServerConfig::sockets`](crate::ServerConfig::sockets).
        handed: u32,
        /// [`ServerConfig::shards`](crate::ServerConfig::shards).
        shards: u32,
    },
    /// This system does not share a port's clients among sockets; Linux does.
    System,
}

impl std::fmt::Display for ShardsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ShardsError::Count(count) => write!(f, "{count} shards: a server has 1 to 256"),
            ShardsError::Stepped => f.write_str(
                "a stepped server has one shard, because its application is its only thread: use 1 shard, or \
                 background threading",
            ),
            ShardsError::Sockets { handed, shards } => write!(
                f,
                "the sockets of {handed} shards were handed over, and this server has {shards}: start it with \
                 {handed}, or without those sockets"
            ),
            ShardsError::System => {
                f.write_str("only Linux can share the clients of one port among shards: use 1 shard on this system")
            }
        }
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Config(error) => error.fmt(f),
            StartError::TokenTooLong { bytes } => write!(
                f,
                "the token has {bytes} bytes, of at most {TOKEN_BYTES_MAX}: send the rest as a message, or a reference \
                 to it"
            ),
            StartError::Io(wanted, error) if error.kind() == io::ErrorKind::AddrInUse => {
                write!(f, "cannot {wanted}: the port is in use; stop the other program or choose another port")
            }
            StartError::Io(wanted, error) if is_without_family(error) => {
                write!(f, "cannot {wanted}: this system has no IPv6; use an address of IPv4")
            }
            StartError::Io(wanted, error) if is_out_of_files(error) => {
                write!(f, "cannot {wanted}: too many open files; raise the limit with `ulimit -n`")
            }
            StartError::Io(wanted, error) => write!(f, "cannot {wanted}: {error}"),
            StartError::Url(error) => error.fmt(f),
            StartError::Identity(error) => error.fmt(f),
            StartError::Trust(error) => error.fmt(f),
            StartError::Shards(error) => error.fmt(f),
            StartError::NotBuilt { setting, feature } => write!(
                f,
                "{setting} is set, and this program was built without it: build the library with its feature \
                 {feature}, or leave the setting out"
            ),
            StartError::Impairment(error) => error.fmt(f),
            StartError::QueryAnswer(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}

impl StartError {
    /// Refuses a token that no handshake can carry.
    pub(crate) fn check_token(token: &[u8]) -> Result<(), StartError> {
        if token.len() > TOKEN_BYTES_MAX { Err(StartError::TokenTooLong { bytes: token.len() }) } else { Ok(()) }
    }

    /// Refuses queues between the application and a driver that are too small to work with.
    pub(crate) fn check_queue(queue_bytes_max: u64) -> Result<(), StartError> {
        if queue_bytes_max >= QUEUE_BYTES_MIN {
            return Ok(());
        }
        let range = "1,048,576 bytes (1 MiB) or more";
        Err(StartError::Config(ConfigError::out_of_range("queue_bytes_max", queue_bytes_max, range)))
    }

    /// Refuses a limit on bandwidth below which a path would look dead, by the field's name in the application's own
    /// configuration: 1,000 bytes per second for each of `parts`.
    pub(crate) fn check_bandwidth(field: &str, bytes_per_second: Option<u64>, parts: u32) -> Result<(), StartError> {
        let bytes_min = BANDWIDTH_MIN * u64::from(parts);
        match bytes_per_second.filter(|bytes| *bytes < bytes_min) {
            None => Ok(()),
            Some(bytes) => {
                let range = format!("{bytes_min} bytes per second or more, or leave it out");
                Err(StartError::Config(ConfigError::out_of_range(field, bytes, range)))
            }
        }
    }

    pub(crate) fn io(wanted: impl Into<String>) -> impl FnOnce(io::Error) -> StartError {
        let wanted = wanted.into();
        move |error| StartError::Io(wanted, error)
    }
}

impl From<DriverError> for StartError {
    fn from(error: DriverError) -> Self {
        match error {
            DriverError::Config(error) => StartError::Config(error),
            DriverError::Io(error) => StartError::Io("make a poll".into(), error),
        }
    }
}

fn is_out_of_files(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}
