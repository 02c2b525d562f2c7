//! The receiving side: the last packets, and the repairs that cover one that is missing.
//!
//! **Work.** A packet for which no repair waits is only copied. A packet that repairs wait for costs at most 64
//! additions of symbols. A REPAIR costs one addition for each packet that it covers, 181 at most, and 128 more. Each
//! immediately recovers everything that it makes recoverable. A REPAIR within a recovered packet is refused, so that no
//! REPAIR leads to another.
//!
//! **Memory.** 384 KiB of packets, 128 KiB of repairs and as much for reuse, however large datagrams are. Only
//! recovered packets need new allocations.
//!
//! `store` keeps packets, `equations` keeps repairs.

mod equations;
mod store;

use super::encoder::SPAN_MAX;
use super::symbol;
use crate::wire::ack::PacketRanges;
use equations::{Contradiction, Equations, HORIZON};
use std::collections::VecDeque;
use store::Store;

/// Keeps the contents of the last packets, and equations about those that are missing.
#[derive(Debug, Default)]
pub struct Decoder {
    store: Store,
    equations: Equations,
    /// The newest packet that arrived or is covered.
    newest: u64,
    scratch: Vec<u8>,
    repaired: VecDeque<RecoveredPacket>,
    /// Packets that were recovered are being taken.
    is_polled: bool,
    /// Number of repairs that turned out to be invalid.
    invalid_repairs: u64,
}

/// A packet that was recovered.
#[derive(Debug)]
pub struct RecoveredPacket {
    /// Its number.
    pub number: u64,
    /// Its frames, without acknowledgements.
    pub content: Vec<u8>,
}

impl Decoder {
    /// A packet arrived with this content.
    pub fn on_source(&mut self, number: u64, content: &[u8]) {
        if self.store.is_closed() {
            return;
        }
        self.advance(number);
        self.store.on_packet();
        self.store.keep(number, content);
        if self.is_within_horizon(number) && self.equations.is_unknown(number) {
            symbol::write(&mut self.scratch, number, content);
            let result = self.equations.substitute(number, &self.scratch, self.newest);
            self.conclude(result);
        }
    }

    /// Handles a repair packet. `is_received` returns whether a packet was received, with content or without.
    /// [`Decoder::poll_recovered`] returns the packets that can now be recovered.
    pub fn on_repair(&mut self, index: u8, covers: PacketRanges<'_>, symbol: &[u8], is_received: impl Fn(u64) -> bool) {
        let (oldest, newest) = covers
            .clone()
            .flatten()
            .fold((u64::MAX, 0), |(oldest, newest), range| (oldest.min(*range.start()), newest.max(*range.end())));
        if newest.checked_sub(oldest).is_none_or(|span| span > SPAN_MAX) || self.is_polled {
            self.invalid_repairs += 1;
            return;
        }
        self.store.on_repair((newest - oldest) as usize + 1);
        self.advance(newest);
        let mut unknown = covers.clone().flatten().flatten().filter(|number| self.store.get(*number).is_none());
        // A packet that arrived and is not kept, or that is beyond the horizon, will never be known.
        let is_lost = |number: u64| !is_received(number) && self.is_within_horizon(number);
        if !unknown.clone().all(is_lost) || unknown.next().is_none() {
            return;
        }
        let mut row = self.equations.row(symbol);
        for number in covers.flatten().flatten() {
            let factor = skipstone_gf256::coefficient(index, number);
            match self.store.get(number) {
                Some(known) => {
                    if row.subtract(known, factor).is_err() {
                        self.invalid_repairs += 1;
                        return self.equations.reuse(row);
                    }
                }
                None => row.lack(number, factor),
            }
        }
        let result = self.equations.insert(row, self.newest);
        self.conclude(result);
    }

    /// The next recovered packet. Call it until there is none, before any other input.
    pub fn poll_recovered(&mut self) -> Option<RecoveredPacket> {
        let repaired = self.repaired.pop_front();
        self.is_polled = repaired.is_some();
        repaired
    }

    /// Number of invalid repairs since the last call.
    pub fn take_invalid(&mut self) -> u64 {
        core::mem::take(&mut self.invalid_repairs)
    }

    /// Whether nothing is kept, so that the decoder can be dropped: no repair arrived, or all were refused. After an
    /// accepted repair, the sender may rely on the packets sent since, even if it sends no other repair for long.
    pub fn is_idle(&self) -> bool {
        self.store.is_closed()
    }

    /// Memory of the kept packets and repairs.
    pub fn memory_bytes(&self) -> u64 {
        self.store.memory_bytes() + self.equations.memory_bytes()
    }

    fn advance(&mut self, number: u64) {
        if number > self.newest {
            self.newest = number;
            self.equations.forget_beyond_horizon(number);
        }
    }

    fn is_within_horizon(&self, number: u64) -> bool {
        self.newest - number < HORIZON
    }

    /// Takes the determined packets out of the equations. One invalid result means that an added-up equation is
    /// invalid, and any of them may be: then none can be trusted.
    fn conclude(&mut self, result: Result<(), Contradiction>) {
        let before = self.repaired.len();
        let result = result.and_then(|()| {
            self.equations.take_solved(|number, symbol| {
                let content = symbol::content(number, symbol).ok_or(Contradiction)?;
                self.store.keep(number, content);
                self.repaired.push_back(RecoveredPacket { number, content: content.to_vec() });
                Ok(())
            })
        });
        if result.is_err() {
            self.invalid_repairs += 1;
            self.equations.clear();
        }
        if self.repaired.len() > before + 1 {
            self.repaired.make_contiguous().sort_unstable_by_key(|repaired| repaired.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redundancy::fec::Encoder;
    use crate::rng::Rng;
    use crate::wire::cursor::Writer;
    use crate::wire::frame::{Frame, Frames};
    use crate::wire::repair::encode_repair_header;
    use std::collections::BTreeMap;

    /// The packets sent: sources and repairs under one count of numbers, as on the wire.
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
                    // The connection drops a packet that was recovered.
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
            while let Some(RecoveredPacket { number, content }) = self.decoder.poll_recovered() {
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
    fn any_n_losses_are_recovered_from_n_repairs_in_any_order() {
        let mut rng = Rng::new(1);
        for round in 0..300 {
            let (mut sender, mut receiver) = awake(u64::from(rng.below(1 << 20)));
            // The receiver has seen large windows: sources arrive before the first repair that covers them.
            receiver.decoder.store.on_repair(128);
            let sources = 1 + rng.below(100) as usize;
            let repairs = 1 + rng.below(12) as usize;
            let mut sent: Vec<Sent> = (0..sources).map(|_| sender.source(&mut rng, 1_400)).collect();
            sent.extend((0..repairs).map(|_| sender.repair()));
            // Loses as many packets, sources and repairs together, as there are repairs.
            let lost = pick(&mut rng, sources + repairs, repairs);
            let order = pick(&mut rng, sources + repairs, sources + repairs);
            order.iter().filter(|place| !lost.contains(place)).for_each(|place| receiver.take(&sent[*place]));
            for sent in &sent {
                let Sent::Source(number, content) = sent else { continue };
                assert_eq!(receiver.got.get(number), Some(content), "round {round}, packet {number}");
            }
            let lost_sources = lost.iter().filter(|place| **place < sources).count();
            assert!(receiver.repaired >= lost_sources, "some may come after they were recovered");
            assert_eq!(receiver.decoder.take_invalid(), 0);
        }
    }

    #[test]
    fn a_sliding_window_recovers_losses_covered_by_later_repairs() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let (mut sender, mut receiver) = awake(u64::from(rng.below(1_000)));
            let mut lost = 0;
            for burst in 0..200 {
                sender.encoder.begin_burst();
                let mut sent: Vec<Sent> = (0..4).map(|_| sender.source(&mut rng, 200)).collect();
                sent.push(sender.repair());
                // Two packets of one burst are lost, then two bursts arrive completely: the repairs of three bursts
                // cover them.
                let losses = if burst % 3 == 0 { pick(&mut rng, 4, 2) } else { vec![] };
                lost += losses.len();
                (0..sent.len()).filter(|at| !losses.contains(at)).for_each(|at| receiver.take(&sent[at]));
            }
            // The last equations wait for packets that never arrive.
            assert!(receiver.repaired >= lost - 2, "seed {seed}: {} of {lost}", receiver.repaired);
            assert_eq!(receiver.decoder.take_invalid(), 0);
        }
    }

    #[test]
    fn a_packet_from_an_invalid_repair_is_dropped_and_valid_repairs_still_work() {
        let mut rng = Rng::new(3);
        for _ in 0..300 {
            let (mut sender, mut receiver) = awake(100);
            let sent: Vec<Sent> = (0..6).map(|_| sender.source(&mut rng, 60)).collect();
            let Sent::Repair(number, mut lie) = sender.repair() else { panic!("not a repair") };
            let at = lie.len() - 1 - rng.below(20) as usize;
            lie[at] ^= 1 + rng.below(255) as u8;
            sent[1..].iter().for_each(|sent| receiver.take(sent));
            receiver.take(&Sent::Repair(number, lie));
            assert_eq!((receiver.repaired, receiver.decoder.take_invalid()), (0, 1));
            receiver.take(&sender.repair());
            let Sent::Source(number, content) = &sent[0] else { panic!("not a source") };
            assert_eq!((receiver.got.get(number), receiver.decoder.take_invalid()), (Some(content), 0));
        }
    }

    /// How often symbols are added up to take these.
    fn additions(receiver: &mut Receiver, sent: &[Sent]) -> u64 {
        let before = receiver.decoder.equations.additions();
        sent.iter().for_each(|sent| receiver.take(sent));
        receiver.decoder.equations.additions() - before
    }

    #[test]
    fn packets_without_new_information_cost_nothing() {
        let mut rng = Rng::new(4);
        let (mut sender, mut receiver) = awake(0);
        // Three are lost, and two repairs come.
        let sent: Vec<Sent> = (0..6).map(|_| sender.source(&mut rng, 400)).collect();
        sent[3..].iter().for_each(|sent| receiver.take(sent));
        (0..2).for_each(|_| receiver.take(&sender.repair()));
        assert_eq!((receiver.decoder.equations.size().0, receiver.repaired), (2, 0));
        let others: Vec<Sent> = (0..100).map(|_| sender.source(&mut rng, 400)).collect();
        assert_eq!(additions(&mut receiver, &others), 0);
        assert_eq!(receiver.decoder.equations.size().0, 2);
        assert!(additions(&mut receiver, &sent[..1]) > 0);
        assert_eq!(receiver.repaired, 2, "the third is enough for both");
    }

    #[test]
    fn unsolvable_equations_are_forgotten() {
        let mut rng = Rng::new(5);
        let (mut sender, mut receiver) = awake(0);
        for burst in 0..500_u64 {
            sender.encoder.begin_burst();
            let sent: Vec<Sent> = (0..4).map(|_| sender.source(&mut rng, 200)).collect();
            let repair = sender.repair();
            let losses = if burst % 10 == 0 { 3 } else { 0 };
            sent[losses..].iter().for_each(|sent| receiver.take(sent));
            // Two repairs cover packets that need three, and then the window has moved on.
            if burst % 10 != 1 {
                receiver.take(&repair);
            }
            let rows = receiver.decoder.equations.size().0;
            assert!(rows <= 2 * (HORIZON as usize).div_ceil(50) + 2, "{rows} after {burst} bursts");
        }
        assert_eq!((receiver.repaired, receiver.decoder.take_invalid()), (0, 0));
        assert!(receiver.decoder.equations.size().0 > 2);
        for _ in 0..HORIZON {
            receiver.take(&sender.source(&mut rng, 200));
        }
        assert_eq!(receiver.decoder.equations.size().0, 0);
    }

    /// Repairs of packets that never come, as many as there is room for, and packets that each change an equation.
    #[test]
    fn a_hostile_stream_of_repairs_costs_a_bounded_amount() {
        for seed in 0..10 {
            let mut rng = Rng::new(seed);
            let (_, mut receiver) = awake(0);
            let (mut repair_most, mut source_most, mut rows_most, mut bytes_most) = (0, 0, 0, 0);
            for number in 1_000..3_000_u64 {
                if rng.chance(0.5) {
                    let (back, span) = (1 + u64::from(rng.below(60)), u64::from(rng.below(181)));
                    let symbol: Vec<u8> = (0..7 + rng.below(1_440)).map(|_| rng.next_u64() as u8).collect();
                    let mut buffer = vec![0; 1_500];
                    let mut writer = Writer::new(&mut buffer);
                    let covers = number - back - span..=number - back;
                    encode_repair_header(&mut writer, number, rng.below(64) as u8, [covers].into_iter());
                    writer.bytes(&symbol);
                    let repair = Sent::Repair(number, writer.written().to_vec());
                    repair_most = repair_most.max(additions(&mut receiver, &[repair]));
                } else {
                    let source = Sent::Source(number - u64::from(rng.below(30)), vec![1; 1 + rng.below(8) as usize]);
                    source_most = source_most.max(additions(&mut receiver, &[source]));
                }
                let (rows, bytes) = receiver.decoder.equations.size();
                (rows_most, bytes_most) = (rows_most.max(rows), bytes_most.max(bytes));
            }
            let rows_max = equations::ROWS_MAX as u64;
            assert!(source_most <= rows_max, "{source_most}");
            assert!(repair_most <= SPAN_MAX + 1 + 2 * rows_max, "{repair_most}");
            assert!(rows_most > 40 && rows_most <= equations::ROWS_MAX, "{rows_most}");
            assert!(bytes_most <= 2 * equations::BYTES_MAX, "{bytes_most}");
        }
    }

    #[test]
    fn repairs_that_overtake_a_large_burst_are_useful() {
        let mut rng = Rng::new(6);
        let (mut sender, mut receiver) = awake(0);
        let sent: Vec<Sent> = (0..58).map(|_| sender.source(&mut rng, 1_400)).collect();
        (0..8).for_each(|_| receiver.take(&sender.repair()));
        sent[8..].iter().for_each(|sent| receiver.take(sent));
        assert_eq!((receiver.repaired, receiver.decoder.take_invalid()), (8, 0));
    }

    #[test]
    fn a_late_packet_counts_even_if_a_newer_one_has_its_slot() {
        let mut rng = Rng::new(7);
        let (mut sender, mut receiver) = awake(0);
        let sent: Vec<Sent> = (0..6).map(|_| sender.source(&mut rng, 400)).collect();
        sent[2..].iter().for_each(|sent| receiver.take(sent));
        receiver.take(&sender.repair());
        let (slots, _) = receiver.decoder.store.size();
        (0..slots).for_each(|_| receiver.take(&sender.source(&mut rng, 400)));
        receiver.take(&sent[1]);
        assert_eq!((receiver.repaired, receiver.decoder.take_invalid()), (1, 0));
    }

    #[test]
    fn the_first_repairs_after_a_quiet_period_are_useful() {
        let mut rng = Rng::new(8);
        let (mut sender, mut receiver) = awake(0);
        for _ in 0..2_000 {
            sender.encoder.begin_burst();
            receiver.take(&sender.source(&mut rng, 400));
        }
        sender.encoder.begin_burst();
        let _lost = sender.source(&mut rng, 400);
        receiver.take(&sender.repair());
        assert_eq!((receiver.repaired, receiver.decoder.is_idle()), (1, false));
    }

    #[test]
    fn an_idle_decoder_holds_no_state() {
        let (mut sender, mut receiver) = (Sender { encoder: Encoder::default(), next: 1 }, Receiver::default());
        sender.encoder.on_source(0, &[1; 40]);
        let Sent::Repair(_, mut bytes) = sender.repair() else { panic!("not a repair") };
        let mut writer = Writer::new(&mut bytes);
        encode_repair_header(&mut writer, 500, 0, [10..=499].into_iter());
        receiver.take(&Sent::Repair(500, bytes));
        assert_eq!((receiver.decoder.is_idle(), receiver.decoder.take_invalid()), (true, 1));
        receiver.take(&sender.repair());
        assert!(!receiver.decoder.is_idle());
    }

    #[test]
    fn a_repair_within_a_recovered_packet_is_refused() {
        let mut rng = Rng::new(10);
        let (mut sender, mut receiver) = awake(0);
        let _lost = sender.source(&mut rng, 40);
        let Sent::Repair(number, bytes) = sender.repair() else { panic!("not a repair") };
        let Some(Ok(Frame::Repair(repair))) = Frames::new(&bytes).next() else { panic!("not a repair") };
        let mut take = || {
            let covers = repair.covers(number).expect("above 0");
            receiver.decoder.on_repair(repair.index, covers, repair.symbol, |_| false);
            (receiver.decoder.poll_recovered().is_some(), receiver.decoder.take_invalid())
        };
        assert_eq!(take(), (true, 0));
        assert_eq!(take(), (false, 1));
    }
}
