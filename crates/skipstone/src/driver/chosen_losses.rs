//! The losses of a test's network: chosen datagrams, by direction and position.

/// Whether a datagram goes towards the server, and its position in that direction.
pub(super) type Datagram = (bool, usize);

#[derive(Debug, Default)]
pub(super) struct ChosenLosses {
    pub(super) lost: Vec<Datagram>,
    /// Numbers of datagrams so far: from the server, and towards it.
    left: [usize; 2],
}

impl ChosenLosses {
    /// Whether the next datagram of this direction is lost.
    pub(super) fn loses(&mut self, is_up: bool) -> bool {
        let left = &mut self.left[usize::from(is_up)];
        *left += 1;
        self.lost.contains(&(is_up, *left - 1))
    }
}

/// Every pair of the first datagrams of both directions, including each datagram paired with itself.
pub(super) fn pairs_of_first(count: usize) -> impl Iterator<Item = [Datagram; 2]> {
    let all = move || [false, true].into_iter().flat_map(move |is_up| (0..count).map(move |at| (is_up, at)));
    all().flat_map(move |one| all().filter(move |other| one <= *other).map(move |other| [one, other]))
}
