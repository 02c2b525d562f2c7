//! While a link is down, everything sent is lost; before and after, and on its way, nothing.

use crate::common;

use core::time::Duration;

use skipstone_netsim::{Fate, LinkConfig, Loss, LossCause, Outage, QueueLimit};

const MILLISECOND: Duration = Duration::from_millis(1);

fn outage(start: u32, length: u32) -> Outage {
    Outage { start: MILLISECOND * start, length: MILLISECOND * length }
}

#[test]
fn only_datagrams_sent_during_it_are_lost() {
    let outages = vec![outage(100, 50), outage(300, 1)];
    let config = LinkConfig { delay: Duration::from_millis(30), outages, ..LinkConfig::default() };
    let (fates, arrivals, link) = common::run(config, 1, 400, MILLISECOND);
    for (millisecond, fate) in fates.into_iter().enumerate() {
        let down = (100..150).contains(&millisecond) || millisecond == 300;
        assert_eq!(fate == Fate::Lost(LossCause::Outage), down, "at {millisecond} ms: {fate:?}");
    }
    assert_eq!(arrivals.len(), 400 - 51);
    assert_eq!(link.stats().lost_outage, 51);
}

#[test]
fn its_losses_do_not_affect_the_loss_rate() {
    let config = LinkConfig {
        outages: vec![outage(0, 100)],
        // 36 bytes with the header take 10 ms.
        rate_bits_per_second: Some(28_800),
        queue: QueueLimit::Bytes(0),
        ..LinkConfig::default()
    };
    let (fates, arrivals, _) = common::run(config, 1, 101, MILLISECOND);
    assert_eq!(fates[100], Fate::Queued);
    assert_eq!(arrivals[0].0.arrived, MILLISECOND * 110);
}

#[test]
fn an_outage_takes_precedence_over_loss() {
    let config = LinkConfig { outages: vec![outage(0, 10)], loss: Loss::Random(1.0), ..LinkConfig::default() };
    let (fates, _, _) = common::run(config, 1, 11, MILLISECOND);
    assert!(fates[..10].iter().all(|&fate| fate == Fate::Lost(LossCause::Outage)));
    assert_eq!(fates[10], Fate::Lost(LossCause::Random));
}
