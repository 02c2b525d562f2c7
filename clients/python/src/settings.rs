//! Settings of a server, which hold for its clients too: the channel table, times, limits.

use crate::arguments::Seconds;
use crate::modes::{DeliveryMode, Overflow};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Protection against loss in addition to retransmission.
#[pyclass(eq, hash, frozen, from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Redundancy(pub(crate) skipstone::RedundancyMode);

#[pymethods]
impl Redundancy {
    /// Lost content is retransmitted once, and nothing else.
    #[staticmethod]
    fn off() -> Self {
        Redundancy(skipstone::RedundancyMode::Off)
    }

    /// No repair packets; lost content is retransmitted in several copies.
    #[staticmethod]
    fn lean() -> Self {
        Redundancy(skipstone::RedundancyMode::Lean)
    }

    /// Repair packets according to the measured loss: the default.
    #[staticmethod]
    fn adaptive() -> Self {
        Redundancy(skipstone::RedundancyMode::Adaptive)
    }

    /// `repairs` repair packets after each `sources` packets, regardless of the path's loss.
    #[staticmethod]
    fn fixed(sources: u8, repairs: u8) -> PyResult<Self> {
        let range = "a block has at least 1 source and 1 repair, and 64 of both at most";
        Redundancy::checked(skipstone::RedundancyMode::Fixed { sources, repairs }, range)
    }

    /// For small urgent messages: each packet repeats the messages of the previous packets, 1 to 8 of them.
    #[staticmethod]
    fn repeat(bursts: u8) -> PyResult<Self> {
        Redundancy::checked(skipstone::RedundancyMode::Repeat { bursts }, "1 to 8 packets are repeated")
    }

    fn __repr__(&self) -> String {
        format!("Redundancy({:?})", self.0)
    }
}

impl Redundancy {
    fn checked(mode: skipstone::RedundancyMode, range: &'static str) -> PyResult<Self> {
        if mode.is_valid() { Ok(Redundancy(mode)) } else { Err(PyValueError::new_err(range)) }
    }
}

/// When queued messages are sent, and so which share a datagram.
#[pyclass(eq, frozen, from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Merging(pub(crate) skipstone::Merging);

#[pymethods]
impl Merging {
    /// Sends each message at once.
    #[staticmethod]
    fn immediate() -> Self {
        Merging(skipstone::Merging::Immediate)
    }

    /// This number of seconds after the first queued message, or when a datagram is full.
    #[staticmethod]
    fn after(seconds: Seconds) -> Self {
        Merging(skipstone::Merging::After(seconds.0))
    }

    /// Sends messages at each `flush`.
    #[staticmethod]
    fn flush() -> Self {
        Merging(skipstone::Merging::Flush)
    }

    fn __repr__(&self) -> String {
        format!("Merging({:?})", self.0)
    }
}

/// The rule of a range of channels.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct ChannelRule(pub(crate) skipstone::ChannelRule);

#[pymethods]
impl ChannelRule {
    /// The rule of the channels `first` to `last` (`first` alone by default). Omitted arguments have the library's
    /// defaults.
    #[new]
    #[pyo3(signature = (first, last = None, mode = DeliveryMode::ReliableOrdered, *, priority = 1, weight = 1,
        overflow = None, receipts = false, queue_messages_max = 16_384, queue_bytes_max = 8_388_608,
        redundancy = None))]
    fn new(
        first: u16,
        last: Option<u16>,
        mode: DeliveryMode,
        priority: u8,
        weight: u8,
        overflow: Option<Overflow>,
        receipts: bool,
        queue_messages_max: u32,
        queue_bytes_max: u32,
        redundancy: Option<Redundancy>,
    ) -> Self {
        let rule = skipstone::ChannelRule::new(first..=last.unwrap_or(first), mode.library());
        let overflow = overflow.map_or(rule.overflow, Overflow::library);
        let redundancy = redundancy.map(|redundancy| redundancy.0);
        ChannelRule(skipstone::ChannelRule {
            priority,
            weight,
            overflow,
            receipts,
            queue_messages_max,
            queue_bytes_max,
            redundancy,
            ..rule
        })
    }

    /// The first channel of the rule.
    #[getter]
    fn first(&self) -> u16 {
        self.0.first
    }

    /// The last channel of the rule.
    #[getter]
    fn last(&self) -> u16 {
        self.0.last
    }

    /// How messages are delivered.
    #[getter]
    fn mode(&self) -> DeliveryMode {
        DeliveryMode::of(self.0.mode)
    }

    /// 0 is the most urgent.
    #[getter]
    fn priority(&self) -> u8 {
        self.0.priority
    }

    /// The share among channels of one priority.
    #[getter]
    fn weight(&self) -> u8 {
        self.0.weight
    }

    /// What happens when the queue is full.
    #[getter]
    fn overflow(&self) -> Overflow {
        Overflow::of(self.0.overflow)
    }

    /// Whether the sender gets an event for each message that arrived.
    #[getter]
    fn receipts(&self) -> bool {
        self.0.receipts
    }

    /// Protection of these channels; `None` for that of the settings.
    #[getter]
    fn redundancy(&self) -> Option<Redundancy> {
        self.0.redundancy.map(Redundancy)
    }

    fn __repr__(&self) -> String {
        format!("ChannelRule({}, {}, {:?})", self.0.first, self.0.last, self.mode())
    }
}

/// Settings of a server, which also apply to its clients.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Settings(pub(crate) skipstone::Settings);

#[pymethods]
impl Settings {
    /// Omitted arguments have the library's defaults: every channel reliable and ordered, adaptive redundancy.
    #[new]
    #[pyo3(signature = (
        channels = None, *,
        // catalogue: settings signature
        idle_timeout = None,
        keepalive = None,
        ack_delay = None,
        ack_delay_max = None,
        message_bytes_max = None,
        window_bytes = None,
        datagram_bytes_max = None,
        moves_channel = None,
        // catalogue: end
        client_merging = None, redundancy = None, redundancy_budget_percent = None,
    ))]
    fn new(
        channels: Option<Vec<ChannelRule>>,
        // catalogue: settings arguments
        idle_timeout: Option<Seconds>,
        keepalive: Option<Seconds>,
        ack_delay: Option<Seconds>,
        ack_delay_max: Option<Seconds>,
        message_bytes_max: Option<u32>,
        window_bytes: Option<u32>,
        datagram_bytes_max: Option<u16>,
        moves_channel: Option<u32>,
        // catalogue: end
        client_merging: Option<Merging>,
        redundancy: Option<Redundancy>,
        redundancy_budget_percent: Option<u16>,
    ) -> Self {
        let mut settings = skipstone::Settings::default();
        if let Some(channels) = channels {
            settings.channels = channels.into_iter().map(|rule| rule.0).collect();
        }
        // catalogue: settings taken
        settings.idle_timeout = idle_timeout.map_or(settings.idle_timeout, |span| span.0);
        settings.keepalive = keepalive.map_or(settings.keepalive, |span| span.0);
        settings.ack_delay = ack_delay.map_or(settings.ack_delay, |span| span.0);
        settings.ack_delay_max = ack_delay_max.map_or(settings.ack_delay_max, |span| span.0);
        settings.message_bytes_max = message_bytes_max.unwrap_or(settings.message_bytes_max);
        settings.window_bytes = window_bytes.unwrap_or(settings.window_bytes);
        settings.datagram_bytes_max = datagram_bytes_max.unwrap_or(settings.datagram_bytes_max);
        settings.moves_channel = moves_channel.unwrap_or(settings.moves_channel);
        // catalogue: end
        settings.merging = client_merging.map_or(settings.merging, |merging| merging.0);
        settings.redundancy.mode = redundancy.map_or(settings.redundancy.mode, |redundancy| redundancy.0);
        let budget_percent = redundancy_budget_percent.unwrap_or(settings.redundancy.budget_percent);
        settings.redundancy.budget_percent = budget_percent;
        Settings(settings)
    }

    /// The channel table: the first rule that has a channel rules it.
    #[getter]
    fn channels(&self) -> Vec<ChannelRule> {
        self.0.channels.iter().cloned().map(ChannelRule).collect()
    }

    // catalogue: settings shown
    /// Time without a packet after which the peer is gone: the idle timeout. In seconds.
    #[getter]
    fn idle_timeout(&self) -> f64 {
        self.0.idle_timeout.as_secs_f64()
    }

    /// Time without a packet after which a client sends a PING, or 5/6 of the idle timeout if that is shorter; a server
    /// waits half as long again, or until half-way to the idle timeout if that is sooner. In seconds.
    #[getter]
    fn keepalive(&self) -> f64 {
        self.0.keepalive.as_secs_f64()
    }

    /// Longest time for which an acknowledgement may be held back while losses are possible (WIRE.md section 4.1). In
    /// seconds.
    #[getter]
    fn ack_delay(&self) -> f64 {
        self.0.ack_delay.as_secs_f64()
    }

    /// Longest time for which an acknowledgement may be held back at all, also where nothing was lost (WIRE.md section
    /// 4.1); `ack_delay` if that is longer. On a stream it is always 100 ms. In seconds.
    #[getter]
    fn ack_delay_max(&self) -> f64 {
        self.0.ack_delay_max.as_secs_f64()
    }

    /// Maximum bytes of a message.
    #[getter]
    fn message_bytes_max(&self) -> u32 {
        self.0.message_bytes_max
    }

    /// Bytes of reliable messages that a receiver holds: the receive window, in which a message of `message_bytes_max`
    /// must fit.
    #[getter]
    fn window_bytes(&self) -> u32 {
        self.0.window_bytes
    }

    /// Maximum bytes of a datagram of UDP; streams have packets of their own size.
    #[getter]
    fn datagram_bytes_max(&self) -> u16 {
        self.0.datagram_bytes_max
    }

    /// The channel by which the server moves its clients to other servers (WIRE.md section 8.2), which must be reliable
    /// and ordered, and which applications cannot use; 65,536 for none.
    #[getter]
    fn moves_channel(&self) -> u32 {
        self.0.moves_channel
    }
    // catalogue: end

    fn __repr__(&self) -> String {
        format!("<Settings with {} channel rules>", self.0.channels.len())
    }
}

impl Settings {
    pub(crate) fn of(settings: &skipstone::Settings) -> Self {
        Settings(settings.clone())
    }
}
