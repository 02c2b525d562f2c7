//! Moments, in seconds since 1970, as people and other programs write them.

/// `2026-11-28T01:02:03Z`.
pub(crate) fn iso_8601(epoch: u64) -> String {
    let Moment { year, month, day, hour, minute, second, .. } = Moment::new(epoch);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// `Sat, 28 Nov 2026 01:02:03 +0000`, as in letters and in Debian's change logs.
pub(crate) fn rfc_2822(epoch: u64) -> String {
    let Moment { year, month, day, hour, minute, second, weekday } = Moment::new(epoch);
    let (weekday, month) = (WEEKDAYS[weekday as usize], MONTHS[month as usize - 1]);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} +0000")
}

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

struct Moment {
    year: u64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    /// From Sunday.
    weekday: u64,
}

impl Moment {
    /// By Howard Hinnant's `civil_from_days`.
    fn new(epoch: u64) -> Self {
        let (days, second) = (epoch / 86_400 + 719_468, epoch % 86_400);
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // March is the first month, so that the leap day is the last of a year.
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Moment {
            year: era * 400 + year_of_era + u64::from(month <= 2),
            month,
            day,
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
            // The first day was a Thursday.
            weekday: (epoch / 86_400 + 4) % 7,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_the_standards_say() {
        assert_eq!(iso_8601(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_8601(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(iso_8601(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(iso_8601(1_795_824_000), "2026-11-28T00:00:00Z");
        assert_eq!(rfc_2822(1_795_824_000), "Sat, 28 Nov 2026 00:00:00 +0000");
    }
}
