//! Settings, statistics and the server's time as lists of numbers, and the names of the statistics in their order.

use crate::core::since_first;
use skipstone_proto::{ChannelRule, Duration, Merging, Overview, RedundancyMode, ServerTime, Settings};

/// Microseconds, or infinity for an unlimited time.
fn micros(span: Duration) -> f64 {
    if span == Duration::MAX { f64::INFINITY } else { span.as_micros() as f64 }
}

/// The server's clock in µs since its start, and the maximum error.
pub fn of_server_time(time: &ServerTime) -> Vec<f64> {
    vec![micros(since_first(time.at)), micros(time.error)]
}

/// The settings: [`SETTINGS`] numbers, then [`RULE`] for each rule of the channel table.
pub fn of_settings(settings: &Settings) -> Vec<f64> {
    let merging = match settings.merging {
        Merging::Immediate => 0.0,
        Merging::After(span) => micros(span),
        Merging::Flush => f64::INFINITY,
    };
    let mut figures = vec![
        // catalogue: settings
        micros(settings.idle_timeout),
        micros(settings.keepalive),
        micros(settings.ack_delay),
        micros(settings.ack_delay_max),
        f64::from(settings.message_bytes_max),
        f64::from(settings.window_bytes),
        f64::from(settings.datagram_bytes_max),
        f64::from(settings.moves_channel),
        // catalogue: end
        merging,
        f64::from(settings.redundancy.budget_percent),
    ];
    figures.extend(of_mode(Some(settings.redundancy.mode)));
    debug_assert_eq!(figures.len(), SETTINGS, "the page counts them");
    figures.extend(settings.channels.iter().flat_map(of_rule));
    figures
}

/// Numbers of the settings before the channel table.
// catalogue: settings counted
pub const SETTINGS: usize = 13;
// catalogue: end
/// Numbers of each rule.
pub const RULE: usize = 12;

fn of_rule(rule: &ChannelRule) -> [f64; RULE] {
    let [mode, first, second] = of_mode(rule.redundancy);
    [
        f64::from(rule.first),
        f64::from(rule.last),
        f64::from(rule.mode as u8),
        f64::from(rule.priority),
        f64::from(rule.weight),
        f64::from(rule.overflow as u8),
        f64::from(u8::from(rule.receipts)),
        f64::from(rule.queue_messages_max),
        f64::from(rule.queue_bytes_max),
        mode,
        first,
        second,
    ]
}

/// A redundancy mode as numbered in WIRE.md section 5, with its parameters; -1 for none of its own.
fn of_mode(mode: Option<RedundancyMode>) -> [f64; 3] {
    match mode {
        None => [-1.0, 0.0, 0.0],
        Some(RedundancyMode::Off) => [0.0, 0.0, 0.0],
        Some(RedundancyMode::Lean) => [1.0, 0.0, 0.0],
        Some(RedundancyMode::Adaptive) => [2.0, 0.0, 0.0],
        Some(RedundancyMode::Fixed { sources, repairs }) => [3.0, f64::from(sources), f64::from(repairs)],
        Some(RedundancyMode::Repeat { bursts }) => [4.0, f64::from(bursts), 0.0],
    }
}

/// A connection's state and counters, in the order of [`statistics_names`].
pub fn of_overview(overview: &Overview) -> Vec<f64> {
    let mut figures = Vec::with_capacity(64);
    each(overview, |_, value| figures.push(value));
    figures
}

/// The names of the figures, separated by spaces. A dot separates a group from its member.
pub fn statistics_names(overview: &Overview) -> String {
    let mut names = String::new();
    each(overview, |name, _| {
        if !names.is_empty() {
            names.push(' ');
        }
        names.push_str(name);
    });
    names
}

fn each(overview: &Overview, mut figure: impl FnMut(&str, f64)) {
    let mut name = String::new();
    overview.stats.each_named("", &mut |group, member, value| {
        name.clear();
        push_name(&mut name, group, member);
        figure(&name, value as f64);
    });
    let state = [
        ("depth.messages", overview.depth.messages),
        ("depth.bytes", overview.depth.bytes),
        ("depth.heldBytes", overview.depth.held_bytes),
        ("packetsDue", overview.packets_due),
        ("packetsReceived", overview.packets_received),
        ("bytesInFlight", u64::from(overview.bytes_in_flight)),
        ("datagramBytes", u64::from(overview.datagram_bytes)),
    ];
    state.into_iter().for_each(|(name, value)| figure(name, value as f64));
    figure("congestionWindow", limit(overview.congestion_window));
    figure("availableBytesPerSecond", limit(overview.available_bytes_per_second));
    figure("loss", f64::from(overview.loss));
    let rtt = &overview.rtt;
    let is_measured = rtt.is_measured();
    figure("rtt.isMeasured", f64::from(u8::from(is_measured)));
    figure("rtt.smoothed", micros(rtt.smoothed()));
    figure("rtt.variation", micros(rtt.variation()));
    figure("rtt.min", micros(rtt.min()));
    figure("rtt.latest", micros(rtt.latest()));
}

/// A limit, or infinity for none.
fn limit(value: u64) -> f64 {
    if value == u64::MAX { f64::INFINITY } else { value as f64 }
}

/// A statistic's name in JavaScript: camel case, except that a drop reason stays as it is.
fn push_name(name: &mut String, group: &str, member: &str) {
    if !group.is_empty() {
        name.push_str(group);
        name.push('.');
    }
    if group == "drops" {
        name.push_str(member);
        return;
    }
    let mut is_first = false;
    for letter in member.chars() {
        match letter {
            '_' => is_first = true,
            letter if is_first => {
                name.push(letter.to_ascii_uppercase());
                is_first = false;
            }
            letter => name.push(letter),
        }
    }
}
