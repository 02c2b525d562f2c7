//! A CUBIC flow on the same link of 2 Mbit/s, 20 ms and 100 ms of queue; and more of our own kind.

use crate::bottleneck::{Kind, Load, Network, link, millis, seconds};
use skipstone_proto::Congestion;
use std::time::Duration;

const GREEDY: Kind = Kind::Ours(Congestion::DelayAware, Load::Greedy);
const AGGRESSIVE: Kind = Kind::Ours(Congestion::Aggressive, Load::Greedy);

/// The shares of our flows and of CUBIC's.
fn beside_cubic(ours: Kind, our_start: u64, cubic_start: u64) -> (f64, f64) {
    let mut network = Network::new(link(2_000, 20, 100), 7);
    let ours = network.add(ours, millis(our_start), Duration::MAX);
    let cubic = network.add(Kind::Cubic, millis(cubic_start), Duration::MAX);
    network.run_until(seconds(180));
    let share = |flow| network.share(flow, seconds(10), seconds(180));
    (share(ours), share(cubic))
}

/// It is chance which flow's losses fall together, so shares differ by some points with the moment at which the second
/// one begins.
#[test]
fn neither_starves_in_either_order_of_arrival() {
    let starts =
        [(0, 5_000), (5_000, 0), (0, 0), (7_300, 0), (0, 21_700), (3_370, 0), (0, 8_850), (12_960, 0), (0, 4_740)];
    let shares = starts.map(|(our_start, cubic_start)| beside_cubic(GREEDY, our_start, cubic_start));
    for (start, (ours, cubic)) in starts.iter().zip(shares) {
        assert!(ours >= 0.25 && cubic >= 0.3, "{start:?}: ours {ours}, CUBIC {cubic}");
    }
    let mean = shares.iter().map(|(ours, _)| ours).sum::<f64>() / shares.len() as f64;
    assert!(mean >= 0.3, "ours are {mean} on average");
}

#[test]
fn a_higher_aggressiveness_takes_more() {
    let (default, _) = beside_cubic(GREEDY, 0, 5_000);
    let (aggressive, cubic) = beside_cubic(AGGRESSIVE, 0, 5_000);
    assert!(aggressive > default + 0.1, "{aggressive} against {default}");
    assert!(cubic > 0.1, "CUBIC {cubic}");
}

#[test]
fn the_queue_is_short_again_after_cubic_leaves() {
    let mut network = Network::new(link(2_000, 20, 100), 7);
    network.add(GREEDY, Duration::ZERO, Duration::MAX);
    network.add(Kind::Cubic, seconds(5), seconds(30));
    network.run_until(seconds(90));
    assert!(network.share(0, seconds(60), seconds(90)) >= 0.9);
    assert!(network.wait(0, 95.0, seconds(60), seconds(90)) <= millis(60));
}

#[test]
fn two_of_our_flows_share_evenly_with_a_short_queue() {
    for starts in [vec![0, 5_000], vec![0, 5_000, 6_000, 7_000]] {
        let mut network = Network::new(link(2_000, 20, 100), 7);
        for start in &starts {
            network.add(GREEDY, millis(*start), Duration::MAX);
        }
        network.run_until(seconds(120));
        let shares: Vec<f64> = (0..starts.len()).map(|flow| network.share(flow, seconds(20), seconds(120))).collect();
        let sum: f64 = shares.iter().sum();
        let squares: f64 = shares.iter().map(|share| share * share).sum();
        let fairness = sum * sum / (squares * shares.len() as f64);
        assert!(sum >= 0.9 && fairness >= 0.9, "{shares:?}: Jain's index {fairness}");
        let wait = network.wait(0, 95.0, seconds(20), seconds(120));
        assert!(wait <= millis(20 + 15 * starts.len() as u64), "{wait:?}");
    }
}

/// Such a flow has never seen the path without CUBIC's queue: the queue that it sees seems short, whatever it does.
#[test]
fn a_flow_that_comes_after_tcp_on_a_fast_link_is_not_starved() {
    for (kbit, rtt_ms, queue_ms) in [(18_000, 6, 170), (36_000, 23, 48), (44_000, 51, 76)] {
        let mut network = Network::new(link(kbit, rtt_ms, queue_ms), 7);
        network.add(Kind::Cubic, Duration::ZERO, Duration::MAX);
        let ours = network.add(GREEDY, seconds(10), Duration::MAX);
        network.run_until(seconds(70));
        let share = network.share(ours, seconds(30), seconds(70));
        assert!(share >= 0.15, "{kbit} kbit/s, {rtt_ms} ms, {queue_ms} ms of queue: {share}");
    }
}
