//! Conversions between the library's types and C's.

use crate::failure::Failure;
use crate::types::*;
use library::{
    ChannelRule, ClientConfig, ClosedBy, Congestion, DeliveryMode, Direction, DriverStats, Flow, GivenUp, InboundRule,
    Merging, MessageRate, Overflow, Overview, PeerId, Reconnect, RedundancyMode, ServerConfig, Stats, Threading,
    Violation,
};
use std::time::Duration;

/// The number of a peer: never 0.
pub(crate) fn peer_number(peer: PeerId) -> u64 {
    u64::from(peer.generation) << 32 | (u64::from(peer.index) + 1)
}

/// The peer with this number. 0 is no peer's number, and yields a peer that no handle has.
pub(crate) fn peer_id(number: u64) -> PeerId {
    match (number as u32).checked_sub(1) {
        Some(index) => PeerId { index, generation: (number >> 32) as u32 },
        None => PeerId { index: u32::MAX, generation: u32::MAX },
    }
}

/// Whole microseconds; the maximum for a longer time.
pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

pub(crate) fn delivery(value: u32) -> Result<DeliveryMode, Failure> {
    let mode = u8::try_from(value).ok().and_then(|value| DeliveryMode::try_from(value).ok());
    mode.ok_or_else(|| Failure::value("delivery", value, "a SkipstoneDelivery, 0 to 4"))
}

pub(crate) fn redundancy(value: u32, first: u8, second: u8) -> Result<RedundancyMode, Failure> {
    Ok(match value {
        0 => RedundancyMode::Off,
        1 => RedundancyMode::Lean,
        2 => RedundancyMode::Adaptive,
        3 => RedundancyMode::Fixed { sources: first, repairs: second },
        4 => RedundancyMode::Repeat { bursts: first },
        _ => return Err(Failure::value("redundancy", value, "a SkipstoneRedundancy, 0 to 4")),
    })
}

fn redundancy_numbers(mode: RedundancyMode) -> (SkipstoneRedundancy, u8, u8) {
    match mode {
        RedundancyMode::Off => (SkipstoneRedundancy::Off, 0, 0),
        RedundancyMode::Lean => (SkipstoneRedundancy::Lean, 0, 0),
        RedundancyMode::Adaptive => (SkipstoneRedundancy::Adaptive, 0, 0),
        RedundancyMode::Fixed { sources, repairs } => (SkipstoneRedundancy::Fixed, sources, repairs),
        RedundancyMode::Repeat { bursts } => (SkipstoneRedundancy::Repeat, bursts, 0),
    }
}

pub(crate) fn channel_of(rule: &ChannelRule) -> SkipstoneChannel {
    let (redundancy, redundancy_first, redundancy_second) =
        rule.redundancy.map_or((SkipstoneRedundancy::AsSettings, 0, 0), redundancy_numbers);
    SkipstoneChannel {
        size: size_of::<SkipstoneChannel>() as u32,
        first: rule.first,
        last: rule.last,
        delivery: rule.mode as u32,
        overflow: rule.overflow as u32,
        redundancy: redundancy as u32,
        priority: rule.priority,
        weight: rule.weight,
        receipts: rule.receipts.into(),
        redundancy_first,
        redundancy_second,
        reserved: [0; 3],
        queue_messages_max: rule.queue_messages_max,
        queue_bytes_max: rule.queue_bytes_max,
    }
}

pub(crate) fn rule_of(channel: &SkipstoneChannel) -> Result<ChannelRule, Failure> {
    let overflow = u8::try_from(channel.overflow).ok().and_then(|value| Overflow::try_from(value).ok());
    let redundancy = match channel.redundancy {
        255 => None,
        value => Some(redundancy(value, channel.redundancy_first, channel.redundancy_second)?),
    };
    Ok(ChannelRule {
        priority: channel.priority,
        weight: channel.weight,
        overflow: overflow
            .ok_or_else(|| Failure::value("overflow", channel.overflow, "a SkipstoneOverflow, 0 to 2"))?,
        receipts: flag("receipts", channel.receipts.into())?,
        queue_messages_max: channel.queue_messages_max,
        queue_bytes_max: channel.queue_bytes_max,
        redundancy,
        ..ChannelRule::new(channel.first..=channel.last, delivery(channel.delivery)?)
    })
}

pub(crate) fn inbound_of(rule: &InboundRule) -> SkipstoneInboundRule {
    SkipstoneInboundRule {
        size: size_of::<SkipstoneInboundRule>() as u32,
        first: rule.first,
        last: rule.last,
        direction: SkipstoneDirection::Both as u32,
        violation: SkipstoneViolation::Close as u32,
        message_bytes_max: 0,
        messages_per_second: 0,
        burst: 0,
    }
}

pub(crate) fn inbound_rule(rule: &SkipstoneInboundRule) -> Result<InboundRule, Failure> {
    let direction = match rule.direction {
        0 => Direction::Both,
        1 => Direction::ServerToClient,
        2 => Direction::ClientToServer,
        value => return Err(Failure::value("direction", value, "a SkipstoneDirection, 0 to 2")),
    };
    let violation = match rule.violation {
        0 => Violation::Close,
        1 => Violation::Drop,
        value => return Err(Failure::value("violation", value, "a SkipstoneViolation, 0 or 1")),
    };
    let (per_second, burst) = (rule.messages_per_second, rule.burst);
    Ok(InboundRule {
        direction,
        violation,
        message_bytes_max: some(rule.message_bytes_max),
        rate: (per_second > 0).then_some(MessageRate { per_second, burst }),
        ..InboundRule::new(rule.first..=rule.last)
    })
}

/// A limit; 0 means none.
pub(crate) fn some<T: PartialEq + Default>(value: T) -> Option<T> {
    (value != T::default()).then_some(value)
}

pub(crate) fn flag(field: &str, value: u32) -> Result<bool, Failure> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::value(field, value, "0 or 1")),
    }
}

pub(crate) fn threading(value: u32) -> Result<Threading, Failure> {
    match value {
        0 => Ok(Threading::Background),
        1 => Ok(Threading::Stepped),
        _ => Err(Failure::value("threading", value, "a SkipstoneThreading, 0 or 1")),
    }
}

pub(crate) fn congestion(value: u32) -> Result<Congestion, Failure> {
    match value {
        0 => Ok(Congestion::DelayAware),
        1 => Ok(Congestion::Aggressive),
        2 => Ok(Congestion::Off),
        _ => Err(Failure::value("congestion", value, "a SkipstoneCongestion, 0 to 2")),
    }
}

pub(crate) fn merging(micros: u64) -> Merging {
    match micros {
        SKIPSTONE_MERGE_NOT => Merging::Immediate,
        SKIPSTONE_MERGE_UNTIL_FLUSH => Merging::Flush,
        micros => Merging::After(Duration::from_micros(micros)),
    }
}

fn merging_micros(merging: Merging) -> u64 {
    match merging {
        Merging::Immediate => SKIPSTONE_MERGE_NOT,
        Merging::Flush => SKIPSTONE_MERGE_UNTIL_FLUSH,
        Merging::After(span) => micros(span),
    }
}

/// A server's defaults, with empty strings and arrays.
pub(crate) fn server_defaults() -> SkipstoneServerConfig {
    let config = ServerConfig::new(([0, 0, 0, 0], 0).into());
    let settings = &config.settings;
    let (redundancy, redundancy_first, redundancy_second) = redundancy_numbers(settings.redundancy.mode);
    SkipstoneServerConfig {
        size: size_of::<SkipstoneServerConfig>() as u32,
        threading: SkipstoneThreading::Background as u32,
        listen: std::ptr::null(),
        security: SkipstoneSecurity::SelfSigned as u32,
        allows_plain: 0,
        websocket: config.websocket.into(),
        webtransport: config.webtransport.into(),
        certificate: std::ptr::null(),
        key: std::ptr::null(),
        channels: std::ptr::null(),
        inbound: std::ptr::null(),
        channel_count: 0,
        inbound_count: 0,
        // catalogue: settings
        idle_timeout_us: micros(settings.idle_timeout),
        keepalive_us: micros(settings.keepalive),
        ack_delay_us: micros(settings.ack_delay),
        ack_delay_max_us: micros(settings.ack_delay_max),
        message_bytes_max: settings.message_bytes_max,
        window_bytes: settings.window_bytes,
        datagram_bytes_max: settings.datagram_bytes_max.into(),
        moves_channel: settings.moves_channel,
        // catalogue: end
        redundancy: redundancy as u32,
        redundancy_first,
        redundancy_second,
        redundancy_budget_percent: settings.redundancy.budget_percent,
        merging_us: merging_micros(config.merging),
        client_merging_us: merging_micros(settings.merging),
        congestion: SkipstoneCongestion::DelayAware as u32,
        impaired: 0,
        impairment_seed: 0,
        up: PERFECT,
        down: PERFECT,
        // catalogue: server settings
        trusted_proxies: std::ptr::null(),
        trusted_proxy_count: 0,
        denied: std::ptr::null(),
        denied_count: 0,
        handshake_timeout_us: micros(config.handshake_timeout),
        connections_max: config.connections_max,
        players_of_network_max: config.players_of_network_max.unwrap_or(0),
        shards: config.shards,
        queue_bytes_max: config.queue_bytes_max,
        bandwidth_max_per_peer: config.bandwidth_max_per_peer.unwrap_or(0),
        bandwidth_max: config.bandwidth_max.unwrap_or(0),
        query_answer: std::ptr::null(),
        query_answer_length: 0,
        transfer_bytes_min: config.transfer_bytes_min.unwrap_or(0),
        memory_per_connection: config.memory.connection,
        memory_per_network: config.memory.network,
        memory_max: config.memory.endpoint,
        origins: std::ptr::null(),
        origin_count: 0,
        hosts: std::ptr::null(),
        host_count: 0,
        requires_tls: config.listener_rules.requires_tls.into(),
        // catalogue: end
    }
}

pub(crate) fn client_defaults() -> SkipstoneClientConfig {
    let (config, reconnect) = (ClientConfig::default(), Reconnect::default());
    SkipstoneClientConfig {
        size: size_of::<SkipstoneClientConfig>() as u32,
        threading: SkipstoneThreading::Background as u32,
        trust: SkipstoneTrust::System as u32,
        congestion: SkipstoneCongestion::DelayAware as u32,
        authorities: std::ptr::null(),
        fingerprint: [0; 32],
        dtls_version: 0,
        follows_server_time: config.follows_server_time.into(),
        merging_us: SKIPSTONE_MERGE_AS_SERVER,
        handshake_timeout_us: micros(config.handshake_timeout),
        queue_bytes_max: config.queue_bytes_max,
        bandwidth_max: 0,
        message_bytes_max: config.limits.message_bytes_max,
        window_bytes: config.limits.window_bytes,
        datagram_bytes_max: config.limits.datagram_bytes_max.into(),
        transfer_bytes_min: 0,
        impaired: 0,
        reserved: 0,
        impairment_seed: 0,
        up: PERFECT,
        down: PERFECT,
        reconnects: 0,
        reconnect_attempts_max: reconnect.attempts_max,
        reconnect_pause_min_us: micros(reconnect.pause_min),
        reconnect_pause_max_us: micros(reconnect.pause_max),
    }
}

const PERFECT: SkipstoneLink = SkipstoneLink {
    delay_us: 0,
    jitter_us: 0,
    rate_bits_per_second: 0,
    loss: 0.0,
    loss_burst: 0.0,
    reorder: 0.0,
    duplicate: 0.0,
};

pub(crate) fn given_up(why: GivenUp) -> SkipstoneGivenUp {
    match why {
        GivenUp::QueueFull => SkipstoneGivenUp::QueueFull,
        GivenUp::Dropped => SkipstoneGivenUp::Dropped,
        GivenUp::Superseded => SkipstoneGivenUp::Superseded,
        GivenUp::Lost => SkipstoneGivenUp::Lost,
        GivenUp::TooLong => SkipstoneGivenUp::TooLong,
        GivenUp::Closed => SkipstoneGivenUp::Closed,
        _ => SkipstoneGivenUp::Other,
    }
}

pub(crate) fn closed_by(by: ClosedBy) -> SkipstoneClosedBy {
    match by {
        ClosedBy::Local => SkipstoneClosedBy::Local,
        ClosedBy::Peer => SkipstoneClosedBy::Peer,
        ClosedBy::Nobody => SkipstoneClosedBy::Nobody,
    }
}

fn flow(flow: &Flow) -> SkipstoneFlow {
    SkipstoneFlow {
        // catalogue: flow
        datagrams: flow.datagrams,
        messages: flow.messages,
        payload_bytes: flow.payload_bytes,
        datagram_bytes: flow.datagram_bytes,
        ip_bytes: flow.ip_bytes,
        // catalogue: end
    }
}

pub(crate) fn stats(stats: &Stats) -> SkipstoneStats {
    SkipstoneStats {
        size: size_of::<SkipstoneStats>() as u32,
        reserved: 0,
        // catalogue: counters
        sent: flow(&stats.sent),
        received: flow(&stats.received),
        packets_lost: stats.packets_lost,
        packets_spurious: stats.packets_spurious,
        resent: stats.resent,
        probes: stats.probes,
        repairs_sent: stats.redundancy.repairs_sent,
        copies_sent: stats.redundancy.copies_sent,
        redundancy_bytes_sent: stats.redundancy.bytes_sent,
        packets_recovered: stats.redundancy.packets_recovered,
        packets_recovered_by_peer: stats.redundancy.packets_recovered_by_peer,
        paths_changed: stats.paths_changed,
        queue_overflows: stats.queue_overflows,
        drops: stats.drops.total(),
        acks_overdue: stats.acks_overdue,
        paths_refused: stats.paths_refused,
        black_holes: stats.black_holes,
        // catalogue: end
    }
}

fn stats_of_1_0(stats: &Stats) -> SkipstoneStatsOf1_0 {
    SkipstoneStatsOf1_0 {
        size: size_of::<SkipstoneStatsOf1_0>() as u32,
        reserved: 0,
        // catalogue: counters of version 1.0
        sent: flow(&stats.sent),
        received: flow(&stats.received),
        packets_lost: stats.packets_lost,
        packets_spurious: stats.packets_spurious,
        resent: stats.resent,
        probes: stats.probes,
        repairs_sent: stats.redundancy.repairs_sent,
        copies_sent: stats.redundancy.copies_sent,
        redundancy_bytes_sent: stats.redundancy.bytes_sent,
        packets_recovered: stats.redundancy.packets_recovered,
        packets_recovered_by_peer: stats.redundancy.packets_recovered_by_peer,
        paths_changed: stats.paths_changed,
        queue_overflows: stats.queue_overflows,
        drops: stats.drops.total(),
        // catalogue: end
    }
}

pub(crate) fn overview(peer: PeerId, overview: &Overview) -> SkipstoneOverview {
    let mut carrier = [0; 8];
    let name = overview.path.carrier.name.as_bytes();
    // One byte stays 0 as terminator.
    carrier.iter_mut().take(7).zip(name).for_each(|(to, from)| *to = *from);
    let (rtt, stats) = (&overview.rtt, &overview.stats);
    SkipstoneOverview {
        size: size_of::<SkipstoneOverview>() as u32,
        datagram_bytes: overview.datagram_bytes.into(),
        peer: peer_number(peer),
        rtt_us: micros(rtt.smoothed()),
        rtt_variation_us: micros(rtt.variation()),
        rtt_min_us: if rtt.is_measured() { micros(rtt.min()) } else { 0 },
        queued_messages: overview.depth.messages,
        queued_bytes: overview.depth.bytes,
        held_bytes: overview.depth.held_bytes,
        bytes_in_flight: overview.bytes_in_flight.into(),
        congestion_window: overview.congestion_window,
        sent_messages_per_second: overview.sending.messages_per_second,
        sent_bytes_per_second: overview.sending.ip_bytes_per_second,
        sent_loss: overview.sending.loss,
        received_messages_per_second: overview.receiving.messages_per_second,
        received_bytes_per_second: overview.receiving.ip_bytes_per_second,
        received_loss: overview.receiving.loss,
        carrier,
        stats: stats_of_1_0(stats),
        available_bytes_per_second: overview.available_bytes_per_second,
        sent_payload_bytes_per_second: overview.sending.payload_bytes_per_second,
        received_payload_bytes_per_second: overview.receiving.payload_bytes_per_second,
        // catalogue: counters since version 1.4
        acks_overdue: stats.acks_overdue,
        paths_refused: stats.paths_refused,
        black_holes: stats.black_holes,
        // catalogue: end
    }
}

pub(crate) fn driver_stats(stats: &DriverStats) -> SkipstoneDriverStats {
    SkipstoneDriverStats {
        size: size_of::<SkipstoneDriverStats>() as u32,
        are_buffers_short: stats.sockets.are_buffers_short.into(),
        // catalogue: driver counters
        rounds: stats.rounds,
        send_calls: stats.send_calls,
        send_errors: stats.send_errors,
        receive_drops: stats.sockets.receive_drops,
        websockets: stats.sockets.websockets,
        secure_websockets: stats.sockets.secure_websockets,
        raw_streams: stats.sockets.raw_streams,
        locals: stats.sockets.locals,
        dtls_sessions: stats.dtls.open,
        webtransport_sessions: stats.webtransport.open,
        denied: stats.denied,
        receive_buffer_bytes: stats.sockets.receive_buffer_bytes as u64,
        impairment_drops: stats.sockets.impairment_drops,
        misrouted_handed_on: stats.misrouted.handed_on,
        misrouted_dropped: stats.misrouted.dropped,
        dtls_begun: stats.dtls.begun,
        dtls_established: stats.dtls.established,
        dtls_displaced: stats.dtls.displaced,
        dtls_dropped: stats.dtls.dropped,
        webtransport_begun: stats.webtransport.begun,
        webtransport_established: stats.webtransport.established,
        webtransport_granted: stats.webtransport.sessions,
        webtransport_retries: stats.webtransport.retries,
        webtransport_displaced: stats.webtransport.displaced,
        webtransport_refused: stats.webtransport.refused,
        webtransport_breaches: stats.webtransport.breaches,
        webtransport_dropped: stats.webtransport.dropped,
        streams_accepted: stats.streams.accepted,
        streams_timed_out: stats.streams.timed_out,
        streams_displaced: stats.streams.displaced,
        streams_answered: stats.streams.answered,
        streams_not_upgraded: stats.streams.not_upgraded,
        streams_lost: stats.streams.lost,
        streams_closed: stats.streams.closed,
        streams_malformed_requests: stats.streams.malformed_requests,
        streams_oversized_requests: stats.streams.oversized_requests,
        streams_broken_frames: stats.streams.broken_frames,
        streams_oversized_messages: stats.streams.oversized_messages,
        streams_tls_failures: stats.streams.tls_failures,
        streams_over_budget: stats.streams.over_budget,
        streams_bad_proxy_headers: stats.streams.bad_proxy_headers,
        streams_not_taken: stats.streams.not_taken,
        streams_foreign: stats.streams.foreign,
        rounds_cut: stats.rounds_cut,
        round_cost_max_us: micros(stats.round_cost_max),
        streams_too_dear: stats.streams.too_dear,
        // catalogue: end
    }
}
