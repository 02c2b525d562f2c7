//! Cookies that have opened a connection. Each cookie opens only one: an OPEN that is replayed after its connection has
//! ended is rejected (WIRE.md section 2.3).

use crate::security::cookie::LIFETIME;
use crate::time::{Duration, Time};
use crate::wire::datagram::COOKIE_BYTES;
use std::collections::{BTreeSet, VecDeque};

/// The cookies that were used and have not expired yet.
#[derive(Debug, Default)]
pub(super) struct SpentCookies {
    by_age: VecDeque<(Time, Cookie)>,
    cookies: BTreeSet<Cookie>,
    /// Cookies that were issued before this time may have been forgotten.
    known_since: Time,
}

type Cookie = [u8; COOKIE_BYTES];

/// 65,536 take some 5 MB: within ten seconds, an endpoint's maximum number of connections.
const KEPT_MAX: usize = 65_536;
/// A cookie's time is in whole seconds.
const KEPT_FOR: Duration = Duration::from_secs(LIFETIME.as_secs() + 1);

impl SpentCookies {
    /// Records that a connection was created with this cookie.
    pub(super) fn insert(&mut self, now: Time, cookie: &Cookie) {
        while let Some((spent_at, oldest)) = self.by_age.front().copied() {
            let is_over = now.since(spent_at) > KEPT_FOR;
            if !is_over && self.by_age.len() < KEPT_MAX {
                break;
            }
            if !is_over {
                self.known_since = self.known_since.max(spent_at);
            }
            self.by_age.pop_front();
            self.cookies.remove(&oldest);
        }
        if self.cookies.insert(*cookie) {
            self.by_age.push_back((now, *cookie));
        }
    }

    /// Forgets a cookie whose handshake was given up for lack of room or of an answer: its client may try again.
    pub(super) fn forgive(&mut self, cookie: &Cookie) {
        self.cookies.remove(cookie);
    }

    /// Whether a connection was created with this cookie, as far as that is remembered.
    pub(super) fn holds(&self, cookie: &Cookie) -> bool {
        self.cookies.contains(cookie)
    }

    /// A cookie that was issued before this may have been used: its client has to ask for another one.
    pub(super) fn known_since(&self) -> Time {
        self.known_since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(number: usize) -> Cookie {
        let mut cookie = [0; COOKIE_BYTES];
        cookie[..8].copy_from_slice(&number.to_be_bytes());
        cookie
    }

    #[test]
    fn a_cookie_is_remembered_until_it_expires() {
        let (mut spent, begin) = (SpentCookies::default(), Time::from_micros(5_000_000));
        spent.insert(begin, &cookie(1));
        spent.insert(begin + LIFETIME, &cookie(2));
        assert!(spent.holds(&cookie(1)) && spent.holds(&cookie(2)) && !spent.holds(&cookie(3)));
        spent.insert(begin + LIFETIME + Duration::from_secs(2), &cookie(3));
        assert!(!spent.holds(&cookie(1)) && spent.holds(&cookie(2)) && spent.holds(&cookie(3)));
        assert_eq!(spent.known_since(), Time::ZERO);
    }

    #[test]
    fn a_reused_forgiven_cookie_is_remembered_for_its_whole_lifetime() {
        let (mut spent, issued) = (SpentCookies::default(), Time::from_micros(5_000_000));
        spent.insert(issued, &cookie(1));
        spent.forgive(&cookie(1));
        assert!(!spent.holds(&cookie(1)));
        // Its first use is forgotten at last, its second one is not.
        spent.insert(issued + LIFETIME, &cookie(1));
        spent.insert(issued + KEPT_FOR, &cookie(2));
        assert!(spent.holds(&cookie(1)), "until {KEPT_FOR:?} after it was issued");
    }

    #[test]
    fn beyond_the_maximum_the_oldest_cookies_are_forgotten() {
        let (mut spent, begin) = (SpentCookies::default(), Time::from_micros(5_000_000));
        for number in 0..KEPT_MAX + 10 {
            spent.insert(begin + Duration::from_micros(number as u64), &cookie(number));
        }
        assert_eq!(spent.by_age.len(), KEPT_MAX);
        assert_eq!(spent.cookies.len(), KEPT_MAX);
        assert!(!spent.holds(&cookie(9)) && spent.holds(&cookie(10)));
        assert_eq!(spent.known_since(), begin + Duration::from_micros(9));
    }
}
