//! A range of seeds, as on the command line: `0..300`.

use std::ops::Range;

/// Reads `A..B`: seeds from A up to, not including, B, and at least one.
pub(crate) fn seed_range(text: &str) -> Result<Range<u64>, String> {
    let bounds = text.split_once("..").and_then(|(from, to)| Some(from.parse::<u64>().ok()?..to.parse::<u64>().ok()?));
    match bounds {
        Some(seeds) if !seeds.is_empty() => Ok(seeds),
        Some(_) => Err("it contains no seed: the end is exclusive".into()),
        None => Err("a range of seeds looks like 0..300".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_an_exclusive_end_and_contains_a_seed() {
        assert_eq!(seed_range("3..5"), Ok(3..5));
        for wrong in ["5..5", "6..5", "5", "a..b", "..5", ""] {
            assert!(seed_range(wrong).is_err(), "{wrong}");
        }
    }
}
