//! Sequence numbers of 15 bits, which wrap.

/// The number of a packet of one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sequence(u16);

const COUNT: u16 = 1 << 15;

impl Sequence {
    /// From the wire; other numbers are invalid.
    pub(super) fn decode(number: u16) -> Option<Self> {
        (number < COUNT).then_some(Sequence(number))
    }

    pub(super) fn encode(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }

    pub(super) fn plus(self, count: u16) -> Self {
        Sequence(self.0.wrapping_add(count) % COUNT)
    }

    pub(super) fn next(self) -> Self {
        self.plus(1)
    }

    /// How far it is ahead of `base`, below zero if behind.
    pub(super) fn ahead_of(self, base: Self) -> i32 {
        let half = i32::from(COUNT) / 2;
        (i32::from(self.0) - i32::from(base.0) + half).rem_euclid(COUNT.into()) - half
    }

    /// Its place among `size` places, a power of two.
    pub(super) fn place(self, size: usize) -> usize {
        usize::from(self.0) % size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_at_15_bits() {
        let last = Sequence::decode(32_767).expect("valid");
        assert_eq!(Sequence::decode(32_768), None);
        assert_eq!(last.next(), Sequence::default());
        assert_eq!(last.next().ahead_of(last), 1);
        assert_eq!(last.ahead_of(last.next()), -1);
        assert_eq!(Sequence(16_384).ahead_of(Sequence(0)), -16_384);
    }
}
