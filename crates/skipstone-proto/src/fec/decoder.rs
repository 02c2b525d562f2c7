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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fec::Encoder;
    use crate::rng::Rng;
    use crate::wire::cursor::Writer;
    use crate::wire::frame::{Frame, Frames};
    use std::collections::BTreeMap;

    /// What leaves: sources and repairs under one count of numbers, as on the wire.
    enum Sent {
        Source(u64, Vec<u8>),
        Repair(u64, Vec<u8>),
    }

    struct Sender {
        encoder: Encoder,
        next: u64,
    }

    impl Sender {
        fn source(&mut self, rng: &mut Rng, length_max: u32) -> Sent {
            let content: Vec<u8> = (0..1 + rng.below(length_max)).map(|_| rng.next_u64() as u8).collect();
            self.encoder.on_source(self.next, &content);
            self.next += 1;
            Sent::Source(self.next - 1, content)
        }

        fn repair(&mut self) -> Sent {
            let mut buffer = vec![0; 2_000];
            let mut writer = Writer::new(&mut buffer);
            assert!(self.encoder.write_repair(self.next, &mut writer), "there is something to repair");
            self.next += 1;
            Sent::Repair(self.next - 1, writer.written().to_vec())
        }
    }

    #[derive(Default)]
    struct Receiver {
        decoder: Decoder,
        got: BTreeMap<u64, Vec<u8>>,
        repaired: usize,
    }

    impl Receiver {
        /// A receiver that has seen a repair, and so keeps packets.
        fn awake(sender: &mut Sender) -> Self {
            let mut receiver = Receiver::default();
            sender.encoder.on_source(sender.next, b"x");
            receiver.take(&Sent::Source(sender.next, b"x".to_vec()));
            sender.next += 1;
            let repair = sender.repair();
            receiver.take(&repair);
            sender.encoder.on_repairs_sent();
            receiver
        }

        fn take(&mut self, sent: &Sent) {
            match sent {
                Sent::Source(number, content) => {
                    // The connection drops a packet that was made again.
                    if !self.got.contains_key(number) {
                        self.decoder.on_source(*number, content);
                        self.got.insert(*number, content.clone());
                    }
                }
                Sent::Repair(number, bytes) => {
                    let Some(Ok(Frame::Repair(repair))) = Frames::new(bytes).next() else { panic!("not a repair") };
                    let (covers, got) = (repair.covers(*number).expect("above 0"), &self.got);
                    self.decoder.on_repair(repair.index, covers, repair.symbol, |number| got.contains_key(&number));
                }
            }
            while let Some(Repaired { number, content }) = self.decoder.poll_repaired() {
                assert!(self.got.insert(number, content).is_none(), "{number} was here");
                self.repaired += 1;
            }
        }
    }

    fn awake(first: u64) -> (Sender, Receiver) {
        let mut sender = Sender { encoder: Encoder::default(), next: first };
        let receiver = Receiver::awake(&mut sender);
        (sender, receiver)
    }

    fn pick(rng: &mut Rng, from: usize, count: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..from).collect();
        (0..count).map(|_| places.remove(rng.below(places.len() as u32) as usize)).collect()
    }

    #[test]
    fn any_n_losses_come_back_from_n_repairs_in_any_order() {
        let mut rng = Rng::new(1);
        for round in 0..300 {
            let (mut sender, mut receiver) = awake(u64::from(rng.below(1 << 20)));
            // No more than an equation may lack: repairs come before sources, too.
            let sources = 1 + rng.below(SLOTS_MIN as u32 - 2) as usize;
            let repairs = 1 + rng.below(12) as usize;
            let mut sent: Vec<Sent> = (0..sources).map(|_| sender.source(&mut rng, 1_400)).collect();
            sent.extend((0..repairs).map(|_| sender.repair()));
            // Of sources and repairs together, as many as there are repairs.
            let lost = pick(&mut rng, sources + repairs, repairs);
            let order = pick(&mut rng, sources + repairs, sources + repairs);
            order.iter().filter(|place| !lost.contains(place)).for_each(|place| receiver.take(&sent[*place]));
            for sent in &sent {
                let Sent::Source(number, content) = sent else { continue };
                assert_eq!(receiver.got.get(number), Some(content), "round {round}, packet {number}");
            }
            let lost_sources = lost.iter().filter(|place| **place < sources).count();
            assert!(receiver.repaired >= lost_sources, "some may come after they were made again");
            assert_eq!(receiver.decoder.take_lies(), 0);
        }
    }

    #[test]
    fn a_window_that_slides_brings_back_what_later_repairs_cover() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let (mut sender, mut receiver) = awake(u64::from(rng.below(1_000)));
            let mut lost = 0;
            for burst in 0..200 {
                sender.encoder.begin_burst();
                let mut sent: Vec<Sent> = (0..4).map(|_| sender.source(&mut rng, 200)).collect();
                sent.push(sender.repair());
                // Two of one burst, then two bursts of which everything comes: the repairs of three cover them.
                let losses = if burst % 3 == 0 { pick(&mut rng, 4, 2) } else { vec![] };
                lost += losses.len();
                (0..sent.len()).filter(|at| !losses.contains(at)).for_each(|at| receiver.take(&sent[at]));
            }
            // The last of them wait for what no longer comes.
            assert!(receiver.repaired >= lost - 2, "seed {seed}: {} of {lost}", receiver.repaired);
            assert_eq!(receiver.decoder.take_lies(), 0);
        }
    }

    #[test]
    fn what_a_lie_makes_is_dropped_and_the_truth_still_works() {
        let mut rng = Rng::new(3);
        for _ in 0..300 {
            let (mut sender, mut receiver) = awake(100);
            let sent: Vec<Sent> = (0..6).map(|_| sender.source(&mut rng, 60)).collect();
            let Sent::Repair(number, mut lie) = sender.repair() else { panic!("not a repair") };
            let at = lie.len() - 1 - rng.below(20) as usize;
            lie[at] ^= 1 + rng.below(255) as u8;
            sent[1..].iter().for_each(|sent| receiver.take(sent));
            receiver.take(&Sent::Repair(number, lie));
            assert_eq!((receiver.repaired, receiver.decoder.take_lies()), (0, 1));
            receiver.take(&sender.repair());
            let Sent::Source(number, content) = &sent[0] else { panic!("not a source") };
            assert_eq!((receiver.got.get(number), receiver.decoder.take_lies()), (Some(content), 0));
        }
    }

    #[test]
    fn what_is_held_is_bounded_and_forgotten_in_quiet_times() {
        let mut rng = Rng::new(4);
        let (mut sender, mut receiver) = awake(0);
        for _ in 0..2_000 {
            let source = sender.source(&mut rng, 20);
            let repair = sender.repair();
            if rng.chance(0.5) {
                receiver.take(&source);
            }
            receiver.take(&repair);
            receiver.take(&repair);
            assert!(receiver.decoder.equations.len() <= EQUATIONS_MAX && receiver.decoder.slots.len() <= 512);
        }
        assert!(!receiver.decoder.is_idle());
        for number in 0..=u64::from(QUIET_MAX) {
            receiver.take(&Sent::Source(1_000_000 + number, vec![1]));
        }
        assert!(receiver.decoder.is_idle());
    }
}
