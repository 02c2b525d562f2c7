//! Limits of the messages that clients send, per channel: direction, length and rate. These limits are local to the
//! server and are not on the wire.

use super::footprint::map_bytes;
use crate::time::Time;
use core::fmt;
use core::ops::RangeInclusive;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The limits of one range of channels. A channel that no rule covers has only the settings' limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboundRule {
    /// The first channel of the range.
    pub first: u16,
    /// The last channel of the range, not below `first`.
    pub last: u16,
    /// The sides that may send.
    pub direction: Direction,
    /// Maximum bytes of a message from a client; `None` for the limit of the settings.
    pub message_bytes_max: Option<u32>,
    /// The messages that each client may send on each channel; `None` for any number.
    pub rate: Option<MessageRate>,
    /// The reaction when a client breaks the rule.
    pub violation: Violation,
}

/// The sides that may send on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Direction {
    /// The server and its clients.
    #[default]
    Both,
    /// The server only.
    ServerToClient,
    /// Clients only: the server's own `send` is refused.
    ClientToServer,
}

/// Messages of one client on one channel over time (a token bucket).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRate {
    /// Messages per second in the long run, at least 1.
    pub per_second: u32,
    /// Messages that may arrive at once after a pause, at least 1. A path that loses packets or stalls delivers in
    /// bursts: allow for about a second on reliable-ordered channels.
    pub burst: u32,
}

/// The reaction when a client breaks an inbound rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Violation {
    /// The connection ends with code `PROTOCOL` and a reason that names the channel and the rule.
    #[default]
    Close,
    /// The message is dropped and counted as `DropReason::InboundRule`. Only on unreliable channels: on a reliable one
    /// the sender would consider the message delivered.
    Drop,
}

impl InboundRule {
    /// A rule for these channels without limits yet, which ends the connection of a client that breaks it.
    pub fn new(channels: RangeInclusive<u16>) -> Self {
        InboundRule {
            first: *channels.start(),
            last: *channels.end(),
            direction: Direction::default(),
            message_bytes_max: None,
            rate: None,
            violation: Violation::default(),
        }
    }

    /// Whether these rules let the server send on a channel.
    pub fn let_server_send(rules: &[InboundRule], channel: u16) -> bool {
        let rule = rules.iter().find(|rule| rule.holds(channel));
        rule.is_none_or(|rule| rule.direction != Direction::ClientToServer)
    }

    fn holds(&self, channel: u16) -> bool {
        (self.first..=self.last).contains(&channel)
    }
}

/// A message that a rule does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Breach {
    channel: u16,
    limit: Limit,
    pub(crate) violation: Violation,
}

/// The limit that a message exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Direction,
    Length { bytes: usize, bytes_max: u32 },
    Rate(MessageRate),
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let channel = self.channel;
        match self.limit {
            Limit::Direction => write!(f, "channel {channel}: only the server may send on it"),
            Limit::Length { bytes, bytes_max } => {
                write!(f, "channel {channel}: a message of {bytes} bytes, of at most {bytes_max}")
            }
            Limit::Rate(MessageRate { per_second, burst }) => {
                write!(f, "channel {channel}: more than {per_second} messages per second and {burst} at once")
            }
        }
    }
}

/// The limits of one client, and how much of them it has used.
#[derive(Debug)]
pub(crate) struct InboundLimits {
    rules: Arc<[InboundRule]>,
    /// By channel: the time at which all messages so far would have arrived at the rule's rate, in nanoseconds.
    paid_at: BTreeMap<u16, u64>,
    /// Number of channels at which those with a full allowance are removed.
    sweep_at: usize,
    /// Channels that were checked for that.
    #[cfg(test)]
    swept: usize,
}

/// The number of channels whose rate is stored before entries with a full allowance are removed.
const CHANNELS_KEPT: usize = 64;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl InboundLimits {
    pub(crate) fn new(rules: Arc<[InboundRule]>) -> Self {
        InboundLimits {
            rules,
            paid_at: BTreeMap::new(),
            sweep_at: CHANNELS_KEPT,
            #[cfg(test)]
            swept: 0,
        }
    }

    /// Memory of the accounts.
    pub(crate) fn memory_bytes(&self) -> u64 {
        map_bytes::<u16, u64>(self.paid_at.len())
    }

    /// Whether a rule covers this channel.
    pub(crate) fn holds(&self, channel: u16) -> bool {
        self.rule(channel).is_some()
    }

    /// Whether the server may send on this channel.
    pub(crate) fn let_server_send(&self, channel: u16) -> bool {
        InboundRule::let_server_send(&self.rules, channel)
    }

    /// Whether a message of this length is allowed on this channel at all.
    pub(crate) fn check(&self, channel: u16, bytes: usize) -> Result<(), Breach> {
        let Some(rule) = self.rule(channel) else { return Ok(()) };
        let limit = match (rule.direction, rule.message_bytes_max) {
            (Direction::ServerToClient, _) => Limit::Direction,
            (_, Some(bytes_max)) if bytes > bytes_max as usize => Limit::Length { bytes, bytes_max },
            _ => return Ok(()),
        };
        Err(Breach { channel, limit, violation: rule.violation })
    }

    /// A new message arrived on this channel: takes its share of the rate.
    pub(crate) fn admit(&mut self, now: Time, channel: u16) -> Result<(), Breach> {
        let Some(rule) = self.rule(channel) else { return Ok(()) };
        let Some(rate) = rule.rate else { return Ok(()) };
        let violation = rule.violation;
        let now = now.as_micros().saturating_mul(1_000);
        let span = NANOS_PER_SECOND / u64::from(rate.per_second.max(1));
        let paid_at = self.paid_at.get(&channel).copied().unwrap_or(0).max(now);
        if paid_at > now.saturating_add(span * u64::from(rate.burst.saturating_sub(1))) {
            return Err(Breach { channel, limit: Limit::Rate(rate), violation });
        }
        self.paid_at.insert(channel, paid_at + span);
        if self.paid_at.len() > self.sweep_at {
            self.sweep(now);
        }
        Ok(())
    }

    /// Removes the channels with a full allowance. The next time is when their number has doubled, so that each added
    /// channel pays for checking two.
    fn sweep(&mut self, now: u64) {
        #[cfg(test)]
        {
            self.swept += self.paid_at.len();
        }
        self.paid_at.retain(|_, paid_at| *paid_at > now);
        self.sweep_at = CHANNELS_KEPT.max(2 * self.paid_at.len());
    }

    fn rule(&self, channel: u16) -> Option<&InboundRule> {
        self.rules.iter().find(|rule| rule.holds(channel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_micros(millis * 1_000)
    }

    #[test]
    fn a_rate_admits_a_burst_and_then_one_message_per_interval() {
        let rate = Some(MessageRate { per_second: 10, burst: 3 });
        let mut limits = InboundLimits::new([InboundRule { rate, ..InboundRule::new(1..=2) }].into());
        let admitted = |limits: &mut InboundLimits, now, channel, count: usize| {
            (0..count).filter(|_| limits.admit(now, channel).is_ok()).count()
        };
        assert_eq!(admitted(&mut limits, at(1_000), 1, 10), 3);
        assert_eq!(admitted(&mut limits, at(1_000), 2, 10), 3, "each channel has its own");
        assert_eq!(admitted(&mut limits, at(1_000), 3, 10), 10, "no rule holds it");
        assert_eq!(admitted(&mut limits, at(1_099), 1, 10), 0);
        assert_eq!(admitted(&mut limits, at(1_100), 1, 10), 1);
        assert_eq!(admitted(&mut limits, at(9_000), 1, 10), 3);
        let of_ten_seconds: usize = (0..10_000).map(|ms| admitted(&mut limits, at(20_000 + ms), 1, 1)).sum();
        assert_eq!(of_ten_seconds, 3 + 99);
    }

    /// A client that sends on all channels at once: each costs the same, however many there are.
    #[test]
    fn channels_with_unpaid_rates_are_rarely_swept() {
        let rate = Some(MessageRate { per_second: 2, burst: 3 });
        let mut limits = InboundLimits::new([InboundRule { rate, ..InboundRule::new(0..=u16::MAX) }].into());
        for channel in 0..=u16::MAX {
            limits.admit(at(1_000), channel).expect("its first message");
            assert!(limits.swept <= 2 * (usize::from(channel) + 1), "{} after {channel}", limits.swept);
        }
        assert_eq!(limits.paid_at.len(), 1 << 16);
        // Entries are removed once their rate is paid for and as many more messages have come.
        for channel in 0..=u16::MAX {
            limits.admit(at(10_000), channel).expect("its first message for a while");
        }
        limits.sweep(at(20_000).as_micros() * 1_000);
        assert_eq!((limits.paid_at.len(), limits.sweep_at), (0, CHANNELS_KEPT));
    }

    #[test]
    fn paid_rates_are_forgotten() {
        let rate = Some(MessageRate { per_second: 10, burst: 3 });
        let mut limits = InboundLimits::new([InboundRule { rate, ..InboundRule::new(0..=u16::MAX) }].into());
        for channel in 0..10_000 {
            limits.admit(at(1_000 + 10 * u64::from(channel)), channel).expect("its first message");
            assert!(limits.paid_at.len() <= CHANNELS_KEPT);
        }
    }
}
