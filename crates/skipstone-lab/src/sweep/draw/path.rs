//! Delay and its changes, moves of the address, outages.

use std::time::Duration;

use super::lines::DrawnLines;
use super::weather::Weather;
use crate::measure::chance::Chance;
use crate::units::Span;

/// A path's properties other than loss and rate.
#[derive(Debug)]
pub(super) struct Path {
    seed: u64,
    weather: Weather,
    pub(super) rtt: Duration,
}

impl Path {
    pub(super) fn of(seed: u64, weather: Weather) -> Path {
        Path { seed, weather, rtt: Chance::of(seed, "rtt").span(millis(4), millis(2_000)) }
    }

    pub(super) fn write(&self, top: &mut DrawnLines, link: &mut DrawnLines) {
        link.text("rtt", Span(self.rtt));
        let mut chance = Chance::of(self.seed, "asymmetry of delay");
        if chance.happens(0.3) {
            link.text("delay_back", Span(rounded(self.rtt.mul_f64(0.2 + 0.6 * chance.share()))));
        }
        self.write_jitter(link);
        if self.weather == Weather::Rough {
            self.write_moves(top);
            self.write_outages(link);
        }
    }

    fn write_jitter(&self, link: &mut DrawnLines) {
        let mut chance = Chance::of(self.seed, "jitter");
        let most = (self.rtt / 2).min(millis(60));
        if chance.happens(0.5) {
            link.text("jitter", Span(chance.span(Duration::from_micros(200), most)));
            if chance.happens(0.3) {
                link.text("jitter_back", Span(chance.span(Duration::from_micros(200), most)));
            }
        }
    }

    /// An address that lasts less than two and a half round trips changes again before the other side can use it.
    fn write_moves(&self, top: &mut DrawnLines) {
        let mut chance = Chance::of(self.seed, "moves");
        let least = (self.rtt * 5 / 2).max(millis(100));
        if chance.happens(0.12) {
            top.text("roam_every", Span(chance.span(least, millis(10_000))));
        }
    }

    /// In the first 25 s, so that they are in every run of half a minute.
    fn write_outages(&self, link: &mut DrawnLines) {
        let mut chance = Chance::of(self.seed, "outages");
        if !chance.happens(0.1) {
            return;
        }
        let mut outage = |from: f64| {
            let at = Duration::from_millis(((from + 8.0 * chance.share()) * 10.0) as u64 * 100);
            let length = chance.span(millis(100), millis(3_000));
            format!("{{ at = \"{}\", length = \"{}\" }}", Span(at), Span(length))
        };
        link.number("outages", format_args!("[{}, {}]", outage(4.0), outage(16.0)));
    }
}

fn rounded(span: Duration) -> Duration {
    Duration::from_micros(span.as_micros() as u64 / 100 * 100)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
