//! Rules for a console's clients: unauthenticated clients are few, and a new one displaces an old one; a client gets a
//! seat by the token, or without a token by a command. So a crowd of silent clients does not lock the operator out.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// The seats of a console.
#[derive(Debug)]
pub(crate) struct Seats {
    max: usize,
    taken: AtomicUsize,
}

/// The place of one session: unauthenticated, until the session takes a seat.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    client: IpAddr,
    state: AtomicU8,
}

const STRANGER: u8 = 0;
const SEATED: u8 = 1;
const DISPLACED: u8 = 2;

impl Seats {
    /// So many seats, all free.
    pub(crate) fn new(max: usize) -> Arc<Seats> {
        Arc::new(Seats { max, taken: AtomicUsize::new(0) })
    }

    /// Number of seats.
    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// A place of an unauthenticated client.
    pub(crate) fn stranger(self: &Arc<Self>, client: IpAddr) -> Arc<Seat> {
        Arc::new(Seat { seats: Arc::clone(self), client, state: AtomicU8::new(STRANGER) })
    }
}

impl Seat {
    /// Takes a seat; whether there was one. A displaced session gets none.
    pub(crate) fn take(&self) -> bool {
        if !self.is_stranger() {
            return self.state.load(Ordering::SeqCst) == SEATED;
        }
        let free = |taken: usize| (taken < self.seats.max).then_some(taken + 1);
        if self.seats.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, free).is_err() {
            return false;
        }
        let seated = self.state.compare_exchange(STRANGER, SEATED, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if !seated {
            self.seats.taken.fetch_sub(1, Ordering::SeqCst);
        }
        seated
    }

    /// How many seats there are.
    pub(crate) fn seats_max(&self) -> usize {
        self.seats.max()
    }

    /// Whether the session has no seat and is not displaced.
    pub(crate) fn is_stranger(&self) -> bool {
        self.state.load(Ordering::SeqCst) == STRANGER
    }

    /// Whether another unauthenticated client displaced this one.
    pub(crate) fn is_displaced(&self) -> bool {
        self.state.load(Ordering::SeqCst) == DISPLACED
    }

    fn displace(&self) {
        let _ = self.state.compare_exchange(STRANGER, DISPLACED, Ordering::SeqCst, Ordering::SeqCst);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.state.load(Ordering::SeqCst) == SEATED {
            self.seats.taken.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Makes room for one more unauthenticated client among these places, oldest first. The oldest one of the address that
/// has the most is displaced: a crowd displaces itself, and not an operator at another address who still types the
/// token.
pub(crate) fn make_room<'a>(places: impl Iterator<Item = &'a Seat>) {
    let strangers: Vec<&Seat> = places.filter(|seat| seat.is_stranger()).collect();
    if strangers.len() < STRANGERS_MAX {
        return;
    }
    let of_same = |seat: &Seat| strangers.iter().filter(|other| other.client == seat.client).count();
    let most = strangers.iter().map(|seat| of_same(seat)).max().unwrap_or(0);
    if let Some(oldest) = strangers.iter().find(|seat| of_same(seat) == most) {
        oldest.displace();
    }
}

/// Clients at once that have not shown yet that they are operators.
pub(crate) const STRANGERS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn from(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    #[test]
    fn the_oldest_stranger_of_the_largest_crowd_goes() {
        let seats = Seats::new(2);
        let mut places = vec![seats.stranger(from(1))];
        places.extend((1..STRANGERS_MAX).map(|_| seats.stranger(from(2))));
        make_room(places.iter().map(|seat| &**seat));
        let displaced: Vec<usize> = (0..places.len()).filter(|place| places[*place].is_displaced()).collect();
        assert_eq!(displaced, [1]);
        make_room(places.iter().map(|seat| &**seat));
        assert!(!places[2].is_displaced(), "there is room already");
    }

    #[test]
    fn seats_are_counted_and_come_back() {
        let seats = Seats::new(1);
        let (first, second) = (seats.stranger(from(1)), seats.stranger(from(1)));
        assert!(first.take() && first.take() && !second.take());
        drop(first);
        assert!(second.take() && !second.is_stranger());
    }

    #[test]
    fn one_who_is_seated_is_never_displaced_and_one_who_is_displaced_gets_no_seat() {
        let seats = Seats::new(1);
        let (seated, displaced) = (seats.stranger(from(1)), seats.stranger(from(1)));
        assert!(seated.take());
        seated.displace();
        assert!(!seated.is_displaced());
        drop(seated);
        displaced.displace();
        assert!(displaced.is_displaced() && !displaced.take());
        assert!(seats.stranger(from(1)).take());
    }
}
