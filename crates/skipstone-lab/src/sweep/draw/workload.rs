//! The workload of an application.

use std::time::Duration;

use super::lines::DrawnLines;
use crate::measure::chance::Chance;
use crate::units::Span;

/// Updates, and concurrent bulk transfers.
#[derive(Debug)]
pub(super) struct DrawnWorkload {
    entities: u32,
    payload_bytes: u32,
    pub(super) ticks_per_second: u32,
    delivery: &'static str,
    /// Bytes of a message, and how often there is one.
    bulk: Option<(u32, Duration)>,
}

/// The one that peers have, too, is as common as all others together.
const DELIVERIES: [&str; 8] = [
    "reliable-ordered",
    "reliable-ordered",
    "reliable-ordered",
    "reliable-ordered",
    "reliable-unordered",
    "reliable-sequenced",
    "unreliable",
    "unreliable-sequenced",
];

impl DrawnWorkload {
    pub(super) fn of(seed: u64) -> DrawnWorkload {
        let drawn = |topic, least, most| Chance::of(seed, topic).scaled(least, most).round() as u32;
        DrawnWorkload {
            entities: drawn("entities", 1.0, 200.0),
            payload_bytes: drawn("payload", 8.0, 1_200.0),
            ticks_per_second: drawn("ticks", 10.0, 128.0),
            delivery: Chance::of(seed, "delivery").one_of(&DELIVERIES),
            bulk: bulk(seed),
        }
    }

    /// Bits a second in one direction, headers included, as long as nothing is lost.
    pub(super) fn bits_per_second(&self) -> f64 {
        let tick = f64::from(self.entities * (self.payload_bytes + MESSAGE_HEADER_BYTES));
        let datagrams = (tick / DATAGRAM_BYTES).ceil();
        let updates = (tick + datagrams * DATAGRAM_HEADER_BYTES) * f64::from(self.ticks_per_second);
        let bulk = self.bulk.map_or(0.0, |(bytes, every)| f64::from(bytes) / every.as_secs_f64() * BULK_OVERHEAD);
        (updates + bulk) * 8.0
    }

    pub(super) fn write(&self, top: &mut DrawnLines, rtt: Duration) {
        top.number("entities", self.entities);
        top.number("ticks_per_second", self.ticks_per_second);
        top.number("payload_bytes", self.payload_bytes);
        top.text("delivery", self.delivery);
        let patience = if self.delivery.starts_with('r') { PATIENCE } else { rtt * 2 + PATIENCE_UNRELIABLE };
        top.text("patience", Span(patience));
    }

    pub(super) fn bulk_table(&self) -> String {
        let table = |(bytes, every)| format!("\n[bulk]\nbytes = {bytes}\nevery = \"{}\"\n", Span(every));
        self.bulk.map_or(String::new(), table)
    }
}

/// Bulk traffic of 4 to 400 kB/s.
fn bulk(seed: u64) -> Option<(u32, Duration)> {
    let mut chance = Chance::of(seed, "bulk");
    chance.happens(0.15).then(|| {
        let bytes = chance.scaled(1_000.0, 60_000.0);
        let bytes_per_second = chance.scaled(4_000.0, 400_000.0);
        let micros = crate::measure::chance::two_digits(bytes / bytes_per_second * 1e6);
        (bytes as u32, Duration::from_micros(micros as u64).max(Duration::from_millis(2)))
    })
}

const MESSAGE_HEADER_BYTES: u32 = 3;
const DATAGRAM_BYTES: f64 = 1_400.0;
const DATAGRAM_HEADER_BYTES: f64 = 60.0;
const BULK_OVERHEAD: f64 = 1.05;
/// Long enough for whatever still resends.
const PATIENCE: Duration = Duration::from_secs(60);
/// A message that is not retransmitted arrives within a round trip, or never.
const PATIENCE_UNRELIABLE: Duration = Duration::from_secs(2);
