//! A share of a hundred: `2%`, `0.5%`.

use super::error::read_by;
use super::number::{decimal, scaled};

/// From 0% to 100%, in steps of a millionth of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
#[display("{}%", decimal(*millionths, MILLION))]
pub struct Percent {
    millionths: u64,
}

impl Percent {
    /// As a share of 1.
    pub fn fraction(&self) -> f64 {
        self.millionths as f64 / (100 * MILLION) as f64
    }
}

read_by!(parse => Percent, "a percentage", "2% or 0.5%");

fn parse(text: &str) -> Result<Percent, String> {
    let Some(number) = text.strip_suffix('%') else {
        return Err("it has no percent sign".into());
    };
    let millionths = scaled(number.trim_end(), MILLION)?;
    if millionths > 100 * MILLION {
        return Err("it is more than 100%".into());
    }
    Ok(Percent { millionths })
}

const MILLION: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_round_trip_through_text() {
        for (text, fraction) in [("2%", 0.02), ("0.5%", 0.005), ("0%", 0.0), ("100%", 1.0), ("0.000001%", 1e-8)] {
            let percent: Percent = text.parse().unwrap();
            assert_eq!((percent.fraction(), percent.to_string().as_str()), (fraction, text));
        }
        assert_eq!("2.5 %".parse::<Percent>().unwrap().fraction(), 0.025);
    }

    #[test]
    fn errors_name_the_cause_and_show_the_format() {
        for (text, cause) in [
            ("0.02", "it has no percent sign"),
            ("101%", "it is more than 100%"),
            ("-1%", "\"-1\" is not a number"),
            ("%", "a number is missing"),
            ("nan%", "\"nan\" is not a number"),
        ] {
            let error = text.parse::<Percent>().unwrap_err().to_string();
            assert!(error.contains(cause) && error.contains("for example 2%"), "{error}");
        }
    }
}
