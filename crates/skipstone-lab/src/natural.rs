//! The natural order of names: client 2 before client 10. For lists that people read.

use std::cmp::Ordering;

/// Compares two names run by run: digits by their number, letters without regard to ASCII case. Names that differ in
/// case or in leading zeros alone are in the order of their bytes, so that only equal names are equal.
pub fn natural(one: &str, other: &str) -> Ordering {
    let (one_runs, other_runs) = (runs(one), runs(other));
    one_runs.cmp(other_runs).then_with(|| one.cmp(other))
}

fn runs(name: &str) -> impl Iterator<Item = Run<'_>> {
    name.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).map(Run)
}

/// Bytes that are all digits, or none of them is.
struct Run<'a>(&'a [u8]);

impl Run<'_> {
    /// The digits without leading zeros; `None` for letters.
    fn digits(&self) -> Option<&[u8]> {
        let zeros = self.0.iter().take_while(|digit| **digit == b'0').count();
        self.0[0].is_ascii_digit().then(|| &self.0[zeros..])
    }

    fn lower(&self) -> impl Iterator<Item = u8> {
        self.0.iter().map(u8::to_ascii_lowercase)
    }
}

impl Ord for Run<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.digits(), other.digits()) {
            // Of two numbers the one with more digits is greater, however long they are.
            (Some(one), Some(two)) => one.len().cmp(&two.len()).then_with(|| one.cmp(two)),
            _ => self.lower().cmp(other.lower()),
        }
    }
}

impl PartialOrd for Run<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Run<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Run<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_in_natural_order() {
        let ordered = ["", "7", "007x", "10", "Ada", "ada", "bob", "client 2", "client 10", "client 10b", "Zoë", "é"];
        let mut shuffled = ordered;
        shuffled.reverse();
        shuffled.sort_by(|one, other| natural(one, other));
        assert_eq!(shuffled, ordered);
        assert_eq!(natural(&"9".repeat(60), "10"), Ordering::Greater);
        assert_eq!(natural("a01", "a1"), Ordering::Less);
    }
}
