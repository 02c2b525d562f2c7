//! Statistics as they were published, up to 50 ms old.

use pyo3::prelude::*;

/// Counters of one direction.
#[pyclass(frozen, get_all)]
pub(crate) struct Flow {
    // catalogue: flow
    /// Datagrams of any size.
    datagrams: u64,
    /// Messages of the application.
    messages: u64,
    /// Bytes of those messages, each counted once.
    payload_bytes: u64,
    /// Bytes of the datagrams: payload, and the overhead of the protocol.
    datagram_bytes: u64,
    /// Bytes of the datagrams with IP and carrier headers.
    ip_bytes: u64,
    // catalogue: end
}

/// Counters of a connection, or of all: 64 bits each, never decreasing.
#[pyclass(frozen, get_all)]
pub(crate) struct Stats {
    // catalogue: counters
    /// What was sent.
    sent: Py<Flow>,
    /// What was received and authenticated.
    received: Py<Flow>,
    /// Packets declared lost.
    packets_lost: u64,
    /// Packets declared lost whose acknowledgement came later.
    packets_spurious: u64,
    /// Messages and fragments retransmitted.
    resent: u64,
    /// Packets whose acknowledgement was overdue (probe timeout), so that their content was sent again.
    probes: u64,
    /// Repair packets sent.
    repairs_sent: u64,
    /// Copies of retransmissions, each in addition to the retransmission itself; and packets that repeat messages of
    /// earlier ones.
    copies_sent: u64,
    /// Bytes of repairs and copies, IP headers included, and of messages repeated.
    redundancy_bytes_sent: u64,
    /// Packets of the peer that were lost and recovered here, each without waiting for a round trip.
    packets_recovered: u64,
    /// Packets sent here that were lost and that the peer recovered.
    packets_recovered_by_peer: u64,
    /// Times that the connection moved to a new address.
    paths_changed: u64,
    /// Messages refused or dropped by a full queue.
    queue_overflows: u64,
    /// Datagrams, packets and messages that were dropped on arrival, for any reason.
    drops: u64,
    /// Acknowledgements that the peer reports to have delayed for longer than the settings allow: its machine paused,
    /// an earlier acknowledgement was lost, or it does not follow the settings.
    acks_overdue: u64,
    /// New addresses that did not prove to be the peer's.
    paths_refused: u64,
    /// Times that large datagrams were lost on the path, so that only small ones are sent (RFC 8899, section 3).
    black_holes: u64,
    // catalogue: end
}

/// One direction of a connection: rates over about a second, and loss.
#[pyclass(frozen, get_all)]
pub(crate) struct Traffic {
    /// Messages per second.
    messages_per_second: f64,
    /// Bytes of messages per second.
    payload_bytes_per_second: f64,
    /// Bytes on the wire per second.
    ip_bytes_per_second: f64,
    /// Share of packets that the path lost, 0 to 1, over about the last thousand; of those to the peer, packets that
    /// were sent together count as one.
    loss: f64,
}

/// A snapshot of a connection.
#[pyclass(frozen, get_all)]
pub(crate) struct Overview {
    /// The connection's counters.
    stats: Py<Stats>,
    /// Round-trip time in seconds; `None` before the first measurement.
    rtt: Option<f64>,
    /// How much the round-trip time varies, in seconds.
    jitter: f64,
    /// The minimum round-trip time that was measured, in seconds; `None` before the first measurement.
    rtt_min: Option<f64>,
    /// The peer's address, as `host:port`.
    remote: String,
    /// The carrier: `udp`, `dtls`, `wt`, `ws`, `wss`, `tcp`, `tls`, `local`.
    carrier: &'static str,
    /// Messages that are queued or in flight.
    queued_messages: u64,
    /// Bytes of those messages.
    queued_bytes: u64,
    /// Bytes of messages that arrived and wait for earlier ones.
    held_bytes: u64,
    /// Bytes in flight.
    bytes_in_flight: u32,
    /// The congestion window: maximum bytes in flight; `None` without congestion control.
    congestion_window: Option<u64>,
    /// Current maximum bytes of a datagram.
    datagram_bytes: u16,
    /// Bytes of datagrams per second that may be sent to the peer, as far as the path is known; `None` where nothing
    /// limits them: on a stream, whose load shows in `queued_bytes`.
    available_bytes_per_second: Option<u64>,
    /// Traffic to the peer.
    sending: Py<Traffic>,
    /// Traffic from the peer.
    receiving: Py<Traffic>,
}

/// An estimate of the server's clock.
#[pyclass(frozen, get_all)]
pub(crate) struct ServerTime {
    /// Seconds since the server started.
    at: f64,
    /// The greatest error of `at`, in seconds, in both directions.
    error: f64,
}

impl Flow {
    fn of(py: Python<'_>, flow: &skipstone::Flow) -> PyResult<Py<Self>> {
        let counted = Flow {
            // catalogue: flow copied
            datagrams: flow.datagrams,
            messages: flow.messages,
            payload_bytes: flow.payload_bytes,
            datagram_bytes: flow.datagram_bytes,
            ip_bytes: flow.ip_bytes,
            // catalogue: end
        };
        Py::new(py, counted)
    }
}

impl Stats {
    pub(crate) fn of(py: Python<'_>, stats: &skipstone::Stats) -> PyResult<Py<Self>> {
        let counted = Stats {
            // catalogue: counters copied
            sent: Flow::of(py, &stats.sent)?,
            received: Flow::of(py, &stats.received)?,
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
        };
        Py::new(py, counted)
    }
}

impl Traffic {
    fn of(py: Python<'_>, traffic: &skipstone::Traffic) -> PyResult<Py<Self>> {
        let skipstone::Traffic { messages_per_second, payload_bytes_per_second, ip_bytes_per_second, loss, .. } =
            *traffic;
        Py::new(py, Traffic { messages_per_second, payload_bytes_per_second, ip_bytes_per_second, loss })
    }
}

impl Overview {
    pub(crate) fn of(py: Python<'_>, overview: &skipstone::Overview) -> PyResult<Py<Self>> {
        let rtt = &overview.rtt;
        let shown = Overview {
            stats: Stats::of(py, &overview.stats)?,
            rtt: rtt.is_measured().then(|| rtt.smoothed().as_secs_f64()),
            rtt_min: rtt.is_measured().then(|| rtt.min().as_secs_f64()),
            jitter: rtt.variation().as_secs_f64(),
            remote: overview.path.remote.to_string(),
            carrier: overview.path.carrier.name,
            queued_messages: overview.depth.messages,
            queued_bytes: overview.depth.bytes,
            held_bytes: overview.depth.held_bytes,
            bytes_in_flight: overview.bytes_in_flight,
            congestion_window: limit(overview.congestion_window),
            datagram_bytes: overview.datagram_bytes,
            available_bytes_per_second: limit(overview.available_bytes_per_second),
            sending: Traffic::of(py, &overview.sending)?,
            receiving: Traffic::of(py, &overview.receiving)?,
        };
        Py::new(py, shown)
    }
}

/// A limit; `None` for none.
fn limit(value: u64) -> Option<u64> {
    (value != u64::MAX).then_some(value)
}

impl ServerTime {
    pub(crate) fn of(time: skipstone::ServerTime) -> Self {
        ServerTime { at: time.at.as_secs_f64(), error: time.error.as_secs_f64() }
    }
}
