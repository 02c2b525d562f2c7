//! The places of connections before authentication. A connection is a *stranger* (unauthenticated) until a token, or
//! without a token a command, gives it a seat. The number of strangers is limited: beyond it, the oldest stranger of
//! the network with the most strangers is displaced. So a crowd displaces itself, and not an operator who has a seat,
//! or who is still typing the token in another network.

use parking_lot::Mutex;
use skipstone_proto::Network;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The strangers and the seats of one door.
#[derive(Debug)]
pub(crate) struct Places {
    max: PlacesMax,
    taken: Mutex<Taken>,
}

/// How many at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacesMax {
    pub(crate) strangers: usize,
    pub(crate) seats: usize,
}

#[derive(Debug, Default)]
struct Taken {
    /// Unauthenticated connections, in the order in which they arrived.
    strangers: BTreeMap<u64, Network>,
    came: u64,
    seats: usize,
}

/// The place of one connection, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
    has_seat: Mutex<bool>,
}

impl Places {
    /// All free.
    pub(crate) fn new(max: PlacesMax) -> Arc<Self> {
        Arc::new(Places { max, taken: Mutex::default() })
    }

    /// How many there are.
    pub(crate) fn max(&self) -> PlacesMax {
        self.max
    }

    /// The place of a new stranger. An older one may be displaced for it.
    pub(crate) fn stranger(self: &Arc<Self>, from: Network) -> Place {
        let mut taken = self.taken.lock();
        if taken.strangers.len() >= self.max.strangers {
            taken.displace_one(from);
        }
        taken.came += 1;
        let number = taken.came;
        taken.strangers.insert(number, from);
        Place { places: Arc::clone(self), number, has_seat: Mutex::new(false) }
    }
}

impl Taken {
    /// Displaces the oldest stranger of the network that has the most, counting the new one for `coming`.
    fn displace_one(&mut self, coming: Network) {
        let mut counts = BTreeMap::from([(coming, 1)]);
        self.strangers.values().for_each(|network| *counts.entry(*network).or_insert(0) += 1);
        let most = counts.values().max().copied();
        let oldest = self.strangers.iter().find(|(_, network)| counts.get(network).copied() == most);
        if let Some(number) = oldest.map(|(number, _)| *number) {
            self.strangers.remove(&number);
        }
    }
}

impl Place {
    /// Takes a seat. Returns whether one was free. WHY: a displaced connection may take one too, until it is closed:
    /// what it sent first counts, not how many others arrived after it.
    pub(crate) fn take_seat(&self) -> bool {
        let mut has_seat = self.has_seat.lock();
        let mut taken = self.places.taken.lock();
        if !*has_seat && taken.seats < self.places.max.seats {
            taken.strangers.remove(&self.number);
            taken.seats += 1;
            *has_seat = true;
        }
        *has_seat
    }

    /// Whether it has no seat.
    pub(crate) fn is_strangers(&self) -> bool {
        !*self.has_seat.lock()
    }

    /// Whether newer connections displaced this one, so that it must be closed.
    pub(crate) fn is_displaced(&self) -> bool {
        self.is_strangers() && !self.places.taken.lock().strangers.contains_key(&self.number)
    }

    /// How many there are.
    pub(crate) fn max(&self) -> PlacesMax {
        self.places.max
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        match *self.has_seat.get_mut() {
            true => taken.seats -= 1,
            false => drop(taken.strangers.remove(&self.number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn network(number: u8) -> Network {
        Network::of(&SocketAddr::from(([192, 0, number, 7], 1)))
    }

    fn displaced(places: &[Place]) -> Vec<usize> {
        (0..places.len()).filter(|place| places[*place].is_displaced()).collect()
    }

    #[test]
    fn the_oldest_stranger_of_the_largest_network_is_evicted() {
        let door = Places::new(PlacesMax { strangers: 4, seats: 2 });
        let mut places: Vec<Place> = [1, 2, 2, 2].map(|from| door.stranger(network(from))).into();
        assert!(displaced(&places).is_empty());
        places.push(door.stranger(network(3)));
        assert_eq!(displaced(&places), [1]);
        places.push(door.stranger(network(3)));
        assert_eq!(displaced(&places), [1, 2], "both have two with the one who comes: the oldest goes");
    }

    #[test]
    fn seats_are_counted_and_come_back() {
        let door = Places::new(PlacesMax { strangers: 4, seats: 1 });
        let (first, second) = (door.stranger(network(1)), door.stranger(network(1)));
        assert!(first.take_seat() && first.take_seat() && !second.take_seat() && second.is_strangers());
        drop(first);
        assert!(second.take_seat() && !second.is_strangers());
    }

    #[test]
    fn a_token_in_the_first_bytes_counts_whatever_follows_it() {
        let door = Places::new(PlacesMax { strangers: 1, seats: 1 });
        let (operator, next) = (door.stranger(network(1)), door.stranger(network(1)));
        assert!(operator.is_displaced() && operator.take_seat() && !operator.is_displaced());
        drop(operator);
        assert!(next.take_seat(), "its seat came back");
    }

    /// 2,000 arrivals, seats and ends in a random order, from five networks.
    #[test]
    fn neither_seats_nor_strangers_of_a_small_network_are_displaced() {
        let max = PlacesMax { strangers: 8, seats: 4 };
        let door = Places::new(max);
        let mut seed = 42_u64;
        let mut below = |limit: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % limit
        };
        let mut places: Vec<(u8, Place)> = Vec::new();
        for _ in 0..2_000 {
            let waiting = |places: &[(u8, Place)], from: u8| {
                places.iter().filter(|(of, place)| *of == from && place.is_strangers()).count()
            };
            match below(4) {
                0 if !places.is_empty() => drop(places.swap_remove(below(places.len()))),
                1 if !places.is_empty() => {
                    let seats = places.iter().filter(|(_, place)| !place.is_strangers()).count();
                    let (_, place) = &places[below(places.len())];
                    assert_eq!(place.take_seat(), seats < max.seats || !place.is_strangers());
                }
                _ => {
                    let from = below(5) as u8;
                    let new = door.stranger(network(from));
                    assert!(!new.is_displaced());
                    places.push((from, new));
                    let most = (0..5).map(|from| waiting(&places, from)).max();
                    for (from, place) in &places {
                        assert!(!place.is_displaced() || Some(waiting(&places, *from)) == most, "of a small network");
                        assert!(!place.is_displaced() || place.is_strangers());
                    }
                    places.retain(|(_, place)| !place.is_displaced());
                }
            }
            let strangers: usize = (0..5).map(|from| waiting(&places, from)).sum();
            assert!(strangers <= max.strangers && places.len() - strangers <= max.seats);
        }
    }
}
