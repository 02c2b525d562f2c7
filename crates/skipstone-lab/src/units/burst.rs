//! Loss that comes in bursts: `2%:3` is 2% of all packets, three in a row on average.

use super::error::{UnitError, read_by};
use super::number::{decimal, scaled};
use super::percent::Percent;

/// The two figures of a Gilbert-Elliott link that loses everything in its bad state and nothing in its good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
#[display("{rate}:{}", decimal(*length_thousandths, THOUSAND))]
pub struct Burst {
    /// The share of packets lost in the long run; below 100%.
    pub rate: Percent,
    length_thousandths: u64,
}

impl Burst {
    /// How many packets are lost in a row, on average; at least 1.
    pub fn mean_length(&self) -> f64 {
        self.length_thousandths as f64 / THOUSAND as f64
    }
}

read_by!(parse => Burst, "a burst loss", "2%:3, which is rate:mean length");

fn parse(text: &str) -> Result<Burst, String> {
    let Some((rate, length)) = text.split_once(':') else {
        return Err("the mean length is missing".into());
    };
    let rate: Percent = rate.parse().map_err(|error: UnitError| error.to_string())?;
    let length_thousandths = scaled(length.trim(), THOUSAND)?;
    if rate.fraction() >= 1.0 {
        return Err("nothing would ever arrive".into());
    }
    if !(THOUSAND..=LENGTH_MAX * THOUSAND).contains(&length_thousandths) {
        return Err(format!("the mean length is from 1 to {LENGTH_MAX} packets"));
    }
    // From the good state the link must turn bad with rate / (length * (1 - rate)), which is a probability.
    if rate.fraction() > (1.0 - rate.fraction()) * length_thousandths as f64 / THOUSAND as f64 {
        return Err("bursts this short cannot lose this much; make them longer".into());
    }
    Ok(Burst { rate, length_thousandths })
}

const THOUSAND: u64 = 1_000;
const LENGTH_MAX: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_round_trip_through_text() {
        for text in ["2%:3", "0.5%:2.5", "0%:1", "50%:1"] {
            assert_eq!(text.parse::<Burst>().unwrap().to_string(), text);
        }
        let burst: Burst = "2%:3".parse().unwrap();
        assert_eq!((burst.rate.fraction(), burst.mean_length()), (0.02, 3.0));
    }

    #[test]
    fn errors_name_the_cause_and_show_the_format() {
        for (text, cause) in [
            ("2%", "the mean length is missing"),
            ("2:3", "\"2\" is not a percentage"),
            ("2%:0.5", "from 1 to 1000000 packets"),
            ("100%:3", "nothing would ever arrive"),
            ("90%:2", "make them longer"),
            ("2%:x", "\"x\" is not a number"),
        ] {
            let error = text.parse::<Burst>().unwrap_err().to_string();
            assert!(error.contains(cause) && error.contains("for example 2%:3"), "{error}");
        }
    }
}
