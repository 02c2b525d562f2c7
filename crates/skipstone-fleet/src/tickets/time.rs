//! Times of tickets: seconds since 1970, as machines that never met agree on.

use std::time::{SystemTime, UNIX_EPOCH};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Seconds since 1970, UTC, by a machine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnixTime(pub u64);

impl UnixTime {
    /// This machine's clock.
    pub fn now() -> UnixTime {
        UnixTime(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }

    /// As RFC 3339 has it; nothing beyond the year 9999.
    pub(super) fn encode(self) -> Option<String> {
        OffsetDateTime::from_unix_timestamp(i64::try_from(self.0).ok()?).ok()?.format(&Rfc3339).ok()
    }

    pub(super) fn decode(text: &str) -> Option<UnixTime> {
        let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        u64::try_from(time.unix_timestamp()).ok().map(UnixTime)
    }
}
