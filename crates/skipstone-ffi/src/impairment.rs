//! Simulated links, if this build has them.

use crate::failure::Failure;
use crate::types::*;
use library::Impairment;

#[cfg(feature = "simulate")]
pub(crate) fn of(up: &SkipstoneLink, down: &SkipstoneLink, seed: u64) -> Result<Impairment, Failure> {
    Ok(Impairment { up: link(up), down: link(down), seed })
}

#[cfg(feature = "simulate")]
fn link(link: &SkipstoneLink) -> library::netsim::LinkConfig {
    use library::netsim::{LinkConfig, Loss};
    use std::time::Duration;
    let loss = match link.loss_burst {
        _ if link.loss == 0.0 => Loss::None,
        0.0 => Loss::Random(link.loss),
        mean_length => Loss::Burst { rate: link.loss, mean_length },
    };
    LinkConfig {
        delay: Duration::from_micros(link.delay_us),
        jitter: Duration::from_micros(link.jitter_us),
        rate_bits_per_second: crate::convert::some(link.rate_bits_per_second),
        loss,
        reorder: link.reorder,
        duplicate: link.duplicate,
        ..LinkConfig::default()
    }
}

#[cfg(not(feature = "simulate"))]
pub(crate) fn of(_: &SkipstoneLink, _: &SkipstoneLink, _: u64) -> Result<Impairment, Failure> {
    let text = "this library was built without simulated links: build skipstone-ffi with its feature simulate";
    Err(Failure::new(SkipstoneStatus::NotBuilt, text))
}
