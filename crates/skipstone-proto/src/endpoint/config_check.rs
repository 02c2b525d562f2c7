//! The ranges of a configuration's fields. Settings from the network are checked by `Settings::decode`, which WIRE.md
//! section 5 makes more tolerant: for example, the first of overlapping rules wins.

use super::config::{Config, MemoryBudget};
use super::config_error::ConfigError;
use crate::channel::inbound::{InboundRule, Violation};
use crate::mtu::BASE_BYTES_MIN;
use crate::path::Carrier;
use crate::time::Duration;
use crate::wire::frame;
use crate::wire::limits::{Limits, WINDOW_BYTES_MIN};
use crate::wire::redundancy::{BLOCK_MAX, BURSTS_MAX, RedundancyMode};
use crate::wire::settings::{
    CHANNEL_RULES_MAX, ChannelRule, DATAGRAM_BYTES, DeliveryMode, Merging, NO_CHANNEL, Settings, TIME_MAX, window_cost,
};

/// Less than one datagram in a second would look like a dead path.
const BANDWIDTH_MIN: u64 = 1_000;
/// Header, number, acknowledgement and seal that surround an ACCEPT, at most.
const PACKET_BYTES_BESIDE: usize = 128;
/// Half of the connection ids, so that a free one is soon found.
const CONNECTIONS_MAX: u32 = 1 << 23;
const HANDSHAKE_TIMEOUT_MIN: Duration = Duration::from_millis(1);
const HANDSHAKE_TIMEOUT_MAX: Duration = Duration::from_secs(60 * 60);

impl Config {
    /// Checks the configuration: each field against its range, and rules against each other.
    ///
    /// # Errors
    /// The first problem found: the field, its value and its range, or the rules that contradict each other.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_settings(&self.settings)?;
        if let Some(merging) = self.merging {
            check_merging("merging", merging)?;
        }
        if !(HANDSHAKE_TIMEOUT_MIN..=HANDSHAKE_TIMEOUT_MAX).contains(&self.handshake_timeout) {
            return Err(ConfigError::out_of_range("handshake_timeout", self.handshake_timeout, "1 ms to 1 hour"));
        }
        if !(1..=CONNECTIONS_MAX).contains(&self.connections_max) {
            return Err(ConfigError::out_of_range("connections_max", self.connections_max, "1 to 8,388,608"));
        }
        if self.players_of_network_max == Some(0) {
            return Err(ConfigError::out_of_range("players_of_network_max", 0, "1 or more, or leave it out"));
        }
        for (field, cap) in
            [("bandwidth_max_per_peer", self.bandwidth_max_per_peer), ("bandwidth_max", self.bandwidth_max)]
        {
            if let Some(cap) = cap.filter(|cap| *cap < BANDWIDTH_MIN) {
                return Err(ConfigError::out_of_range(field, cap, "1,000 bytes per second or more, or leave it out"));
            }
        }
        if self.packet_log.is_some() && !cfg!(feature = "packet-log") {
            let remedy = "none, or build the library with its feature packet-log";
            return Err(ConfigError::out_of_range("packet_log", "set", remedy));
        }
        self.check_carrier(&Carrier::UDP6)?;
        check_limits(&self.limits)?;
        check_memory(&self.memory)?;
        check_inbound(&self.inbound, &self.settings)
    }

    /// Checks that the settings can be sent to a client on this carrier: that they fit into a datagram of a path of
    /// which nothing is known yet. [`Config::check`] does this for UDP.
    ///
    /// # Errors
    /// They do not fit: [`ConfigError::ChannelTableTooLong`].
    pub fn check_carrier(&self, carrier: &Carrier) -> Result<(), ConfigError> {
        let bytes = frame::accept_len(&self.settings.encode());
        let datagram_bytes = carrier.packet_bytes_max.min(self.settings.datagram_bytes_max - carrier.record_bytes);
        let bytes_max = usize::from(datagram_bytes.min(BASE_BYTES_MIN)).saturating_sub(PACKET_BYTES_BESIDE);
        if bytes > bytes_max { Err(ConfigError::ChannelTableTooLong { bytes, bytes_max }) } else { Ok(()) }
    }
}

fn check_memory(memory: &MemoryBudget) -> Result<(), ConfigError> {
    let MemoryBudget { connection, network, endpoint } = *memory;
    if network < connection {
        return Err(ConfigError::out_of_range(
            "memory.network",
            network,
            format!("memory.connection, {connection}, or more"),
        ));
    }
    if endpoint < network {
        return Err(ConfigError::out_of_range(
            "memory.endpoint",
            endpoint,
            format!("memory.network, {network}, or more"),
        ));
    }
    Ok(())
}

fn check_settings(settings: &Settings) -> Result<(), ConfigError> {
    if let Some((setting, value)) = settings.first_out_of_range() {
        let range = setting.number.map_or_else(String::new, |number| number.range());
        return Err(ConfigError::OutOfRange { field: format!("settings.{}", setting.name), value, range });
    }
    let window_min = window_cost(settings.message_bytes_max as usize);
    if window_min > u64::from(u32::MAX) {
        let range = "at most what a receive window of 4,294,967,295 bytes can hold, or 4,042,322,100 bytes";
        return Err(ConfigError::out_of_range("settings.message_bytes_max", settings.message_bytes_max, range));
    }
    if u64::from(settings.window_bytes) < window_min {
        let longest = settings.message_bytes_max;
        let range =
            format!("at least {window_min}, which a message of settings.message_bytes_max ({longest} bytes) takes");
        return Err(ConfigError::out_of_range("settings.window_bytes", settings.window_bytes, range));
    }
    if settings.moves_channel().is_none() && settings.moves_channel != NO_CHANNEL {
        let range = "a channel whose rule is reliable-ordered, or 65,536 for none";
        return Err(ConfigError::out_of_range("settings.moves_channel", settings.moves_channel, range));
    }
    check_merging("settings.merging", settings.merging)?;
    check_redundancy("settings.redundancy.mode", settings.redundancy.mode)?;
    check_budget(settings, settings.redundancy.mode)?;
    check_rules(settings)
}

fn check_merging(field: &str, merging: Merging) -> Result<(), ConfigError> {
    match merging {
        Merging::After(delay) if delay > TIME_MAX => Err(ConfigError::out_of_range(field, merging, "After(0 to 24 h)")),
        Merging::Immediate | Merging::After(_) | Merging::Flush => Ok(()),
    }
}

fn check_redundancy(field: &str, mode: RedundancyMode) -> Result<(), ConfigError> {
    if mode.is_valid() {
        return Ok(());
    }
    let range = match mode {
        RedundancyMode::Repeat { .. } => format!("Repeat {{ bursts: 1 to {BURSTS_MAX} }}"),
        _ => format!("Fixed with at least 1 source and 1 repair, together at most {BLOCK_MAX}"),
    };
    Err(ConfigError::out_of_range(field, mode, range))
}

/// A block code keeps its exact ratio or sends no repairs: a budget that is too small would silently drop some of its
/// repairs.
fn check_budget(settings: &Settings, mode: RedundancyMode) -> Result<(), ConfigError> {
    let (budget, needed) = (settings.redundancy.budget_percent, mode.budget_percent_min());
    if budget >= needed {
        return Ok(());
    }
    let range = format!("at least {needed}, which {mode:?} takes");
    Err(ConfigError::out_of_range("settings.redundancy.budget_percent", budget, range))
}

fn check_rules(settings: &Settings) -> Result<(), ConfigError> {
    let rules = &settings.channels;
    if rules.is_empty() {
        return Err(ConfigError::NoChannels);
    }
    if rules.len() > CHANNEL_RULES_MAX {
        return Err(ConfigError::TooManyRules { rules: rules.len() });
    }
    for (at, rule) in rules.iter().enumerate() {
        check_rule(settings, at, rule)?;
        if let Some(earlier) = rules[..at].iter().position(|earlier| overlap(earlier, rule)) {
            return Err(ConfigError::overlapping([earlier, at], rules));
        }
    }
    Ok(())
}

fn check_rule(settings: &Settings, at: usize, rule: &ChannelRule) -> Result<(), ConfigError> {
    let field = |name: &str| format!("settings.channels[{at}].{name}");
    if rule.last < rule.first {
        let range = format!("the rule's first channel, {}, or above", rule.first);
        return Err(ConfigError::out_of_range(field("last"), rule.last, range));
    }
    if rule.weight == 0 {
        return Err(ConfigError::out_of_range(field("weight"), rule.weight, "1 to 255"));
    }
    if rule.queue_messages_max == 0 {
        return Err(ConfigError::out_of_range(field("queue_messages_max"), 0, "1 or more messages"));
    }
    if rule.queue_bytes_max == 0 {
        return Err(ConfigError::out_of_range(field("queue_bytes_max"), 0, "1 or more bytes"));
    }
    if let Some(mode) = rule.redundancy {
        check_redundancy(&field("redundancy"), mode)?;
        check_budget(settings, mode)?;
    }
    let repeats = matches!(settings.redundancy_of(rule), RedundancyMode::Repeat { .. });
    if repeats && rule.mode == DeliveryMode::ReliableSequenced {
        return Err(ConfigError::CannotRepeat { rule: at, channels: rule.first..=rule.last, mode: rule.mode });
    }
    Ok(())
}

fn overlap(one: &ChannelRule, other: &ChannelRule) -> bool {
    one.first <= other.last && other.first <= one.last
}

fn check_inbound(rules: &[InboundRule], settings: &Settings) -> Result<(), ConfigError> {
    for (at, rule) in rules.iter().enumerate() {
        let field = |name: &str| format!("inbound[{at}].{name}");
        if rule.last < rule.first {
            let range = format!("the rule's first channel, {}, or above", rule.first);
            return Err(ConfigError::out_of_range(field("last"), rule.last, range));
        }
        if rule.rate.is_some_and(|rate| rate.per_second == 0) {
            return Err(ConfigError::out_of_range(field("rate.per_second"), 0, "1 or more messages"));
        }
        if rule.rate.is_some_and(|rate| rate.burst == 0) {
            return Err(ConfigError::out_of_range(field("rate.burst"), 0, "1 or more messages"));
        }
        let overlaps = |earlier: &InboundRule| earlier.first <= rule.last && rule.first <= earlier.last;
        if let Some(earlier) = rules[..at].iter().position(overlaps) {
            return Err(ConfigError::OverlappingInboundRules { rules: [earlier, at] });
        }
        let of_rule = |table: &&ChannelRule| table.first <= rule.last && rule.first <= table.last;
        let reliable = settings.channels.iter().filter(of_rule).find(|table| table.mode.is_reliable());
        if let Some(table) = reliable.filter(|_| rule.violation == Violation::Drop) {
            let channels = table.first.max(rule.first)..=table.last.min(rule.last);
            return Err(ConfigError::CannotDrop { rule: at, channels });
        }
    }
    Ok(())
}

/// Checks that a client's limits allow a connection.
fn check_limits(limits: &Limits) -> Result<(), ConfigError> {
    if limits.window_bytes < WINDOW_BYTES_MIN {
        let range = "1,024 bytes or more";
        return Err(ConfigError::out_of_range("limits.window_bytes", limits.window_bytes, range));
    }
    if !DATAGRAM_BYTES.contains(&limits.datagram_bytes_max) {
        let range = format!("{} to {} bytes", DATAGRAM_BYTES.start(), DATAGRAM_BYTES.end());
        return Err(ConfigError::out_of_range("limits.datagram_bytes_max", limits.datagram_bytes_max, range));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::inbound::MessageRate;
    use crate::connection::event::PeerId;
    use crate::connection::packet_log::{LoggedConnection, PacketEvent, PacketLog};
    use crate::time::Time;
    use crate::wire::redundancy::Redundancy;
    use std::sync::Arc;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const STEP: Duration = Duration::from_nanos(1);

    fn with(change: impl FnOnce(&mut Config)) -> Config {
        let mut config = Config::server(Settings::default());
        change(&mut config);
        config
    }

    #[test]
    fn a_packet_log_without_its_feature_is_refused_with_the_feature_name() {
        #[derive(Debug)]
        struct Deaf;
        impl PacketLog for Deaf {
            fn on_event(&self, _: Time, _: &LoggedConnection<'_>, _: &PacketEvent<'_>) {}
            fn on_removed(&self, _: u32, _: PeerId) {}
        }
        let refused = with(|config| config.packet_log = Some(Arc::new(Deaf))).check().err();
        assert_eq!(refused.is_none(), cfg!(feature = "packet-log"), "{refused:?}");
        assert!(refused.is_none_or(|error| error.to_string().contains("its feature packet-log")));
    }

    fn rule(change: impl FnOnce(&mut ChannelRule)) -> Config {
        with(|config| change(&mut config.settings.channels[0]))
    }

    fn redundant(mode: RedundancyMode) -> Config {
        with(|config| config.settings.redundancy = Redundancy { mode, ..Redundancy::default() })
    }

    fn inbound(change: impl FnOnce(&mut InboundRule)) -> Config {
        let mut rule = InboundRule::new(0..=9);
        change(&mut rule);
        with(|config| config.inbound = [rule].into())
    }

    #[test]
    fn contradictory_inbound_rules_are_refused() {
        let two = with(|config| config.inbound = [InboundRule::new(0..=9), InboundRule::new(9..=20)].into());
        assert_eq!(two.check(), Err(ConfigError::OverlappingInboundRules { rules: [0, 1] }));
        let dropping = |mode| {
            let mut config = table(&[ChannelRule::new(5..=30, mode)]);
            config.inbound = [InboundRule { violation: Violation::Drop, ..InboundRule::new(0..=9) }].into();
            config.check()
        };
        assert_eq!(dropping(DeliveryMode::UnreliableSequenced), Ok(()));
        assert_eq!(dropping(DeliveryMode::ReliableOrdered), Err(ConfigError::CannotDrop { rule: 0, channels: 5..=9 }));
    }

    /// A field, configurations at both ends of its range, and those one step outside.
    struct Case {
        field: &'static str,
        value: &'static str,
        inside: Vec<Config>,
        outside: Vec<Config>,
    }

    fn times(field: &'static str, value: &'static str, least: Duration, set: fn(&mut Config, Duration)) -> Case {
        let of = |time| with(|config| set(config, time));
        let below = (least > Duration::ZERO).then(|| of(least - STEP));
        Case {
            field,
            value,
            inside: vec![of(least), of(DAY)],
            outside: below.into_iter().chain([of(DAY + STEP)]).collect(),
        }
    }

    fn cases() -> Vec<Case> {
        let fixed = |sources, repairs| RedundancyMode::Fixed { sources, repairs };
        let repeat = |bursts| RedundancyMode::Repeat { bursts };
        let budget =
            |mode, budget_percent| with(|config| config.settings.redundancy = Redundancy { mode, budget_percent });
        vec![
            times("settings.idle_timeout", "86400.000000001s", Duration::from_millis(100), |config, time| {
                config.settings.idle_timeout = time
            }),
            times("settings.keepalive", "86400.000000001s", Duration::from_millis(100), |config, time| {
                config.settings.keepalive = time
            }),
            times("settings.ack_delay", "86400.000000001s", Duration::ZERO, |config, time| {
                config.settings.ack_delay = time
            }),
            times("settings.ack_delay_max", "86400.000000001s", Duration::ZERO, |config, time| {
                config.settings.ack_delay_max = time
            }),
            times("settings.merging", "After(86400.000000001s)", Duration::ZERO, |config, time| {
                config.settings.merging = Merging::After(time);
            }),
            times("merging", "After(86400.000000001s)", Duration::ZERO, |config, time| {
                config.merging = Some(Merging::After(time));
            }),
            Case {
                field: "handshake_timeout",
                value: "3600.000000001s",
                inside: vec![
                    with(|config| config.handshake_timeout = HANDSHAKE_TIMEOUT_MIN),
                    with(|config| config.handshake_timeout = HANDSHAKE_TIMEOUT_MAX),
                ],
                outside: vec![
                    with(|config| config.handshake_timeout = Duration::ZERO),
                    with(|config| config.handshake_timeout = HANDSHAKE_TIMEOUT_MIN - STEP),
                    with(|config| config.handshake_timeout = HANDSHAKE_TIMEOUT_MAX + STEP),
                ],
            },
            Case {
                field: "connections_max",
                value: "0",
                inside: vec![with(|config| config.connections_max = 1)],
                outside: vec![with(|config| config.connections_max = 0)],
            },
            Case {
                field: "connections_max",
                value: "8388609",
                inside: vec![with(|config| config.connections_max = 8_388_608)],
                outside: vec![with(|config| config.connections_max = 8_388_609)],
            },
            Case {
                field: "players_of_network_max",
                value: "0",
                inside: vec![with(|config| config.players_of_network_max = Some(1))],
                outside: vec![with(|config| config.players_of_network_max = Some(0))],
            },
            Case {
                field: "bandwidth_max_per_peer",
                value: "999",
                inside: vec![with(|config| config.bandwidth_max_per_peer = Some(1_000))],
                outside: vec![with(|config| config.bandwidth_max_per_peer = Some(999))],
            },
            Case {
                field: "bandwidth_max",
                value: "999",
                inside: vec![with(|config| config.bandwidth_max = Some(1_000))],
                outside: vec![with(|config| config.bandwidth_max = Some(999))],
            },
            Case {
                field: "settings.datagram_bytes_max",
                value: "65508",
                inside: vec![
                    with(|config| config.settings.datagram_bytes_max = 256),
                    with(|config| config.settings.datagram_bytes_max = 65_507),
                ],
                outside: vec![
                    with(|config| config.settings.datagram_bytes_max = 255),
                    with(|config| config.settings.datagram_bytes_max = 65_508),
                ],
            },
            Case {
                field: "settings.window_bytes",
                value: "1114175",
                inside: vec![with(|config| config.settings.window_bytes = 1_114_176)],
                outside: vec![with(|config| config.settings.window_bytes = 1_114_175)],
            },
            Case {
                field: "settings.message_bytes_max",
                value: "4042322101",
                inside: vec![with(|config| {
                    (config.settings.message_bytes_max, config.settings.window_bytes) = (4_042_322_100, u32::MAX);
                })],
                outside: vec![with(|config| {
                    (config.settings.message_bytes_max, config.settings.window_bytes) = (4_042_322_101, u32::MAX);
                })],
            },
            Case {
                field: "settings.redundancy.mode",
                value: "Repeat { bursts: 9 }",
                inside: vec![
                    redundant(fixed(1, 1)),
                    redundant(fixed(63, 1)),
                    redundant(repeat(1)),
                    redundant(repeat(8)),
                ],
                outside: vec![
                    redundant(fixed(0, 1)),
                    redundant(fixed(1, 0)),
                    redundant(fixed(63, 2)),
                    redundant(repeat(0)),
                    redundant(repeat(9)),
                ],
            },
            Case {
                field: "settings.channels[0].redundancy",
                value: "Repeat { bursts: 9 }",
                inside: vec![rule(|rule| rule.redundancy = Some(fixed(61, 3)))],
                outside: vec![
                    rule(|rule| rule.redundancy = Some(fixed(1, 64))),
                    rule(|rule| rule.redundancy = Some(repeat(9))),
                ],
            },
            Case {
                field: "settings.redundancy.budget_percent",
                value: "124",
                inside: vec![budget(fixed(1, 1), 125), budget(fixed(10, 3), 38), budget(repeat(8), 0)],
                outside: vec![
                    budget(fixed(1, 2), 249),
                    budget(fixed(10, 3), 37),
                    with(|config| {
                        config.settings.channels[0].redundancy = Some(fixed(1, 1));
                        config.settings.redundancy.budget_percent = 124;
                    }),
                ],
            },
            Case {
                field: "settings.channels[0].weight",
                value: "0",
                inside: vec![rule(|rule| rule.weight = 1), rule(|rule| rule.weight = 255)],
                outside: vec![rule(|rule| rule.weight = 0)],
            },
            Case {
                field: "settings.channels[0].queue_messages_max",
                value: "0",
                inside: vec![rule(|rule| rule.queue_messages_max = 1)],
                outside: vec![rule(|rule| rule.queue_messages_max = 0)],
            },
            Case {
                field: "settings.channels[0].queue_bytes_max",
                value: "0",
                inside: vec![rule(|rule| rule.queue_bytes_max = 1)],
                outside: vec![rule(|rule| rule.queue_bytes_max = 0)],
            },
            Case {
                field: "inbound[0].last",
                value: "4",
                inside: vec![inbound(|rule| (rule.first, rule.last) = (5, 5))],
                outside: vec![inbound(|rule| (rule.first, rule.last) = (5, 4))],
            },
            Case {
                field: "inbound[0].rate.per_second",
                value: "0",
                inside: vec![inbound(|rule| rule.rate = Some(MessageRate { per_second: 1, burst: 1 }))],
                outside: vec![inbound(|rule| rule.rate = Some(MessageRate { per_second: 0, burst: 1 }))],
            },
            Case {
                field: "inbound[0].rate.burst",
                value: "0",
                inside: vec![inbound(|rule| rule.rate = Some(MessageRate { per_second: u32::MAX, burst: u32::MAX }))],
                outside: vec![inbound(|rule| rule.rate = Some(MessageRate { per_second: 1, burst: 0 }))],
            },
            Case {
                field: "settings.channels[0].last",
                value: "4",
                inside: vec![rule(|rule| (rule.first, rule.last) = (5, 5))],
                outside: vec![rule(|rule| (rule.first, rule.last) = (5, 4))],
            },
        ]
    }

    #[test]
    fn a_value_one_step_out_of_range_is_an_error_with_field_value_and_range() {
        for Case { field, value, inside, outside } in cases() {
            for config in inside {
                assert_eq!(config.check(), Ok(()), "{field}");
            }
            let mut last = None;
            for config in outside {
                let error = config.check().expect_err(field);
                let ConfigError::OutOfRange { field: named, value, range } = &error else { panic!("{error}") };
                assert_eq!((named.as_str(), range.is_empty()), (field, false));
                assert_eq!(error.to_string(), format!("{field} is {value}: set it to {range}"));
                last = Some(value.clone());
            }
            assert_eq!(last.as_deref(), Some(value), "{field}");
        }
    }

    fn table(rules: &[ChannelRule]) -> Config {
        with(|config| config.settings.channels = rules.to_vec())
    }

    #[test]
    fn a_table_with_no_rules_or_too_many_is_refused() {
        assert_eq!(table(&[]).check(), Err(ConfigError::NoChannels));
        let rules: Vec<_> =
            (0..65).map(|channel| ChannelRule::new(channel..=channel, DeliveryMode::Unreliable)).collect();
        assert_eq!(table(&rules).check(), Err(ConfigError::TooManyRules { rules: 65 }));
        assert!(matches!(table(&rules[..64]).check(), Ok(()) | Err(ConfigError::ChannelTableTooLong { .. })));
    }

    #[test]
    fn overlapping_rules_are_refused_and_both_are_named() {
        let of = |channels| ChannelRule::new(channels, DeliveryMode::ReliableOrdered);
        assert_eq!(table(&[of(0..=4), of(10..=19), of(5..=9)]).check(), Ok(()));
        for (second, is_first) in [(4..=9, true), (0..=0, true), (19..=30, false), (8..=40, false)] {
            let error = table(&[of(0..=4), of(10..=19), of(second.clone())]).check().expect_err("they overlap");
            let (at, range) = if is_first { (0, 0..=4) } else { (1, 10..=19) };
            assert_eq!(error, ConfigError::OverlappingRules { rules: [at, 2], channels: [range, second] });
            assert!(error.to_string().contains(&format!("settings.channels[{at}]")), "{error}");
        }
    }

    #[test]
    fn repeat_mode_is_refused_on_sequenced_channels() {
        let repeat = RedundancyMode::Repeat { bursts: 2 };
        for number in 0..5 {
            let mode = DeliveryMode::try_from(number).expect("there are five");
            let own = ChannelRule::new(0..=9, mode).with_redundancy(repeat);
            let inherited = ChannelRule::new(0..=9, mode);
            let expected = match mode {
                DeliveryMode::ReliableSequenced => Err(ConfigError::CannotRepeat { rule: 0, channels: 0..=9, mode }),
                _ => Ok(()),
            };
            assert_eq!(table(&[own]).check(), expected);
            let config = redundant(repeat);
            let settings = Settings { channels: vec![inherited], ..config.settings.clone() };
            assert_eq!(Config { settings, ..config }.check(), expected);
        }
    }

    #[test]
    fn settings_larger_than_a_datagram_are_refused() {
        let rules: Vec<_> = (0..60)
            .map(|channel| ChannelRule::new(20_000 + channel..=20_000 + channel, DeliveryMode::Unreliable))
            .collect();
        let error = table(&rules).check().expect_err("it is too long");
        assert!(matches!(error, ConfigError::ChannelTableTooLong { bytes, bytes_max } if bytes > bytes_max), "{error}");
    }

    #[test]
    fn the_overhead_of_a_carrier_reduces_the_room_for_settings() {
        let rules: Vec<_> = (0..7).map(|at| ChannelRule::new(9 * at..=9 * at, DeliveryMode::Unreliable)).collect();
        let mut config = table(&rules);
        config.settings.datagram_bytes_max = 256;
        assert_eq!(config.check(), Ok(()));
        let error = config.check_carrier(&Carrier::DTLS6);
        assert!(matches!(error, Err(ConfigError::ChannelTableTooLong { .. })), "{error:?}");
    }
}
