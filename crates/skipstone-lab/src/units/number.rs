//! Decimal numbers followed by a unit, read exactly: no rounding through floating point.

/// Splits a text behind its leading number.
pub(super) fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// The number in `text` times `scale`, which must come out whole. The error is a cause for a sentence.
pub(super) fn scaled(text: &str, scale: u64) -> Result<u64, String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.len() + fraction.len();
    if digits == 0 || !whole.chars().chain(fraction.chars()).all(|c| c.is_ascii_digit()) {
        return Err(if text.is_empty() { "a number is missing".into() } else { format!("\"{text}\" is not a number") });
    }
    let too_large = || format!("{text} is too large");
    // 18 digits and a scale below 2^64 stay within 128 bits.
    if digits > 18 {
        return Err(format!("{text} has more digits than make sense"));
    }
    let number: u128 = format!("{whole}{fraction}").parse().map_err(|_| too_large())?;
    let divisor = 10_u128.pow(fraction.len() as u32);
    let product = number * u128::from(scale);
    if !product.is_multiple_of(divisor) {
        return Err(format!("{text} is finer than can be distinguished"));
    }
    u64::try_from(product / divisor).map_err(|_| too_large())
}

/// `number / scale` in decimal, without trailing zeros. `scale` is a power of ten.
pub(super) fn decimal(number: u64, scale: u64) -> String {
    let (whole, fraction) = (number / scale, number % scale);
    if fraction == 0 {
        return whole.to_string();
    }
    let digits = scale.ilog10() as usize;
    format!("{whole}.{fraction:0digits$}").trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(scaled("2.5", 1_000_000), Ok(2_500_000));
        assert_eq!(scaled(".1", 10), Ok(1));
        assert_eq!(scaled("0.000001", 1_000_000), Ok(1));
        assert_eq!(decimal(2_500_000, 1_000_000), "2.5");
        assert_eq!(decimal(1, 1_000_000), "0.000001");
        assert_eq!(decimal(3_000, 1_000), "3");
    }

    #[test]
    fn text_that_is_not_a_number_is_refused_with_the_cause() {
        assert_eq!(scaled("", 1), Err("a number is missing".into()));
        assert_eq!(scaled("1.2.3", 1), Err("\"1.2.3\" is not a number".into()));
        assert_eq!(scaled(".", 1), Err("\".\" is not a number".into()));
        assert_eq!(scaled("0.5", 1), Err("0.5 is finer than can be distinguished".into()));
        assert_eq!(scaled("99999999999999", 1_000_000_000), Err("99999999999999 is too large".into()));
        assert!(scaled("9999999999999999999", 1).is_err());
    }

    #[test]
    fn the_unit_begins_where_the_number_ends() {
        assert_eq!(split_unit("250ms"), ("250", "ms"));
        assert_eq!(split_unit("2 Mbit/s"), ("2", "Mbit/s"));
        assert_eq!(split_unit("x"), ("", "x"));
    }
}
