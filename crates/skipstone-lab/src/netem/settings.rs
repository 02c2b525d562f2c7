//! The settings of one direction of a link: as flags and as the console's `name=value`, and what the model network
//! makes of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use skipstone::netsim::{LinkConfig, Loss, Opportunities, QueueLimit};

use crate::units::nearest::nearest;
use crate::units::{BitRate, Burst, Fade, Percent, Span, chance, loss};

/// One direction.
#[derive(Debug, Clone, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "The link, in each direction")]
pub(crate) struct LinkSettings {
    /// One-way delay
    #[arg(long, value_name = "TIME")]
    delay: Option<Span>,
    /// Additional random delay, up to this, in order
    #[arg(long, value_name = "TIME")]
    jitter: Option<Span>,
    /// Packets lost at random
    #[arg(long, value_name = "PERCENT")]
    loss: Option<Percent>,
    /// Packets lost in bursts, and their mean length in packets: 2%:3
    #[arg(long, value_name = "PERCENT:LENGTH", conflicts_with = "loss")]
    burst: Option<Burst>,
    /// Share of the time in which everything is lost, and its mean duration: 2%:300ms
    #[arg(long, value_name = "PERCENT:TIME", conflicts_with_all = ["loss", "burst"])]
    fade: Option<Fade>,
    /// Packets held back for up to 20 ms, so that later ones overtake them
    #[arg(long, value_name = "PERCENT")]
    reorder: Option<Percent>,
    /// Packets that arrive twice
    #[arg(long, value_name = "PERCENT")]
    duplicate: Option<Percent>,
    /// Packets with one to three flipped bits
    #[arg(long, value_name = "PERCENT")]
    corrupt: Option<Percent>,
    /// Rate of the link
    #[arg(long, value_name = "BITRATE")]
    rate: Option<BitRate>,
    /// A recorded link in mahimahi's format instead of a rate: a line for each 1,504 bytes, with its millisecond
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    trace: Option<PathBuf>,
    /// Maximum time that a packet waits for the rate before it is dropped; 100ms by default
    #[arg(long, value_name = "TIME")]
    queue: Option<Span>,
    /// The largest IP packet that passes; by default 1500 of a link, and any of a relay, as with fragments
    #[arg(long, value_name = "BYTES")]
    mtu: Option<u16>,
}

/// The bytes that count against the rate in addition to the packet's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The link carries whole IP packets.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "links of the kernel are Linux' own"))]
    Ip,
    /// The link carries the payload of UDP, and counts its headers.
    Udp,
}

/// The default length of the queue.
const QUEUE: std::time::Duration = std::time::Duration::from_millis(100);
pub(crate) const MTU: u16 = 1_500;
/// The smallest size that IPv4 must carry, and the largest size.
const MTU_RANGE: std::ops::RangeInclusive<u16> = 68..=u16::MAX;
/// A recording of an hour at 100 Mbit/s is half of this.
const TRACE_BYTES_MAX: u64 = 512 << 20;

impl Framing {
    pub(crate) fn header_bytes(self) -> usize {
        match self {
            Framing::Ip => 0,
            Framing::Udp => 28,
        }
    }
}

impl LinkSettings {
    /// Sets values: `loss=2%,delay=20ms`; `none` takes one away.
    pub(crate) fn set_all(&mut self, list: &str) -> Result<(), String> {
        let mut changed = self.clone();
        for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            changed.set(part).map_err(|error| format!("{part}: {error}"))?;
        }
        *self = changed;
        Ok(())
    }

    fn set(&mut self, part: &str) -> Result<(), String> {
        let (name, value) = part.split_once('=').ok_or("the format is name=value, as in loss=5%")?;
        let (name, value) = (name.trim(), value.trim());
        let mut all = self.words();
        if !NAMES.contains(&name) {
            let meant = nearest(name, NAMES).map_or(String::new(), |name| format!("did you mean {name}? "));
            return Err(format!("{meant}The names are {}", NAMES.join(", ")));
        }
        for group in EXCLUSIVE.iter().filter(|group| group.contains(&name)) {
            group.iter().for_each(|other| drop(all.remove(*other)));
        }
        all.remove(name);
        if value != "none" {
            all.insert(name.to_owned(), value.to_owned());
        }
        *self = LinkSettings::of_words(all)?;
        Ok(())
    }

    /// These values where they are set, and the other's elsewhere.
    pub(crate) fn over(&self, other: &LinkSettings) -> Result<LinkSettings, String> {
        let list: Vec<String> = self.words().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut both = other.clone();
        both.set_all(&list.join(","))?;
        Ok(both)
    }

    /// The values that were given, as text.
    pub(crate) fn words(&self) -> BTreeMap<String, String> {
        let texts = serde_json::to_value(self).expect("every value has a text");
        let of = |(name, value): (&String, &serde_json::Value)| {
            let text = value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))?;
            Some((name.clone(), text))
        };
        texts.as_object().into_iter().flatten().filter_map(of).collect()
    }

    fn of_words(words: BTreeMap<String, String>) -> Result<LinkSettings, String> {
        let value = |(name, text): (String, String)| match name.as_str() {
            "mtu" => text
                .parse::<u16>()
                .map(|bytes| (name, bytes.into()))
                .map_err(|_| format!("\"{text}\" is not a number of bytes (for example 1500)")),
            _ => Ok((name, serde_json::Value::from(text))),
        };
        let all: Result<serde_json::Map<String, serde_json::Value>, String> = words.into_iter().map(value).collect();
        serde_json::from_value(all?.into()).map_err(|error| error.to_string())
    }

    /// The largest IP packet of a link.
    pub(crate) fn mtu(&self) -> u16 {
        self.mtu.unwrap_or(MTU)
    }

    /// The largest payload that passes. Through a link the system sends a larger one in fragments; a relay has none.
    fn datagram_bytes_max(&self, framing: Framing) -> Option<usize> {
        let mtu = match framing {
            Framing::Ip => Some(self.mtu()),
            Framing::Udp => self.mtu,
        };
        mtu.map(|mtu| usize::from(mtu).saturating_sub(framing.header_bytes()))
    }

    /// Converted to the simulator's configuration. Reads the recording, if there is one.
    pub(crate) fn config(&self, framing: Framing) -> Result<LinkConfig, String> {
        if !MTU_RANGE.contains(&self.mtu()) {
            return Err(format!("mtu {}: there can be {} to {}", self.mtu(), MTU_RANGE.start(), MTU_RANGE.end()));
        }
        let opportunities = self.trace.as_ref().map(read_trace).transpose()?;
        if self.queue.is_some() && self.rate.is_none() && opportunities.is_none() {
            return Err("the link has a queue and no rate; give it a rate such as 2Mbit/s".into());
        }
        let span = |span: Option<Span>| span.map_or_else(Default::default, |span| span.0);
        let config = LinkConfig {
            delay: span(self.delay),
            jitter: span(self.jitter),
            rate_bits_per_second: self.rate.map(|rate| rate.bits_per_second()),
            opportunities,
            queue: QueueLimit::Time(self.queue.map_or(QUEUE, |queue| queue.0)),
            loss: self.fade.map_or_else(|| loss(self.loss, self.burst), fading),
            reorder: chance(self.reorder),
            duplicate: chance(self.duplicate),
            corrupt: chance(self.corrupt),
            datagram_bytes_max: self.datagram_bytes_max(framing),
            header_bytes: framing.header_bytes(),
            ..LinkConfig::default()
        };
        config.validate().map_err(|error| format!("there is no such link: {error}"))?;
        Ok(config)
    }
}

fn fading(fade: Fade) -> Loss {
    Loss::Fade { rate: fade.rate.fraction(), mean_length: fade.mean_length }
}

fn read_trace(path: &PathBuf) -> Result<Opportunities, String> {
    let text = |error: &dyn std::fmt::Display| format!("the trace {}: {error}", path.display());
    let bytes = std::fs::metadata(path).map_err(|error| text(&error))?.len();
    if bytes > TRACE_BYTES_MAX {
        return Err(text(&format!("{bytes} bytes are more than {TRACE_BYTES_MAX}")));
    }
    let lines = std::fs::read_to_string(path).map_err(|error| text(&error))?;
    lines.parse().map_err(|error| text(&error))
}

/// Setting one takes the others away.
const EXCLUSIVE: [&[&str]; 2] = [&["loss", "burst", "fade"], &["rate", "trace"]];

const NAMES: [&str; 12] =
    ["delay", "jitter", "loss", "burst", "fade", "reorder", "duplicate", "corrupt", "rate", "trace", "queue", "mtu"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_set_and_removed_by_name() {
        let mut settings = LinkSettings::default();
        settings.set_all("delay=20ms, loss=2%,mtu=1400").unwrap();
        settings.set_all("burst=1%:3").unwrap();
        let words: Vec<String> = settings.words().iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(words, ["burst=1%:3", "delay=20ms", "mtu=1400"], "one kind of loss takes the place of the other");
        settings.set_all("burst=none").unwrap();
        let config = settings.config(Framing::Udp).unwrap();
        assert_eq!((config.loss, config.datagram_bytes_max, config.header_bytes), (Loss::None, Some(1_372), 28));
    }

    #[test]
    fn a_relay_passes_datagrams_of_any_size_unless_it_has_an_mtu() {
        let settings = LinkSettings::default();
        let max = |framing| settings.config(framing).unwrap().datagram_bytes_max;
        assert_eq!((max(Framing::Udp), max(Framing::Ip)), (None, Some(1_500)));
    }

    #[test]
    fn an_invalid_value_changes_nothing_and_shows_the_format() {
        let mut settings = LinkSettings::default();
        for (list, cause) in [
            ("delay=20ms,los=2%", "did you mean loss?"),
            ("loss=2", "it has no percent sign"),
            ("mtu=big", "\"big\" is not a number of bytes"),
            ("delay", "name=value"),
        ] {
            let error = settings.set_all(list).unwrap_err();
            assert!(error.contains(cause), "{error}");
        }
        assert_eq!(settings, LinkSettings::default());
    }

    #[test]
    fn impossible_link_settings_are_refused() {
        let error = |list: &str| {
            let mut settings = LinkSettings::default();
            settings.set_all(list).unwrap();
            settings.config(Framing::Ip).unwrap_err()
        };
        assert!(error("queue=10ms").contains("give it a rate"));
        assert!(error("mtu=10").contains("there can be 68"));
        assert!(error("trace=/nowhere/at/all").contains("the trace /nowhere/at/all: "));
    }
}
