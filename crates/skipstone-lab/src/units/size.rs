//! How long a line is: `sentence` for random sentences, or a number of bytes: `100`, `1KiB`.

use std::fmt;

use super::error::read_by;
use super::number::{scaled, split_unit};

/// The length of the lines of a run. Which lengths a line can have is for the line to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Random sentences, of 20 to 115 bytes.
    Sentence,
    /// Every line as long as this.
    Bytes(usize),
}

read_by!(parse => Size, "a size", "sentence, 100 or 1KiB");

fn parse(text: &str) -> Result<Size, String> {
    if text == "sentence" {
        return Ok(Size::Sentence);
    }
    let (number, unit) = split_unit(text);
    if number.is_empty() {
        return Err("it is neither the word \"sentence\" nor a number of bytes".into());
    }
    let scale = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1000,
        "KiB" => KIB,
        "MiB" => MIB,
        _ => return Err(format!("\"{unit}\" is not a unit of size; there are B, kB, KiB and MiB")),
    };
    let bytes = scaled(number, scale)?;
    if bytes == 0 {
        return Err("a line has at least one byte".into());
    }
    usize::try_from(bytes).map(Size::Bytes).map_err(|_| "it is too large".into())
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Size::Sentence => f.write_str("sentence"),
            Size::Bytes(bytes) if (bytes as u64).is_multiple_of(MIB) => write!(f, "{}MiB", bytes as u64 / MIB),
            Size::Bytes(bytes) if (bytes as u64).is_multiple_of(KIB) => write!(f, "{}KiB", bytes as u64 / KIB),
            Size::Bytes(bytes) => write!(f, "{bytes}"),
        }
    }
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_round_trip_through_text() {
        for (text, size) in [
            ("sentence", Size::Sentence),
            ("100", Size::Bytes(100)),
            ("1KiB", Size::Bytes(1024)),
            ("1.5KiB", Size::Bytes(1536)),
            ("2kB", Size::Bytes(2000)),
            ("1MiB", Size::Bytes(1 << 20)),
        ] {
            let parsed: Size = text.parse().unwrap();
            assert_eq!(parsed, size);
            assert_eq!(parsed.to_string().parse::<Size>().unwrap(), size);
        }
        assert_eq!(Size::Bytes(1024).to_string(), "1KiB");
    }

    #[test]
    fn errors_name_the_cause_and_show_the_format() {
        for (text, cause) in [
            ("word", "neither the word \"sentence\" nor"),
            ("", "neither"),
            ("1Kib", "\"Kib\" is not a unit of size"),
            ("0", "at least one byte"),
            ("0.5", "finer"),
        ] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert!(error.contains(cause) && error.contains("for example sentence"), "{error}");
        }
    }
}
