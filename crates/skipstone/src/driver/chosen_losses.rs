//! Which datagrams a test's network loses: chosen ones, by their places in their directions.

/// Whether a datagram goes towards the server, and its place among those of that direction.
pub(super) type Datagram = (bool, usize);

#[derive(Debug, Default)]
pub(super) struct ChosenLosses {
    pub(super) lost: Vec<Datagram>,
    /// Datagrams so far: from the server, towards it.
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

/// Every two of the first datagrams of both directions, and every single one, twice.
pub(super) fn pairs_of_first(count: usize) -> impl Iterator<Item = [Datagram; 2]> {
    let all = move || [false, true].into_iter().flat_map(move |is_up| (0..count).map(move |at| (is_up, at)));
    all().flat_map(move |one| all().filter(move |other| one <= *other).map(move |other| [one, other]))
}
