//! Message sequences: 32-bit serial numbers that wrap (RFC 1982), so that a channel never runs out of them.

/// The sequence of a message in its channel and direction. Comparison is by distance, so only sequences less than 2^31
/// apart can be compared; windows keep them far closer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Seq(pub u32);

impl Seq {
    /// The sequence after this one.
    pub(crate) const fn next(self) -> Seq {
        self.plus(1)
    }

    /// The sequence `count` later.
    pub(crate) const fn plus(self, count: u32) -> Seq {
        Seq(self.0.wrapping_add(count))
    }

    /// How many sequences `self` is after `earlier`; negative if it is before.
    pub(crate) const fn distance_from(self, earlier: Seq) -> i32 {
        self.0.wrapping_sub(earlier.0) as i32
    }

    /// Whether `self` comes after `other`.
    pub(crate) const fn is_after(self, other: Seq) -> bool {
        self.distance_from(other) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::Seq;

    #[test]
    fn order_survives_wraparound() {
        let last = Seq(u32::MAX);
        assert_eq!(last.next(), Seq(0));
        assert!(last.next().is_after(last));
        assert!(!last.is_after(last.next()));
        assert_eq!(Seq(3).distance_from(Seq(u32::MAX - 1)), 5);
    }
}
