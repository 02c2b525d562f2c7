//! How loss is answered, and what that may cost: `adaptive`, `fixed:10+3`, `repeat:2`; `40%`.

use std::fmt;
use std::str::FromStr;

use skipstone::{Redundancy, RedundancyMode};

use super::error::read_by;
use super::number::scaled;

/// Skipstone's answer to loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(pub RedundancyMode);

impl Mode {
    /// With the default budget, or what a block code takes if that is more.
    pub fn with_budget(self) -> Redundancy {
        let default = Redundancy::default().budget_percent;
        Redundancy { mode: self.0, budget_percent: default.max(self.0.budget_percent_min()) }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            RedundancyMode::Off => f.pad("off"),
            RedundancyMode::Lean => f.pad("lean"),
            RedundancyMode::Adaptive => f.pad("adaptive"),
            RedundancyMode::Fixed { sources, repairs } => f.pad(&format!("fixed:{sources}+{repairs}")),
            RedundancyMode::Repeat { bursts } => f.pad(&format!("repeat:{bursts}")),
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Mode, String> {
        match text.trim() {
            "off" => Ok(Mode(RedundancyMode::Off)),
            "lean" => Ok(Mode(RedundancyMode::Lean)),
            "adaptive" => Ok(Mode(RedundancyMode::Adaptive)),
            other => blocks(other).or_else(|| repeats(other)).filter(|mode| mode.is_valid()).map(Mode).ok_or_else(|| {
                format!(
                    "there is no mode \"{other}\"; there are off, lean, adaptive, fixed:K+M such as fixed:10+3, and \
                     repeat:N, N from 1 to 8, such as repeat:2"
                )
            }),
        }
    }
}

fn blocks(text: &str) -> Option<RedundancyMode> {
    let (sources, repairs) = text.strip_prefix("fixed:")?.split_once('+')?;
    Some(RedundancyMode::Fixed { sources: sources.parse().ok()?, repairs: repairs.parse().ok()? })
}

fn repeats(text: &str) -> Option<RedundancyMode> {
    Some(RedundancyMode::Repeat { bursts: text.strip_prefix("repeat:")?.parse().ok()? })
}

/// Bytes of repairs and copies in percent of the bytes that they stand in for; more than 100% is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
#[display("{_0}%")]
pub struct Budget(pub u16);

read_by!(parse_budget => Budget, "a budget", "40% or 150%");

fn parse_budget(text: &str) -> Result<Budget, String> {
    let percent = scaled(text.strip_suffix('%').unwrap_or(text).trim_end(), 1)?;
    let fits = u16::try_from(percent).ok().filter(|percent| *percent <= BUDGET_MAX);
    fits.map(Budget).ok_or_else(|| format!("it is more than {BUDGET_MAX}%"))
}

/// Ten bytes for each one.
const BUDGET_MAX: u16 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_round_trip_through_text() {
        for mode in ["off", "lean", "adaptive", "fixed:10+3", "fixed:4+1", "repeat:1", "repeat:8"] {
            assert_eq!(mode.parse::<Mode>().unwrap().to_string(), mode);
        }
    }

    #[test]
    fn an_unknown_mode_is_answered_with_the_known_ones() {
        let fixed = ["fixed", "fixed:10", "fixed:0+3", "fixed:10+0", "fixed:300+3", "fixed:60+5"];
        for mode in fixed.into_iter().chain(["fast", "repeat", "repeat:0", "repeat:9", "repeat:1+1"]) {
            let error = mode.parse::<Mode>().unwrap_err();
            assert!(error.contains(mode) && error.contains("fixed:10+3") && error.contains("repeat:2"), "{error}");
        }
    }

    #[test]
    fn budgets_are_whole_percentages_with_or_without_the_sign() {
        for (text, percent) in [("40%", 40), ("40", 40), ("0%", 0), ("150 %", 150), ("1000", 1_000)] {
            assert_eq!(text.parse(), Ok(Budget(percent)));
        }
        for (text, cause) in [("1001%", "more than 1000%"), ("0.5%", "finer"), ("%", "missing"), ("-1", "not a number")]
        {
            let error = text.parse::<Budget>().unwrap_err().to_string();
            assert!(error.contains(cause) && error.contains("for example 40%"), "{error}");
        }
    }
}
