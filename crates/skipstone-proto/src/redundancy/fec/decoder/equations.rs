//! The equations that repair packets give for the missing packets, always solved as far as possible: a reduced row
//! echelon form that takes one equation after the other.
//!
//! Each row's oldest unknown, its lead, has the factor 1 there and 0 in all other rows. So a row determines all that it
//! can as soon as it is inserted, an unknown that the rows determine is the only one of its row, and an unknown that is
//! too old is removed with the row that it leads: no other row contains it. A row costs at most two additions per other
//! row, a packet that arrives late at most one per row, and a packet that changes no row costs none.

use skipstone_gf256::{inverse, mul_add, scale};

/// The equations. Memory is reused and bounded: rows by [`BYTES_MAX`], buffers for reuse by about the same.
#[derive(Debug, Default)]
pub(super) struct Equations {
    rows: Vec<Equation>,
    spare: Vec<Vec<u8>>,
    /// Additions to rows that no longer exist.
    #[cfg(test)]
    additions: u64,
}

/// The sum of unknown symbols, each times its factor, and the bytes that it amounts to.
#[derive(Debug)]
pub(super) struct Equation {
    /// The oldest unknown.
    lead: u64,
    /// The factors, by packet number modulo [`HORIZON`], then the sum.
    bytes: Vec<u8>,
    #[cfg(test)]
    additions: u64,
}

/// A contradiction: one of the equations that were added up in this row is invalid, and it is unknown which.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contradiction;

/// An unknown may be this many packets older than the newest, less one. A multiple of the width of vector instructions.
pub(super) const HORIZON: u64 = 256;
const FACTORS: usize = HORIZON as usize;
/// Rows at most; the one with the oldest lead goes first.
pub(super) const ROWS_MAX: usize = 64;
/// Bytes of all rows: enough for the maximum number of rows with full datagrams on Ethernet. Fewer rows if datagrams
/// are larger.
pub(super) const BYTES_MAX: usize = 128 * 1_024;
/// A buffer up to this length is reused: a little more than such a row.
const SPARE_BYTES_MAX: usize = 2_048;

impl Equations {
    /// A row that equates an empty sum with this symbol; [`Equation::subtract`] and [`Equation::lack`] complete it.
    pub(super) fn row(&mut self, symbol: &[u8]) -> Equation {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.reserve_exact(FACTORS + symbol.len());
        bytes.resize(FACTORS, 0);
        bytes.extend_from_slice(symbol);
        Equation {
            lead: 0,
            bytes,
            #[cfg(test)]
            additions: 0,
        }
    }

    /// Gives back a row that is not inserted.
    pub(super) fn reuse(&mut self, row: Equation) {
        #[cfg(test)]
        {
            self.additions += row.additions;
        }
        if row.bytes.capacity() <= SPARE_BYTES_MAX && self.spare.len() < ROWS_MAX {
            self.spare.push(row.bytes);
        }
    }

    /// Adds a row, whose unknowns are not beyond the horizon.
    pub(super) fn insert(&mut self, mut row: Equation, newest: u64) -> Result<(), Contradiction> {
        for other in &self.rows {
            row.add(other, row.factor(other.lead));
        }
        let Some(lead) = row.oldest_unknown(newest) else {
            let is_possible = row.symbol().iter().all(|byte| *byte == 0);
            self.reuse(row);
            return is_possible.then_some(()).ok_or(Contradiction); // follows from the others
        };
        row.lead = lead;
        let to_one = inverse(row.factor(lead)).expect("an unknown's factor is not 0");
        scale(&mut row.bytes, to_one);
        self.make_room(row.bytes.len());
        for other in &mut self.rows {
            other.add(&row, other.factor(lead));
        }
        self.rows.push(row);
        Ok(())
    }

    /// Whether a packet within the horizon is an unknown.
    pub(super) fn is_unknown(&self, number: u64) -> bool {
        self.rows.iter().any(|row| row.factor(number) != 0)
    }

    /// An unknown became known.
    pub(super) fn substitute(&mut self, number: u64, known: &[u8], newest: u64) -> Result<(), Contradiction> {
        for row in &mut self.rows {
            let factor = row.factor(number);
            row.subtract(known, factor)?;
            row.lack(number, 0);
        }
        match self.rows.iter().position(|row| row.lead == number) {
            Some(at) => {
                let row = self.rows.swap_remove(at);
                self.insert(row, newest)
            }
            None => Ok(()),
        }
    }

    /// Takes out each unknown that is the only one of its row, with its symbol, until `take` refuses one.
    pub(super) fn take_solved(
        &mut self,
        mut take: impl FnMut(u64, &[u8]) -> Result<(), Contradiction>,
    ) -> Result<(), Contradiction> {
        let mut at = 0;
        while at < self.rows.len() {
            if self.rows[at].is_solved() {
                let row = self.rows.swap_remove(at);
                let result = take(row.lead, row.symbol());
                self.reuse(row);
                result?;
            } else {
                at += 1;
            }
        }
        Ok(())
    }

    /// Removes the rows that contain a packet which is now beyond the horizon.
    pub(super) fn forget_beyond_horizon(&mut self, newest: u64) {
        while let Some(at) = self.rows.iter().position(|row| row.lead + HORIZON <= newest) {
            self.remove(at);
        }
    }

    /// Removes all rows.
    pub(super) fn clear(&mut self) {
        while let Some(row) = self.rows.pop() {
            self.reuse(row);
        }
    }

    /// Makes room for a row of `length` bytes, to which others may be lengthened.
    fn make_room(&mut self, length: usize) {
        let longest = self.rows.iter().map(|row| row.bytes.len()).fold(length, usize::max);
        let room = (BYTES_MAX / longest).clamp(1, ROWS_MAX);
        while self.rows.len() >= room {
            let oldest = (0..self.rows.len()).min_by_key(|at| self.rows[*at].lead).expect("there are rows");
            self.remove(oldest);
        }
    }

    fn remove(&mut self, at: usize) {
        let row = self.rows.swap_remove(at);
        self.reuse(row);
    }

    /// Memory, about: rows are as long as the longest, or shorter.
    pub(super) fn memory_bytes(&self) -> u64 {
        let longest = self.rows.first().map_or(0, |row| row.bytes.capacity());
        (self.rows.len() * longest + self.spare.len() * SPARE_BYTES_MAX) as u64
    }

    /// Rows, and the bytes that they and those that were hold on to.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        let buffers = self.rows.iter().map(|row| &row.bytes).chain(&self.spare);
        (self.rows.len(), buffers.map(Vec::capacity).sum())
    }

    /// How often symbols were added up.
    #[cfg(test)]
    pub(super) fn additions(&self) -> u64 {
        self.additions + self.rows.iter().map(|row| row.additions).sum::<u64>()
    }
}

impl Equation {
    /// The sum has this packet's symbol in it, times the factor, and it is known. An error if it is longer than the
    /// sum.
    pub(super) fn subtract(&mut self, known: &[u8], factor: u8) -> Result<(), Contradiction> {
        let sum = &mut self.bytes[FACTORS..];
        if factor == 0 {
            return Ok(());
        }
        if known.len() > sum.len() {
            return Err(Contradiction);
        }
        mul_add(sum, known, factor);
        #[cfg(test)]
        {
            self.additions += 1;
        }
        Ok(())
    }

    /// The sum contains the factor times this packet's symbol, which is unknown.
    pub(super) fn lack(&mut self, number: u64, factor: u8) {
        self.bytes[(number % HORIZON) as usize] = factor;
    }

    fn factor(&self, number: u64) -> u8 {
        self.bytes[(number % HORIZON) as usize]
    }

    fn symbol(&self) -> &[u8] {
        &self.bytes[FACTORS..]
    }

    /// Adds another row times a factor.
    fn add(&mut self, other: &Equation, factor: u8) {
        if factor == 0 {
            return;
        }
        if self.bytes.len() < other.bytes.len() {
            self.bytes.reserve_exact(other.bytes.len() - self.bytes.len());
            self.bytes.resize(other.bytes.len(), 0);
        }
        mul_add(&mut self.bytes, &other.bytes, factor);
        #[cfg(test)]
        {
            self.additions += 1;
        }
    }

    fn oldest_unknown(&self, newest: u64) -> Option<u64> {
        (newest.saturating_sub(HORIZON - 1)..=newest).find(|number| self.factor(*number) != 0)
    }

    fn is_solved(&self) -> bool {
        self.bytes[..FACTORS].iter().filter(|factor| **factor != 0).count() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeSet;

    const LENGTH: usize = 16;

    fn symbols(rng: &mut Rng) -> Vec<Vec<u8>> {
        (0..HORIZON + 100).map(|_| (0..LENGTH).map(|_| rng.next_u64() as u8).collect()).collect()
    }

    /// The unknowns that all equations together determine, by the solver that sees them at once.
    fn determined(sums: &[BTreeSet<u64>], indices: &[u8], known: &BTreeSet<u64>) -> BTreeSet<u64> {
        let unknown: BTreeSet<u64> = sums.iter().flatten().filter(|number| !known.contains(number)).copied().collect();
        let factor = |sum: &BTreeSet<u64>, index: u8, number: &u64| match sum.contains(number) {
            true => skipstone_gf256::coefficient(index, *number),
            false => 0,
        };
        let row = |(sum, index): (&BTreeSet<u64>, &u8)| skipstone_gf256::Equation {
            coefficients: unknown.iter().map(|number| factor(sum, *index, number)).collect(),
            symbol: Vec::new(),
        };
        let mut rows: Vec<_> = sums.iter().zip(indices).map(row).collect();
        let solved = skipstone_gf256::solve(&mut rows);
        unknown.iter().zip(solved).filter_map(|(number, row)| row.map(|_| *number)).collect()
    }

    #[test]
    fn incremental_elimination_finds_everything_that_full_elimination_finds() {
        let mut found = 0;
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let symbols = symbols(&mut rng);
            let (mut equations, mut newest) = (Equations::default(), 40);
            let (mut sums, mut indices, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
            for step in 0..60_u8 {
                if rng.chance(0.5) {
                    newest += u64::from(rng.below(2));
                    let from = newest - 1 - u64::from(rng.below(12));
                    let sum: BTreeSet<u64> = (from..=newest).collect();
                    let mut row = equations.row(&[0; LENGTH]);
                    for number in &sum {
                        let factor = skipstone_gf256::coefficient(step, *number);
                        let symbol = &symbols[*number as usize];
                        row.subtract(symbol, factor).expect("as long as the sum");
                        match known.contains(number) {
                            true => row.subtract(symbol, factor).expect("as long as the sum"),
                            false => row.lack(*number, factor),
                        }
                    }
                    equations.insert(row, newest).expect("it is true");
                    sums.push(sum);
                    indices.push(step);
                } else {
                    let number = newest - u64::from(rng.below(20));
                    if known.insert(number) {
                        equations.substitute(number, &symbols[number as usize], newest).expect("it is true");
                    }
                }
                let expected = determined(&sums, &indices, &known);
                let mut solved = BTreeSet::new();
                let take = |number: u64, symbol: &[u8]| {
                    assert_eq!(symbol, symbols[number as usize], "seed {seed}, packet {number}");
                    solved.insert(number);
                    Ok(())
                };
                equations.take_solved(take).expect("they are true");
                assert_eq!(solved, expected, "seed {seed}, step {step}");
                found += solved.len();
                known.append(&mut solved);
            }
        }
        assert!(found > 500, "{found}");
    }

    #[test]
    fn rows_and_their_bytes_are_bounded_and_the_oldest_are_evicted() {
        for length in [7, 1_470, 9_000, 65_000] {
            let mut rng = Rng::new(1);
            let mut equations = Equations::default();
            for number in 1_000..1_200 {
                let symbol: Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
                let mut row = equations.row(&symbol);
                (0..3).for_each(|back| row.lack(number - back, 1 + rng.below(255) as u8));
                equations.insert(row, number).expect("they are independent");
            }
            let (rows, bytes) = equations.size();
            assert_eq!(rows, (BYTES_MAX / (FACTORS + length)).min(ROWS_MAX));
            assert!(bytes <= 2 * BYTES_MAX, "{length}: {bytes}");
            let oldest = equations.rows.iter().map(|row| row.lead).min();
            assert_eq!(oldest, Some(1_198 - rows as u64));
        }
    }

    #[test]
    fn contradictory_equations_are_detected() {
        let mut equations = Equations::default();
        let mut insert = |symbol: &[u8]| {
            let mut row = equations.row(symbol);
            (1..4).for_each(|number| row.lack(number, number as u8));
            equations.insert(row, 5)
        };
        assert_eq!(insert(&[1; 7]), Ok(()));
        assert_eq!(insert(&[1; 7]), Ok(()), "it says the same");
        assert_eq!(insert(&[2; 7]), Err(Contradiction));
        assert_eq!(equations.substitute(2, &[1; 8], 5), Err(Contradiction), "longer than the sum");
    }
}
