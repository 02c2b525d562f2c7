//! One sender with more than fits, on a link of 2 Mbit/s with 20 ms of round trip and 100 ms of queue, and on a
//! satellite.

use crate::bottleneck::{Kind, Load, Network, link, millis, seconds};
use skipstone_netsim::{LinkConfig, Loss, Outage};
use skipstone_proto::Congestion;
use std::time::Duration;

const GREEDY: Kind = Kind::Ours(Congestion::DelayAware, Load::Greedy);

fn alone(config: LinkConfig, length: Duration) -> Network {
    let mut network = Network::new(config, 7);
    network.add(GREEDY, Duration::ZERO, Duration::MAX);
    network.run_until(length);
    network
}

#[test]
fn the_link_is_full_and_no_packet_waits_long() {
    let network = alone(link(2_000, 20, 100), seconds(60));
    assert!(network.share(0, seconds(5), seconds(60)) >= 0.95);
    assert!(network.wait(0, 95.0, seconds(1), seconds(60)) <= millis(60));
}

#[test]
fn random_loss_is_not_congestion() {
    for loss in [Loss::Random(0.05), Loss::Burst { rate: 0.02, mean_length: 3.0 }] {
        let network = alone(LinkConfig { loss, ..link(2_000, 20, 100) }, seconds(60));
        let share = network.share(0, seconds(5), seconds(60));
        assert!(share >= 0.9, "{loss:?}: {share}");
        assert!(network.wait(0, 95.0, seconds(5), seconds(60)) <= millis(60));
    }
}

#[test]
fn an_outage_leaves_no_lasting_effect() {
    let outages = vec![Outage { start: seconds(20), length: seconds(1) }];
    let network = alone(LinkConfig { outages, ..link(2_000, 20, 100) }, seconds(30));
    let share = network.share(0, seconds(22), seconds(30));
    assert!(share >= 0.9, "{share}");
    let longest = network.wait(0, 100.0, seconds(21), seconds(30));
    assert!(longest < millis(90), "the queue overflowed, or nearly: {longest:?}");
}

#[test]
fn a_satellite_link_is_filled_within_four_seconds_without_overflow() {
    let mut network = alone(link(10_000, 600, 100), seconds(60));
    assert!(network.share(0, millis(4_000), millis(6_000)) >= 0.8);
    assert!(network.share(0, seconds(10), seconds(60)) >= 0.9);
    assert_eq!(network.flows[0].model().packets_lost, 0);
    network.run_until(seconds(61));
}

#[test]
fn an_outage_on_a_satellite_link_does_not_end_in_an_overflow() {
    let outages = vec![Outage { start: seconds(20), length: seconds(1) }];
    let network = alone(LinkConfig { outages, ..link(10_000, 600, 100) }, seconds(40));
    let longest = network.wait(0, 100.0, seconds(21), seconds(40));
    assert!(longest < millis(100), "{longest:?}");
    let share = network.share(0, seconds(25), seconds(40));
    assert!(share >= 0.75, "{share}");
}

#[test]
fn other_links_are_filled_too() {
    for (kbit, rtt, queue) in [(500, 20, 100), (2_000, 100, 20), (10_000, 5, 500), (10_000, 100, 100), (50_000, 20, 20)]
    {
        let network = alone(link(kbit, rtt, queue), seconds(20));
        let share = network.share(0, seconds(5), seconds(20));
        assert!(share >= 0.9, "{kbit} kbit/s, {rtt} ms, queue {queue} ms: {share}");
        assert!(network.wait(0, 95.0, seconds(5), seconds(20)) <= millis(60), "{kbit} {rtt} {queue}");
    }
}
