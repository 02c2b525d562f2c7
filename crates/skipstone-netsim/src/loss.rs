//! Which datagrams get lost on the way: independently, by a Gilbert-Elliott chain that steps with each datagram
//! (bursts), or by one that advances with time ([`fades`](crate::fades)).
//!
//! ```text
//!                     rate / (1 - rate) / mean_length
//!   good: loses none ────────────────────────────────► bad: loses all
//!                    ◄────────────────────────────────
//!                             1 / mean_length
//! ```

use core::time::Duration;

use crate::{
    config::Loss,
    fades::Fades,
    fate::LossCause,
    rng::{Draw, Xoshiro256PlusPlus},
};

/// The state of the loss.
#[derive(Clone, Debug)]
pub(crate) struct LossProcess {
    /// Which of the two states the chain of bursts is in, once it has begun.
    bad: Option<bool>,
    fades: Fades,
}

impl LossProcess {
    pub(crate) fn new(fades: Xoshiro256PlusPlus) -> Self {
        Self { bad: None, fades: Fades::new(fades) }
    }

    /// Decides about the next datagram; to be called once for each. A chain that was switched off starts again.
    pub(crate) fn on_datagram(&mut self, now: Duration, loss: Loss, draw: Draw) -> Option<LossCause> {
        if !matches!(loss, Loss::Burst { .. }) {
            self.bad = None;
        }
        if !matches!(loss, Loss::Fade { .. }) {
            self.fades.end();
        }
        let (is_lost, cause) = match loss {
            Loss::None => return None,
            Loss::Random(rate) => (draw.hits(rate), LossCause::Random),
            Loss::Burst { rate, mean_length } => {
                let bad = draw.hits(self.after_datagram(rate, mean_length));
                self.bad = Some(bad);
                (bad, LossCause::Burst)
            }
            Loss::Fade { rate, mean_length } => (self.fades.is_faded(now, rate, mean_length), LossCause::Fade),
        };
        is_lost.then_some(cause)
    }

    /// How probable the bad state is one datagram later. A chain that has not begun has the long-run probability.
    fn after_datagram(&self, rate: f64, mean_length: f64) -> f64 {
        match self.bad {
            None => rate,
            Some(true) => 1.0 - 1.0 / mean_length,
            Some(false) => rate / (1.0 - rate) / mean_length,
        }
    }
}
