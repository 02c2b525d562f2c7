//! Whose turn comes soon, in a round through many connections: their memory is fetched before it is, since a thousand of them
//! do not fit in the processor's caches. It takes three steps, for what one points to is known once it is there.

use super::slots::Slots;
use skipstone_prefetch::prefetch;

/// The connections whose turn comes next, by their places; what they are said to be is a guess that costs nothing if it is wrong.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The nearest is the last.
    places: [Option<u32>; STEPS],
}

/// How far it looks ahead.
const STEPS: usize = 3;

impl Ahead {
    /// Those from a place on, as `next` tells who stands at a place or behind it.
    pub(super) fn new(slots: &Slots, from: u32, next: impl Fn(u32) -> Option<u32>) -> Self {
        let mut ahead = Ahead::default();
        let mut place = next(from);
        for _ in 0..STEPS {
            ahead.advance(slots, place);
            place = place.and_then(|place| next(place + 1));
        }
        ahead
    }

    /// The one that is furthest away.
    pub(super) fn furthest(&self) -> Option<u32> {
        self.places[0]
    }

    /// The nearest one has its turn now, and this one is the furthest.
    pub(super) fn advance(&mut self, slots: &Slots, furthest: Option<u32>) {
        self.places.rotate_right(1);
        self.places[0] = furthest;
        for (step, place) in self.places.iter().enumerate() {
            if let Some(connection) = place.and_then(|place| slots.peek(place)) {
                match step {
                    0 => prefetch(connection),
                    step => connection.prefetch(step > 1),
                }
            }
        }
    }
}
