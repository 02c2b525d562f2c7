//! The records of a file, as the drafts have them. Frames and events that QUIC has not are named after WIRE.md.

use serde::Serialize;
use skipstone_proto::{
    ClosedBy, KIND_OPEN, LoggedFrame, LoggedFrames, LossTrigger, PacketEvent, Path, RecoveryMetrics, Side,
};
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The first record of a file.
#[derive(Serialize)]
pub(super) struct Header<'a> {
    qlog_version: &'static str,
    qlog_format: &'static str,
    title: &'a str,
    trace: TraceHeader<'a>,
}

#[derive(Serialize)]
struct TraceHeader<'a> {
    /// qvis names a connection by this.
    title: &'a str,
    vantage_point: VantagePoint,
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration: Option<Configuration>,
    common_fields: CommonFields,
}

#[derive(Serialize)]
struct VantagePoint {
    name: &'static str,
    #[serde(rename = "type")]
    side: &'static str,
}

/// ms to add to all times.
#[derive(Serialize)]
struct Configuration {
    time_offset: f64,
}

/// WHY: where a server's trace has no offset, qvis's sequence diagram looks for QUIC's Initial packets, and without
/// them moves the server by half a round trip. The clocks of both machines are more accurate.
const SERVER_OFFSET_MS: f64 = 0.001;

#[derive(Serialize)]
struct CommonFields {
    protocol_type: [&'static str; 1],
    time_format: &'static str,
    /// ms since 1970.
    reference_time: f64,
}

impl<'a> Header<'a> {
    /// `reference` is the time since 1970 at which the file's times begin.
    pub(super) fn new(title: &'a str, side: Side, reference: Duration) -> Self {
        let (side, configuration) = match side {
            Side::Client => ("client", None),
            Side::Server => ("server", Some(Configuration { time_offset: SERVER_OFFSET_MS })),
        };
        let reference_time = millis(reference);
        Header {
            qlog_version: "0.3",
            qlog_format: "JSON-SEQ",
            title,
            trace: TraceHeader {
                title,
                vantage_point: VantagePoint { name: "skipstone", side },
                configuration,
                common_fields: CommonFields { protocol_type: ["SKIPSTONE"], time_format: "relative", reference_time },
            },
        }
    }
}

/// An event.
#[derive(Serialize)]
pub(super) struct Record<'a, 'b> {
    /// ms since the reference time.
    pub(super) time: f64,
    pub(super) name: &'static str,
    pub(super) data: &'b Data<'a>,
}

/// The content of an event.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Data<'a> {
    Started {
        ip_version: &'static str,
        dst_ip: IpAddr,
        dst_port: u16,
        protocol: &'static str,
    },
    HandshakeSent {
        kind: &'static str,
        raw: Raw,
    },
    Sent(Packet<'a>),
    Received(Packet<'a>),
    Recovered {
        header: PacketHeader,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        frames: Vec<Frame<'a>>,
    },
    Dropped {
        raw: Raw,
        trigger: &'static str,
    },
    Lost {
        header: PacketHeader,
        raw: Raw,
        trigger: &'static str,
    },
    Spurious {
        packets: u32,
    },
    ProbeTimeout {
        packets: u32,
        is_silent: bool,
    },
    Metrics(Metrics),
    Closed {
        owner: &'static str,
        application_code: u64,
        reason: &'a str,
    },
    Unknown {},
}

#[derive(Serialize)]
pub(super) struct Packet<'a> {
    header: PacketHeader,
    raw: Raw,
    /// qvis looks at the first, if there is a list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
pub(super) struct PacketHeader {
    packet_type: &'static str,
    packet_number: u64,
}

/// Bytes of a datagram.
#[derive(Serialize)]
pub(super) struct Raw {
    length: usize,
}

/// Times are in ms.
#[derive(Serialize)]
pub(super) struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    min_rtt: Option<f64>,
    smoothed_rtt: f64,
    latest_rtt: f64,
    rtt_variance: f64,
    bytes_in_flight: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion_window: Option<u64>,
}

#[derive(Serialize)]
#[serde(tag = "frame_type", rename_all = "snake_case")]
pub(super) enum Frame<'a> {
    Padding,
    Ping,
    Ack {
        ack_delay: f64,
        acked_ranges: Vec<[u64; 2]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        window: Option<u64>,
    },
    ConnectionClose {
        error_space: &'static str,
        error_code: u64,
        reason: &'a str,
    },
    Repaired {
        ranges: Vec<[u64; 2]>,
    },
    Repair {
        covers: Vec<[u64; 2]>,
        length: usize,
    },
    Messages {
        channel: u16,
        #[serde(skip_serializing_if = "Option::is_none")]
        sequence: Option<u32>,
        count: u32,
        length: usize,
    },
    Fragment {
        channel: u16,
        #[serde(skip_serializing_if = "Option::is_none")]
        sequence: Option<u32>,
        offset: u32,
        length: usize,
        total: u32,
    },
    Late {
        age: u64,
    },
    #[serde(untagged)]
    Other {
        frame_type: &'static str,
    },
}

/// A span in ms, to the µs.
pub(super) fn millis(span: Duration) -> f64 {
    span.as_micros() as f64 / 1e3
}

impl<'a> Data<'a> {
    /// A connection, or its new path.
    pub(super) fn started(path: &Path) -> Self {
        let ip_version = if path.remote.is_ipv4() { "v4" } else { "v6" };
        let (dst_ip, dst_port) = (path.remote.ip(), path.remote.port());
        Data::Started { ip_version, dst_ip, dst_port, protocol: path.carrier.name }
    }

    pub(super) fn of(event: &PacketEvent<'a>) -> Self {
        match *event {
            PacketEvent::HandshakeSent { kind, bytes } => {
                let kind = match kind {
                    0x81 => "hello",
                    KIND_OPEN => "open",
                    _ => "crypto",
                };
                Data::HandshakeSent { kind, raw: Raw { length: bytes } }
            }
            PacketEvent::Sent { number, bytes, frames } => Data::Sent(Packet::of(number, bytes, frames)),
            PacketEvent::Received { number, bytes, frames } => Data::Received(Packet::of(number, bytes, frames)),
            PacketEvent::Recovered { number, frames } => {
                Data::Recovered { header: PacketHeader::of(number), frames: Frame::all(frames) }
            }
            PacketEvent::Dropped { bytes, reason } => {
                Data::Dropped { raw: Raw { length: bytes }, trigger: reason.name() }
            }
            PacketEvent::Lost { number, bytes, trigger } => {
                let trigger = match trigger {
                    LossTrigger::RepairedByPeer => "repaired_by_peer",
                    _ => "time_threshold",
                };
                Data::Lost { header: PacketHeader::of(number), raw: Raw { length: bytes.into() }, trigger }
            }
            PacketEvent::Spurious { packets } => Data::Spurious { packets },
            PacketEvent::ProbeTimeout { packets, is_silent } => Data::ProbeTimeout { packets, is_silent },
            PacketEvent::Metrics(metrics) => Data::Metrics(Metrics::of(&metrics)),
            PacketEvent::Closed { by, code, reason } => {
                let owner = if by == ClosedBy::Peer { "remote" } else { "local" };
                Data::Closed { owner, application_code: code, reason }
            }
            _ => Data::Unknown {},
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Data::Started { .. } => "connectivity:connection_started",
            Data::HandshakeSent { .. } => "skipstone:handshake_sent",
            Data::Sent(_) => "transport:packet_sent",
            Data::Received(_) => "transport:packet_received",
            Data::Recovered { .. } => "skipstone:packet_recovered",
            Data::Dropped { .. } => "transport:packet_dropped",
            Data::Lost { .. } => "recovery:packet_lost",
            Data::Spurious { .. } => "skipstone:losses_spurious",
            Data::ProbeTimeout { .. } => "skipstone:probe_timeout",
            Data::Metrics(_) => "recovery:metrics_updated",
            Data::Closed { .. } => "connectivity:connection_closed",
            Data::Unknown {} => "skipstone:unknown",
        }
    }
}

impl<'a> Packet<'a> {
    fn of(number: u64, bytes: usize, frames: LoggedFrames<'a>) -> Self {
        Packet { header: PacketHeader::of(number), raw: Raw { length: bytes }, frames: Frame::all(frames) }
    }
}

impl PacketHeader {
    fn of(packet_number: u64) -> Self {
        PacketHeader { packet_type: "1RTT", packet_number }
    }
}

impl Metrics {
    fn of(metrics: &RecoveryMetrics) -> Self {
        let rtt = &metrics.rtt;
        Metrics {
            min_rtt: rtt.is_measured().then(|| millis(rtt.min())),
            smoothed_rtt: millis(rtt.smoothed()),
            latest_rtt: millis(rtt.latest()),
            rtt_variance: millis(rtt.variation()),
            bytes_in_flight: metrics.bytes_in_flight,
            congestion_window: metrics.congestion_window,
        }
    }
}

impl<'a> Frame<'a> {
    fn all(frames: LoggedFrames<'a>) -> Vec<Self> {
        frames.iter().map(Frame::of).collect()
    }

    fn of(frame: LoggedFrame<'a>) -> Self {
        match frame {
            LoggedFrame::Padding => Frame::Padding,
            LoggedFrame::Ping => Frame::Ping,
            LoggedFrame::Ack { delay, ranges, window } => {
                Frame::Ack { ack_delay: millis(delay), acked_ranges: pairs(&ranges), window }
            }
            LoggedFrame::Repaired { ranges } => Frame::Repaired { ranges: pairs(&ranges) },
            LoggedFrame::Repair { covers, bytes } => Frame::Repair { covers: pairs(&covers), length: bytes },
            LoggedFrame::Messages { channel, sequence, count, bytes } => {
                Frame::Messages { channel, sequence, count, length: bytes }
            }
            LoggedFrame::Fragment { channel, sequence, offset, bytes, total } => {
                Frame::Fragment { channel, sequence, offset, length: bytes, total }
            }
            LoggedFrame::Late { age_ms } => Frame::Late { age: age_ms },
            LoggedFrame::Close { code, reason } => {
                Frame::ConnectionClose { error_space: "application", error_code: code, reason }
            }
            LoggedFrame::Other { name } => Frame::Other { frame_type: name },
            _ => Frame::Other { frame_type: "unknown" },
        }
    }
}

fn pairs(ranges: &[RangeInclusive<u64>]) -> Vec<[u64; 2]> {
    ranges.iter().map(|range| [*range.start(), *range.end()]).collect()
}
