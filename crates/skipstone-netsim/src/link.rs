//! One direction of a path: the stages that a datagram goes through, in order.

use core::time::Duration;

use crate::{
    bottleneck::{Bottleneck, Pace},
    config::{ConfigError, LinkConfig},
    corrupt::flip_bits,
    fate::{Fate, LossCause},
    flight::{Flight, Flights, SendNumber},
    loss::LossProcess,
    rng::Draw,
    stats::LinkStats,
    streams::{CorruptDraws, Draws, DuplicateDraws, HoldDraws, Streams},
    trace::{Trace, TraceEvent, TraceLine},
};

/// One direction of a path: datagrams go in with [`send`](Self::send) and come out, perhaps, with
/// [`receive`](Self::receive).
///
/// The two may be called in any order and at any time. Time should not run backwards from one `send` to the next; if
/// it does, the order of sending still decides the order of arrival, except where the configuration reorders.
#[derive(Clone, Debug)]
pub struct Link {
    config: LinkConfig,
    streams: Streams,
    loss: LossProcess,
    bottleneck: Bottleneck,
    /// The latest arrival so far of a datagram that was not held back: none sent later arrives before this time.
    in_order_until: Duration,
    flights: Flights,
    /// The latest-sent datagram that was delivered.
    delivered_last: Option<SendNumber>,
    stats: LinkStats,
    trace: Trace,
}

/// A datagram that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The tag that the sender gave to the datagram.
    pub tag: u64,
    /// When it was sent.
    pub sent: Duration,
    /// When it arrived, which may be some time before it is received.
    pub arrived: Duration,
    /// How long it waited for the rate before it was serialised.
    pub waited: Duration,
    /// Whether some of its bits were flipped on the way.
    pub corrupted: bool,
}

impl Link {
    /// A link with nothing on it. The seed determines all random decisions.
    ///
    /// # Errors
    /// Returns the error of [`LinkConfig::validate`] if the configuration is invalid.
    pub fn new(config: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        let streams = Streams::new(seed);
        Ok(Self {
            config,
            loss: LossProcess::new(streams.of_fades()),
            streams,
            bottleneck: Bottleneck::default(),
            in_order_until: Duration::ZERO,
            flights: Flights::default(),
            delivered_last: None,
            stats: LinkStats::default(),
            trace: Trace::default(),
        })
    }

    /// Puts a datagram on the link at `now`. The tag comes out with it and has no meaning for the link.
    pub fn send(&mut self, now: Duration, datagram: &[u8], tag: u64) -> Fate {
        self.stats.sent += 1;
        self.stats.bytes_sent += datagram.len() as u64;
        // Drawn before any decision, so that every datagram takes the same number of draws from every stream.
        let draws = self.streams.draw();
        let loss = self.loss.on_datagram(now, self.config.loss, draws.loss);

        let (fate, transit) = match self.enter(now, datagram.len()) {
            Err(cause) => (Fate::Lost(cause), None),
            Ok(Serialised { waited, departs }) => {
                // Computed for lost datagrams too, so that loss does not change the arrival of others.
                let in_order = self.in_order_arrival(departs, draws.jitter);
                let fate = loss.map_or(Fate::Queued, Fate::Lost);
                (fate, (fate == Fate::Queued).then_some(Transit { sent: now, tag, waited, departs, in_order }))
            }
        };
        self.stats.on_fate(fate);
        self.trace.record(now, tag, TraceEvent::Sent(fate));
        if let Some(transit) = transit {
            self.launch(transit, datagram, draws);
        }
        fate
    }

    /// Takes off the link the next datagram that has arrived by `now`, and replaces the content of `out` with its
    /// bytes. In order of arrival; of those that arrive together, the first sent first.
    ///
    /// `None`, and `out` untouched, if there is none yet.
    pub fn receive(&mut self, now: Duration, out: &mut Vec<u8>) -> Option<Arrival> {
        let (number, flight) = self.flights.pop(now)?;
        let Flight { arrives: arrived, sent, tag, waited, corrupted, copy, bytes } = flight;
        out.clear();
        out.extend_from_slice(&bytes);
        self.flights.recycle(bytes);
        self.stats.delivered += 1;
        self.stats.bytes_delivered += out.len() as u64;
        if !copy {
            self.on_delivered(number);
        }
        self.trace.record(arrived, tag, TraceEvent::Arrived { sent });
        Some(Arrival { tag, sent, arrived, waited, corrupted })
    }

    /// When the next datagram arrives; `None` if nothing is on its way.
    pub fn next_arrival(&self) -> Option<Duration> {
        self.flights.next_arrival()
    }

    /// How many datagrams have been sent and not yet received, copies and the queue included.
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// The bytes of those datagrams without headers, which the link holds in memory.
    pub fn in_flight_bytes(&self) -> usize {
        self.flights.bytes()
    }

    /// How long a datagram that was sent now would wait for the rate, or for its opportunity.
    pub fn queue_delay(&self, now: Duration) -> Duration {
        self.bottleneck.wait(now)
    }

    /// Counters of the link so far.
    pub fn stats(&self) -> LinkStats {
        LinkStats { queue_bytes_peak: self.bottleneck.bytes_peak(), ..self.stats }
    }

    /// The configuration of the link.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Changes the link for datagrams sent from now on. A datagram that is in flight keeps its time of arrival, and a
    /// shorter delay does not let a later one overtake it (unless by [`LinkConfig::jitter_reorders`]).
    ///
    /// # Errors
    /// Returns the error of [`LinkConfig::validate`] if the configuration is invalid; then the link is unchanged.
    pub fn set_config(&mut self, config: LinkConfig) -> Result<(), ConfigError> {
        config.validate()?;
        let pace = |config: &LinkConfig| (config.rate_bits_per_second, config.opportunities.clone());
        if pace(&config) != pace(&self.config) {
            self.bottleneck.on_pace_change();
        }
        self.config = config;
        Ok(())
    }

    /// Begins a trace that keeps the latest `capacity` lines; 0 ends the trace. A new trace is empty.
    pub fn trace_on(&mut self, capacity: usize) {
        self.trace = Trace::new(capacity);
    }

    /// The lines of the trace in the order of the calls that made them. Empty unless [`trace_on`](Self::trace_on).
    pub fn trace(&self) -> impl Iterator<Item = &TraceLine> {
        self.trace.lines()
    }

    /// The stages before the wire: when the datagram has been serialised, or why it is lost.
    fn enter(&mut self, now: Duration, datagram_bytes: usize) -> Result<Serialised, LossCause> {
        if self.config.datagram_bytes_max.is_some_and(|bytes_max| datagram_bytes > bytes_max) {
            return Err(LossCause::TooLarge);
        }
        if self.config.is_down(now) {
            return Err(LossCause::Outage);
        }
        let pace = match (&self.config.opportunities, self.config.rate_bits_per_second) {
            (Some(opportunities), _) => Pace::Opportunities(opportunities),
            (None, Some(rate)) => Pace::Rate(rate),
            (None, None) => return Ok(Serialised { waited: Duration::ZERO, departs: now }),
        };
        let bytes = datagram_bytes.saturating_add(self.config.header_bytes);
        let waited = self.bottleneck.wait(now);
        let departs = self.bottleneck.accept(now, bytes, pace, self.config.queue).ok_or(LossCause::Queue)?;
        Ok(Serialised { waited, departs })
    }

    /// The arrival time of a datagram that is not held back.
    fn in_order_arrival(&mut self, departs: Duration, jitter: Draw) -> Duration {
        let own = self.own_arrival(departs, jitter);
        self.in_order_until = self.in_order_until.max(own);
        if self.config.jitter_reorders { own } else { self.in_order_until }
    }

    /// When a datagram would arrive without regard to the others.
    fn own_arrival(&self, departs: Duration, jitter: Draw) -> Duration {
        departs.saturating_add(self.config.delay).saturating_add(jitter.duration_up_to(self.config.jitter))
    }

    fn launch(&mut self, transit: Transit, datagram: &[u8], draws: Draws) {
        let mut bytes = self.flights.buffer(datagram);
        let held = self.hold(draws.hold);
        if let Some(by) = held {
            self.stats.held_back += 1;
            self.trace.record(transit.sent, transit.tag, TraceEvent::HeldBack(by));
        }
        let corrupted = self.corrupt(&mut bytes, draws.corrupt);
        if corrupted {
            self.stats.corrupted += 1;
            self.trace.record(transit.sent, transit.tag, TraceEvent::Corrupted);
        }
        let original = Flight {
            arrives: transit.in_order.saturating_add(held.unwrap_or_default()),
            sent: transit.sent,
            tag: transit.tag,
            waited: transit.waited,
            corrupted,
            copy: false,
            bytes,
        };
        let copy = self.copy(transit, &original, draws.duplicate);
        self.flights.push(original);
        if let Some(copy) = copy {
            self.stats.duplicated += 1;
            self.trace.record(transit.sent, transit.tag, TraceEvent::Duplicated);
            self.flights.push(copy);
        }
    }

    fn hold(&self, draws: HoldDraws) -> Option<Duration> {
        draws.chance.hits(self.config.reorder).then(|| draws.length.duration_up_to(self.config.reorder_extra))
    }

    fn corrupt(&self, bytes: &mut [u8], draws: CorruptDraws) -> bool {
        draws.chance.hits(self.config.corrupt) && flip_bits(bytes, draws.bits)
    }

    fn copy(&mut self, transit: Transit, original: &Flight, draws: DuplicateDraws) -> Option<Flight> {
        if !draws.chance.hits(self.config.duplicate) {
            return None;
        }
        let arrives = if self.config.jitter_reorders {
            self.own_arrival(transit.departs, draws.jitter)
        } else {
            transit.in_order
        };
        let held = self.hold(draws.hold).unwrap_or_default();
        let bytes = self.flights.buffer(&original.bytes);
        Some(Flight { arrives: arrives.saturating_add(held), copy: true, bytes, ..*original })
    }

    fn on_delivered(&mut self, number: SendNumber) {
        if self.delivered_last > Some(number) {
            self.stats.reordered += 1;
        } else {
            self.delivered_last = Some(number);
        }
    }
}

/// Times of a datagram at the bottleneck: its wait for the rate, and the end of its serialisation.
#[derive(Clone, Copy, Debug)]
struct Serialised {
    waited: Duration,
    departs: Duration,
}

/// A datagram on the wire: when it got there, and when it arrives if it is not held back.
#[derive(Clone, Copy, Debug)]
struct Transit {
    sent: Duration,
    tag: u64,
    waited: Duration,
    departs: Duration,
    in_order: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Loss, QueueLimit};

    /// A link with every effect enabled, at 60 ticks per second of eight datagrams.
    fn run_ticks(link: &mut Link, ticks: core::ops::Range<u64>, out: &mut Vec<u8>) {
        for tick in ticks {
            let now = Duration::from_micros(16_667 * tick);
            for number in 0..8 {
                link.send(now, &[0; 1_200], number);
            }
            while link.receive(now, out).is_some() {}
        }
    }

    #[test]
    fn a_steady_state_reuses_its_memory() {
        let config = LinkConfig {
            delay: Duration::from_millis(50),
            jitter: Duration::from_millis(10),
            rate_bits_per_second: Some(8_000_000),
            queue: QueueLimit::Time(Duration::from_millis(20)),
            loss: Loss::Random(0.01),
            reorder: 0.1,
            duplicate: 0.1,
            corrupt: 0.1,
            ..LinkConfig::default()
        };
        let mut link = Link::new(config, 1).unwrap();
        let mut out = Vec::new();
        // Long enough to have reached the maximum number in flight.
        run_ticks(&mut link, 0..20_000, &mut out);
        let memory = link.flights.memory();
        assert!(memory.0.len() < 80, "{} buffers for 25 to 60 datagrams in flight", memory.0.len());
        run_ticks(&mut link, 20_000..40_000, &mut out);
        assert!(link.stats().delivered > 200_000);
        assert_eq!(link.flights.memory(), memory);
    }

    #[test]
    fn a_link_can_move_to_another_thread() {
        fn is_send<T: Send + 'static>() {}
        is_send::<Link>();
    }
}
