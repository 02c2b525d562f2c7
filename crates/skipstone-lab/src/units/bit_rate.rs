//! The rate of a link: `2Mbit/s`, `500kbit/s`.

use std::fmt;

use super::error::read_by;
use super::number::{decimal, scaled, split_unit};

/// Bits a second, above zero. Multiples are of 1,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitRate {
    bits_per_second: u64,
}

impl BitRate {
    /// Bits a second.
    pub fn bits_per_second(&self) -> u64 {
        self.bits_per_second
    }
}

read_by!(parse => BitRate, "a bit rate", "2Mbit/s or 500kbit/s");

fn parse(text: &str) -> Result<BitRate, String> {
    let (number, unit) = split_unit(text);
    let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(match unit {
            "" => "it has no unit".into(),
            _ => format!("\"{unit}\" is not a unit; there are bit/s, kbit/s, Mbit/s and Gbit/s"),
        });
    };
    match scaled(number, *scale)? {
        0 => Err("nothing would ever arrive".into()),
        bits_per_second => Ok(BitRate { bits_per_second }),
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |unit: &&(&str, u64)| self.bits_per_second >= unit.1;
        let (name, scale) = UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0]);
        write!(f, "{}{name}", decimal(self.bits_per_second, *scale))
    }
}

const UNITS: [(&str, u64); 4] = [("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_rates_round_trip_through_text() {
        for (text, bits) in [
            ("2Mbit/s", 2_000_000),
            ("500kbit/s", 500_000),
            ("2.5Mbit/s", 2_500_000),
            ("1Gbit/s", 1_000_000_000),
            ("64bit/s", 64),
        ] {
            let parsed: BitRate = text.parse().unwrap();
            assert_eq!((parsed.bits_per_second(), parsed.to_string().as_str()), (bits, text));
        }
        assert_eq!("1500 kbit/s".parse::<BitRate>().unwrap().to_string(), "1.5Mbit/s");
    }

    #[test]
    fn errors_name_the_cause_and_show_the_format() {
        for (text, cause) in [
            ("2", "it has no unit"),
            ("2MB/s", "\"MB/s\" is not a unit"),
            ("0kbit/s", "nothing would ever arrive"),
            ("Mbit/s", "a number is missing"),
        ] {
            let error = text.parse::<BitRate>().unwrap_err().to_string();
            assert!(error.contains(cause) && error.contains("for example 2Mbit/s"), "{error}");
        }
    }
}
