//! Loss that comes in fades: `2%:300ms` is 2% of the time, 300 ms at a stretch on average.

use std::time::Duration;

use super::error::{UnitError, read_by};
use super::percent::Percent;
use super::span::Span;

/// The two figures of a link that from time to time loses everything for a while, however much is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
#[display("{rate}:{}", Span(*mean_length))]
pub struct Fade {
    /// The share of the time, in the long run; below 100%.
    pub rate: Percent,
    /// How long a fade lasts on average; 1 ms at least.
    pub mean_length: Duration,
}

read_by!(parse => Fade, "a loss by fades", "2%:300ms, which is rate:mean length");

fn parse(text: &str) -> Result<Fade, String> {
    let Some((rate, length)) = text.split_once(':') else {
        return Err("the mean length is missing".into());
    };
    let rate: Percent = rate.parse().map_err(|error: UnitError| error.to_string())?;
    let length: Span = length.parse().map_err(|error: UnitError| error.to_string())?;
    if rate.fraction() > RATE_MAX {
        return Err("almost nothing would arrive; the maximum is 90%".into());
    }
    if length.0 < LENGTH_MIN {
        return Err("a fade lasts 1ms or more; losses of less are a burst".into());
    }
    Ok(Fade { rate, mean_length: length.0 })
}

const RATE_MAX: f64 = 0.9;
const LENGTH_MIN: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fades_round_trip_through_text() {
        for text in ["2%:300ms", "0.5%:1.5s", "0%:1ms"] {
            assert_eq!(text.parse::<Fade>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn errors_name_the_cause_and_show_the_format() {
        for (text, cause) in [
            ("2%", "the mean length is missing"),
            ("2:300ms", "\"2\" is not a percentage"),
            ("2%:3", "3 has no unit"),
            ("2%:999us", "1ms or more"),
            ("95%:1s", "the maximum is 90%"),
        ] {
            let error = text.parse::<Fade>().unwrap_err().to_string();
            assert!(error.contains(cause) && error.contains("for example 2%:300ms"), "{error}");
        }
    }
}
