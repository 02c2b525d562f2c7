//! Whether the figures reflect the transports, or the machine on which they were measured.

use serde::Serialize;

use super::row::{CompareFigures, CompareRow};
use crate::report::format::percent;

/// How far the figures can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct Validity {
    pub(crate) level: ValidityLevel,
    /// Why, for people.
    pub(crate) because: String,
}

/// The levels, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ValidityLevel {
    /// Virtual time: the same on every machine.
    Exact,
    /// The machine was quiet.
    Sound,
    /// Percentiles bear it, maxima do not.
    Doubtful,
    /// The machine was measured.
    Unsound,
}

/// Shares of samples that touch a stall, and lateness of the link, in ms.
const STALLED_SOUND: f64 = 0.01;
const STALLED_DOUBTFUL: f64 = 0.1;
const LATENESS_SOUND: f64 = 0.5;
const LATENESS_DOUBTFUL: f64 = 2.0;

/// How much the machine disturbed a run: above 1, its figures reflect the machine.
pub(super) fn disturbance(of: &CompareFigures) -> f64 {
    let stalled = of.stalled_share().unwrap_or_default() / STALLED_DOUBTFUL;
    stalled.max(of.link_lateness_p99.unwrap_or_default() / LATENESS_DOUBTFUL)
}

impl Validity {
    pub(crate) fn of(rows: &[CompareRow], is_real: bool) -> Validity {
        if !is_real {
            let because = "virtual time: the same plan and seeds give the same figures on every machine";
            return Validity { level: ValidityLevel::Exact, because: because.into() };
        }
        let greatest = |of: fn(&CompareRow) -> Option<f64>| rows.iter().filter_map(of).fold(0.0, f64::max);
        let stalled = greatest(|row| row.figures.stalled_share());
        let lateness = greatest(|row| row.figures.link_lateness_p99);
        let level = if stalled <= STALLED_SOUND && lateness <= LATENESS_SOUND {
            ValidityLevel::Sound
        } else if stalled <= STALLED_DOUBTFUL && lateness <= LATENESS_DOUBTFUL {
            ValidityLevel::Doubtful
        } else {
            ValidityLevel::Unsound
        };
        let is_shown = rows.iter().any(|row| row.figures.delivered.is_some_and(|delivered| delivered > 0))
            && rows.iter().any(|row| row.figures.link_lateness_p99.is_some());
        if level == ValidityLevel::Sound && !is_shown {
            let because = "the machine was not measured";
            return Validity { level: ValidityLevel::Doubtful, because: because.into() };
        }
        let means = match level {
            ValidityLevel::Doubtful => ": percentiles are usable, maxima reflect the machine as well",
            ValidityLevel::Unsound => {
                ": the figures reflect the machine, not the transports; repeat the run on an idle machine"
            }
            ValidityLevel::Exact | ValidityLevel::Sound => "",
        };
        let repeated = match rows.iter().filter_map(|row| row.figures.repeats).sum::<u64>() {
            0 => String::new(),
            1 => "; one run stalled more, and was repeated".into(),
            runs => format!("; {runs} runs stalled more, and were repeated"),
        };
        let because = format!(
            "at most {} of a run's samples touch a stall of the machine, and the link was late by {lateness:.2} ms \
             (p99){repeated}{means}",
            percent(stalled * 100.0)
        );
        Validity { level, because }
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::CompareFigures;
    use super::*;

    #[test]
    fn the_worst_row_decides() {
        let row = |stalled, late| CompareRow {
            figures: CompareFigures {
                stalled: Some(stalled),
                delivered: Some(1_000),
                link_lateness_p99: Some(late),
                ..CompareFigures::default()
            },
            ..CompareRow::default()
        };
        let level = |stalled, late| Validity::of(&[row(0, 0.1), row(stalled, late)], true).level;
        assert_eq!(level(10, 0.2), ValidityLevel::Sound);
        assert_eq!(level(11, 0.2), ValidityLevel::Doubtful);
        assert_eq!(level(0, 1.9), ValidityLevel::Doubtful);
        assert_eq!(level(101, 0.0), ValidityLevel::Unsound);
        assert_eq!(Validity::of(&[row(500, 9.0)], false).level, ValidityLevel::Exact);
    }

    #[test]
    fn a_machine_without_measurements_is_not_trusted() {
        let row = |delivered, link_lateness_p99| CompareRow {
            figures: CompareFigures { stalled: Some(0), delivered, link_lateness_p99, ..CompareFigures::default() },
            ..CompareRow::default()
        };
        for rows in [vec![], vec![row(Some(0), Some(0.1))], vec![row(Some(9), None)], vec![row(None, None)]] {
            let found = Validity::of(&rows, true);
            let told = (found.level, found.because.as_str());
            assert_eq!(told, (ValidityLevel::Doubtful, "the machine was not measured"));
        }
        assert_eq!(Validity::of(&[row(Some(0), Some(9.0))], true).level, ValidityLevel::Unsound);
        let one_is_enough = [row(Some(0), None), row(Some(9), Some(0.1))];
        assert_eq!(Validity::of(&one_is_enough, true).level, ValidityLevel::Sound);
    }
}
