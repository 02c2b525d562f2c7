//! Joins the fragments of long messages, which may come in any order.

use super::packet::Fragment;
use bytes::Bytes;
use std::collections::BTreeMap;

/// Messages of which parts are missing.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    messages: BTreeMap<(u8, u16), Parts>,
    bytes: usize,
}

#[derive(Debug)]
struct Parts {
    parts: u16,
    data: BTreeMap<u16, Bytes>,
}

/// What became of a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// It was the last one.
    Message(Bytes),
    /// Others are missing.
    Waits,
    /// Its place is taken, or is none.
    Invalid,
    /// The bound in bytes is reached: the message would never arrive.
    TooLong,
}

/// Bytes of all fragments that wait, each with what it costs to keep.
pub(super) const BYTES_MAX: usize = 4 << 20;
const COST_EACH: usize = 128;

impl Fragments {
    pub(super) fn on_fragment(&mut self, channel: u8, fragment: Fragment, data: Bytes) -> Joined {
        let cost = data.len() + COST_EACH;
        if self.bytes + cost > BYTES_MAX {
            return Joined::TooLong;
        }
        if fragment.part >= fragment.parts {
            return Joined::Invalid;
        }
        let id = (channel, fragment.message);
        let message = self.messages.entry(id).or_insert(Parts { parts: fragment.parts, data: BTreeMap::new() });
        if message.parts != fragment.parts || message.data.contains_key(&fragment.part) {
            return Joined::Invalid;
        }
        message.data.insert(fragment.part, data);
        self.bytes += cost;
        if message.data.len() < usize::from(message.parts) {
            return Joined::Waits;
        }
        let parts = self.messages.remove(&id).map(|message| message.data).unwrap_or_default();
        let joined: Vec<u8> = parts.values().flat_map(|data| data.iter().copied()).collect();
        self.bytes -= joined.len() + parts.len() * COST_EACH;
        Joined::Message(joined.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(message: u16, part: u16, parts: u16) -> Fragment {
        Fragment { message, part, parts }
    }

    #[test]
    fn fragments_join_in_any_order() {
        let mut fragments = Fragments::default();
        assert_eq!(fragments.on_fragment(2, part(1, 2, 3), "c".into()), Joined::Waits);
        assert_eq!(fragments.on_fragment(2, part(1, 0, 3), "a".into()), Joined::Waits);
        assert_eq!(fragments.on_fragment(2, part(2, 0, 1), "other".into()), Joined::Message("other".into()));
        assert_eq!(fragments.on_fragment(2, part(1, 1, 3), "b".into()), Joined::Message("abc".into()));
        assert_eq!((fragments.bytes, fragments.messages.len()), (0, 0));
    }

    #[test]
    fn fragments_without_a_place_are_invalid() {
        let mut fragments = Fragments::default();
        assert_eq!(fragments.on_fragment(2, part(1, 0, 0), "x".into()), Joined::Invalid);
        assert_eq!(fragments.on_fragment(2, part(1, 3, 3), "x".into()), Joined::Invalid);
        assert_eq!(fragments.on_fragment(2, part(1, 0, 3), "x".into()), Joined::Waits);
        assert_eq!(fragments.on_fragment(2, part(1, 0, 3), "x".into()), Joined::Invalid);
        assert_eq!(fragments.on_fragment(2, part(1, 1, 4), "x".into()), Joined::Invalid);
    }

    #[test]
    fn fragments_that_wait_have_a_bound_in_bytes() {
        let mut fragments = Fragments::default();
        let data = Bytes::from(vec![0; 1400]);
        let outcomes = (0..10_000).map(|number| fragments.on_fragment(2, part(number, 0, 2), data.clone()));
        assert_eq!(outcomes.last(), Some(Joined::TooLong));
        assert!(fragments.bytes <= BYTES_MAX);
    }
}
