//! One random stream per impairment. Each gives the same number of draws for every datagram sent, whatever the
//! configuration and the fate, so that no impairment shifts the numbers of another. Fades have a stream that advances
//! with time.

use crate::rng::{Draw, SplitMix64, Xoshiro256PlusPlus};

/// The streams of one link.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    loss: Xoshiro256PlusPlus,
    jitter: Xoshiro256PlusPlus,
    reorder: Xoshiro256PlusPlus,
    duplicate: Xoshiro256PlusPlus,
    corrupt: Xoshiro256PlusPlus,
    fades: Xoshiro256PlusPlus,
}

/// All random draws that one datagram can need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    pub(crate) loss: Draw,
    pub(crate) jitter: Draw,
    pub(crate) hold: HoldDraws,
    pub(crate) duplicate: DuplicateDraws,
    pub(crate) corrupt: CorruptDraws,
}

/// Whether to hold a datagram back, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldDraws {
    pub(crate) chance: Draw,
    pub(crate) length: Draw,
}

/// Whether to make a copy, and the random draws for the copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DuplicateDraws {
    pub(crate) chance: Draw,
    pub(crate) jitter: Draw,
    pub(crate) hold: HoldDraws,
}

/// Whether to flip bits, and which.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CorruptDraws {
    pub(crate) chance: Draw,
    pub(crate) bits: Draw,
}

impl Streams {
    /// The order of the fields decides the meaning of a seed: a new stream goes last.
    pub(crate) fn new(seed: u64) -> Self {
        let mut seeds = SplitMix64::new(seed);
        Self {
            loss: Xoshiro256PlusPlus::new(&mut seeds),
            jitter: Xoshiro256PlusPlus::new(&mut seeds),
            reorder: Xoshiro256PlusPlus::new(&mut seeds),
            duplicate: Xoshiro256PlusPlus::new(&mut seeds),
            corrupt: Xoshiro256PlusPlus::new(&mut seeds),
            fades: Xoshiro256PlusPlus::new(&mut seeds),
        }
    }

    /// The stream that advances with time, not with datagrams.
    pub(crate) fn of_fades(&self) -> Xoshiro256PlusPlus {
        self.fades.clone()
    }

    /// The draws of the next datagram.
    pub(crate) fn draw(&mut self) -> Draws {
        Draws {
            loss: self.loss.draw(),
            jitter: self.jitter.draw(),
            hold: HoldDraws::new(&mut self.reorder),
            duplicate: DuplicateDraws {
                chance: self.duplicate.draw(),
                jitter: self.duplicate.draw(),
                hold: HoldDraws::new(&mut self.duplicate),
            },
            corrupt: CorruptDraws { chance: self.corrupt.draw(), bits: self.corrupt.draw() },
        }
    }
}

impl HoldDraws {
    fn new(stream: &mut Xoshiro256PlusPlus) -> Self {
        Self { chance: stream.draw(), length: stream.draw() }
    }
}
