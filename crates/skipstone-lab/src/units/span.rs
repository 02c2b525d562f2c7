//! A span of time: `10s`, `250ms`, `1m30s`, `500us`.

use std::fmt;
use std::time::Duration;

use super::error::read_by;
use super::number::{decimal, scaled, split_unit};

/// A duration as a user writes it, to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

read_by!(parse => Span, "a span of time", "10s, 250ms or 1m30s");

fn parse(text: &str) -> Result<Span, String> {
    let mut rest = text;
    let mut sum = 0_u64;
    let mut unit_before = u64::MAX;
    loop {
        let (number, after) = split_unit(rest);
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (name, next) = after.split_at(end);
        let unit = nanoseconds(name.trim_end(), number)?;
        if unit >= unit_before {
            return Err(format!("\"{}\" comes after a smaller or the same unit", name.trim_end()));
        }
        sum = sum.checked_add(scaled(number, unit)?).ok_or("it is too long")?;
        unit_before = unit;
        rest = next;
        if rest.is_empty() {
            return Ok(Span(Duration::from_nanos(sum)));
        }
    }
}

fn nanoseconds(name: &str, number: &str) -> Result<u64, String> {
    if number.is_empty() {
        return Err("a number is missing".into());
    }
    let found = match name {
        "µs" => Some(1_000),
        "m" => Some(60 * SECOND),
        _ => UNITS.iter().find(|(unit, _)| *unit == name).map(|(_, nanoseconds)| *nanoseconds),
    };
    match found {
        Some(unit) => Ok(unit),
        None if name.is_empty() => Err(format!("{number} has no unit; there are us, ms, s, m and h")),
        None => Err(format!("\"{name}\" is not a unit of time; there are us, ms, s, m and h")),
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_nanos() as u64;
        if rest < SECOND {
            let (unit, scale) = match rest {
                0 => ("s", 1),
                1_000_000.. => ("ms", 1_000_000),
                1_000.. => ("us", 1_000),
                _ => ("ns", 1),
            };
            return write!(f, "{}{unit}", decimal(rest, scale));
        }
        for (name, unit) in [("h", 3600 * SECOND), ("m", 60 * SECOND)] {
            if rest >= unit {
                write!(f, "{}{name}", rest / unit)?;
                rest %= unit;
            }
        }
        if rest > 0 { write!(f, "{}s", decimal(rest, SECOND)) } else { Ok(()) }
    }
}

const SECOND: u64 = 1_000_000_000;

const UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("min", 60 * SECOND),
    ("h", 3600 * SECOND),
    ("d", 86_400 * SECOND),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str) -> Span {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn spans_are_read() {
        for (text, microseconds) in [
            ("10s", 10_000_000),
            ("250ms", 250_000),
            ("1m30s", 90_000_000),
            ("500us", 500),
            ("500µs", 500),
            ("1.5s", 1_500_000),
            (" 2 min ", 120_000_000),
            ("1h 30m", 5_400_000_000),
            ("1d", 86_400_000_000),
            ("0s", 0),
        ] {
            assert_eq!(span(text).0, Duration::from_micros(microseconds), "{text}");
        }
    }

    #[test]
    fn values_round_trip_through_text() {
        for text in ["10s", "250ms", "1m30s", "500us", "1.5s", "1h", "1h1m1.000001s", "0s", "1.5ms", "25ns", "26h"] {
            assert_eq!(span(text).to_string(), text);
        }
        let mut state = 1_u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let any = Span(Duration::from_nanos((state >> 8) >> (state % 50)));
            assert_eq!(span(&any.to_string()), any);
        }
    }

    #[test]
    fn errors_name_the_cause_and_show_the_format() {
        for (text, cause) in [
            ("10", "10 has no unit; there are us, ms, s, m and h"),
            ("10 parsecs", "\"parsecs\" is not a unit of time"),
            ("", "a number is missing"),
            ("s", "a number is missing"),
            ("-1s", "a number is missing"),
            ("1s2m", "\"m\" comes after a smaller or the same unit"),
            ("1s2s", "\"s\" comes after"),
            ("0.1ns", "finer"),
            ("999999999h", "too large"),
        ] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert!(error.contains(cause) && error.contains("for example 10s"), "{error}");
        }
    }
}
