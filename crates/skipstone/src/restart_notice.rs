//! The notice of a restarting server to its clients: when and where to reconnect. WIRE.md section 8.1.

use skipstone_proto::{Close, ClosedBy, Duration, code};
use std::fmt;

/// When and where the clients of a restarting server reconnect. The server closes with [`code::RESTART`] and this text
/// as the reason; [`RestartNotice::of`] parses it.
///
/// ```
/// use skipstone::RestartNotice;
/// use std::time::Duration;
///
/// let notice = RestartNotice::after(Duration::from_millis(250)).spread(Duration::from_millis(500));
/// assert_eq!(notice.to_string(), "retry=250..750; the server restarts");
/// let elsewhere = notice.at("eu2.example.org:7777")?;
/// assert_eq!(elsewhere.to_string(), "retry=250..750 at=eu2.example.org:7777; the server restarts");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestartNotice {
    /// The pause before the first client reconnects.
    after: Duration,
    /// The time from then on over which they are spread.
    spread: Duration,
    /// Host and port; `None` for the same server.
    at: Option<String>,
}

/// No server is back sooner, and clients of a server that accepts and closes at once still pause.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// A longer absence is not a restart.
const PAUSE_MAX: Duration = Duration::from_secs(600);
/// Longest host name (RFC 1035), with brackets and a port.
const ADDRESS_BYTES_MAX: usize = 255 + 8;

impl RestartNotice {
    /// Clients reconnect this long after the notice: 100 ms at least, 10 minutes at most.
    pub fn after(after: Duration) -> Self {
        RestartNotice { after: after.min(PAUSE_MAX), spread: Duration::ZERO, at: None }
    }

    /// Spreads the clients over this time, 10 minutes at most: each draws a random moment.
    pub fn spread(self, spread: Duration) -> Self {
        RestartNotice { spread: spread.min(PAUSE_MAX), ..self }
    }

    /// Clients connect to another server, `HOST:PORT`, by the same scheme and with the same trust.
    ///
    /// # Errors
    /// A text with the reason: the address has no port, or invalid characters.
    pub fn at(self, address: &str) -> Result<Self, String> {
        split(address).ok_or_else(|| {
            format!(
                "'{}' is not HOST:PORT (examples: eu2.example.org:7777, [2001:db8::1]:7777)",
                address.escape_debug()
            )
        })?;
        Ok(RestartNotice { at: Some(address.into()), ..self })
    }

    /// The notice of a connection that a restarting server has closed; `None` for any other end. A reason that cannot
    /// be parsed means one to three seconds, at the same server.
    pub fn of(close: &Close) -> Option<Self> {
        let is_notice = close.code == code::RESTART && close.by == ClosedBy::Peer;
        is_notice.then(|| RestartNotice::parse(&close.reason_text()).unwrap_or(RestartNotice::UNKNOWN))
    }

    const UNKNOWN: RestartNotice =
        RestartNotice { after: Duration::from_secs(1), spread: Duration::from_secs(2), at: None };

    fn parse(reason: &str) -> Option<Self> {
        let head = reason.split(';').next()?;
        let mut notice = None;
        let mut at = None;
        for field in head.split_ascii_whitespace() {
            if let Some(range) = field.strip_prefix("retry=") {
                let (from, to) = range.split_once("..")?;
                let (from, to) = (milliseconds(from)?, milliseconds(to)?);
                notice = Some(RestartNotice::after(from).spread(to.checked_sub(from)?));
            } else if let Some(address) = field.strip_prefix("at=") {
                split(address)?;
                at = Some(address.to_owned());
            }
        }
        Some(RestartNotice { at, ..notice? })
    }

    /// The pause of a client that drew `chance`, any random number: 100 ms at least, whatever the notice says.
    pub fn pause(&self, chance: u32) -> Duration {
        (self.after + self.spread.mul_f64(f64::from(chance) / f64::from(u32::MAX))).clamp(PAUSE_MIN, PAUSE_MAX)
    }

    /// Host and port of another server, if the clients are sent to one.
    pub fn address(&self) -> Option<(&str, u16)> {
        self.at.as_deref().and_then(split)
    }
}

impl fmt::Display for RestartNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "retry={}..{}", self.after.as_millis(), (self.after + self.spread).as_millis())?;
        self.at.iter().try_for_each(|at| write!(f, " at={at}"))?;
        f.write_str("; the server restarts")
    }
}

fn milliseconds(text: &str) -> Option<Duration> {
    let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|_| is_number).map(Duration::from_millis)
}

/// Host and port. The brackets of an IPv6 address are removed.
pub(crate) fn split(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_host = match inner {
        Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(is_plain),
    };
    let is_number = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    let port = port.parse().ok().filter(|port| is_number && *port != 0)?;
    (is_host && address.len() <= ADDRESS_BYTES_MAX).then_some((inner.unwrap_or(host), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_round_trips() {
        for at in [None, Some("eu2.example.org:7777"), Some("[2001:db8::1]:7777"), Some("10.0.0.1:1")] {
            let notice = RestartNotice::after(Duration::from_millis(20)).spread(Duration::from_secs(3));
            let notice = at.map_or(Ok(notice.clone()), |at| notice.at(at)).expect("an address");
            assert_eq!(RestartNotice::parse(&notice.to_string()), Some(notice));
        }
    }

    #[test]
    fn a_malformed_notice_is_ignored_and_its_address_never_used() {
        for reason in [
            "",
            "retry=",
            "retry=5",
            "retry=9..5",
            "retry=+1..2",
            "retry=1..99999999999999999999",
            "at=a.b:1",
            "retry=1..2 at=nowhere",
            "retry=1..2 at=a b:1",
            "retry=1..2 at=a/b:1",
            "retry=1..2 at=a:0",
            "retry=1..2 at=u@h:1",
        ] {
            let parsed = RestartNotice::parse(reason);
            assert!(parsed.as_ref().is_none_or(|notice| notice.address().is_none()), "{reason}: {parsed:?}");
        }
        assert!(RestartNotice::after(Duration::ZERO).at("a b:1").is_err());
    }

    #[test]
    fn clients_return_within_the_stated_time() {
        let notice = RestartNotice::after(Duration::from_millis(250)).spread(Duration::from_millis(500));
        assert_eq!(notice.pause(0), Duration::from_millis(250));
        assert_eq!(notice.pause(u32::MAX), Duration::from_millis(750));
        for long in ["retry=0..99999999; x", "retry=600000..1200000", "retry=99999999..99999999"] {
            assert_eq!(RestartNotice::parse(long).expect("a notice").pause(u32::MAX), PAUSE_MAX, "{long}");
        }
        for short in ["retry=0..0; x", "retry=0..50", "retry=1..1 at=other.example:9"] {
            let notice = RestartNotice::parse(short).expect("a notice");
            assert_eq!([0, u32::MAX].map(|chance| notice.pause(chance)), [PAUSE_MIN; 2], "{short}");
        }
    }
}
