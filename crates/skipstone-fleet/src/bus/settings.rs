//! The settings of a bus.

use super::url::NatsUrl;
use std::path::PathBuf;
use std::time::Duration;

/// How a bus is set up.
#[derive(Clone, Debug)]
pub struct BusSettings {
    /// Where NATS is, and perhaps a password or a token.
    pub url: NatsUrl,
    /// The login that is a file.
    pub login: BusLogin,
    /// Certificates, as a PEM file, that sign the server's; those of the system without it. It also demands TLS.
    pub tls_ca: Option<PathBuf>,
    /// The name of this client, which the server shows.
    pub name: String,
    /// How long [`Bus::connect`](super::Bus::connect) waits for the server.
    pub connect_within: Duration,
    /// Events that wait for [`Bus::poll`](super::Bus::poll), by number. Messages beyond it are dropped and reported as
    /// [`BusEvent::Lagged`](super::BusEvent::Lagged).
    pub events_max: usize,
    /// The same by bytes, about.
    pub event_bytes_max: usize,
    /// Bytes of messages that the server has not confirmed. A call that exceeds it is refused.
    pub publish_bytes_max: usize,
}

/// A login by file. A password or a token comes with the URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BusLogin {
    /// None but what the URL has.
    #[default]
    Url,
    /// A `.creds` file: a user's JWT and its seed.
    Credentials(PathBuf),
    /// A file with the seed of an nkey, in its first line that begins with `SU`.
    NkeySeed(PathBuf),
}

impl BusSettings {
    /// The defaults: no login, 65,536 events of 64 MiB together, 16 MiB to publish, 5 s to connect.
    pub fn new(url: NatsUrl) -> BusSettings {
        BusSettings {
            url,
            login: BusLogin::default(),
            tls_ca: None,
            name: "skipstone".into(),
            connect_within: Duration::from_secs(5),
            events_max: 65_536,
            event_bytes_max: 64 << 20,
            publish_bytes_max: 16 << 20,
        }
    }
}
