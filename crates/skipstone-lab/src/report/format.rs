//! Numbers as people read them, in English: 1,234 and 12.3 ms and 1.2 MiB.

use indicatif::HumanCount;
use std::time::{Duration, SystemTime};

/// A whole number, thousands apart.
pub fn thousands(number: u64) -> String {
    HumanCount(number).to_string()
}

/// About three digits, and never less than one: 1.23, 12.3, 1,234. Negative numbers are shown as zero.
pub fn three_digits(number: f64) -> String {
    // The sign of `(-0.0).max(0.0)` depends on the compiler.
    let number = if number > 0.0 { number } else { 0.0 };
    match number {
        // The bounds are where rounding would add a digit.
        _ if number < 9.995 => format!("{number:.2}"),
        _ if number < 99.95 => format!("{number:.1}"),
        _ => thousands(number.round() as u64),
    }
}

/// Milliseconds, in seconds from ten of them on.
pub fn milliseconds(milliseconds: f64) -> String {
    if milliseconds >= 9_999.5 {
        return format!("{} s", three_digits(milliseconds / 1000.0));
    }
    format!("{} ms", three_digits(milliseconds))
}

/// Seconds to a tenth.
pub fn seconds(duration: Duration) -> String {
    format!("{:.1}", duration.as_secs_f64())
}

/// Percent to a tenth.
pub fn percent(percent: f64) -> String {
    format!("{percent:.1}%")
}

/// A part in percent of the whole; `None` if the whole is 0.
pub fn percent_of(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// A measured value as text; a dash if there is none.
pub fn or_dash(measured: Option<f64>, text: impl Fn(f64) -> String) -> String {
    measured.map_or_else(|| "-".into(), text)
}

/// Bytes in the largest unit that keeps a digit before the point.
pub fn bytes(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, bits)| bytes >> bits > 0) {
        Some((name, bits)) => format!("{} {name}", three_digits(bytes as f64 / (1_u64 << bits) as f64)),
        None => format!("{bytes} B"),
    }
}

/// A whole number and its noun: "1 line", "2 lines".
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// A moment as RFC 3339 has it, in UTC, to the second: `2026-01-31T12:00:00Z`.
pub fn rfc3339(moment: SystemTime) -> String {
    humantime::format_rfc3339_seconds(moment).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 7, 999, 1_000, 123_456, 1_234_567, u64::MAX].map(thousands);
        assert_eq!(shown, ["0", "7", "999", "1,000", "123,456", "1,234,567", "18,446,744,073,709,551,615"]);
    }

    #[test]
    fn numbers_keep_about_three_digits() {
        let shown = [0.0, -0.0, -3.0, 0.004, 1.234, 9.994, 9.996, 99.94, 99.96, 1234.5].map(three_digits);
        assert_eq!(shown, ["0.00", "0.00", "0.00", "0.00", "1.23", "9.99", "10.0", "99.9", "100", "1,235"]);
        assert_eq!([1.5, 9_999.0, 12_345.0].map(milliseconds), ["1.50 ms", "9,999 ms", "12.3 s"]);
        assert_eq!([17, 1024, 1_500_000, 3 << 30].map(bytes), ["17 B", "1.00 KiB", "1.43 MiB", "3.00 GiB"]);
    }

    #[test]
    fn a_share_of_zero_is_printed_as_a_dash() {
        assert_eq!(
            [(0, 0), (5, 0), (0, 4), (1, 4)].map(|(part, whole)| percent_of(part, whole)),
            [None, None, Some(0.0), Some(25.0)]
        );
        assert_eq!([None, Some(0.0)].map(|share| or_dash(share, percent)), ["-", "0.0%"]);
    }

    #[test]
    fn timestamps_are_dates_in_utc() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_772_323_200, "2026-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
