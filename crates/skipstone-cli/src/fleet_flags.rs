//! Flags of runs on several machines, and how to reach NATS.

use skipstone_fleet::bus::{Bus, BusError, BusLogin, BusSettings, ConnectError, NatsUrl};
use skipstone_fleet::local::{LocalNats, LocalSettings};
use skipstone_lab::report::{Exit, output};
use std::path::PathBuf;
use std::time::Duration;

/// Flags of a login at NATS.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "NATS")]
pub(crate) struct NatsFlags {
    /// A .creds file with the login at NATS
    #[arg(long, value_name = "FILE", conflicts_with = "nats_nkey")]
    pub(crate) nats_creds: Option<PathBuf>,
    /// A file with the seed of an nkey, the login at NATS
    #[arg(long, value_name = "FILE")]
    pub(crate) nats_nkey: Option<PathBuf>,
    /// Trust NATS servers whose certificate was signed by an authority in this PEM file
    #[arg(long, value_name = "FILE")]
    pub(crate) nats_ca: Option<PathBuf>,
}

/// Flags of a run on several machines.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "A run on several machines, over NATS")]
pub(crate) struct FleetArguments {
    /// NATS, at which `skipstone agent --fleet URL` waits on each machine: nats://HOST or tls://HOST; or `local`, for
    /// agents on this machine that the run starts itself
    #[arg(long, value_name = "URL")]
    pub(crate) fleet: Option<String>,
    /// How many agents share the clients; the first by name, if more wait
    #[arg(long, value_name = "N", requires = "fleet", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) agents: u32,
    /// How many agents may be lost; their clients are excused, and lines of and to them, all others judged
    #[arg(long, value_name = "N", requires = "fleet", default_value = "0")]
    pub(crate) tolerate: u32,
    #[command(flatten)]
    pub(crate) nats: NatsFlags,
}

impl FleetArguments {
    /// Where NATS is, if the run is one on several machines.
    pub(crate) fn url(&self) -> Option<&str> {
        self.fleet.as_deref()
    }
}

/// A connection to NATS, and the server that was started for it.
pub(crate) struct Nats {
    pub(crate) bus: Bus,
    pub(crate) url: String,
    /// The same without a password.
    pub(crate) shown: String,
    /// Lives as long as the connection.
    _own: Option<LocalNats>,
}

/// In place of a URL: a server of one's own.
pub(crate) const LOCAL: &str = "local";

impl NatsFlags {
    /// The same for another process.
    #[cfg(feature = "dashboard")]
    pub(crate) fn words(&self) -> Vec<String> {
        let files = [("creds", &self.nats_creds), ("nkey", &self.nats_nkey), ("ca", &self.nats_ca)];
        let word = |(name, file): (&str, &Option<PathBuf>)| Some(format!("--nats-{name}={}", file.as_ref()?.display()));
        files.into_iter().filter_map(word).collect()
    }

    /// Connects as `name`. The error is an exit code and one sentence.
    pub(crate) fn connect(&self, url: &str, name: &str) -> Result<Nats, (Exit, String)> {
        let way = self.way(url, name)?;
        let bus = Bus::connect(way.settings.clone()).map_err(|error| (Exit::Unavailable, error.to_string()))?;
        Ok(way.with(bus))
    }

    /// The same for a program that serves without NATS too: if it is away, it is waited for, and the sentence says so.
    pub(crate) fn connect_or_wait(&self, url: &str, name: &str) -> Result<(Nats, Option<String>), (Exit, String)> {
        let mut way = self.way(url, name)?;
        way.settings.connect_within = FIRST_ATTEMPT;
        let (connected, away) = match Bus::connect(way.settings.clone()) {
            Err(error) if is_away(&error) => (Bus::start(way.settings.clone()), Some(error.to_string())),
            connected => (connected, None),
        };
        let bus = connected.map_err(|error| (Exit::Unavailable, error.to_string()))?;
        Ok((way.with(bus), away))
    }

    fn way(&self, url: &str, name: &str) -> Result<Way, (Exit, String)> {
        let own = (url == LOCAL).then(|| LocalNats::start(LocalSettings::default()));
        let own = own.transpose().map_err(|error| (Exit::Unavailable, format!("--fleet local: {error}")))?;
        let url = own.as_ref().map_or_else(|| url.to_owned(), LocalNats::url);
        if own.is_some() {
            output::complain(format_args!("NATS of this run: {url}"));
        }
        let parsed: NatsUrl = url.parse().map_err(|error| (Exit::BadConfiguration, format!("--fleet: {error}")))?;
        let mut settings = BusSettings::new(parsed);
        settings.name = name.to_owned();
        settings.tls_ca = self.nats_ca.clone();
        settings.login = match (&self.nats_creds, &self.nats_nkey) {
            (Some(file), _) => BusLogin::Credentials(file.clone()),
            (None, Some(file)) => BusLogin::NkeySeed(file.clone()),
            (None, None) => BusLogin::Url,
        };
        Ok(Way { settings, url, own })
    }
}

/// How to reach NATS, and the server that was started for it.
struct Way {
    settings: BusSettings,
    url: String,
    own: Option<LocalNats>,
}

impl Way {
    fn with(self, bus: Bus) -> Nats {
        Nats { bus, shown: self.settings.url.to_string(), url: self.url, _own: self.own }
    }
}

/// The store of the fleet's directory.
pub(crate) const DIRECTORY: &str = "skipstone-fleet";

/// Whether NATS may be there later, and nothing is wrong with the flags.
fn is_away(error: &BusError) -> bool {
    use ConnectError::{NameNotResolved, Other, Refused, TimedOut};
    matches!(error, BusError::Connect(_, Refused | NameNotResolved(_) | Other(_) | TimedOut(_)))
}

/// How long a server that does not need NATS waits for it before it serves.
const FIRST_ATTEMPT: Duration = Duration::from_secs(2);
