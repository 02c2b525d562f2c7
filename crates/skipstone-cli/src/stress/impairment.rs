//! The flags of the simulated network, for both directions or for one of them.

use serde::{Deserialize, Serialize};
use skipstone::Impairment;
use skipstone::netsim::{LinkConfig, LinkStats, QueueLimit};
use skipstone_lab::report::stress::result;
use skipstone_lab::units::{BitRate, Burst, Percent, Span, chance, loss};
use std::collections::BTreeMap;

/// A simulated network of its own around each UDP client. Without a prefix, a flag applies to both directions.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "A bad network around each UDP client, in each direction")]
pub(crate) struct ImpairmentFlags {
    /// Datagrams lost at random
    #[arg(long, value_name = "PERCENT")]
    loss: Option<Percent>,
    /// Datagrams lost in bursts, and their mean length: 2%:3
    #[arg(long, value_name = "PERCENT:LENGTH", conflicts_with = "loss")]
    burst: Option<Burst>,
    /// One-way delay
    #[arg(long, value_name = "TIME")]
    delay: Option<Span>,
    /// Additional random delay, up to this
    #[arg(long, value_name = "TIME")]
    jitter: Option<Span>,
    /// Datagrams held back, so that later ones overtake them
    #[arg(long, value_name = "PERCENT")]
    reorder: Option<Percent>,
    /// Datagrams that arrive twice
    #[arg(long, value_name = "PERCENT")]
    duplicate: Option<Percent>,
    /// Datagrams with flipped bits
    #[arg(long, value_name = "PERCENT")]
    corrupt: Option<Percent>,
    /// Rate of the link, with a queue of 100 ms
    #[arg(long, value_name = "BITRATE")]
    link_rate: Option<BitRate>,
    /// Other values towards the server: loss=5%,delay=30ms
    #[arg(long, value_name = "NAME=VALUE,…")]
    up: Option<String>,
    /// Other values towards the clients
    #[arg(long, value_name = "NAME=VALUE,…")]
    down: Option<String>,
}

/// A checked network, and the words that asked for it.
#[derive(Clone, Debug)]
pub(crate) struct Impairments {
    pub(crate) impairment: Impairment,
    settings: BTreeMap<String, String>,
}

/// Maximum length of a link's queue.
const QUEUE: std::time::Duration = std::time::Duration::from_millis(100);

impl Impairments {
    /// `None` if no flag was given.
    pub(super) fn from(flags: &ImpairmentFlags, seed: u64) -> Result<Option<Self>, String> {
        let settings = flags.settings();
        if settings.is_empty() {
            return Ok(None);
        }
        let direction = |name: &str, other: &Option<String>| -> Result<LinkConfig, String> {
            let mut own = flags.clone();
            for part in other.iter().flat_map(|list| list.split(',')) {
                own.set(part).map_err(|error| format!("--{name} {part}: {error}"))?;
            }
            Ok(own.link())
        };
        let impairment = Impairment { up: direction("up", &flags.up)?, down: direction("down", &flags.down)?, seed };
        impairment.check().map_err(|error| format!("this network cannot be simulated: {error}"))?;
        Ok(Some(Self { impairment, settings }))
    }

    /// The figures for the result.
    pub(crate) fn result(&self, up: &LinkStats, down: &LinkStats) -> result::Impairment {
        result::Impairment { settings: self.settings.clone(), to_server: up.into(), to_clients: down.into() }
    }
}

impl ImpairmentFlags {
    /// Sets one value, by its flag's name.
    fn set(&mut self, part: &str) -> Result<(), String> {
        let (name, value) = part.trim().split_once('=').ok_or("the format is name=value, as in loss=5%")?;
        if !NAMES.contains(&name) {
            return Err(format!("the names are {}", NAMES.join(", ")));
        }
        // One kind of loss takes the place of the other.
        if matches!(name, "loss" | "burst") {
            (self.loss, self.burst) = (None, None);
        }
        let mut all = self.settings();
        all.insert(name.replace('-', "_"), value.to_owned());
        let all = serde_json::to_value(all).expect("texts by their names");
        *self = serde_json::from_value(all).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn link(&self) -> LinkConfig {
        LinkConfig {
            delay: self.delay.map_or_else(Default::default, |span| span.0),
            jitter: self.jitter.map_or_else(Default::default, |span| span.0),
            rate_bits_per_second: self.link_rate.map(|rate| rate.bits_per_second()),
            queue: if self.link_rate.is_some() { QueueLimit::Time(QUEUE) } else { QueueLimit::Unlimited },
            loss: loss(self.loss, self.burst),
            reorder: chance(self.reorder),
            duplicate: chance(self.duplicate),
            corrupt: chance(self.corrupt),
            ..LinkConfig::default()
        }
    }

    /// The flags that were given, as text.
    pub(crate) fn settings(&self) -> BTreeMap<String, String> {
        let all = serde_json::to_value(self).and_then(serde_json::from_value::<BTreeMap<String, Option<String>>>);
        let all = all.expect("every flag is a text");
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

const NAMES: [&str; 8] = ["loss", "burst", "delay", "jitter", "reorder", "duplicate", "corrupt", "link-rate"];
