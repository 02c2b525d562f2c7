//! Which datagrams get lost on the way: independently, or by a Gilbert-Elliott chain.
//!
//! ```text
//!                     rate / (1 - rate) / mean_length
//!   good: loses none ────────────────────────────────► bad: loses all
//!                    ◄────────────────────────────────
//!                             1 / mean_length
//! ```

use crate::{config::Loss, fate::LossCause, rng::Draw};

/// The state of the loss: which of the two states the chain is in, once it has begun.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossProcess {
    bad: Option<bool>,
}

impl LossProcess {
    /// Decides about the next datagram; to be called once for each. A chain that was switched off begins anew.
    pub(crate) fn on_datagram(&mut self, loss: Loss, draw: Draw) -> Option<LossCause> {
        let Loss::Burst { rate, mean_length } = loss else {
            self.bad = None;
            return matches!(loss, Loss::Random(rate) if draw.hits(rate)).then_some(LossCause::Random);
        };
        self.step(rate, mean_length, draw).then_some(LossCause::Burst)
    }

    /// Moves to the next state, or from nowhere to one of the two as often as the chain is in it. Returns whether it is
    /// the bad one.
    fn step(&mut self, rate: f64, mean_length: f64, draw: Draw) -> bool {
        let becomes_bad = match self.bad {
            None => rate,
            Some(true) => 1.0 - 1.0 / mean_length,
            Some(false) => rate / (1.0 - rate) / mean_length,
        };
        let bad = draw.hits(becomes_bad);
        self.bad = Some(bad);
        bad
    }
}
