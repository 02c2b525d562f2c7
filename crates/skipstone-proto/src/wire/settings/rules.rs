//! The channel table: the delivery of each channel's messages, and the reaction to a full queue.

use std::ops::RangeInclusive;

use crate::wire::Malformed;
use crate::wire::cursor::{Reader, Writer};
use crate::wire::redundancy::{MODE_BYTES_MAX, RedundancyMode};

/// The delivery rule of a channel (section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DeliveryMode {
    /// Sent once, delivered as it comes.
    Unreliable = 0,
    /// Sent once, delivered only if newer than the newest delivered.
    UnreliableSequenced = 1,
    /// Each once, in order.
    ReliableOrdered = 2,
    /// Each once, as it comes.
    ReliableUnordered = 3,
    /// The newest is sent until it arrives; delivered only if newer than the newest delivered. A message that a newer
    /// one replaces before it has arrived is given up. A message that arrives after a newer one counts as arrived: it
    /// is acknowledged, and is not delivered to the peer's application.
    ReliableSequenced = 4,
}

impl DeliveryMode {
    /// Whether lost messages are retransmitted.
    pub const fn is_reliable(self) -> bool {
        matches!(
            self,
            DeliveryMode::ReliableOrdered | DeliveryMode::ReliableUnordered | DeliveryMode::ReliableSequenced
        )
    }

    /// Whether only messages newer than the newest delivered one are delivered.
    pub const fn is_sequenced(self) -> bool {
        matches!(self, DeliveryMode::UnreliableSequenced | DeliveryMode::ReliableSequenced)
    }
}

impl TryFrom<u8> for DeliveryMode {
    type Error = Malformed;

    fn try_from(number: u8) -> Result<DeliveryMode, Malformed> {
        match number {
            0 => Ok(DeliveryMode::Unreliable),
            1 => Ok(DeliveryMode::UnreliableSequenced),
            2 => Ok(DeliveryMode::ReliableOrdered),
            3 => Ok(DeliveryMode::ReliableUnordered),
            4 => Ok(DeliveryMode::ReliableSequenced),
            _ => Err(Malformed),
        }
    }
}

/// The reaction to a message for which a channel's queue has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Overflow {
    /// The message is refused.
    Refuse = 0,
    /// The oldest in the queue makes room.
    DropOldest = 1,
    /// The connection ends.
    Disconnect = 2,
}

impl TryFrom<u8> for Overflow {
    type Error = Malformed;

    fn try_from(number: u8) -> Result<Overflow, Malformed> {
        match number {
            0 => Ok(Overflow::Refuse),
            1 => Ok(Overflow::DropOldest),
            2 => Ok(Overflow::Disconnect),
            _ => Err(Malformed),
        }
    }
}

/// One rule of the channel table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelRule {
    /// The first channel that this holds.
    pub first: u16,
    /// The last channel that this holds, not below `first`.
    pub last: u16,
    /// How messages are delivered.
    pub mode: DeliveryMode,
    /// 0 is the most urgent.
    pub priority: u8,
    /// The share among channels of one priority, at least 1.
    pub weight: u8,
    /// The reaction to a full queue.
    pub overflow: Overflow,
    /// Whether the sender learns of each message that arrived.
    pub receipts: bool,
    /// Messages that wait in each channel's queue, at most.
    pub queue_messages_max: u32,
    /// Bytes that wait in each channel's queue, at most.
    pub queue_bytes_max: u32,
    /// The protection of these channels against loss; `None` for that of the settings. Channels of the same mode share
    /// packets; those of different modes do not, and take turns inside one priority, packet by packet.
    pub redundancy: Option<RedundancyMode>,
}

impl ChannelRule {
    /// A rule with priority 1, weight 1, no receipts, and room for 16,384 messages and 8 MiB. A queue that is full ends
    /// the connection of a reliable channel, because a message in the middle of a stream must not be missing, and
    /// refuses the message of an unreliable one.
    pub fn new(channels: RangeInclusive<u16>, mode: DeliveryMode) -> ChannelRule {
        ChannelRule {
            first: *channels.start(),
            last: *channels.end(),
            mode,
            priority: 1,
            weight: 1,
            overflow: if mode.is_reliable() { Overflow::Disconnect } else { Overflow::Refuse },
            receipts: false,
            queue_messages_max: 16_384,
            queue_bytes_max: 8 << 20,
            redundancy: None,
        }
    }

    /// The same rule with a redundancy mode of its own, whatever the settings state for the others. The budget stays
    /// that of the connection.
    ///
    /// ```
    /// use skipstone_proto::wire::redundancy::RedundancyMode;
    /// use skipstone_proto::wire::settings::{ChannelRule, DeliveryMode, Settings};
    ///
    /// // Inputs are small and urgent, files are large and can wait; all others use the default of the settings.
    /// let repeat = RedundancyMode::Repeat { bursts: 2 };
    /// let inputs = ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered).with_redundancy(repeat);
    /// let files = ChannelRule::new(1..=1, DeliveryMode::ReliableOrdered).with_redundancy(RedundancyMode::Off);
    /// let others = ChannelRule::new(2..=u16::MAX, DeliveryMode::ReliableUnordered);
    /// let settings = Settings { channels: vec![inputs, files, others], ..Settings::default() };
    /// assert!(settings.is_valid());
    /// ```
    pub fn with_redundancy(self, mode: RedundancyMode) -> ChannelRule {
        ChannelRule { redundancy: Some(mode), ..self }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.first <= self.last && self.weight >= 1 && self.redundancy.is_none_or(RedundancyMode::is_valid)
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.varint(self.first.into());
        writer.varint(self.last.into());
        writer.u8(self.mode as u8);
        writer.u8(self.priority);
        writer.u8(self.weight);
        writer.u8(self.overflow as u8);
        let receipts = if self.receipts { FLAG_RECEIPTS } else { 0 };
        writer.u8(receipts | if self.redundancy.is_some() { FLAG_REDUNDANCY } else { 0 });
        writer.varint(self.queue_messages_max.into());
        writer.varint(self.queue_bytes_max.into());
        if let Some(redundancy) = self.redundancy {
            redundancy.encode(writer);
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<ChannelRule, Malformed> {
        let first = reader.varint_u16()?;
        let last = reader.varint_u16()?;
        let mode = reader.u8()?.try_into()?;
        let priority = reader.u8()?;
        let weight = reader.u8()?;
        let overflow = reader.u8()?.try_into()?;
        let flags = reader.u8()?;
        if flags & !(FLAG_RECEIPTS | FLAG_REDUNDANCY) != 0 {
            return Err(Malformed);
        }
        Ok(ChannelRule {
            first,
            last,
            mode,
            priority,
            weight,
            overflow,
            receipts: flags & FLAG_RECEIPTS != 0,
            queue_messages_max: reader.varint_u32()?,
            queue_bytes_max: reader.varint_u32()?,
            redundancy: if flags & FLAG_REDUNDANCY != 0 { Some(RedundancyMode::decode(reader)?) } else { None },
        })
    }
}

pub(super) fn encode_table(rules: &[ChannelRule]) -> Vec<u8> {
    let mut table = vec![0; rules.len() * RULE_BYTES_MAX];
    let mut writer = Writer::new(&mut table);
    for rule in rules {
        rule.encode(&mut writer);
    }
    let len = writer.len();
    table.truncate(len);
    table
}

pub(super) fn decode_table(reader: &mut Reader<'_>) -> Result<Vec<ChannelRule>, Malformed> {
    let mut rules = Vec::new();
    while !reader.is_empty() {
        if rules.len() == CHANNEL_RULES_MAX {
            return Err(Malformed);
        }
        rules.push(ChannelRule::decode(reader)?);
    }
    Ok(rules)
}

/// Rules in a channel table, at most.
pub const CHANNEL_RULES_MAX: usize = 64;
const FLAG_RECEIPTS: u8 = 1;
const FLAG_REDUNDANCY: u8 = 2;
/// Two channels, five bytes, two queue limits, the redundancy.
const RULE_BYTES_MAX: usize = 2 * 4 + 5 + 2 * 8 + MODE_BYTES_MAX;
