//! A plan as a file: TOML, of which every key is known. A mistake is reported with file, line, column and the nearest
//! key.

mod mistake;

use std::fs;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use super::contender::{Mode, Transport};
use crate::units::bit_rate::BitRate;
use crate::units::burst::Burst;
use crate::units::percent::Percent;
use crate::units::span::Span;
use mistake::mistake;

/// What is compared, under what condition.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// Its name in results.
    pub(crate) name: String,
    /// What it shows, in a sentence.
    pub(crate) about: Option<String>,
    /// How long updates are sent, in simulated minutes.
    #[serde(default = "five_minutes")]
    pub(crate) minutes: f64,
    /// Entities, each with a channel of its own.
    pub(crate) entities: u16,
    /// Ticks a second, at each of which every entity has an update.
    pub(crate) ticks_per_second: u32,
    /// Bytes of an update.
    pub(crate) payload_bytes: usize,
    /// Updates of each entity that may wait at a sender; what does not fit is refused. As it comes, if it does not say.
    pub(crate) waiting_max: Option<u32>,
    /// How long updates may take after the last was sent.
    #[serde(default, deserialize_with = "written")]
    pub(crate) patience: Option<Span>,
    /// The client's address changes so often.
    #[serde(default, deserialize_with = "written")]
    pub(crate) roam_every: Option<Span>,
    /// Who takes part; everybody, if it does not say.
    #[serde(default, deserialize_with = "listed")]
    pub(crate) transports: Option<Vec<Transport>>,
    /// In which modes Skipstone takes part.
    #[serde(default, deserialize_with = "listed")]
    pub(crate) modes: Option<Vec<Mode>>,
    /// The link, in both directions.
    pub(crate) link: Link,
    /// What else the link carries.
    #[serde(default)]
    pub(crate) beside: Vec<Beside>,
}

/// One direction of the path; the other is alike, with chances of its own.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    /// There and back, without queue and jitter.
    #[serde(deserialize_with = "written")]
    pub(crate) rtt: Option<Span>,
    /// Datagrams lost, each by itself.
    #[serde(default, deserialize_with = "written")]
    pub(crate) loss: Option<Percent>,
    /// Datagrams lost in a row: rate and mean length.
    #[serde(default, deserialize_with = "written")]
    pub(crate) burst: Option<Burst>,
    /// Up to so much more delay, in order.
    #[serde(default, deserialize_with = "written")]
    pub(crate) jitter: Option<Span>,
    /// Datagrams held back, so that later ones overtake them.
    #[serde(default, deserialize_with = "written")]
    pub(crate) reorder: Option<Percent>,
    /// Datagrams that arrive twice.
    #[serde(default, deserialize_with = "written")]
    pub(crate) duplicate: Option<Percent>,
    /// What it carries.
    #[serde(default, deserialize_with = "written")]
    pub(crate) rate: Option<BitRate>,
    /// What it carries back to the client, if that is something else.
    #[serde(default, deserialize_with = "written")]
    pub(crate) rate_back: Option<BitRate>,
    /// How long anything waits for the rate before it is dropped.
    #[serde(default, deserialize_with = "written")]
    pub(crate) queue: Option<Span>,
    /// When nothing gets through.
    #[serde(default)]
    pub(crate) outages: Vec<Outage>,
    /// The largest IP packet.
    pub(crate) mtu: Option<usize>,
}

/// The link is down.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outage {
    /// Since the first update.
    #[serde(deserialize_with = "one")]
    pub(crate) at: Span,
    #[serde(deserialize_with = "one")]
    pub(crate) length: Span,
}

/// A flow that shares the link with the transport, from the client to the server.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beside {
    pub(crate) flow: Kind,
    /// So long before the first update.
    #[serde(default, deserialize_with = "written")]
    pub(crate) ahead: Option<Span>,
    /// So long after the first update.
    #[serde(default, deserialize_with = "written")]
    pub(crate) starts: Option<Span>,
    /// So long after the first update; with the last one, if it does not say.
    #[serde(default, deserialize_with = "written")]
    pub(crate) stops: Option<Span>,
}

/// Kinds of flows beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A TCP-like transfer without end.
    Cubic,
}

impl Plan {
    /// Reads a plan. The error names the place of the mistake.
    pub(crate) fn read(path: &str) -> Result<Plan, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read the plan {path}: {error}"))?;
        Plan::parse(path, &text)
    }

    fn parse(path: &str, text: &str) -> Result<Plan, String> {
        toml::from_str(text).map_err(|error| mistake(path, text, &error))
    }
}

fn five_minutes() -> f64 {
    5.0
}

/// A value as people write it: a text that its type reads.
fn one<'de, D: Deserializer<'de>, T: FromStr<Err: ToString>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|error: T::Err| serde::de::Error::custom(error.to_string()))
}

fn written<'de, D: Deserializer<'de>, T: FromStr<Err: ToString>>(deserializer: D) -> Result<Option<T>, D::Error> {
    one(deserializer).map(Some)
}

fn listed<'de, D: Deserializer<'de>, T: FromStr<Err: ToString>>(deserializer: D) -> Result<Option<Vec<T>>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let values: Result<Vec<T>, T::Err> = texts.iter().map(|text| text.parse()).collect();
    let values = values.map_err(|error| serde::de::Error::custom(error.to_string()))?;
    if values.is_empty() {
        return Err(serde::de::Error::custom("the list is empty; leave it out for the default"));
    }
    Ok(Some(values))
}

#[cfg(test)]
mod tests;
