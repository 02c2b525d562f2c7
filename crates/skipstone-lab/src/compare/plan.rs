//! A plan file: TOML in which only known keys are allowed. A mistake is reported with file, line, column and the
//! nearest key.

mod mistake;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};

use super::delivery::Delivery;
use super::transport::Transport;
use crate::recording::schedule::PlayedRecording;
use crate::units::{BitRate, Burst, Fade, Mode, Percent, Span};
use mistake::{mistake, placed};

/// A plan: the transports to compare, and the condition.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ComparePlan {
    /// Its name in results.
    pub(crate) name: String,
    /// The purpose of the plan, in a sentence.
    pub(crate) about: Option<String>,
    /// How long updates are sent, in simulated minutes.
    #[serde(default = "five_minutes")]
    pub(crate) minutes: f64,
    /// Entities, each with its own channel.
    pub(crate) entities: Option<u16>,
    /// Ticks a second, at each of which every entity has an update.
    pub(crate) ticks_per_second: Option<u32>,
    /// Bytes of an update.
    pub(crate) payload_bytes: Option<usize>,
    /// A recording of a game's messages, which replaces these three.
    pub(crate) recording: Option<PlayedRecording>,
    /// How updates are delivered. By default, updates of a recording keep their recorded mode, and others are reliable
    /// and in order.
    pub(crate) delivery: Option<Delivery>,
    /// Updates of each entity that may wait at a sender; what does not fit is refused. As it comes, if it does not say.
    pub(crate) waiting_max: Option<u32>,
    /// How long updates may take after the last was sent.
    pub(crate) patience: Option<Span>,
    /// Interval at which the client's address changes.
    pub(crate) roam_every: Option<Span>,
    /// The transports that take part; all of them, if the plan does not say.
    #[serde(default, deserialize_with = "distinct_values")]
    pub(crate) transports: Option<Vec<Transport>>,
    /// In which modes Skipstone takes part.
    #[serde(default, deserialize_with = "distinct_values")]
    pub(crate) modes: Option<Vec<Mode>>,
    /// The link, in both directions.
    pub(crate) link: LinkValues,
    /// Large messages of the contender, in addition to the updates.
    pub(crate) bulk: Option<Bulk>,
    /// Background flows on the contender's link.
    #[serde(default)]
    pub(crate) beside: Vec<CompetingFlow>,
    /// Several conditions, each of which all transports meet; what one does not say is as above.
    #[serde(default)]
    pub(crate) conditions: Vec<PlanCondition>,
}

/// One of several conditions of a plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanCondition {
    /// Its name in results.
    #[serde(skip_serializing)]
    pub(crate) name: String,
    #[serde(skip_serializing)]
    pub(crate) entities: Option<u16>,
    // As the link's are.
    rtt: Option<Span>,
    loss: Option<Percent>,
    burst: Option<Burst>,
    fade: Option<Fade>,
    jitter: Option<Span>,
    reorder: Option<Percent>,
    rate: Option<BitRate>,
    queue: Option<Span>,
}

/// The way to the server, in a plan or as flags. The way back is alike where no `…_back` says otherwise, with chances
/// of its own.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkValues {
    /// Round trip of the path, half of it each way
    #[arg(long, value_name = "TIME")]
    #[serde(deserialize_with = "given")]
    pub(crate) rtt: Option<Span>,
    /// The way back's part of it; half, if it does not say.
    #[arg(skip)]
    pub(crate) delay_back: Option<Span>,
    /// Datagrams lost at random, in each direction; also replaces bursts and fades
    #[arg(long, value_name = "PERCENT")]
    pub(crate) loss: Option<Percent>,
    /// Datagrams lost in bursts, and their mean length: 2%:3; replaces random loss
    #[arg(long, value_name = "PERCENT:LENGTH", conflicts_with = "loss")]
    pub(crate) burst: Option<Burst>,
    /// Share of the time in which everything is lost, and its mean duration: 2%:300ms
    #[arg(long, value_name = "PERCENT:TIME", conflicts_with_all = ["loss", "burst"])]
    pub(crate) fade: Option<Fade>,
    /// The loss of the way back, of any of the three kinds.
    #[arg(skip)]
    pub(crate) loss_back: Option<Percent>,
    #[arg(skip)]
    pub(crate) burst_back: Option<Burst>,
    #[arg(skip)]
    pub(crate) fade_back: Option<Fade>,
    /// Additional random delay each way, up to this, in order
    #[arg(long, value_name = "TIME")]
    pub(crate) jitter: Option<Span>,
    #[arg(skip)]
    pub(crate) jitter_back: Option<Span>,
    /// Datagrams held back for up to 20 ms, so that later ones overtake them
    #[arg(long, value_name = "PERCENT")]
    pub(crate) reorder: Option<Percent>,
    /// Datagrams that arrive twice
    #[arg(long, value_name = "PERCENT")]
    pub(crate) duplicate: Option<Percent>,
    /// Rate of the link in each direction
    #[arg(long = "link-rate", value_name = "BITRATE")]
    pub(crate) rate: Option<BitRate>,
    /// The rate back to the client, if it differs.
    #[arg(skip)]
    pub(crate) rate_back: Option<BitRate>,
    /// Maximum time that a datagram waits for that rate before it is dropped
    #[arg(long, value_name = "TIME")]
    pub(crate) queue: Option<Span>,
    #[arg(skip)]
    pub(crate) queue_back: Option<Span>,
    /// When nothing gets through.
    #[arg(skip)]
    #[serde(default, skip_serializing)]
    pub(crate) outages: Vec<Outage>,
    /// The largest IP packet
    #[arg(long, value_name = "BYTES")]
    pub(crate) mtu: Option<usize>,
}

/// A stream of large messages from the client to the server and back, behind all updates if the transport has
/// priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bulk {
    /// Bytes of a message.
    pub(crate) bytes: usize,
    /// The time between two.
    pub(crate) every: Span,
}

/// The link is down.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outage {
    /// Since the first update.
    pub(crate) at: Span,
    pub(crate) length: Span,
}

/// A flow that shares the link with the transport, from the client to the server.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompetingFlow {
    pub(crate) flow: Kind,
    /// The time before the first update.
    pub(crate) ahead: Option<Span>,
    /// The time after the first update.
    pub(crate) starts: Option<Span>,
    /// The time after the first update. Default: the end of the updates.
    pub(crate) stops: Option<Span>,
}

/// Kinds of background flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A TCP-like transfer without end.
    Cubic,
}

/// A plan and its text, in which mistakes have their place.
#[derive(Debug, Clone)]
pub(crate) struct PlanFile {
    pub(crate) plan: ComparePlan,
    path: String,
    text: String,
}

impl PlanFile {
    /// The mistake as one sentence, with the place of the key that it is about.
    pub(crate) fn mistake(&self, misfit: &Misfit) -> String {
        placed(&self.path, &self.text, misfit.key, &misfit.sentence)
    }
}

/// A value that a plan cannot have, or not together with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// The key as in `link.queue`.
    pub(crate) key: &'static str,
    pub(crate) sentence: String,
}

pub(super) fn misfit<T>(key: &'static str, sentence: impl Into<String>) -> Result<T, Misfit> {
    Err(Misfit { key, sentence: sentence.into() })
}

impl ComparePlan {
    /// Reads a plan. The error names the place of the mistake.
    pub(crate) fn read(path: &str) -> Result<PlanFile, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read the plan {path}: {error}"))?;
        let mut plan = Self::parse(path, &text)?;
        if let Some(recording) = &mut plan.recording {
            // Relative to the plan, wherever the tool is started.
            recording.file = Path::new(path).with_file_name("").join(&recording.file);
        }
        Ok(PlanFile { plan, path: path.to_owned(), text })
    }

    pub(crate) fn parse(path: &str, text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| mistake(path, text, &error))
    }
}

fn five_minutes() -> f64 {
    5.0
}

/// No plan goes without it.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Span>, D::Error> {
    Span::deserialize(deserializer).map(Some)
}

/// Some values, each named once.
fn distinct_values<'de, D: Deserializer<'de>, T: Deserialize<'de> + Display>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let values = Vec::deserialize(deserializer)?;
    if values.is_empty() {
        return Err(serde::de::Error::custom("the list is empty; leave it out for the default"));
    }
    distinct(&values).map_err(serde::de::Error::custom)?;
    Ok(Some(values))
}

/// A sentence, if one of the values is named twice.
pub(crate) fn distinct<T: Display>(values: &[T]) -> Result<(), String> {
    let mut names = BTreeSet::new();
    let twice = values.iter().map(T::to_string).find(|name| !names.insert(name.clone()));
    twice.map_or(Ok(()), |name| Err(format!("{name} is named twice")))
}

#[cfg(test)]
mod tests;
