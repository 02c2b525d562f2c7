//! The directory of a fleet, read by one who is no node of it.

use crate::fleet_flags::{DIRECTORY, LOCAL, Nats, NatsFlags};
use skipstone_fleet::bus::KvWatchState;
use skipstone_fleet::directory::DirectoryReader;
use skipstone_lab::report::Exit;
use std::time::{Duration, Instant, SystemTime};

/// Where the fleet's directory is.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct DirectoryFlags {
    /// NATS of the fleet: nats://HOST or tls://HOST
    #[arg(
        long,
        value_name = "URL",
        env = "SKIPSTONE_FLEET",
        hide_env_values = true,
        default_value = "nats://127.0.0.1:4222"
    )]
    fleet: String,
    #[command(flatten)]
    nats: NatsFlags,
}

/// A directory that was read, and goes on.
pub(super) struct Listing {
    nats: Nats,
    pub(super) directory: DirectoryReader,
}

impl DirectoryFlags {
    /// Connects, and reads the whole directory. The error is an exit code and one sentence.
    pub(super) fn read(&self) -> Result<Listing, (Exit, String)> {
        if self.fleet == LOCAL {
            let why = "--fleet local is for servers; give the address that `serve --fleet local` printed";
            return Err((Exit::BadConfiguration, why.into()));
        }
        let nats = self.nats.connect(&self.fleet, "operator")?;
        let shown = nats.shown.clone();
        let unavailable = |why: &dyn std::fmt::Display| (Exit::Unavailable, format!("NATS at {shown}: {why}"));
        let directory = DirectoryReader::start(&nats.bus, DIRECTORY).map_err(|error| unavailable(&error))?;
        let mut listing = Listing { nats, directory };
        let end = Instant::now() + READ_MAX;
        while *listing.directory.state() != KvWatchState::Current {
            listing.poll(Duration::from_millis(20));
            if let KvWatchState::Failed { why } = listing.directory.state()
                && (Instant::now() > end || !listing.has_jetstream())
            {
                return Err(unavailable(why));
            }
            if Instant::now() > end {
                return Err(unavailable(&format!("the directory was not read within {READ_MAX:?}")));
            }
        }
        Ok(listing)
    }
}

impl Listing {
    /// Takes what has happened, waiting for it at most this long.
    pub(super) fn poll(&mut self, patience: Duration) {
        let mut event = self.nats.bus.wait(patience);
        while let Some(happened) = event {
            self.directory.handle(happened);
            event = self.nats.bus.poll();
        }
    }

    fn has_jetstream(&self) -> bool {
        self.nats.bus.server().is_none_or(|server| server.has_jetstream)
    }
}

/// How long ago an entry was stored, by the clocks of this machine and of NATS.
pub(super) fn age(stored_at: SystemTime) -> Duration {
    SystemTime::now().duration_since(stored_at).unwrap_or_default()
}

const READ_MAX: Duration = Duration::from_secs(10);
