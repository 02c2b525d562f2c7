//! Both directions of a plan's link: as simulator configuration and as text.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};
use skipstone::netsim::{ConfigError, LinkConfig, Loss, QueueLimit};

use super::plan::{LinkValues, Misfit, Outage, misfit};
use crate::framing::HEADER_BYTES;
use crate::units::{self, BitRate, Burst, Fade, Percent, Span, chance};

/// The way to the server, and the way back.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Directions {
    pub(super) there: LinkConfig,
    pub(super) back: LinkConfig,
}

/// The default of a plan.
pub(super) const MTU_DEFAULT: usize = 1_500;
/// IPv6 asks for that much, and no transport here works with much less.
const MTU_MIN: usize = 1_280;
const MTU_MAX: usize = 65_535;
/// Beyond the Moon and back. More would let a run of minutes see no echo at all.
const RTT_MAX: Duration = Duration::from_secs(10);

impl Directions {
    /// Of a plan's link. The error names the key that does not fit.
    pub(super) fn of(link: &LinkValues) -> Result<Directions, Misfit> {
        let mtu = link.mtu.unwrap_or(MTU_DEFAULT);
        if !(MTU_MIN..=MTU_MAX).contains(&mtu) {
            return misfit("link.mtu", format!("{mtu} bytes of MTU: there can be {MTU_MIN} to {MTU_MAX}"));
        }
        let delay_back = delay_back(link)?;
        check_rates(link)?;
        let there = there(link, rtt(link) - delay_back, mtu)?;
        let back = back(link, &there, delay_back)?;
        check("link", &there)?;
        check("link", &back)?;
        Ok(Directions { there, back })
    }
}

fn rtt(link: &LinkValues) -> Duration {
    link.rtt.map_or(Duration::ZERO, |span| span.0)
}

/// The way back's part of the round trip.
fn delay_back(link: &LinkValues) -> Result<Duration, Misfit> {
    let rtt = rtt(link);
    if rtt > RTT_MAX {
        return misfit("link.rtt", format!("a round trip of {}: the maximum is {}", Span(rtt), Span(RTT_MAX)));
    }
    match link.delay_back {
        Some(back) if back.0 > rtt => {
            misfit("link.delay_back", format!("{back} for the way back is more than the round trip of {}", Span(rtt)))
        }
        back => Ok(back.map_or(rtt / 2, |back| back.0)),
    }
}

fn check_rates(link: &LinkValues) -> Result<(), Misfit> {
    let without = |what: &str| format!("the link has {what} and no rate; give it a rate such as 2Mbit/s");
    match link {
        LinkValues { rate: Some(_), .. } => Ok(()),
        LinkValues { rate_back: Some(_), .. } => misfit("link.rate_back", without("a rate back")),
        LinkValues { queue: Some(_), .. } => misfit("link.queue", without("a queue")),
        LinkValues { queue_back: Some(_), .. } => misfit("link.queue_back", without("a queue back")),
        _ => Ok(()),
    }
}

fn there(link: &LinkValues, delay: Duration, mtu: usize) -> Result<LinkConfig, Misfit> {
    let outage = |outage: &Outage| skipstone::netsim::Outage { start: outage.at.0, length: outage.length.0 };
    Ok(LinkConfig {
        delay,
        jitter: link.jitter.map_or(Duration::ZERO, |span| span.0),
        rate_bits_per_second: link.rate.map(|rate| rate.bits_per_second()),
        queue: limit(link.queue).unwrap_or_default(),
        loss: loss("link.burst", "link.fade", link.loss, link.burst, link.fade)?.unwrap_or_default(),
        reorder: chance(link.reorder),
        duplicate: chance(link.duplicate),
        outages: link.outages.iter().map(outage).collect(),
        datagram_bytes_max: Some(mtu - HEADER_BYTES),
        header_bytes: HEADER_BYTES,
        ..LinkConfig::default()
    })
}

fn back(link: &LinkValues, there: &LinkConfig, delay: Duration) -> Result<LinkConfig, Misfit> {
    let own = loss("link.burst_back", "link.fade_back", link.loss_back, link.burst_back, link.fade_back)?;
    let rate_back = link.rate_back.map(|rate: BitRate| rate.bits_per_second());
    Ok(LinkConfig {
        delay,
        jitter: link.jitter_back.map_or(there.jitter, |span| span.0),
        rate_bits_per_second: rate_back.or(there.rate_bits_per_second),
        queue: limit(link.queue_back).unwrap_or(there.queue),
        loss: own.unwrap_or(there.loss),
        ..there.clone()
    })
}

fn limit(queue: Option<Span>) -> Option<QueueLimit> {
    queue.map(|queue| QueueLimit::Time(queue.0))
}

/// The one kind of loss that is given, if any is.
fn loss(
    burst_key: &'static str,
    fade_key: &'static str,
    loss: Option<Percent>,
    burst: Option<Burst>,
    fade: Option<Fade>,
) -> Result<Option<Loss>, Misfit> {
    let two = |key, words: &str| misfit(key, format!("the link has {words}; choose one"));
    match (loss, burst, fade) {
        (Some(_), Some(_), _) => two(burst_key, "a loss and a burst"),
        (Some(_), None, Some(_)) => two(fade_key, "a loss and a fade"),
        (None, Some(_), Some(_)) => two(fade_key, "a burst and a fade"),
        (None, None, Some(fade)) => Ok(Some(Loss::Fade { rate: fade.rate.fraction(), mean_length: fade.mean_length })),
        (None, None, None) => Ok(None),
        (loss, burst, None) => Ok(Some(units::loss(loss, burst))),
    }
}

fn check(key: &'static str, config: &LinkConfig) -> Result<(), Misfit> {
    let cannot = |error: ConfigError| Misfit { key, sentence: format!("this link cannot be: {error}") };
    config.validate().map_err(cannot)
}

/// The values that say something, by their names.
pub(super) fn fields(link: &impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(mut all)) = serde_json::to_value(link) else { unreachable!("a link is an object") };
    all.retain(|_, value| !value.is_null());
    all
}

/// The link's values in the notation of plans.
pub(super) fn words(link: &LinkValues) -> BTreeMap<String, String> {
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut words: BTreeMap<String, String> =
        fields(link).into_iter().map(|(name, value)| (name, text(value))).collect();
    let outages: Vec<_> = link.outages.iter().map(|outage| format!("{} at {}", outage.length, outage.at)).collect();
    if !outages.is_empty() {
        words.insert("outages".into(), outages.join(", "));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(text: &str) -> Result<Directions, Misfit> {
        Directions::of(&toml::from_str(text).expect("a table of a plan"))
    }

    #[test]
    fn the_return_path_defaults_to_the_forward_path() {
        let Directions { there, back } = link("rtt = \"21ms\"\nloss = \"2%\"\nrate = \"1Mbit/s\"").unwrap();
        assert_eq!(there, back);
        assert_eq!(there.delay, Duration::from_micros(10_500));
    }

    #[test]
    fn each_direction_has_its_own_settings() {
        let text = "rtt = \"50ms\"\ndelay_back = \"10ms\"\nloss = \"2%\"\nfade_back = \"3%:200ms\"\nrate = \
            \"1Mbit/s\"\nrate_back = \"4Mbit/s\"\nqueue = \"50ms\"\nqueue_back = \"70ms\"\njitter_back = \
              \"1ms\"\nreorder = \"1%\"";
        let Directions { there, back } = link(text).unwrap();
        assert_eq!((there.delay, back.delay), (Duration::from_millis(40), Duration::from_millis(10)));
        assert_eq!(there.loss, Loss::Random(0.02));
        assert_eq!(back.loss, Loss::Fade { rate: 0.03, mean_length: Duration::from_millis(200) });
        assert_eq!((there.rate_bits_per_second, back.rate_bits_per_second), (Some(1_000_000), Some(4_000_000)));
        assert_eq!(back.queue, QueueLimit::Time(Duration::from_millis(70)));
        assert_eq!((there.jitter, back.jitter), (Duration::ZERO, Duration::from_millis(1)));
        assert_eq!((there.reorder, back.reorder), (0.01, 0.01));
    }

    #[test]
    fn conflicting_settings_are_named_by_key() {
        for (text, key) in [
            ("rtt = \"11s\"", "link.rtt"),
            ("rtt = \"5ms\"\ndelay_back = \"6ms\"", "link.delay_back"),
            ("rtt = \"5ms\"\nloss = \"1%\"\nburst = \"1%:2\"", "link.burst"),
            ("rtt = \"5ms\"\nburst_back = \"1%:2\"\nfade_back = \"1%:1s\"", "link.fade_back"),
            ("rtt = \"5ms\"\nqueue_back = \"1s\"", "link.queue_back"),
            ("rtt = \"5ms\"\nmtu = 1000", "link.mtu"),
        ] {
            assert_eq!(link(text).unwrap_err().key, key, "{text}");
        }
    }
}
