//! The settings in an ACCEPT, which both sides follow (WIRE.md section 5).

mod rules;

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::wire::Malformed;
use crate::wire::cursor::{Reader, Writer};
use crate::wire::entries::{self, Entries};
use crate::wire::redundancy::{MODE_BYTES_MAX, Redundancy, RedundancyMode};
use crate::wire::varint;
pub use rules::{CHANNEL_RULES_MAX, ChannelRule, DeliveryMode, Overflow};
use rules::{decode_table, encode_table};

/// The settings of a connection. The default is that of section 5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The idle timeout, 100 ms to a day, in whole ms: a peer from which no packet arrives for this long is gone.
    pub idle_timeout: Duration,
    /// A client that received nothing for this long sends a PING: 100 ms to a day, in whole ms.
    pub keepalive: Duration,
    /// How long an acknowledgement may be held back while losses are possible: a day at most, in whole µs. On a stream
    /// it is 100 ms.
    pub ack_delay: Duration,
    /// How long an acknowledgement may be held back at all, also where nothing was lost (WIRE.md section 4.1): a day at
    /// most, in whole µs. If it is less than `ack_delay`, `ack_delay` applies.
    pub ack_delay_max: Duration,
    /// Maximum bytes of a message.
    pub message_bytes_max: u32,
    /// Bytes of reliable messages that a receiver holds, at least `message_bytes_max`.
    pub window_bytes: u32,
    /// Maximum bytes of a datagram: 256 to 65,507. Streams have packets of their own size.
    pub datagram_bytes_max: u16,
    /// The time at which the client sends queued messages.
    pub merging: Merging,
    /// The channel table, at most [`CHANNEL_RULES_MAX`] rules: the first rule that covers a channel applies.
    pub channels: Vec<ChannelRule>,
    /// The protection against loss in addition to retransmission, where the channel's rule sets none.
    pub redundancy: Redundancy,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            idle_timeout: Duration::from_secs(30),
            keepalive: Duration::from_secs(25),
            ack_delay: Duration::from_millis(1),
            ack_delay_max: Duration::from_millis(70),
            message_bytes_max: 1 << 20,
            window_bytes: 2 << 20,
            datagram_bytes_max: 1_472,
            merging: Merging::Immediate,
            channels: vec![ChannelRule::new(0..=u16::MAX, DeliveryMode::ReliableOrdered)],
            redundancy: Redundancy::default(),
        }
    }
}

/// The receive window that a reliable message of this length occupies, in bytes. WIRE.md section 4.1.
pub const fn window_cost(bytes: usize) -> u64 {
    (bytes + bytes / 16 + 64) as u64
}

impl Settings {
    /// The rule of a channel; `None` if the channel does not exist.
    pub fn rule(&self, channel: u16) -> Option<&ChannelRule> {
        self.channels.iter().find(|rule| (rule.first..=rule.last).contains(&channel))
    }

    /// The redundancy mode of a rule's channels: the rule's own, or that of all.
    pub fn redundancy_of(&self, rule: &ChannelRule) -> RedundancyMode {
        rule.redundancy.unwrap_or(self.redundancy.mode)
    }

    /// How long an acknowledgement may be held back where nothing was lost: the greatest delay.
    pub fn greatest_ack_delay(&self) -> Duration {
        self.ack_delay.max(self.ack_delay_max)
    }

    /// Whether every field is within its limits, as [`Settings::decode`] requires.
    pub fn is_valid(&self) -> bool {
        let merging_is_valid = match self.merging {
            Merging::After(delay) => delay <= TIME_MAX,
            Merging::Immediate | Merging::Flush => true,
        };
        (SILENCE_MIN..=TIME_MAX).contains(&self.idle_timeout)
            && (SILENCE_MIN..=TIME_MAX).contains(&self.keepalive)
            && self.ack_delay <= TIME_MAX
            && self.ack_delay_max <= TIME_MAX
            && merging_is_valid
            && u64::from(self.window_bytes) >= window_cost(self.message_bytes_max as usize)
            && DATAGRAM_BYTES.contains(&self.datagram_bytes_max)
            && self.redundancy.mode.is_valid()
            && self.channels.len() <= CHANNEL_RULES_MAX
            && self.channels.iter().all(ChannelRule::is_valid)
    }

    /// Encodes every setting that is not the default.
    ///
    /// # Panics
    /// If they are not valid, see [`Settings::is_valid`].
    pub fn encode(&self) -> Vec<u8> {
        assert!(self.is_valid(), "settings are checked before they are sent");
        let default = Settings::default();
        let mut entries = Entries::default();
        if self.idle_timeout != default.idle_timeout {
            entries.number(ID_IDLE_TIMEOUT, self.idle_timeout.as_millis() as u64);
        }
        if self.keepalive != default.keepalive {
            entries.number(ID_KEEPALIVE, self.keepalive.as_millis() as u64);
        }
        if self.ack_delay != default.ack_delay {
            entries.number(ID_ACK_DELAY, self.ack_delay.as_micros() as u64);
        }
        if self.message_bytes_max != default.message_bytes_max {
            entries.number(ID_MESSAGE_BYTES_MAX, self.message_bytes_max.into());
        }
        if self.window_bytes != default.window_bytes {
            entries.number(ID_WINDOW_BYTES, self.window_bytes.into());
        }
        if self.datagram_bytes_max != default.datagram_bytes_max {
            entries.number(ID_DATAGRAM_BYTES_MAX, self.datagram_bytes_max.into());
        }
        if self.channels != default.channels {
            entries.bytes(ID_CHANNELS, &encode_table(&self.channels));
        }
        if self.merging != default.merging {
            entries.number(ID_MERGING, self.merging.encode());
        }
        if self.redundancy != default.redundancy {
            let mut value = [0; MODE_BYTES_MAX + 4];
            let mut writer = Writer::new(&mut value);
            self.redundancy.encode(&mut writer);
            entries.bytes(ID_REDUNDANCY, writer.written());
        }
        if self.ack_delay_max != default.ack_delay_max {
            entries.number(ID_ACK_DELAY_MAX, self.ack_delay_max.as_micros() as u64);
        }
        entries.encoded
    }

    /// Decodes settings: a missing entry has its default, an unknown one is skipped, an invalid one is malformed.
    ///
    /// # Errors
    /// An entry is cut short, out of order or out of range, or the settings as a whole are not valid
    /// ([`Settings::is_valid`]).
    pub fn decode(encoded: &[u8]) -> Result<Settings, Malformed> {
        let mut settings = Settings::default();
        entries::each(encoded, |id, value| settings.decode_entry(id, value))?;
        if settings.is_valid() { Ok(settings) } else { Err(Malformed) }
    }

    fn decode_entry(&mut self, id: u64, value: &[u8]) -> Result<(), Malformed> {
        let mut value = Reader::new(value);
        match id {
            ID_IDLE_TIMEOUT => self.idle_timeout = Duration::from_millis(value.varint()?),
            ID_KEEPALIVE => self.keepalive = Duration::from_millis(value.varint()?),
            ID_ACK_DELAY => self.ack_delay = Duration::from_micros(value.varint()?),
            ID_MESSAGE_BYTES_MAX => self.message_bytes_max = value.varint_u32()?,
            ID_WINDOW_BYTES => self.window_bytes = value.varint_u32()?,
            ID_DATAGRAM_BYTES_MAX => self.datagram_bytes_max = value.varint_u16()?,
            ID_CHANNELS => self.channels = decode_table(&mut value)?,
            ID_MERGING => self.merging = Merging::decode(value.varint()?),
            ID_REDUNDANCY => self.redundancy = Redundancy::decode(&mut value)?,
            ID_ACK_DELAY_MAX => self.ack_delay_max = Duration::from_micros(value.varint()?),
            _ => return Ok(()),
        }
        value.end()
    }
}

/// The time at which a client sends queued messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merging {
    /// At once.
    Immediate,
    /// This long after the first message that waits, or when a datagram is full: a day at most, in whole µs.
    After(Duration),
    /// Whenever the application flushes.
    Flush,
}

impl Merging {
    fn encode(self) -> u64 {
        match self {
            Merging::Immediate => 0,
            Merging::After(delay) => delay.as_micros() as u64,
            Merging::Flush => varint::MAX,
        }
    }

    const fn decode(value: u64) -> Merging {
        match value {
            0 => Merging::Immediate,
            varint::MAX => Merging::Flush,
            micros => Merging::After(Duration::from_micros(micros)),
        }
    }
}

const ID_IDLE_TIMEOUT: u64 = 1;
const ID_KEEPALIVE: u64 = 2;
const ID_ACK_DELAY: u64 = 3;
pub(super) const ID_MESSAGE_BYTES_MAX: u64 = 4;
pub(super) const ID_WINDOW_BYTES: u64 = 5;
pub(super) const ID_DATAGRAM_BYTES_MAX: u64 = 6;
const ID_CHANNELS: u64 = 7;
const ID_MERGING: u64 = 8;
const ID_REDUNDANCY: u64 = 9;
const ID_ACK_DELAY_MAX: u64 = 10;

/// Minimum of idle timeout and keepalive: no server's settings make its clients ping more often.
pub const SILENCE_MIN: Duration = Duration::from_millis(100);
/// Maximum of the times in the settings.
pub const TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Minimum and maximum bytes of a datagram.
pub const DATAGRAM_BYTES: RangeInclusive<u16> = 256..=65_507;

#[cfg(test)]
mod tests;
