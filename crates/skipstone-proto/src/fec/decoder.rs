//! The receiving side: the last packets, and the repairs that cover one that is missing.

use super::encoder::SPAN_MAX;
use super::symbol;
use crate::wire::ack::PacketRanges;
use std::collections::VecDeque;

/// Keeps the contents of the last packets, and equations about those that are missing.
#[derive(Debug, Default)]
pub struct Decoder {
    /// A ring by packet number, whose size is a power of two and follows what repairs span.
    slots: Vec<Slot>,
    equations: Vec<Equation>,
    repaired: VecDeque<Repaired>,
    /// Repairs that turned out to be wrong.
    lies: u64,
    packets_since_repair: u32,
}

#[derive(Debug, Default)]
struct Slot {
    /// The packet's number plus one; 0 if there is none.
    number: u64,
    symbol: Vec<u8>,
}

/// What a repair says of packets that are missing: the symbol is what their symbols add up to.
#[derive(Debug)]
struct Equation {
    index: u8,
    unknown: Vec<u64>,
    symbol: Vec<u8>,
}

/// A packet that was made again.
#[derive(Debug)]
pub struct Repaired {
    /// Its number.
    pub number: u64,
    /// Its frames, without acknowledgements.
    pub content: Vec<u8>,
}

/// Packets missing in one equation, at most: whoever has lost more waits for copies.
const UNKNOWN_MAX: usize = 32;
/// Equations that wait for another, at most; the oldest goes first.
const EQUATIONS_MAX: usize = 32;
/// Packets after which a decoder that saw no repair is no longer needed.
const QUIET_MAX: u32 = 512;
const SLOTS_MIN: usize = 32;

impl Decoder {
    /// A packet came with this content.
    pub fn on_source(&mut self, number: u64, content: &[u8]) {
        self.packets_since_repair += 1;
        let Some(slot) = self.slot_mut(number) else { return };
        if slot.number > number {
            return;
        }
        slot.number = number + 1;
        symbol::write(&mut slot.symbol, number, content);
        self.substitute(number);
        self.solve();
    }

    /// A repair came. `is_received` tells which packets came, with content or without. What can be made again now is
    /// given by [`Decoder::poll_repaired`].
    pub fn on_repair(&mut self, index: u8, covers: PacketRanges<'_>, symbol: &[u8], is_received: impl Fn(u64) -> bool) {
        self.packets_since_repair = 0;
        let span = covers
            .clone()
            .flatten()
            .fold((u64::MAX, 0), |(oldest, newest), range| (oldest.min(*range.start()), newest.max(*range.end())));
        if span.1 - span.0 > SPAN_MAX {
            self.lies += 1;
            return;
        }
        self.grow((span.1 - span.0) as usize + 1);
        let unknown = |number: &u64| self.slot(*number).is_none();
        let unknown: Vec<u64> = covers.clone().flatten().flatten().filter(unknown).take(UNKNOWN_MAX + 1).collect();
        // What came before the first repair did is not kept.
        let is_useless = unknown.iter().any(|number| is_received(*number));
        if unknown.is_empty() || unknown.len() > UNKNOWN_MAX || is_useless {
            return;
        }
        let mut equation = Equation { index, unknown, symbol: symbol.to_vec() };
        for number in covers.flatten().flatten() {
            if let Some(known) = self.slot(number)
                && !equation.subtract(number, known)
            {
                self.lies += 1;
                return;
            }
        }
        if self.equations.len() == EQUATIONS_MAX {
            self.equations.remove(0);
        }
        self.equations.push(equation);
        self.solve();
    }

    /// The next packet that was made again.
    pub fn poll_repaired(&mut self) -> Option<Repaired> {
        self.repaired.pop_front()
    }

    /// Repairs that turned out to be wrong since the last call.
    pub fn take_lies(&mut self) -> u64 {
        core::mem::take(&mut self.lies)
    }

    /// Whether the peer has not sent a repair for so long that this can be forgotten.
    pub fn is_idle(&self) -> bool {
        self.packets_since_repair > QUIET_MAX
    }

    /// Makes again what the equations determine: first what is alone in one, then by elimination.
    fn solve(&mut self) {
        while let Some(alone) = self.equations.iter().position(|equation| equation.unknown.len() == 1) {
            let mut equation = self.equations.remove(alone);
            let number = equation.unknown[0];
            let factor = skipstone_gf256::coefficient(equation.index, number);
            let inverse = skipstone_gf256::inverse(factor).expect("a coefficient is not 0");
            skipstone_gf256::scale(&mut equation.symbol, inverse);
            self.on_solved(number, &equation.symbol);
        }
        if self.equations.len() > 1 {
            self.eliminate();
        }
    }

    fn eliminate(&mut self) {
        let mut unknown: Vec<u64> = self.equations.iter().flat_map(|equation| &equation.unknown).copied().collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown.truncate(skipstone_gf256::UNKNOWNS_MAX);
        let longest = self.equations.iter().map(|equation| equation.symbol.len()).max().unwrap_or(0);
        let within = |equation: &&Equation| equation.unknown.iter().all(|number| unknown.binary_search(number).is_ok());
        let matrix = self.equations.iter().filter(within).map(|equation| {
            let coefficient = |number: &u64| match equation.unknown.contains(number) {
                true => skipstone_gf256::coefficient(equation.index, *number),
                false => 0,
            };
            let mut symbol = equation.symbol.clone();
            symbol.resize(longest, 0);
            skipstone_gf256::Equation { coefficients: unknown.iter().map(coefficient).collect(), symbol }
        });
        let mut matrix: Vec<_> = matrix.collect();
        let solved = skipstone_gf256::solve(&mut matrix);
        for (number, row) in unknown.iter().zip(solved) {
            if let Some(row) = row {
                self.on_solved(*number, &matrix[row].symbol);
            }
        }
    }

    /// The equations say that this is the symbol of a packet. If they lie, none that names it can be trusted.
    fn on_solved(&mut self, number: u64, symbol: &[u8]) {
        let Some(content) = symbol::content(number, symbol) else {
            self.lies += 1;
            self.equations.retain(|equation| !equation.unknown.contains(&number));
            return;
        };
        self.repaired.push_back(Repaired { number, content: content.to_vec() });
        if let Some(slot) = self.slot_mut(number)
            && slot.number <= number
        {
            slot.number = number + 1;
            symbol::write(&mut slot.symbol, number, content);
        }
        self.substitute(number);
    }

    /// A packet is known now: takes it out of every equation.
    fn substitute(&mut self, number: u64) {
        if self.equations.is_empty() {
            return;
        }
        let mask = self.slots.len() as u64 - 1;
        let known = &self.slots[(number & mask) as usize].symbol;
        let lies = &mut self.lies;
        self.equations.retain_mut(|equation| {
            let Some(at) = equation.unknown.iter().position(|unknown| *unknown == number) else { return true };
            equation.unknown.swap_remove(at);
            let is_possible = equation.subtract(number, known);
            *lies += u64::from(!is_possible);
            is_possible && !equation.unknown.is_empty()
        });
    }

    /// The symbol of a packet, if it is here.
    fn slot(&self, number: u64) -> Option<&[u8]> {
        let mask = (self.slots.len() as u64).checked_sub(1)?;
        let slot = &self.slots[(number & mask) as usize];
        (slot.number == number + 1).then_some(&slot.symbol[..])
    }

    fn slot_mut(&mut self, number: u64) -> Option<&mut Slot> {
        let mask = (self.slots.len() as u64).checked_sub(1)?;
        Some(&mut self.slots[(number & mask) as usize])
    }

    /// Makes room for a repair that spans so many numbers, twice: packets come before the repairs that cover them.
    fn grow(&mut self, span: usize) {
        let wanted = (span * 2).next_power_of_two().max(SLOTS_MIN);
        if wanted <= self.slots.len() {
            return;
        }
        let mut slots: Vec<Slot> = (0..wanted).map(|_| Slot::default()).collect();
        for slot in self.slots.drain(..).filter(|slot| slot.number > 0) {
            let at = (slot.number - 1) as usize & (wanted - 1);
            slots[at] = slot;
        }
        self.slots = slots;
    }
}

impl Equation {
    /// Takes a known symbol out. False if it is longer than the sum that it should be part of.
    fn subtract(&mut self, number: u64, known: &[u8]) -> bool {
        let is_possible = known.len() <= self.symbol.len();
        if is_possible {
            skipstone_gf256::mul_add(&mut self.symbol, known, skipstone_gf256::coefficient(self.index, number));
        }
        is_possible
    }
}
