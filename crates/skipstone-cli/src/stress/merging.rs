//! How clients batch messages: `immediate`, or the time to wait for more.

use skipstone::Merging;
use skipstone_lab::units::Span;

/// A merging setting as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merge(pub(crate) Merging);

impl std::str::FromStr for Merge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "immediate" {
            return Ok(Self(Merging::Immediate));
        }
        let span: Span = text.parse().map_err(|error| format!("{error}; or immediate"))?;
        Ok(Self(Merging::After(span.0)))
    }
}

impl std::fmt::Display for Merge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Merging::Immediate | Merging::Flush => f.write_str("immediate"),
            Merging::After(span) => Span(span).fmt(f),
        }
    }
}
