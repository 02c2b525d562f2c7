//! Valid and invalid settings.

use super::*;
use crate::catalogue::SettingNumber;
use crate::wire::redundancy::RedundancyMode;

const ID_IDLE_TIMEOUT: u64 = 1;
const ID_KEEPALIVE: u64 = 2;
const ID_MOVES_CHANNEL: u64 = 11;
const ID_ACK_DELAY: u64 = 3;

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

/// Settings in which no field has its default: numbers are at one of their limits.
fn unusual() -> Settings {
    let mut settings = Settings {
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
                ..ChannelRule::new(0..=0, DeliveryMode::ReliableSequenced)
            },
            ChannelRule::new(3..=3, DeliveryMode::ReliableOrdered),
            ChannelRule::new(5..=u16::MAX, DeliveryMode::Unreliable),
        ],
        redundancy: Redundancy { mode: RedundancyMode::Lean, budget_percent: 30 },
        ..Settings::default()
    };
    for setting in Settings::ALL {
        let Some(SettingNumber { min, max, default, .. }) = setting.number else { continue };
        settings.set_number(setting.id, if min == default { max } else { min }).expect("the field holds its limits");
    }
    // The greatest message must fit.
    settings.window_bytes = u32::MAX;
    settings.moves_channel = 3;
    settings
}

#[test]
fn every_setting_that_is_not_the_default_is_sent() {
    let mut sent = Vec::new();
    entries::each(&unusual().encode(), |id, _| {
        sent.push(id);
        Ok(())
    })
    .unwrap();
    let mut all = Settings::ALL.map(|setting| setting.id);
    all.sort_unstable();
    assert_eq!(sent, all);
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
fn out_of_range_numbers_are_malformed() {
    const DAY_MS: u64 = 86_400_000;
    const DAY_US: u64 = 86_400_000_000;
    assert_limits(ID_IDLE_TIMEOUT, &[100, DAY_MS], &[0, 99, DAY_MS + 1, varint::MAX]);
    assert_limits(ID_KEEPALIVE, &[100, DAY_MS], &[0, 99, DAY_MS + 1, varint::MAX]);
    assert_limits(ID_ACK_DELAY, &[0, DAY_US], &[DAY_US + 1, varint::MAX]);
    assert_limits(ID_MESSAGE_BYTES_MAX, &[0, 1_973_730], &[1_973_731, 1 << 32]);
    assert_limits(ID_WINDOW_BYTES, &[1_114_176, u32::MAX.into()], &[1_114_175, 1 << 32]);
    assert_limits(ID_DATAGRAM_BYTES_MAX, &[256, 65_507], &[255, 65_508, 1 << 16]);
    assert_limits(ID_MOVES_CHANNEL, &[0, 65_535, 65_536], &[65_537, 1 << 32]);
    assert_limits(ID_MERGING, &[0, 1, DAY_US, varint::MAX], &[DAY_US + 1, varint::MAX - 1]);
}

#[test]
fn moves_need_a_reliable_ordered_channel() {
    for mode in [DeliveryMode::Unreliable, DeliveryMode::ReliableUnordered, DeliveryMode::ReliableOrdered] {
        let settings = Settings { channels: vec![ChannelRule::new(2..=2, mode)], ..Settings::default() };
        let is_right = mode == DeliveryMode::ReliableOrdered;
        let with = |moves_channel| Settings { moves_channel, ..settings.clone() };
        assert_eq!((with(2).is_valid(), with(2).moves_channel().is_some()), (is_right, is_right), "{mode:?}");
        assert!(!with(3).is_valid() && with(NO_CHANNEL).is_valid(), "{mode:?}");
    }
}

#[test]
fn unknown_ids_are_skipped() {
    let encoded = [entry(0, b"older"), number(ID_KEEPALIVE, 777), entry(99, b""), entry(varint::MAX, b"x")].concat();
    let keepalive = Duration::from_millis(777);
    assert_eq!(Settings::decode(&encoded), Ok(Settings { keepalive, ..Settings::default() }));
}

#[test]
fn ids_that_do_not_increase_are_malformed() {
    let (two, three) = (number(ID_KEEPALIVE, 777), number(ID_ACK_DELAY, 5));
    assert!(Settings::decode(&[&two[..], &three].concat()).is_ok());
    assert_eq!(Settings::decode(&[&three[..], &two].concat()), Err(Malformed));
    assert_eq!(Settings::decode(&[&two[..], &two].concat()), Err(Malformed));
}

#[test]
fn a_value_of_the_wrong_length_is_malformed() {
    assert_eq!(Settings::decode(&entry(ID_KEEPALIVE, &[7, 7])), Err(Malformed));
    assert_eq!(Settings::decode(&entry(ID_KEEPALIVE, &[])), Err(Malformed));
    assert_eq!(Settings::decode(&entry(ID_KEEPALIVE, &[0x40])), Err(Malformed));
}

#[test]
fn every_truncated_entry_is_malformed() {
    let table = unusual().channels;
    let encoded = Settings { channels: table, ..Settings::default() }.encode();
    for cut in 1..encoded.len() {
        assert_eq!(Settings::decode(&encoded[..cut]), Err(Malformed));
    }
}

#[test]
fn at_most_64_rules_are_allowed() {
    let rule = encode_table(&[ChannelRule::new(0..=9, DeliveryMode::Unreliable)]);
    assert!(Settings::decode(&entry(ID_CHANNELS, &rule.repeat(64))).is_ok());
    assert_eq!(Settings::decode(&entry(ID_CHANNELS, &rule.repeat(65))), Err(Malformed));
}

#[test]
fn rules_with_an_invalid_field_are_malformed() {
    let rule = encode_table(&[ChannelRule::new(1..=9, DeliveryMode::Unreliable)]);
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
fn the_first_matching_rule_applies_to_a_channel() {
    let settings = Settings {
        channels: vec![
            ChannelRule::new(3..=5, DeliveryMode::Unreliable),
            ChannelRule::new(5..=9, DeliveryMode::ReliableUnordered),
        ],
        ..Settings::default()
    };
    let mode = |channel| settings.rule(channel).map(|rule| rule.mode);
    assert_eq!((mode(2), mode(10)), (None, None));
    assert_eq!((mode(3), mode(5)), (Some(DeliveryMode::Unreliable), Some(DeliveryMode::Unreliable)));
    assert_eq!((mode(6), mode(9)), (Some(DeliveryMode::ReliableUnordered), mode(6)));
    assert!(Settings::default().rule(u16::MAX).is_some());
}

#[test]
fn modes_match_section_4_2() {
    let modes: Vec<DeliveryMode> = (0..=5).filter_map(|number| DeliveryMode::try_from(number).ok()).collect();
    let properties: Vec<_> = modes.iter().map(|mode| (*mode as u8, mode.is_reliable(), mode.is_sequenced())).collect();
    assert_eq!(properties, [(0, false, false), (1, false, true), (2, true, false), (3, true, false), (4, true, true)]);
}

#[test]
#[should_panic(expected = "settings are checked")]
fn invalid_settings_are_not_encoded() {
    _ = Settings { datagram_bytes_max: 255, ..Settings::default() }.encode();
}
