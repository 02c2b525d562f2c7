//! A range of numbers of clients: `100..4000`.

/// The range in which a number of clients is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The first that is tried.
    pub low: u32,
    /// The most that is tried.
    pub high: u32,
}

impl std::str::FromStr for Bounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let both = text.split_once("..").and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
        match both {
            Some((low, high)) if 0 < low && low < high => Ok(Self { low, high }),
            _ => Err("bounds are two numbers, the smaller first: 100..4000".into()),
        }
    }
}
