//! The rate of the link and its queue, measured by what the workload needs; and who else is on it.

use std::time::Duration;

use super::lines::DrawnLines;
use super::weather::Weather;
use super::workload::DrawnWorkload;
use crate::measure::chance::{Chance, two_digits};
use crate::units::Span;

/// The link's rates and its load.
#[derive(Debug, Default)]
pub(super) struct Rates {
    /// There, and back if it differs: bits a second.
    rates: Option<(f64, Option<f64>)>,
    queue: Duration,
    is_overloaded: bool,
    has_company: bool,
}

impl Rates {
    pub(super) fn of(seed: u64, weather: Weather, workload: &DrawnWorkload) -> Rates {
        let mut chance = Chance::of(seed, "rate");
        if !chance.happens(0.5) {
            return Rates::default();
        }
        let load = workload.bits_per_second();
        // Times the load; what is below one is an overload.
        let room = match chance.share() {
            _ if weather == Weather::Clean => chance.scaled(2.5, 30.0),
            share if share < 0.12 => chance.scaled(0.3, 0.9),
            share if share < 0.3 => chance.scaled(1.0, 2.0),
            _ => chance.scaled(2.0, 30.0),
        };
        let there = rate(load * room);
        let back = chance.happens(0.35).then(|| rate(there * chance.scaled(0.5, 5.0)).max(rate(load * room.min(1.2))));
        let least = back.unwrap_or(there).min(there);
        Rates {
            rates: Some((there, back)),
            queue: chance.span(Duration::from_millis(20), Duration::from_millis(500)),
            is_overloaded: least < load * OVERLOAD,
            has_company: weather == Weather::Rough && least > load * 2.0 && chance.happens(0.1),
        }
    }

    pub(super) fn write(&self, top: &mut DrawnLines, link: &mut DrawnLines, workload: &DrawnWorkload) {
        let Some((there, back)) = self.rates else { return };
        link.text("rate", format_args!("{}bit/s", there as u64));
        if let Some(back) = back {
            link.text("rate_back", format_args!("{}bit/s", back as u64));
        }
        link.text("queue", Span(self.queue));
        // Half a second of updates.
        if self.is_overloaded {
            top.number("waiting_max", (workload.ticks_per_second / 2).max(1));
        }
    }

    pub(super) fn beside_table(&self) -> &'static str {
        if self.has_company { "\n[[beside]]\nflow = \"cubic\"\nstarts = \"5s\"\n" } else { "" }
    }
}

/// With less room than this a queue at the sender is bounded.
const OVERLOAD: f64 = 1.1;
const RATE_MIN: f64 = 300_000.0;

fn rate(bits_per_second: f64) -> f64 {
    two_digits(bits_per_second).max(RATE_MIN)
}
