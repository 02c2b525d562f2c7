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

settings! {
    /// The settings of a connection. Section 5 lists the defaults.
    pub struct Settings {
        numbers {
            /// Time without a packet after which the peer is gone: the idle timeout.
            1 idle_timeout: Duration as Milliseconds, 100 to 86_400_000, default 30_000;
            /// Time without a packet after which a client sends a PING, or 5/6 of the idle timeout if that is shorter;
            /// a server waits half as long again, or until half-way to the idle timeout if that is sooner.
            2 keepalive: Duration as Milliseconds, 100 to 86_400_000, default 25_000;
            /// Longest time for which an acknowledgement may be held back while losses are possible (WIRE.md section
            /// 4.1).
            3 ack_delay: Duration as Microseconds, 0 to 86_400_000_000, default 1_000;
            /// Longest time for which an acknowledgement may be held back at all, also where nothing was lost (WIRE.md
            /// section 4.1); `ack_delay` if that is longer. On a stream it is always 100 ms.
            10 ack_delay_max: Duration as Microseconds, 0 to 86_400_000_000, default 70_000;
            /// Maximum bytes of a message.
            4 message_bytes_max: u32 as Bytes, 0 to 4_294_967_295, default 1_048_576;
            /// Bytes of reliable messages that a receiver holds: the receive window, in which a message of
            /// `message_bytes_max` must fit.
            5 window_bytes: u32 as Bytes, 0 to 4_294_967_295, default 2_097_152,
                limits("what the longest message occupies (4.1) to 4,294,967,295");
            /// Maximum bytes of a datagram of UDP; streams have packets of their own size.
            6 datagram_bytes_max: u16 as DatagramBytes, 256 to 65_507, default 1_472;
            /// The channel by which the server moves its clients to other servers (WIRE.md section 8.2), which must be
            /// reliable and ordered, and which applications cannot use; 65,536 for none.
            11 moves_channel: u32 as Channel, 0 to 65_536, default 65_536, since(1, 5);
        }
        others {
            /// Channel table: the first rule that covers a channel applies.
            7 channels: Vec<ChannelRule> = vec![ChannelRule::new(0..=u16::MAX, DeliveryMode::ReliableOrdered)],
                limits("64 rules"), default("0-65535 reliable-ordered, priority 1, weight 1, disconnect, no receipts, \
                    16,384 messages, 8,388,608 bytes");
            /// Merging of the client, in µs (varint): 0 at once, 2^62-1 at each flush.
            8 merging: Merging = Merging::Immediate, limits("0 to 86,400,000,000, 2^62-1"), default("0");
            /// Redundancy in addition to retransmission, where the channel's rule sets none: mode (below), then budget,
            /// percent (varint): the maximum number of bytes of REPAIR packets and of copies, in percent of the
            /// packets that they protect.
            9 redundancy: Redundancy = Redundancy::default(), limits("budget below 65,536"), default("adaptive, 125");
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

    /// The channel of moves, if there is one that can carry them: it is reliable and ordered.
    pub fn moves_channel(&self) -> Option<u16> {
        let channel = u16::try_from(self.moves_channel).ok()?;
        self.rule(channel).filter(|rule| rule.mode == DeliveryMode::ReliableOrdered).map(|_| channel)
    }

    /// The redundancy mode of a rule's channels: the rule's own, or the settings'.
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
        self.are_numbers_valid()
            && merging_is_valid
            && u64::from(self.window_bytes) >= window_cost(self.message_bytes_max as usize)
            && self.redundancy.mode.is_valid()
            && (self.moves_channel().is_some() || self.moves_channel == NO_CHANNEL)
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
        for id in 1..=ID_LAST {
            match self.number(id) {
                Some((value, default)) if value == default => {}
                Some((value, _)) => entries.number(id, value),
                None => self.encode_other(id, &default, &mut entries),
            }
        }
        entries.encoded
    }

    fn encode_other(&self, id: u64, default: &Settings, entries: &mut Entries) {
        match id {
            ID_CHANNELS if self.channels != default.channels => entries.bytes(id, &encode_table(&self.channels)),
            ID_MERGING if self.merging != default.merging => entries.number(id, self.merging.encode()),
            ID_REDUNDANCY if self.redundancy != default.redundancy => {
                let mut value = [0; MODE_BYTES_MAX + 4];
                let mut writer = Writer::new(&mut value);
                self.redundancy.encode(&mut writer);
                entries.bytes(id, writer.written());
            }
            _ => {}
        }
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
            ID_CHANNELS => self.channels = decode_table(&mut value)?,
            ID_MERGING => self.merging = Merging::decode(value.varint()?),
            ID_REDUNDANCY => self.redundancy = Redundancy::decode(&mut value)?,
            _ if self.number(id).is_some() => self.set_number(id, value.varint()?).ok_or(Malformed)?,
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

pub(super) const ID_MESSAGE_BYTES_MAX: u64 = 4;
pub(super) const ID_WINDOW_BYTES: u64 = 5;
pub(super) const ID_DATAGRAM_BYTES_MAX: u64 = 6;
/// No channel: one above the last.
pub(crate) const NO_CHANNEL: u32 = 1 << 16;
const ID_CHANNELS: u64 = 7;
const ID_MERGING: u64 = 8;
const ID_REDUNDANCY: u64 = 9;
/// The greatest id.
const ID_LAST: u64 = {
    let (mut at, mut last) = (0, 0);
    while at < Settings::ALL.len() {
        last = if Settings::ALL[at].id > last { Settings::ALL[at].id } else { last };
        at += 1;
    }
    last
};

/// Maximum of the times in the settings.
pub const TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Minimum and maximum bytes of a datagram.
pub const DATAGRAM_BYTES: RangeInclusive<u16> = 256..=65_507;

#[cfg(test)]
mod tests;
