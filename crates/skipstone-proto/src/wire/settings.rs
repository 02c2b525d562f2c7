//! What an ACCEPT tells both sides to keep to (WIRE.md section 5).

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::wire::Malformed;
use crate::wire::cursor::{Reader, Writer};
use crate::wire::redundancy::{MODE_BYTES_MAX, Redundancy, RedundancyMode};
use crate::wire::varint;

/// The settings of a connection. The default is that of section 5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// A peer that was not heard for so long is gone: 1 ms to a day, in whole ms.
    pub idle_timeout: Duration,
    /// A client that heard nothing for so long pings: 1 ms to a day, in whole ms.
    pub keepalive: Duration,
    /// How long an acknowledgement may be held back: a day at most, in whole µs.
    pub ack_delay: Duration,
    /// Bytes of a message, at most.
    pub message_bytes_max: u32,
    /// Bytes of reliable messages that a receiver holds, at least `message_bytes_max`.
    pub window_bytes: u32,
    /// Bytes of a datagram at most: 256 to 65,507.
    pub datagram_bytes_max: u16,
    /// When the client sends what it was given to send.
    pub merging: Merging,
    /// The channel table, [`CHANNEL_RULES_MAX`] at most: the first rule that holds a channel rules it.
    pub channels: Vec<ChannelRule>,
    /// What is done against loss beyond resending, where the channel's rule says nothing else.
    pub redundancy: Redundancy,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            idle_timeout: Duration::from_secs(30),
            keepalive: Duration::from_secs(10),
            ack_delay: Duration::from_millis(1),
            message_bytes_max: 1 << 20,
            window_bytes: 2 << 20,
            datagram_bytes_max: 1_472,
            merging: Merging::Immediate,
            channels: vec![ChannelRule::new(0..=u16::MAX, Mode::ReliableOrdered)],
            redundancy: Redundancy::default(),
        }
    }
}

/// What a reliable message of so many bytes takes of the receive window. WIRE.md section 4.1.
pub const fn window_cost(bytes: usize) -> u64 {
    (bytes + bytes / 16 + 64) as u64
}

impl Settings {
    /// The rule of a channel; `None` if the channel does not exist.
    pub fn rule(&self, channel: u16) -> Option<&ChannelRule> {
        self.channels.iter().find(|rule| (rule.first..=rule.last).contains(&channel))
    }

    /// Whether every field is within its limits, which is what [`Settings::decode`] lets through.
    pub fn is_valid(&self) -> bool {
        let merging_is_valid = match self.merging {
            Merging::After(delay) => delay <= TIME_MAX,
            Merging::Immediate | Merging::Flush => true,
        };
        (TIME_MIN..=TIME_MAX).contains(&self.idle_timeout)
            && (TIME_MIN..=TIME_MAX).contains(&self.keepalive)
            && self.ack_delay <= TIME_MAX
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
        entries.encoded
    }

    /// Decodes settings: what is missing has its default, what is unknown is skipped, what is invalid is malformed.
    pub fn decode(encoded: &[u8]) -> Result<Settings, Malformed> {
        let mut settings = Settings::default();
        let mut reader = Reader::new(encoded);
        let mut id_min = 0;
        while !reader.is_empty() {
            let id = reader.varint()?;
            if id < id_min {
                return Err(Malformed);
            }
            id_min = id + 1;
            settings.decode_entry(id, reader.prefixed(usize::MAX)?)?;
        }
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
            _ => return Ok(()),
        }
        value.end()
    }
}

/// When a client sends what it was given to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merging {
    /// At once.
    Immediate,
    /// So long after the first message that waits, or when a datagram is full: a day at most, in whole µs.
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

/// The delivery rule of a channel (section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// Sent once, delivered as it comes.
    Unreliable = 0,
    /// Sent once, delivered only if newer than the newest delivered.
    UnreliableSequenced = 1,
    /// Each once, in order.
    ReliableOrdered = 2,
    /// Each once, as it comes.
    ReliableUnordered = 3,
    /// The newest is sent until it arrives; delivered only if newer than the newest delivered.
    ReliableSequenced = 4,
}

impl Mode {
    /// Whether what is lost is sent again.
    pub const fn is_reliable(self) -> bool {
        matches!(self, Mode::ReliableOrdered | Mode::ReliableUnordered | Mode::ReliableSequenced)
    }

    /// Whether only what is newer than the newest delivered is delivered.
    pub const fn is_sequenced(self) -> bool {
        matches!(self, Mode::UnreliableSequenced | Mode::ReliableSequenced)
    }
}

impl TryFrom<u8> for Mode {
    type Error = Malformed;

    fn try_from(number: u8) -> Result<Mode, Malformed> {
        match number {
            0 => Ok(Mode::Unreliable),
            1 => Ok(Mode::UnreliableSequenced),
            2 => Ok(Mode::ReliableOrdered),
            3 => Ok(Mode::ReliableUnordered),
            4 => Ok(Mode::ReliableSequenced),
            _ => Err(Malformed),
        }
    }
}

/// What happens to a message for which a channel's queue has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Overflow {
    /// It is refused.
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
    pub mode: Mode,
    /// 0 is the most urgent.
    pub priority: u8,
    /// The share among channels of one priority, at least 1.
    pub weight: u8,
    /// What a full queue does.
    pub overflow: Overflow,
    /// Whether the sender learns of each message that arrived.
    pub receipts: bool,
    /// Messages that wait in each channel's queue, at most.
    pub queue_messages_max: u32,
    /// Bytes that wait in each channel's queue, at most.
    pub queue_bytes_max: u32,
    /// What is done against loss on these channels; `None` for what the settings say. Channels of the same mode share
    /// packets, those of different modes do not, and take turns inside one priority, packet by packet.
    pub redundancy: Option<RedundancyMode>,
}

impl ChannelRule {
    /// A rule with priority 1, weight 1, refusal of what does not fit, no receipts, and room for 16,384 messages and
    /// 8 MiB.
    pub fn new(channels: RangeInclusive<u16>, mode: Mode) -> ChannelRule {
        ChannelRule {
            first: *channels.start(),
            last: *channels.end(),
            mode,
            priority: 1,
            weight: 1,
            overflow: Overflow::Refuse,
            receipts: false,
            queue_messages_max: 16_384,
            queue_bytes_max: 8 << 20,
            redundancy: None,
        }
    }

    /// The same rule with a redundancy mode of its own, whatever the settings say of the others. The budget stays that of
    /// the connection.
    ///
    /// ```
    /// use skipstone_proto::wire::redundancy::RedundancyMode;
    /// use skipstone_proto::wire::settings::{ChannelRule, Mode, Settings};
    ///
    /// // Inputs are small and urgent, files large and not; everything else has what the settings say.
    /// let inputs = ChannelRule::new(0..=0, Mode::ReliableOrdered).with_redundancy(RedundancyMode::Repeat { bursts: 2 });
    /// let files = ChannelRule::new(1..=1, Mode::ReliableOrdered).with_redundancy(RedundancyMode::Off);
    /// let others = ChannelRule::new(2..=u16::MAX, Mode::ReliableUnordered);
    /// let settings = Settings { channels: vec![inputs, files, others], ..Settings::default() };
    /// assert!(settings.is_valid());
    /// ```
    pub fn with_redundancy(self, mode: RedundancyMode) -> ChannelRule {
        ChannelRule { redundancy: Some(mode), ..self }
    }

    fn is_valid(&self) -> bool {
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

fn encode_table(rules: &[ChannelRule]) -> Vec<u8> {
    let mut table = vec![0; rules.len() * RULE_BYTES_MAX];
    let mut writer = Writer::new(&mut table);
    for rule in rules {
        rule.encode(&mut writer);
    }
    let len = writer.len();
    table.truncate(len);
    table
}

fn decode_table(reader: &mut Reader<'_>) -> Result<Vec<ChannelRule>, Malformed> {
    let mut rules = Vec::new();
    while !reader.is_empty() {
        if rules.len() == CHANNEL_RULES_MAX {
            return Err(Malformed);
        }
        rules.push(ChannelRule::decode(reader)?);
    }
    Ok(rules)
}

/// Encoded settings, to which entries are added with rising ids.
#[derive(Default)]
struct Entries {
    encoded: Vec<u8>,
}

impl Entries {
    fn number(&mut self, id: u64, value: u64) {
        let mut buffer = [0; 8];
        let mut writer = Writer::new(&mut buffer);
        writer.varint(value);
        self.bytes(id, writer.written());
    }

    fn bytes(&mut self, id: u64, value: &[u8]) {
        let mut buffer = [0; 16];
        let mut writer = Writer::new(&mut buffer);
        writer.varint(id);
        writer.varint(value.len() as u64);
        self.encoded.extend_from_slice(writer.written());
        self.encoded.extend_from_slice(value);
    }
}

/// Rules in a channel table, at most.
pub const CHANNEL_RULES_MAX: usize = 64;

const ID_IDLE_TIMEOUT: u64 = 1;
const ID_KEEPALIVE: u64 = 2;
const ID_ACK_DELAY: u64 = 3;
const ID_MESSAGE_BYTES_MAX: u64 = 4;
const ID_WINDOW_BYTES: u64 = 5;
const ID_DATAGRAM_BYTES_MAX: u64 = 6;
const ID_CHANNELS: u64 = 7;
const ID_MERGING: u64 = 8;
const ID_REDUNDANCY: u64 = 9;

const FLAG_RECEIPTS: u8 = 1;
const FLAG_REDUNDANCY: u8 = 2;
/// Two channels, five bytes, two queue limits, the redundancy.
const RULE_BYTES_MAX: usize = 2 * 4 + 5 + 2 * 8 + MODE_BYTES_MAX;

const TIME_MIN: Duration = Duration::from_millis(1);
const TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
const DATAGRAM_BYTES: RangeInclusive<u16> = 256..=65_507;

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u64, value: &[u8]) -> Vec<u8> {
        let mut entries = Entries::default();
        entries.bytes(id, value);
        entries.encoded
    }

    fn number(id: u64, value: u64) -> Vec<u8> {
        let mut entries = Entries::default();
        entries.number(id, value);
        entries.encoded
    }

    fn assert_limits(id: u64, valid: &[u64], invalid: &[u64]) {
        for &value in valid {
            assert!(Settings::decode(&number(id, value)).is_ok(), "id {id}: {value} is valid");
        }
        for &value in invalid {
            let decoded = Settings::decode(&number(id, value));
            assert_eq!(decoded, Err(Malformed), "id {id}: {value} is invalid");
        }
    }

    /// No field has its default.
    fn unusual() -> Settings {
        Settings {
            idle_timeout: Duration::from_millis(5_001),
            keepalive: Duration::from_millis(1),
            ack_delay: Duration::from_micros(0),
            message_bytes_max: 0,
            window_bytes: u32::MAX,
            datagram_bytes_max: 65_507,
            merging: Merging::After(Duration::from_micros(16_667)),
            channels: vec![
                ChannelRule {
                    priority: 0,
                    weight: 255,
                    overflow: Overflow::DropOldest,
                    receipts: true,
                    queue_messages_max: 0,
                    queue_bytes_max: u32::MAX,
                    redundancy: Some(RedundancyMode::Fixed { sources: 10, repairs: 3 }),
                    ..ChannelRule::new(0..=0, Mode::ReliableSequenced)
                },
                ChannelRule::new(5..=u16::MAX, Mode::Unreliable),
            ],
            redundancy: Redundancy { mode: RedundancyMode::Lean, budget_percent: 30 },
        }
    }

    #[test]
    fn settings_round_trip() {
        for merging in [Merging::Immediate, Merging::Flush, unusual().merging] {
            let settings = Settings { merging, ..unusual() };
            assert_eq!(Settings::decode(&settings.encode()), Ok(settings));
        }
        let none = Settings { channels: vec![], ..Settings::default() };
        assert_eq!(none.encode(), [7, 0]);
        assert_eq!(Settings::decode(&none.encode()), Ok(none));
    }

    #[test]
    fn defaults_take_no_bytes() {
        assert_eq!(Settings::default().encode(), []);
        assert_eq!(Settings::decode(&[]), Ok(Settings::default()));
    }

    #[test]
    fn one_setting_leaves_the_others_at_their_defaults() {
        let decoded = Settings::decode(&number(ID_KEEPALIVE, 777)).unwrap();
        let keepalive = Duration::from_millis(777);
        assert_eq!(decoded, Settings { keepalive, ..Settings::default() });
    }

    #[test]
    fn numbers_out_of_their_limits_are_malformed() {
        const DAY_MS: u64 = 86_400_000;
        const DAY_US: u64 = 86_400_000_000;
        assert_limits(ID_IDLE_TIMEOUT, &[1, DAY_MS], &[0, DAY_MS + 1, varint::MAX]);
        assert_limits(ID_KEEPALIVE, &[1, DAY_MS], &[0, DAY_MS + 1, varint::MAX]);
        assert_limits(ID_ACK_DELAY, &[0, DAY_US], &[DAY_US + 1, varint::MAX]);
        assert_limits(ID_MESSAGE_BYTES_MAX, &[0, 1_973_730], &[1_973_731, 1 << 32]);
        assert_limits(ID_WINDOW_BYTES, &[1_114_176, u32::MAX.into()], &[1_114_175, 1 << 32]);
        assert_limits(ID_DATAGRAM_BYTES_MAX, &[256, 65_507], &[255, 65_508, 1 << 16]);
        assert_limits(ID_MERGING, &[0, 1, DAY_US, varint::MAX], &[DAY_US + 1, varint::MAX - 1]);
    }

    #[test]
    fn unknown_ids_are_skipped() {
        let encoded =
            [entry(0, b"older"), number(ID_KEEPALIVE, 777), entry(99, b""), entry(varint::MAX, b"x")].concat();
        let keepalive = Duration::from_millis(777);
        assert_eq!(Settings::decode(&encoded), Ok(Settings { keepalive, ..Settings::default() }));
    }

    #[test]
    fn ids_that_do_not_rise_are_malformed() {
        let (two, three) = (number(ID_KEEPALIVE, 777), number(ID_ACK_DELAY, 5));
        assert!(Settings::decode(&[&two[..], &three].concat()).is_ok());
        assert_eq!(Settings::decode(&[&three[..], &two].concat()), Err(Malformed));
        assert_eq!(Settings::decode(&[&two[..], &two].concat()), Err(Malformed));
    }

    #[test]
    fn a_value_longer_or_shorter_than_its_field_is_malformed() {
        assert_eq!(Settings::decode(&entry(ID_KEEPALIVE, &[7, 7])), Err(Malformed));
        assert_eq!(Settings::decode(&entry(ID_KEEPALIVE, &[])), Err(Malformed));
        assert_eq!(Settings::decode(&entry(ID_KEEPALIVE, &[0x40])), Err(Malformed));
    }

    #[test]
    fn every_cut_within_an_entry_is_malformed() {
        let table = unusual().channels;
        let encoded = Settings { channels: table, ..Settings::default() }.encode();
        for cut in 1..encoded.len() {
            assert_eq!(Settings::decode(&encoded[..cut]), Err(Malformed));
        }
    }

    #[test]
    fn at_most_64_rules_are_allowed() {
        let rule = encode_table(&[ChannelRule::new(0..=9, Mode::Unreliable)]);
        assert!(Settings::decode(&entry(ID_CHANNELS, &rule.repeat(64))).is_ok());
        assert_eq!(Settings::decode(&entry(ID_CHANNELS, &rule.repeat(65))), Err(Malformed));
    }

    #[test]
    fn rules_with_an_invalid_field_are_malformed() {
        let rule = encode_table(&[ChannelRule::new(1..=9, Mode::Unreliable)]);
        assert_eq!(rule[..7], [1, 9, 0, 1, 1, 0, 0]);
        let (first, last, mode, weight, overflow, flags) = (0, 1, 2, 4, 5, 6);
        for (field, byte) in
            [(first, 10), (last, 0), (mode, 5), (weight, 0), (overflow, 3), (flags, 4), (flags, 5), (flags, 2)]
        {
            let mut rule = rule.clone();
            rule[field] = byte;
            let decoded = Settings::decode(&entry(ID_CHANNELS, &rule));
            assert_eq!(decoded, Err(Malformed), "field {field} as {byte}");
        }
        let channel_65536 = [&[1, 0x80, 1, 0, 0][..], &rule[2..]].concat();
        assert_eq!(Settings::decode(&entry(ID_CHANNELS, &channel_65536)), Err(Malformed));
    }

    #[test]
    fn the_first_rule_that_holds_a_channel_rules_it() {
        let settings = Settings {
            channels: vec![ChannelRule::new(3..=5, Mode::Unreliable), ChannelRule::new(5..=9, Mode::ReliableUnordered)],
            ..Settings::default()
        };
        let mode = |channel| settings.rule(channel).map(|rule| rule.mode);
        assert_eq!((mode(2), mode(10)), (None, None));
        assert_eq!((mode(3), mode(5)), (Some(Mode::Unreliable), Some(Mode::Unreliable)));
        assert_eq!((mode(6), mode(9)), (Some(Mode::ReliableUnordered), mode(6)));
        assert!(Settings::default().rule(u16::MAX).is_some());
    }

    #[test]
    fn modes_are_what_section_4_2_says() {
        let modes: Vec<Mode> = (0..=5).filter_map(|number| Mode::try_from(number).ok()).collect();
        let properties: Vec<_> =
            modes.iter().map(|mode| (*mode as u8, mode.is_reliable(), mode.is_sequenced())).collect();
        assert_eq!(
            properties,
            [(0, false, false), (1, false, true), (2, true, false), (3, true, false), (4, true, true)]
        );
    }

    #[test]
    #[should_panic(expected = "settings are checked")]
    fn invalid_settings_are_not_encoded() {
        _ = Settings { datagram_bytes_max: 255, ..Settings::default() }.encode();
    }
}
