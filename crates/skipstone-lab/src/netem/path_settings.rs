//! The settings of a path: both directions, outages, the seed; from flags, and changed by commands.

use serde::Serialize;
use skipstone::netsim::{Duplex, LinkConfig, Outage};

use super::profile::Profile;
use super::settings::{Framing, LinkSettings};
use crate::units::Span;

/// The flags of a path.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct PathFlags {
    /// A predefined link; other flags change it
    #[arg(long, value_name = "NAME")]
    profile: Option<Profile>,
    #[command(flatten)]
    both: LinkSettings,
    /// Other values towards the server: loss=5%,delay=30ms; `none` removes a value
    #[arg(long, value_name = "NAME=VALUE,…", help_heading = "The link, in each direction")]
    up: Option<String>,
    /// Other values towards the client
    #[arg(long, value_name = "NAME=VALUE,…", help_heading = "The link, in each direction")]
    down: Option<String>,
    /// An outage, by its start and length: 5s:300ms; may be given several times
    #[arg(long, value_name = "TIME:LENGTH", help_heading = "The link, in each direction")]
    outage: Vec<String>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// A path. Its words are what a user would write to have it again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PathSettings {
    pub(crate) up: LinkSettings,
    pub(crate) down: LinkSettings,
    #[serde(skip)]
    pub(crate) outages: Vec<Outage>,
    pub(crate) seed: u64,
}

/// The directions to which a command applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Up,
    Down,
    Both,
}

/// The settings in the form of the model network.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PathConfig {
    pub(crate) up: LinkConfig,
    pub(crate) down: LinkConfig,
}

impl PathSettings {
    pub(crate) fn from(flags: &PathFlags) -> Result<PathSettings, String> {
        let outages: Result<Vec<Outage>, String> = flags.outage.iter().map(|text| outage(text)).collect();
        let blank = LinkSettings::default();
        let mut path = PathSettings { up: blank.clone(), down: blank, outages: outages?, seed: flags.seed };
        if let Some(profile) = flags.profile {
            path.take_profile(profile);
        }
        (path.up, path.down) = (flags.both.over(&path.up)?, flags.both.over(&path.down)?);
        for (flag, scope, list) in [("--up", Scope::Up, &flags.up), ("--down", Scope::Down, &flags.down)] {
            path.set(scope, list.as_deref().unwrap_or_default()).map_err(|error| format!("{flag} {error}"))?;
        }
        Ok(path)
    }

    pub(crate) fn take_profile(&mut self, profile: Profile) {
        for (settings, list) in [(&mut self.up, profile.up()), (&mut self.down, profile.down())] {
            *settings = LinkSettings::default();
            settings.set_all(list).expect("profiles are written well");
        }
    }

    /// Sets values of one direction, or of both.
    pub(crate) fn set(&mut self, scope: Scope, list: &str) -> Result<(), String> {
        let mut changed = self.clone();
        if scope != Scope::Down {
            changed.up.set_all(list)?;
        }
        if scope != Scope::Up {
            changed.down.set_all(list)?;
        }
        *self = changed;
        Ok(())
    }

    pub(crate) fn config(&self, framing: Framing) -> Result<PathConfig, String> {
        let of = |settings: &LinkSettings| {
            let config = settings.config(framing)?;
            Ok::<_, String>(LinkConfig { outages: self.outages.clone(), ..config })
        };
        Ok(PathConfig { up: of(&self.up)?, down: of(&self.down)? })
    }

    /// Each direction in a line.
    pub(crate) fn lines(&self) -> [String; 2] {
        [("up", &self.up), ("down", &self.down)].map(|(name, settings)| {
            let words: Vec<String> = settings.words().iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{name:<5}{}", if words.is_empty() { "nothing is done to it".into() } else { words.join(",") })
        })
    }
}

impl PathConfig {
    pub(crate) fn duplex(&self, seed: u64) -> Duplex {
        Duplex::new(self.up.clone(), self.down.clone(), seed).expect("the configuration was validated")
    }

    /// The same for streams of the kernel's TCP, in which nothing can be lost: only delay, jitter and rate apply.
    /// Outages are handled separately.
    pub(crate) fn of_streams(&self) -> PathConfig {
        let of = |config: &LinkConfig| LinkConfig {
            delay: config.delay,
            jitter: config.jitter,
            rate_bits_per_second: config.rate_bits_per_second,
            opportunities: config.opportunities.clone(),
            header_bytes: STREAM_HEADER_BYTES,
            ..LinkConfig::default()
        };
        PathConfig { up: of(&self.up), down: of(&self.down) }
    }
}

/// IPv4 and TCP with timestamps.
const STREAM_HEADER_BYTES: usize = 52;

fn outage(text: &str) -> Result<Outage, String> {
    let wrong = || format!("--outage {text}: the format is TIME:LENGTH, as in 5s:300ms");
    let (start, length) = text.split_once(':').ok_or_else(wrong)?;
    let span =
        |part: &str| part.parse::<Span>().map(|span| span.0).map_err(|error| format!("--outage {text}: {error}"));
    Ok(Outage { start: span(start)?, length: span(length)? })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;
    use strum::VariantArray;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        flags: PathFlags,
    }

    fn path(line: &str) -> Result<PathSettings, String> {
        let words = std::iter::once("netem").chain(line.split_whitespace());
        PathSettings::from(&Line::try_parse_from(words).map_err(|error| error.to_string())?.flags)
    }

    #[test]
    fn flags_change_a_profile_and_lists_change_one_direction() {
        let path = path("--profile mobile --loss 1% --up rate=1Mbit/s,jitter=none --outage 5s:300ms --seed 7").unwrap();
        assert_eq!(path.lines()[0], "up   delay=30ms,loss=1%,queue=300ms,rate=1Mbit/s");
        assert_eq!(path.lines()[1], "down delay=30ms,jitter=12ms,loss=1%,queue=300ms,rate=30Mbit/s");
        assert_eq!((path.seed, path.outages[0].start), (7, Duration::from_secs(5)));
    }

    #[test]
    fn every_profile_makes_a_path() {
        for profile in Profile::VARIANTS {
            path(&format!("--profile {profile}")).unwrap().config(Framing::Udp).unwrap();
        }
    }

    #[test]
    fn mistakes_are_named_with_their_flag() {
        assert!(path("--up dely=3ms").unwrap_err().contains("--up dely=3ms: did you mean delay?"));
        assert!(path("--outage 5s").unwrap_err().contains("as in 5s:300ms"));
        assert!(path("--profile moon").unwrap_err().contains("satellite"));
    }
}
