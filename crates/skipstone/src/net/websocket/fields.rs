//! Fields of HTTP heads that are lists, possibly on several lines (RFC 9110, sections 5.3 and 5.6.1), and those with a
//! single value.

use tungstenite::http::header::{HeaderMap, HeaderName, HeaderValue};

/// The entries of a comma-separated list, on any number of lines.
fn entries(fields: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &[u8]> {
    let lines = fields.get_all(name).into_iter().map(HeaderValue::as_bytes);
    lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii)
}

/// Whether a list has this token, in letters of either case.
pub(super) fn lists(fields: &HeaderMap, name: HeaderName, token: &str) -> bool {
    entries(fields, name).any(|entry| entry.eq_ignore_ascii_case(token.as_bytes()))
}

/// Whether a list has this token as it is written here.
pub(super) fn lists_exactly(fields: &HeaderMap, name: HeaderName, token: &str) -> bool {
    entries(fields, name).any(|entry| entry == token.as_bytes())
}

/// The value of a field that must be on one line; `None` if it is missing or repeated.
pub(super) fn only(fields: &HeaderMap, name: HeaderName) -> Option<&HeaderValue> {
    let mut lines = fields.get_all(name).into_iter();
    lines.next().filter(|_| lines.next().is_none())
}
