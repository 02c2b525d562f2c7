//! How often something happens: `1/s`, `1/10s`, `30/min`, `2.5/s`.

use std::fmt;
use std::time::Duration;

use super::error::read_by;
use super::number::{decimal, scaled};
use super::span::Span;

/// A number of times per period: above zero, at most a million a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    count_millionths: u64,
    period: Duration,
}

impl Rate {
    /// Times a second.
    pub fn per_second(&self) -> f64 {
        self.count_millionths as f64 / MILLION as f64 / self.period.as_secs_f64()
    }

    /// When the nth is due, counted from 0 at time 0: exact, so that a long run does not drift from its schedule.
    pub fn due(&self, nth: u64) -> Duration {
        let millionths = u128::from(nth) * u128::from(MILLION);
        let nanoseconds = millionths * self.period.as_nanos() / u128::from(self.count_millionths);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    /// From one to the next.
    pub fn interval(&self) -> Duration {
        self.due(1)
    }

    /// How many are due before `end`, the one at time 0 included.
    pub fn count_before(&self, end: Duration) -> u64 {
        let product = end.as_nanos().saturating_mul(u128::from(self.count_millionths));
        let count = product.div_ceil(self.period.as_nanos() * u128::from(MILLION));
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

read_by!(parse => Rate, "a rate", "1/s, 30/min or 1/10s");

fn parse(text: &str) -> Result<Rate, String> {
    let Some((count, period)) = text.split_once('/') else {
        return Err("it does not say in what time, as in 5/s".into());
    };
    let count_millionths = scaled(count.trim(), MILLION)?;
    let period = parse_period(period.trim())?;
    if count_millionths == 0 {
        return Err("nothing would ever be sent".into());
    }
    let rate = Rate { count_millionths, period };
    if rate.per_second() > MILLION as f64 {
        return Err("more than 1000000/s cannot be scheduled".into());
    }
    Ok(rate)
}

/// A span of time, or the name of a unit alone.
fn parse_period(text: &str) -> Result<Duration, String> {
    let bare = text.starts_with(|c: char| c.is_alphabetic());
    let spelled = if bare { format!("1{text}") } else { text.to_owned() };
    match spelled.parse::<Span>() {
        Ok(Span(period)) if period.is_zero() => Err("its period is zero".into()),
        Ok(Span(period)) => Ok(period),
        Err(_) => Err(format!("\"{text}\" is not a time unit; there are ms, s, min and h")),
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = decimal(self.count_millionths, MILLION);
        match NAMED.iter().find(|(_, seconds)| self.period == Duration::from_secs(*seconds)) {
            Some((name, _)) => write!(f, "{count}/{name}"),
            None => write!(f, "{count}/{}", Span(self.period)),
        }
    }
}

const MILLION: u64 = 1_000_000;
const NAMED: [(&str, u64); 3] = [("s", 1), ("min", 60), ("h", 3600)];

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn rates_are_read_in_any_period() {
        for (text, per_second) in
            [("1/s", 1.0), ("1/10s", 0.1), ("30/min", 0.5), ("2.5/s", 2.5), ("100/s", 100.0), ("1/ms", 1000.0)]
        {
            assert!((rate(text).per_second() - per_second).abs() < 1e-12, "{text}");
        }
        assert_eq!(rate("4/s").interval(), Duration::from_millis(250));
    }

    #[test]
    fn values_round_trip_through_text() {
        for text in ["1/s", "1/10s", "30/min", "2.5/s", "100/s", "1/1m30s", "0.000001/h", "60/100ms"] {
            assert_eq!(rate(text).to_string(), text);
            assert_eq!(rate(&rate(text).to_string()), rate(text));
        }
        assert_eq!(rate(" 3 / minute ".replace("ute", "").as_str()).to_string(), "3/min");
    }

    #[test]
    fn the_schedule_does_not_drift() {
        let rate = rate("3/s");
        assert_eq!(rate.due(3_000_000), Duration::from_secs(1_000_000));
        assert_eq!(rate.due(1), Duration::from_nanos(333_333_333));
        assert_eq!(rate.count_before(Duration::from_secs(10)), 30);
        assert_eq!(rate.count_before(Duration::from_nanos(10_000_000_001)), 31);
        assert_eq!(rate.count_before(Duration::ZERO), 0);
    }

    #[test]
    fn errors_name_the_cause_and_show_the_format() {
        for (text, cause) in [
            ("5", "it does not say in what time"),
            ("/s", "a number is missing"),
            ("x/s", "\"x\" is not a number"),
            ("0/s", "nothing would ever be sent"),
            ("1/week", "\"week\" is not a time unit"),
            ("1/0s", "its period is zero"),
            ("1/", "\"\" is not a time unit"),
            ("2/us", "more than 1000000/s"),
        ] {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains(cause) && error.contains("for example 1/s"), "{error}");
        }
    }
}
