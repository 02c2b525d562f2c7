//! Which datagrams get lost on the way: independently, or by a Gilbert-Elliott chain that steps with each datagram
//! (bursts) or with each microsecond (fades).
//!
//! ```text
//!                     rate / (1 - rate) / mean_length
//!   good: loses none ────────────────────────────────► bad: loses all
//!                    ◄────────────────────────────────
//!                             1 / mean_length
//! ```

use core::time::Duration;

use crate::{config::Loss, fate::LossCause, rng::Draw};

/// The state of the loss: which of the two states the chain is in, once it has begun.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossProcess {
    bad: Option<bool>,
    /// When the chain was looked at last.
    at: Duration,
}

impl LossProcess {
    /// Decides about the next datagram; to be called once for each. A chain that was switched off begins anew.
    pub(crate) fn on_datagram(&mut self, now: Duration, loss: Loss, draw: Draw) -> Option<LossCause> {
        let (becomes_bad, cause) = match loss {
            Loss::Burst { rate, mean_length } => (self.after_datagram(rate, mean_length), LossCause::Burst),
            Loss::Fade { rate, mean_length } => (self.after_time(now, rate, mean_length), LossCause::Fade),
            Loss::None | Loss::Random(_) => {
                self.bad = None;
                return matches!(loss, Loss::Random(rate) if draw.hits(rate)).then_some(LossCause::Random);
            }
        };
        let bad = draw.hits(becomes_bad);
        (self.bad, self.at) = (Some(bad), now);
        bad.then_some(cause)
    }

    /// How probable the bad state is one datagram later. From nowhere the chain is in it as often as in the long run.
    fn after_datagram(&self, rate: f64, mean_length: f64) -> f64 {
        match self.bad {
            None => rate,
            Some(true) => 1.0 - 1.0 / mean_length,
            Some(false) => rate / (1.0 - rate) / mean_length,
        }
    }

    /// The probability of the bad state now: knowledge of the earlier state fades by the same factor each microsecond.
    fn after_time(&self, now: Duration, rate: f64, mean_length: Duration) -> f64 {
        let Some(bad) = self.bad else { return rate };
        let leaves = 1.0 / (mean_length.as_nanos() as f64 / 1e3);
        let keeps = 1.0 - leaves / (1.0 - rate);
        let known = power(keeps, now.saturating_sub(self.at).as_micros() as u64);
        rate + (f64::from(u8::from(bad)) - rate) * known
    }
}

/// By squaring. WHY: `powf` and `powi` may differ in the last digit from machine to machine.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut result, mut square, mut rest) = (1.0, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    result
}
