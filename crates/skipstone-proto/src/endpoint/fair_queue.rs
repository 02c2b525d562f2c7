//! A bounded queue for hosts that have proven nothing: its items leave in turns of their networks, and when it is full,
//! the network with the most loses one. So a host that floods the queue gets only the room that other networks leave.
//!
//! Networks share 64 buckets by a secret hash (stochastic fair queueing, McKenney 1990), which changes now and then, so
//! that no host shares a flooder's bucket for long.

use crate::network::Network;
use siphasher::sip::SipHasher13;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// Items of many networks.
#[derive(Debug)]
pub(super) struct FairQueue<T> {
    /// Empty until the first item arrives: clients answer no requests.
    buckets: Vec<VecDeque<T>>,
    /// Bit n: bucket n has items.
    occupied: u64,
    /// The bucket whose turn was last.
    turn: u32,
    length: usize,
    length_max: usize,
    key: u64,
    pushed: u64,
}

const BUCKETS: u32 = u64::BITS;
/// The hash changes after this many items: at 30,000 per second, several times a second.
const PUSHES_PER_HASH: u64 = 4_096;
/// An empty bucket keeps room for this many items.
const CAPACITY_KEPT: usize = 16;

impl<T> FairQueue<T> {
    pub(super) fn new(length_max: usize, key: u64) -> Self {
        FairQueue { buckets: Vec::new(), occupied: 0, turn: 0, length: 0, length_max, key, pushed: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Adds an item of this network. False if it, or another one in its place, was dropped.
    pub(super) fn push(&mut self, network: &Network, item: T) -> bool {
        if self.buckets.is_empty() {
            self.buckets.resize_with(BUCKETS as usize, VecDeque::new);
        }
        let at = self.bucket_of(network);
        self.pushed += 1;
        let has_room = self.length < self.length_max;
        if !has_room && !self.make_room(at) {
            return false;
        }
        self.buckets[at].push_back(item);
        self.occupied |= 1 << at;
        self.length += 1;
        has_room
    }

    /// The next item, of the next bucket that has one.
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.length == 0 {
            return None;
        }
        let ahead = self.occupied.rotate_right(self.turn + 1).trailing_zeros();
        self.turn = (self.turn + 1 + ahead) % BUCKETS;
        let bucket = &mut self.buckets[self.turn as usize];
        let item = bucket.pop_front()?;
        self.length -= 1;
        if bucket.is_empty() {
            self.occupied &= !(1 << self.turn);
            bucket.shrink_to(CAPACITY_KEPT);
        }
        Some(item)
    }

    /// Drops the newest item of the fullest bucket, unless that is this one.
    fn make_room(&mut self, at: usize) -> bool {
        let own = self.buckets[at].len();
        let Some(fullest) = self.buckets.iter_mut().max_by_key(|bucket| bucket.len()) else { return false };
        let is_fuller = fullest.len() > own + 1;
        if is_fuller {
            fullest.pop_back();
            self.length -= 1;
        }
        is_fuller
    }

    fn bucket_of(&self, network: &Network) -> usize {
        let mut hasher = SipHasher13::new_with_keys(self.key, self.pushed / PUSHES_PER_HASH);
        network.hash(&mut hasher);
        (hasher.finish() % u64::from(BUCKETS)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(number: u32) -> Network {
        let [_, a, b, c] = number.to_be_bytes();
        Network::of(&([a, b, c, 1], 1).into())
    }

    #[test]
    fn a_lone_network_gets_the_whole_queue() {
        let mut queue = FairQueue::new(100, 7);
        assert!((0..100).all(|item| queue.push(&network(1), item)));
        assert!(!queue.push(&network(1), 100));
        assert!((0..100).all(|item| queue.pop() == Some(item)) && queue.pop().is_none());
    }

    #[test]
    fn a_flood_leaves_room_and_turns_to_others() {
        let mut queue = FairQueue::new(1_000, 7);
        for _ in 0..5_000 {
            queue.push(&network(1), 1);
        }
        for other in 2..42 {
            queue.push(&network(other), other);
        }
        let left: Vec<_> = (0..200).filter_map(|_| queue.pop()).filter(|from| *from != 1).collect();
        assert!(left.len() >= 36, "{} of 40; a few share a bucket with the flood", left.len());
        assert_eq!(queue.length, queue.buckets.iter().map(VecDeque::len).sum::<usize>());
    }

    #[test]
    fn the_queue_is_bounded_and_frees_its_memory() {
        let mut queue = FairQueue::new(1_000, 7);
        for round in 0..200_u32 {
            for item in 0..2_000 {
                queue.push(&network(if round % 2 == 0 { item } else { round }), item);
            }
            assert!(queue.length <= 1_000);
            while queue.pop().is_some() {}
            assert!(queue.buckets.iter().all(|bucket| bucket.capacity() <= 2 * CAPACITY_KEPT));
        }
        assert_eq!((queue.occupied, queue.length), (0, 0));
    }
}
